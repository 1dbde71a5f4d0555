/* SPDX-License-Identifier: Apache-2.0
 *
 * Activity records: a command's mark is its own event, with the profiling times of its stream's queue.
 */
#include "opencl.h"

void ocl_activity_note(ocl_stream *stream, cl_event event, kw_activity_kind kind, uint64_t call_id) {
  if (!event || !kw_gpu_activity_on(stream->base.device)) return;
  clRetainEvent(event);
  kw_gpu_activity_note(&stream->base, kind, call_id, event);
}

bool ocl_mark_passed(kw_gpu_device *device, void *event) {
  (void)device;
  return ocl_event_poll(event) == KW_OK;
}

bool ocl_mark_times(kw_gpu_device *device, void *event, uint64_t *out_begin, uint64_t *out_end) {
  cl_ulong begin = 0, end = 0;
  if (!((const ocl_device *)device)->has_clock) return false;
  cl_int error = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
  if (error == CL_SUCCESS) error = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
  *out_begin = begin;
  *out_end = end;
  return error == CL_SUCCESS;
}

void ocl_mark_drop(kw_gpu_device *device, void *event) {
  (void)device;
  clReleaseEvent(event);
}

/* By a marker that nothing is before, on a queue of the device's own: behind a stream's work it would wait for that.
 * OpenCL 1.2 has no other way to ask. */
kw_status ocl_device_now(kw_gpu_device *base, uint64_t *out_ns) {
  ocl_device *device = (ocl_device *)base;
  cl_event marker = NULL;
  cl_ulong passed = 0;
  cl_int error;
  cl_command_queue queue = ocl_own_queue(device, &device->clock, CL_QUEUE_PROFILING_ENABLE, &error);
  if (error == CL_SUCCESS) error = clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker);
  if (error == CL_SUCCESS) {
    error = ocl_wait(marker);
    if (error == CL_SUCCESS)
      error = clGetEventProfilingInfo(marker, CL_PROFILING_COMMAND_END, sizeof passed, &passed, NULL);
    clReleaseEvent(marker);
  }
  *out_ns = passed;
  return ocl_check(base->host, error, "reading the clock by a marker");
}
