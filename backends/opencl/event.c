/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl.h"

static void keep(void *event) {
  clRetainEvent(event);
}

static void drop(void *event) {
  clReleaseEvent(event);
}

static const kw_gpu_marker_api markers = {keep, drop};

static kw_status event_create(void *device, void **out_event) {
  *out_event = kw_gpu_marker_create(&markers);
  return *out_event ? KW_OK : ocl_fail(((ocl_device *)device)->base.host, CL_OUT_OF_HOST_MEMORY, "creating an event");
}

static kw_status event_destroy(void *device, void *event) {
  (void)device;
  kw_gpu_marker_destroy(event);
  return KW_OK;
}

static kw_status event_record(void *device, void *event, void *stream) {
  (void)device;
  cl_event marker = NULL;
  cl_command_queue queue = ocl_stream_begin(stream);
  cl_int error = clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker);
  if (error == CL_SUCCESS) {
    clRetainEvent(marker); /* one reference for the stream, one for the event */
    kw_gpu_marker_set(event, marker);
  }
  return ocl_stream_end(stream, error, marker, 0, "clEnqueueMarkerWithWaitList");
}

/* A command that failed has passed as well: its stream reports the failure. */
static kw_status event_query(void *device, void *event) {
  cl_event marker = kw_gpu_marker_get(event);
  cl_int state = CL_COMPLETE;
  if (!marker) return KW_OK;
  cl_int error = clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
  clReleaseEvent(marker);
  if (error != CL_SUCCESS) return ocl_fail(((ocl_device *)device)->base.host, error, "clGetEventInfo");
  return state > CL_COMPLETE ? KW_ERR_NOT_READY : KW_OK;
}

static kw_status event_synchronize(void *device, void *event) {
  cl_event marker = kw_gpu_marker_get(event);
  if (!marker) return KW_OK;
  cl_int error = clWaitForEvents(1, &marker);
  clReleaseEvent(marker);
  return error == CL_SUCCESS || error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
             ? KW_OK
             : ocl_fail(((ocl_device *)device)->base.host, error, "clWaitForEvents");
}

static kw_status event_wait(void *device, void *stream, void *event) {
  (void)device;
  cl_event barrier = NULL;
  cl_event marker = kw_gpu_marker_get(event);
  if (!marker) return KW_OK;
  cl_command_queue queue = ocl_stream_begin(stream);
  cl_int error = clEnqueueBarrierWithWaitList(queue, 1, &marker, &barrier);
  kw_status status = ocl_stream_end(stream, error, barrier, 0, "clEnqueueBarrierWithWaitList");
  clReleaseEvent(marker);
  return status;
}

/* When the device passed the marker, on its own clock. */
static cl_int event_time(void *event, cl_ulong *out_ns) {
  cl_event marker = kw_gpu_marker_get(event);
  if (!marker) return CL_PROFILING_INFO_NOT_AVAILABLE;
  cl_int error = clGetEventProfilingInfo(marker, CL_PROFILING_COMMAND_END, sizeof *out_ns, out_ns, NULL);
  clReleaseEvent(marker);
  return error;
}

static kw_status event_elapsed(void *device, void *start, void *end, uint64_t *out_ns) {
  cl_ulong from = 0, to = 0;
  cl_int error = event_time(start, &from);
  if (error == CL_SUCCESS) error = event_time(end, &to);
  if (error != CL_SUCCESS) {
    ocl_fail(((ocl_device *)device)->base.host, error, "clGetEventProfilingInfo");
    return KW_ERR_UNSUPPORTED;
  }
  *out_ns = to > from ? to - from : 0;
  return KW_OK;
}

const kw_event_api ocl_event_api = {
    .struct_size = sizeof ocl_event_api,
    .create = event_create,
    .destroy = event_destroy,
    .record = event_record,
    .query = event_query,
    .synchronize = event_synchronize,
    .wait = event_wait,
    .elapsed = event_elapsed,
};
