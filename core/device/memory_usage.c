/* SPDX-License-Identifier: Apache-2.0
 *
 * How much of a device's memory is in use, by our account, and free: by the plugin's, otherwise by ours.
 */
#include "device/device.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/struct.h"
#include "base/trace.h"

kw_status kw_memory_get_stats(kw_device *device, kw_memory_stats *out_stats) {
  if (device == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_memory_get_stats: argument device is NULL.");
  kw_status status = kw_struct_check_given("kw_memory_get_stats", out_stats);
  if (status == KW_OK) status = kw_fork_check();
  if (status != KW_OK) return status;
  const kw_memory_stats stats = kw_memory_account_read(&device->memory);
  kw_struct_write(out_stats, &stats, sizeof stats);
  return KW_OK;
}

kw_status kw_memory_reset_peak(kw_device *device) {
  if (device == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_memory_reset_peak: argument device is NULL");
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  kw_memory_reset(&device->memory.allocated);
  kw_memory_reset(&device->memory.held);
  return KW_OK;
}

void kw_device_trace_memory(kw_device *device) {
  if (!kw_trace_on()) return;
  const kw_memory_stats stats = kw_memory_account_read(&device->memory);
  const uint64_t in_use = atomic_exchange(&device->memory.traced_in_use, stats.allocated);
  const uint64_t reserved = atomic_exchange(&device->memory.traced_reserved, stats.held);
  if (in_use == stats.allocated && reserved == stats.held) return;
  kw_trace_memory(device->name, stats.allocated, stats.held);
}

/* kw_memory_get_usage where the plugin does not tell. */
static kw_status usage_by_account(kw_device *device, uint64_t *out_free, uint64_t *out_total) {
  const uint64_t total = device->info.total_memory;
  if (total == 0) {
    return kw_fail(KW_ERR_UNSUPPORTED, "kw_memory_get_usage: the plugin of %s does not tell how much memory there is",
                   device->name);
  }
  kw_error_clear(); /* the slot that is not there */
  kw_memory_stats stats = {.struct_size = sizeof stats};
  kw_status status = kw_memory_get_stats(device, &stats);
  *out_total = total;
  *out_free = stats.held < total ? total - stats.held : 0;
  return status;
}

kw_status kw_memory_get_usage(kw_device *device, uint64_t *out_free, uint64_t *out_total) {
  if (device == NULL || out_free == NULL || out_total == NULL) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_memory_get_usage: argument %s is NULL",
                   device == NULL     ? "device"
                   : out_free == NULL ? "out_free"
                                      : "out_total");
  }
  kw_status status = kw_device_check(device);
  if (status != KW_OK) return status;
  uint64_t unused = 0, total = 0;
  status = kw_device_mark_if_lost(device, KW_ASK(device->slots, memory.usage, device->handle, &unused, &total));
  if (status == KW_ERR_UNSUPPORTED) return usage_by_account(device, out_free, out_total);
  if (status != KW_OK) return kw_from_plugin(status, "asking %s how much of its memory is free", device->name);
  if (unused > total) {
    return kw_fail(KW_ERR_INTERNAL, "the plugin of %s says that %llu bytes of its memory are free, of %llu",
                   device->name, (unsigned long long)unused, (unsigned long long)total);
  }
  *out_free = unused;
  *out_total = total;
  return KW_OK;
}
