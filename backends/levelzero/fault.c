/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults on demand: what a test orders goes to the driver, so that the errors are its own. The test driver has an
 * extension function for that, which drivers of hardware lack.
 */
#include "levelzero.h"

static kw_status order(void *state, kw_fault fault, uint64_t nth) {
  const lz_device *device = state;
  ze_result_t (*order_fault)(ze_device_handle_t, uint32_t, uint64_t) = NULL;
  if (!lz_find_extension(device->driver, "kwTestOrderFault", &order_fault))
    return kw_gpu_error(device->base.host, KW_ERR_UNSUPPORTED,
                        "test.order: this driver brings about no faults; use the test driver (scripts/emulated.sh)");
  if (order_fault(device->id, fault, nth) == ZE_RESULT_SUCCESS) return KW_OK;
  return kw_gpu_error(device->base.host, KW_ERR_UNSUPPORTED, "test.order: fault %u is not known here", (unsigned)fault);
}

const kw_test_api lz_test_api = {.struct_size = sizeof lz_test_api, .order = order};
