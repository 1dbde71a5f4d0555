/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: one in-order command queue each; and queues of the device's own, which no stream's work is on.
 *
 * A host callback is a marker M, then a barrier on a user event U. The stream's callback thread waits for M, runs the
 * callback and completes U.
 */
#include "opencl.h"

#include <stdio.h>

/* ---- Queues of the device's own ---------------------------------------------------------------------------------- */

cl_command_queue ocl_own_queue(ocl_device *device, cl_command_queue *kept, cl_command_queue_properties properties,
                               cl_int *out_error) {
  *out_error = CL_SUCCESS;
  pthread_mutex_lock(&device->base.lock);
  if (!*kept) *kept = clCreateCommandQueue(device->context, device->id, properties, out_error);
  cl_command_queue queue = *kept;
  pthread_mutex_unlock(&device->base.lock);
  return queue;
}

/* ---- Appending, under the stream's lock -------------------------------------------------------------------------- */

/* Reports that the newest command has failed, if it has. Event callbacks would tell sooner, but PoCL 3.1 does not call
 * them for a command that fails because one before it did. A failure is not missed this way: it is either found here
 * before the next command takes the newest's place, or that command fails with it. */
static void report_failure(ocl_stream *stream) {
  cl_int state = CL_COMPLETE;
  char text[128];
  if (!stream->last) return;
  clGetEventInfo(stream->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
  if (state >= 0) return;
  clReleaseEvent(stream->last);
  stream->last = NULL;
  snprintf(text, sizeof text, "a command failed on the device: %s", ocl_error_name(state));
  kw_gpu_stream_fail(&stream->base, stream->last_call, ocl_error_status(state), text);
}

static kw_status append(ocl_stream *stream, cl_int error, cl_event event, uint64_t call_id, const char *what) {
  if (error == CL_SUCCESS) {
    report_failure(stream);
    if (stream->last) clReleaseEvent(stream->last);
    stream->last = event;
    stream->last_call = call_id;
    error = clFlush(stream->queue);
  }
  return ocl_check(stream->base.device->host, error, what);
}

cl_command_queue ocl_stream_begin(ocl_stream *stream) {
  const bool entered = ocl_enter((const ocl_device *)stream->base.device);
  pthread_mutex_lock(&stream->base.lock);
  stream->entered = entered;
  return entered ? stream->queue : NULL;
}

kw_status ocl_stream_end(ocl_stream *stream, cl_int error, cl_event event, uint64_t call_id, const char *what) {
  kw_status status = append(stream, error, event, call_id, what);
  const bool entered = stream->entered;
  pthread_mutex_unlock(&stream->base.lock);
  if (entered) ocl_leave((const ocl_device *)stream->base.device);
  return status;
}

/* ---- Life and waiting -------------------------------------------------------------------------------------------- */

kw_status ocl_stream_create(kw_gpu_stream *base, uint64_t flags) {
  ocl_stream *stream = (ocl_stream *)base;
  const ocl_device *device = (const ocl_device *)base->device;
  cl_int error = CL_SUCCESS;
  (void)flags;
  if (!ocl_enter(device)) return ocl_check(base->device->host, CL_INVALID_CONTEXT, "clCreateCommandQueue");
  stream->queue = clCreateCommandQueue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE, &error);
  ocl_leave(device);
  return ocl_check(base->device->host, error, "clCreateCommandQueue");
}

kw_status ocl_stream_destroy(kw_gpu_stream *base) {
  ocl_stream *stream = (ocl_stream *)base;
  const ocl_device *device = (const ocl_device *)base->device;
  if (!ocl_enter(device)) return KW_OK; /* it is gone */
  if (stream->last) clReleaseEvent(stream->last);
  cl_int error = clReleaseCommandQueue(stream->queue);
  ocl_leave(device);
  return ocl_check(base->device->host, error, "clReleaseCommandQueue");
}

cl_int ocl_wait(cl_event event) {
  ocl_flags before;
  ocl_flags_take(&before);
  cl_int error = clWaitForEvents(1, &event);
  ocl_flags_set_back(&before);
  return error;
}

kw_status ocl_event_poll(void *event) {
  cl_int state = CL_COMPLETE;
  clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
  return state > CL_COMPLETE ? KW_ERR_NOT_READY : KW_OK;
}

/* For as long as the newest command of now runs, those of later not among them: clFinish of PoCL waits for these, too.
 */
static kw_status wait_for_newest(ocl_stream *stream, uint64_t timeout_ns) {
  pthread_mutex_lock(&stream->base.lock);
  cl_event newest = stream->last;
  if (newest) clRetainEvent(newest);
  pthread_mutex_unlock(&stream->base.lock);
  if (!newest) return KW_OK;
  cl_int error = CL_SUCCESS;
  kw_status status = KW_OK;
  if (timeout_ns == KW_WAIT_FOREVER) {
    error = ocl_wait(newest);
  } else {
    status = kw_gpu_poll(ocl_event_poll, newest, timeout_ns);
  }
  clReleaseEvent(newest);
  if (error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) return KW_OK; /* report_failure says which */
  return status == KW_OK ? ocl_check(stream->base.device->host, error, "clWaitForEvents") : status;
}

kw_status ocl_stream_synchronize(kw_gpu_stream *base, uint64_t timeout_ns) {
  ocl_stream *stream = (ocl_stream *)base;
  kw_status status = wait_for_newest(stream, timeout_ns);
  if (status == KW_ERR_TIMEOUT) return status;
  pthread_mutex_lock(&base->lock);
  report_failure(stream);
  base->failed = false;
  pthread_mutex_unlock(&base->lock);
  return status;
}

kw_status ocl_stream_query(kw_gpu_stream *base) {
  ocl_stream *stream = (ocl_stream *)base;
  cl_int newest = CL_COMPLETE;
  pthread_mutex_lock(&base->lock);
  report_failure(stream);
  if (stream->last) clGetEventInfo(stream->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof newest, &newest, NULL);
  pthread_mutex_unlock(&base->lock);
  return newest > CL_COMPLETE ? KW_ERR_NOT_READY : KW_OK;
}

/* ---- Host callbacks ---------------------------------------------------------------------------------------------- */

static void release(const ocl_callback *callback) {
  if (callback->marker) clReleaseEvent(callback->marker);
  if (callback->gate) clReleaseEvent(callback->gate);
}

kw_status ocl_callback_hold(kw_gpu_callback *base) {
  ocl_callback *callback = (ocl_callback *)base;
  ocl_stream *stream = (ocl_stream *)base->stream;
  const char *what = "clCreateUserEvent";
  cl_event barrier = NULL;
  cl_int error;
  callback->gate = clCreateUserEvent(((const ocl_device *)base->stream->device)->context, &error);
  if (error == CL_SUCCESS) {
    what = "clEnqueueMarkerWithWaitList";
    error = clEnqueueMarkerWithWaitList(stream->queue, 0, NULL, &callback->marker);
  }
  if (error == CL_SUCCESS) {
    what = "clEnqueueBarrierWithWaitList";
    error = clEnqueueBarrierWithWaitList(stream->queue, 1, &callback->gate, &barrier);
  }
  kw_status status = append(stream, error, barrier, 0, what);
  if (status != KW_OK) {
    if (barrier) clSetUserEventStatus(callback->gate, CL_COMPLETE); /* it is in the queue all the same */
    release(callback);
  }
  return status;
}

void ocl_callback_wait(kw_gpu_callback *callback) {
  clWaitForEvents(1, &((ocl_callback *)callback)->marker);
}

void ocl_callback_done(kw_gpu_callback *callback) {
  clSetUserEventStatus(((ocl_callback *)callback)->gate, CL_COMPLETE);
  release((ocl_callback *)callback);
}
