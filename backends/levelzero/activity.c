/* SPDX-License-Identifier: Apache-2.0
 *
 * Activity records: a command's mark is the event that it signals, with its kernel timestamps. These have fewer bits
 * than nanoseconds take, so the clock counts on past them, from each reading to the next.
 */
#include "levelzero.h"

void lz_activity_note(lz_stream *stream, const lz_command *command, kw_activity_kind kind, uint64_t id) {
  if (!command->event || command->result != ZE_RESULT_SUCCESS || !kw_gpu_activity_on(stream->base.device)) return;
  lz_event_keep(command->event);
  kw_gpu_activity_note(&stream->base, kind, id, command->event);
}

bool lz_mark_passed(kw_gpu_device *device, void *event) {
  (void)device;
  return lz_event_wait(event, 0) != ZE_RESULT_NOT_READY;
}

void lz_mark_drop(kw_gpu_device *device, void *event) {
  (void)device;
  lz_event_drop(event);
}

/* ---- The clock, under the device's lock -------------------------------------------------------------------------- */

/* The cycles that a timestamp of the past stands for: the last that have its valid bits. A clock may be read a little
 * too early. */
static uint64_t unwrap(const lz_device *device, uint64_t stamp) {
  const uint64_t mask = device->cycle_mask & device->clock_mask, behind = (device->cycles - stamp) & mask;
  return behind > mask - mask / 16 ? device->cycles + ((stamp - device->cycles) & mask) : device->cycles - behind;
}

/* How often a clock of these bits began anew while `ns` nanoseconds passed and it shows `cycles` more. */
static uint64_t rounds(const lz_device *device, uint64_t ns, uint64_t cycles) {
  const double round = (double)device->clock_mask + 1;
  const double more = (double)ns * 1e-9 * (double)device->cycles_per_second - (double)cycles;
  return more > 0 ? (uint64_t)(more / round + 0.5) : 0;
}

static ze_result_t read_clock(lz_device *device) {
  uint64_t host = 0, cycles = 0;
  if (device->cycles_per_second == 0) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  const uint64_t now = kw_gpu_now_ns();
  ze_result_t result = ze.DeviceGetGlobalTimestamps(device->id, &host, &cycles);
  if (result != ZE_RESULT_SUCCESS) return result;
  const uint64_t passed = (cycles - device->cycles) & device->clock_mask;
  device->cycles += passed + rounds(device, now - device->read_at, passed) * (device->clock_mask + 1);
  device->read_at = now;
  return ZE_RESULT_SUCCESS;
}

kw_status lz_device_now(kw_gpu_device *base, uint64_t *out_ns) {
  lz_device *device = (lz_device *)base;
  pthread_mutex_lock(&base->lock);
  ze_result_t result = read_clock(device);
  if (result == ZE_RESULT_SUCCESS) *out_ns = lz_nanoseconds(device, device->cycles);
  pthread_mutex_unlock(&base->lock);
  return lz_check(device, result, "zeDeviceGetGlobalTimestamps");
}

bool lz_mark_times(kw_gpu_device *base, void *handle, uint64_t *out_begin, uint64_t *out_end) {
  lz_device *device = (lz_device *)base;
  const lz_event *event = handle;
  ze_kernel_timestamp_result_t first, last;
  ze_result_t result = ze.EventQueryKernelTimestamp(event->handle, &last);
  if (result == ZE_RESULT_SUCCESS && event->start) {
    result = ze.EventQueryKernelTimestamp(event->start->handle, &first);
    last.global.kernelStart = first.global.kernelEnd;
  }
  pthread_mutex_lock(&base->lock);
  if (result == ZE_RESULT_SUCCESS) result = read_clock(device); /* a stamp has to be near it */
  if (result == ZE_RESULT_SUCCESS) {
    *out_begin = lz_nanoseconds(device, unwrap(device, last.global.kernelStart));
    *out_end = lz_nanoseconds(device, unwrap(device, last.global.kernelEnd));
  }
  pthread_mutex_unlock(&base->lock);
  return result == ZE_RESULT_SUCCESS;
}
