/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults on demand: what a test orders goes to the driver, so that the errors are its own. Test drivers have an entry
 * point for that, which drivers of hardware lack.
 */
#include "runtime.h"

static kw_status order(void *state, kw_fault fault, uint64_t nth) {
  const kw_rt_device *device = state;
  int (*order_fault)(int id, unsigned fault, uint64_t nth);
  if (!kw_rt_driver_has(&(kw_rt_own_call){"kw_test_order_fault", &order_fault}))
    return kw_gpu_error(device->base.host, KW_ERR_UNSUPPORTED,
                        "test.order: this driver brings about no faults; use a test driver (scripts/emulated.sh)");
  if (order_fault(device->id, fault, nth) == 0) return KW_OK;
  return kw_gpu_error(
      device->base.host, KW_ERR_UNSUPPORTED, "test.order: the test driver brings about no fault %u: %s",
      (unsigned)fault,
      fault == KW_FAULT_LATE ? "a kernel that fails breaks its context; order KW_FAULT_LOSE" : "it is not known here");
}

const kw_test_api kw_rt_test_api = {.struct_size = sizeof kw_rt_test_api, .order = order};
