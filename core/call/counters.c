/* SPDX-License-Identifier: Apache-2.0
 *
 * What a device has been asked to do so far: kw_device_get_counters.
 */
#include "base/error.h"
#include "base/fork.h"
#include "base/struct.h"
#include "call/launch.h"
#include "call/plan_cache.h"

KW_API kw_status kw_device_get_counters(const kw_device *device, kw_counters *out_counters) {
  if (!device) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_device_get_counters: device is NULL");
  kw_status status = kw_struct_check_given("kw_device_get_counters", out_counters);
  if (status == KW_OK) status = kw_fork_check();
  if (status != KW_OK) return status;
  const kw_counters counters = {.launches = kw_launch_count_all(device) + kw_plan_count_launches(device),
                                .decomposed = atomic_load(&device->decomposed),
                                .fallbacks = atomic_load(&device->fallbacks),
                                .modules_built = atomic_load(&device->modules_built),
                                .modules_cached = atomic_load(&device->modules_cached),
                                .build_ns = atomic_load(&device->build_ns),
                                .bytes_to_device = atomic_load(&device->bytes_to_device),
                                .bytes_to_host = atomic_load(&device->bytes_to_host)};
  kw_struct_write(out_counters, &counters, sizeof counters);
  return KW_OK;
}
