/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: a barrier for each record, with an event of its own.
 */
#include "levelzero.h"

/* Appends a barrier behind everything before it, and behind `other`. `out_event`, when there is one, gets its event
 * with a reference. */
static kw_status append_barrier(kw_gpu_stream *base, lz_event *other, void **out_event) {
  lz_stream *stream = (lz_stream *)base;
  lz_command command = lz_stream_begin(stream, other);
  lz_event *event = command.event;
  if (command.result == ZE_RESULT_SUCCESS)
    command.result = ze.CommandListAppendBarrier(command.list, command.signal, command.wait_count, command.waits);
  const bool kept = command.result == ZE_RESULT_SUCCESS && out_event;
  if (kept) lz_event_keep(event);
  kw_status status = lz_stream_end(stream, &command, 0, "zeCommandListAppendBarrier");
  if (kept) *out_event = event;
  return status;
}

kw_status lz_event_record(kw_gpu_stream *stream, void **out_event) {
  return append_barrier(stream, NULL, out_event);
}

kw_status lz_event_await(kw_gpu_stream *stream, void *event) {
  return append_barrier(stream, event, NULL);
}

/* An event behind a command that failed is passed: its stream tells. One of a lost device never is. */
static kw_status wait_for(const kw_gpu_device *device, lz_event *event, uint64_t timeout_ns, kw_status not_ready) {
  ze_result_t result = lz_event_wait(event, timeout_ns);
  if (result == ZE_RESULT_NOT_READY) return not_ready;
  if (lz_result_status(result) != KW_ERR_DEVICE_LOST) return KW_OK;
  return device->host->set_error(device->host->ctx, KW_ERR_DEVICE_LOST, event->text);
}

kw_status lz_event_query(kw_gpu_device *device, void *event) {
  return wait_for(device, event, 0, KW_ERR_NOT_READY);
}

kw_status lz_event_synchronize(kw_gpu_device *device, void *event, uint64_t timeout_ns) {
  return wait_for(device, event, timeout_ns, KW_ERR_TIMEOUT);
}

/* When the device passed the event, in cycles of its clock. */
static ze_result_t event_cycles(const lz_event *event, uint64_t *out_cycles) {
  ze_kernel_timestamp_result_t stamp;
  ze_result_t result = ze.EventQueryKernelTimestamp(event->handle, &stamp);
  if (result == ZE_RESULT_SUCCESS) *out_cycles = stamp.global.kernelEnd;
  return result;
}

uint64_t lz_nanoseconds(const lz_device *device, uint64_t cycles) {
  const uint64_t seconds = cycles / device->cycles_per_second, rest = cycles % device->cycles_per_second;
  return seconds * 1000000000u + (uint64_t)((double)rest * 1e9 / (double)device->cycles_per_second);
}

kw_status lz_event_elapsed(kw_gpu_device *base, void *start, void *end, uint64_t *out_ns) {
  const lz_device *device = (const lz_device *)base;
  uint64_t from = 0, to = 0;
  ze_result_t result = event_cycles(start, &from);
  if (result == ZE_RESULT_SUCCESS) result = event_cycles(end, &to);
  if (result == ZE_RESULT_SUCCESS && device->cycles_per_second == 0) result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  if (result != ZE_RESULT_SUCCESS) {
    lz_check(device, result, "zeEventQueryKernelTimestamp");
    return KW_ERR_UNSUPPORTED;
  }
  const uint64_t cycles = (to - from) & device->cycle_mask;
  /* More than half of the clock's range: `end` was passed first. */
  *out_ns = cycles > device->cycle_mask / 2 ? 0 : lz_nanoseconds(device, cycles);
  return KW_OK;
}
