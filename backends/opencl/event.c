/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: a marker command's cl_event for each record.
 */
#include "opencl.h"

void ocl_event_keep(void *event) {
  clRetainEvent(event);
}

void ocl_event_drop(void *event) {
  clReleaseEvent(event);
}

kw_status ocl_event_record(kw_gpu_stream *base, void **out_event) {
  ocl_stream *stream = (ocl_stream *)base;
  cl_event marker = NULL;
  cl_int error = clEnqueueMarkerWithWaitList(ocl_stream_begin(stream), 0, NULL, &marker);
  if (error == CL_SUCCESS) clRetainEvent(marker); /* one reference for the stream, one for the caller */
  kw_status status = ocl_stream_end(stream, error, marker, 0, "clEnqueueMarkerWithWaitList");
  if (status == KW_OK) {
    *out_event = marker;
  } else if (marker) {
    clReleaseEvent(marker);
  }
  return status;
}

kw_status ocl_event_query(kw_gpu_device *device, void *event) {
  cl_int state = CL_COMPLETE;
  cl_int error = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
  if (error != CL_SUCCESS) return ocl_check(device->host, error, "clGetEventInfo");
  return state > CL_COMPLETE ? KW_ERR_NOT_READY : KW_OK;
}

kw_status ocl_event_synchronize(kw_gpu_device *device, void *event, uint64_t timeout_ns) {
  if (timeout_ns != KW_WAIT_FOREVER) return kw_gpu_poll(ocl_event_poll, event, timeout_ns);
  cl_int error = ocl_wait(event);
  if (error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) return KW_OK;
  return ocl_check(device->host, error, "clWaitForEvents");
}

kw_status ocl_event_wait(kw_gpu_stream *base, void *event) {
  ocl_stream *stream = (ocl_stream *)base;
  cl_event marker = event, barrier = NULL;
  cl_int error = clEnqueueBarrierWithWaitList(ocl_stream_begin(stream), 1, &marker, &barrier);
  return ocl_stream_end(stream, error, barrier, 0, "clEnqueueBarrierWithWaitList");
}

kw_status ocl_event_elapsed(kw_gpu_device *device, void *start, void *end, uint64_t *out_ns) {
  cl_ulong from = 0, to = 0; /* when the device passed each, on its own clock */
  if (!((const ocl_device *)device)->has_clock) return KW_ERR_UNSUPPORTED;
  cl_int error = clGetEventProfilingInfo(start, CL_PROFILING_COMMAND_END, sizeof from, &from, NULL);
  if (error == CL_SUCCESS) error = clGetEventProfilingInfo(end, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL);
  if (error != CL_SUCCESS) {
    ocl_check(device->host, error, "clGetEventProfilingInfo");
    return KW_ERR_UNSUPPORTED;
  }
  *out_ns = to > from ? to - from : 0;
  return KW_OK;
}
