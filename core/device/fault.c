/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults on demand, from a test to the plugin, in processes that are for tests: kw_device_order_fault.
 */
#include "device/fault.h"

#include "base/error.h"
#include "device/device.h"

#include <keyway/test.h>

static atomic_bool allowed;

void kw_faults_allow(void) {
  atomic_store(&allowed, true);
}

kw_status kw_device_order_fault(kw_device *device, kw_fault fault, uint64_t nth) {
  if (device == NULL || (nth == 0 && fault != KW_FAULT_NONE)) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_device_order_fault: %s",
                   device == NULL ? "argument device is NULL" : "argument nth is 0; 1 is the next");
  }
  kw_status status = kw_device_check(device);
  if (status != KW_OK) return status;
  if (!atomic_load(&allowed) || (device->plugin->native & KW_NATIVE_TEST) == 0) {
    return kw_fail(KW_ERR_UNSUPPORTED, "kw_device_order_fault: %s%s", device->name,
                   atomic_load(&allowed) ? ": its plugin has no keyway.test/1"
                                         : " is in a process that is not for tests; start it with KW_INIT_TEST");
  }
  status = KW_ASK(device->slots, test.order, device->handle, fault, nth);
  if (status == KW_OK) return KW_OK;
  return kw_device_mark_if_lost(device, kw_from_plugin(status, "ordering fault %u of %s", fault, device->name));
}
