/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin's events: each holds the driver's event of its last record.
 */
#include "levelzero.h"

static const kw_gpu_marker_api markers = {lz_event_keep, lz_event_drop};

static kw_status event_create(void *device, void **out_event) {
  *out_event = kw_gpu_marker_create(&markers);
  return lz_check(device, *out_event ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "creating an event");
}

static kw_status event_destroy(void *device, void *event) {
  (void)device;
  kw_gpu_marker_destroy(event);
  return KW_OK;
}

/* Appends a barrier behind everything before it, and behind `other`; `marker`, when there is one, gets its event. */
static kw_status append_barrier(lz_stream *stream, lz_event *other, kw_gpu_marker *marker) {
  lz_command command = lz_stream_begin(stream, other);
  if (command.result == ZE_RESULT_SUCCESS)
    command.result = ze.CommandListAppendBarrier(command.list, command.signal, command.wait_count, command.waits);
  if (command.result == ZE_RESULT_SUCCESS && marker) {
    lz_event_keep(command.event);
    kw_gpu_marker_set(marker, command.event);
  }
  return lz_stream_end(stream, &command, 0, "zeCommandListAppendBarrier");
}

static kw_status event_record(void *device, void *marker, void *stream) {
  (void)device;
  return append_barrier(stream, NULL, marker);
}

static kw_status event_wait(void *device, void *stream, void *marker) {
  (void)device;
  lz_event *event = kw_gpu_marker_get(marker);
  kw_status status = event ? append_barrier(stream, event, NULL) : KW_OK;
  lz_event_drop(event);
  return status;
}

/* Work that failed has passed as well: its stream reports the failure. */
static kw_status event_query(void *device, void *marker) {
  (void)device;
  lz_event *event = kw_gpu_marker_get(marker);
  ze_result_t result = event ? lz_event_wait(event, 0) : ZE_RESULT_SUCCESS;
  lz_event_drop(event);
  return result == ZE_RESULT_NOT_READY ? KW_ERR_NOT_READY : KW_OK;
}

static kw_status event_synchronize(void *device, void *marker) {
  (void)device;
  lz_event *event = kw_gpu_marker_get(marker);
  if (event) lz_event_wait(event, UINT64_MAX);
  lz_event_drop(event);
  return KW_OK;
}

/* When the device passed the marker, in cycles of its clock. */
static ze_result_t event_cycles(void *marker, uint64_t *out_cycles) {
  ze_kernel_timestamp_result_t stamp;
  lz_event *event = kw_gpu_marker_get(marker);
  ze_result_t result = event ? ze.EventQueryKernelTimestamp(event->handle, &stamp) : ZE_RESULT_NOT_READY;
  lz_event_drop(event);
  if (result == ZE_RESULT_SUCCESS) *out_cycles = stamp.global.kernelEnd;
  return result;
}

static kw_status event_elapsed(void *state, void *start, void *end, uint64_t *out_ns) {
  const lz_device *device = state;
  uint64_t from = 0, to = 0;
  ze_result_t result = event_cycles(start, &from);
  if (result == ZE_RESULT_SUCCESS) result = event_cycles(end, &to);
  if (result == ZE_RESULT_SUCCESS && device->cycles_per_second == 0) result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  if (result != ZE_RESULT_SUCCESS) {
    lz_check(device, result, "zeEventQueryKernelTimestamp");
    return KW_ERR_UNSUPPORTED;
  }
  uint64_t cycles = (to - from) & device->cycle_mask;
  uint64_t seconds = cycles / device->cycles_per_second, rest = cycles % device->cycles_per_second;
  /* More than half of the clock's range: `end` was passed first. */
  *out_ns = cycles > device->cycle_mask / 2
                ? 0
                : seconds * 1000000000u + (uint64_t)((double)rest * 1e9 / (double)device->cycles_per_second);
  return KW_OK;
}

const kw_event_api lz_event_api = {
    .struct_size = sizeof lz_event_api,
    .create = event_create,
    .destroy = event_destroy,
    .record = event_record,
    .query = event_query,
    .synchronize = event_synchronize,
    .wait = event_wait,
    .elapsed = event_elapsed,
};
