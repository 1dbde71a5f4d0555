/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: one in-order command queue each.
 *
 * A host callback is a marker M, then a barrier on a user event U. The stream's callback thread waits for M, runs the
 * callback and completes U.
 */
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct callback {
  kw_gpu_callback base; /* first: the thread takes it for this */
  cl_event marker;      /* everything before the callback */
  cl_event gate;        /* user event: everything after it */
} callback;

static void callback_wait(kw_gpu_callback *base) {
  clWaitForEvents(1, &((callback *)base)->marker);
}

static void callback_done(kw_gpu_callback *base) {
  callback *entry = (callback *)base;
  clSetUserEventStatus(entry->gate, CL_COMPLETE);
  clReleaseEvent(entry->marker);
  clReleaseEvent(entry->gate);
  free(entry);
}

cl_command_queue ocl_stream_begin(ocl_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  return stream->queue;
}

/* Reports that the newest command has failed, if it has; the stream is locked. Event callbacks would tell sooner, but
 * PoCL 3.1 does not call them for a command that fails because one before it did. A failure is not missed this way: it
 * is either found here before the next command takes the newest's place, or that command fails with it. */
static void report_failure(ocl_stream *stream) {
  const kw_host_api *host = stream->device->base.host;
  cl_int state = CL_COMPLETE;
  if (!stream->last) return;
  clGetEventInfo(stream->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
  if (state >= 0) return;
  clReleaseEvent(stream->last);
  stream->last = NULL;
  if (stream->failed) return;
  char text[128];
  stream->failed = true;
  snprintf(text, sizeof text, "a command failed on the device: %s", ocl_error_name(state));
  host->report_async_error(host->ctx, stream->token, stream->last_call, ocl_error_status(state), text);
}

kw_status ocl_stream_end(ocl_stream *stream, cl_int error, cl_event event, uint64_t call_id, const char *what) {
  if (error == CL_SUCCESS) {
    report_failure(stream);
    if (stream->last) clReleaseEvent(stream->last);
    stream->last = event;
    stream->last_call = call_id;
    error = clFlush(stream->queue);
  }
  pthread_mutex_unlock(&stream->lock);
  return error == CL_SUCCESS ? KW_OK : ocl_fail(stream->device->base.host, error, what);
}

static kw_status stream_create(void *state, const kw_stream_info *info, void **out_stream) {
  ocl_device *device = state;
  cl_int error = CL_SUCCESS;
  ocl_stream *stream = calloc(1, sizeof *stream);
  if (!stream) return ocl_fail(device->base.host, CL_OUT_OF_HOST_MEMORY, "creating a stream");
  stream->queue = clCreateCommandQueue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE, &error);
  if (error != CL_SUCCESS) {
    free(stream);
    return ocl_fail(device->base.host, error, "clCreateCommandQueue");
  }
  stream->device = device;
  stream->token = info->token;
  pthread_mutex_init(&stream->lock, NULL);
  *out_stream = stream;
  return KW_OK;
}

static kw_status stream_synchronize(void *state, void *handle) {
  (void)state;
  ocl_stream *stream = handle;
  cl_int error = clFinish(stream->queue);
  pthread_mutex_lock(&stream->lock);
  report_failure(stream);
  stream->failed = false;
  pthread_mutex_unlock(&stream->lock);
  return error == CL_SUCCESS ? KW_OK : ocl_fail(stream->device->base.host, error, "clFinish");
}

static kw_status stream_destroy(void *state, void *handle) {
  ocl_stream *stream = handle;
  kw_status status = stream_synchronize(state, stream);
  if (stream->callbacks) kw_gpu_callbacks_finish(stream->callbacks);
  if (stream->last) clReleaseEvent(stream->last);
  clReleaseCommandQueue(stream->queue);
  pthread_mutex_destroy(&stream->lock);
  free(stream);
  return status;
}

static kw_status stream_query(void *state, void *handle) {
  (void)state;
  ocl_stream *stream = handle;
  cl_int newest = CL_COMPLETE;
  pthread_mutex_lock(&stream->lock);
  report_failure(stream);
  if (stream->last) clGetEventInfo(stream->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof newest, &newest, NULL);
  pthread_mutex_unlock(&stream->lock);
  return newest > CL_COMPLETE ? KW_ERR_NOT_READY : KW_OK;
}

static kw_status stream_call_host(void *state, void *handle, uint64_t token) {
  (void)state;
  ocl_stream *stream = handle;
  const kw_host_api *host = stream->device->base.host;
  const char *what = "starting a stream's callback thread";
  cl_int error = CL_OUT_OF_HOST_MEMORY;
  cl_event barrier = NULL;
  callback *entry = calloc(1, sizeof *entry);
  if (!entry) return ocl_fail(host, error, what);
  entry->base = (kw_gpu_callback){.token = token, .wait = callback_wait, .done = callback_done};
  cl_command_queue queue = ocl_stream_begin(stream);
  if (!stream->callbacks) stream->callbacks = kw_gpu_callbacks_start(host);
  if (!stream->callbacks) goto failed;
  what = "clCreateUserEvent";
  entry->gate = clCreateUserEvent(stream->device->context, &error);
  if (error != CL_SUCCESS) goto failed;
  what = "clEnqueueMarkerWithWaitList";
  error = clEnqueueMarkerWithWaitList(queue, 0, NULL, &entry->marker);
  if (error != CL_SUCCESS) goto failed;
  what = "clEnqueueBarrierWithWaitList";
  error = clEnqueueBarrierWithWaitList(queue, 1, &entry->gate, &barrier);
  if (error != CL_SUCCESS) goto failed;
  kw_gpu_callbacks_push(stream->callbacks,
                        &entry->base); /* while locked: callbacks run in the order of their markers */
  return ocl_stream_end(stream, error, barrier, 0, "clFlush");

failed:
  if (entry->marker) clReleaseEvent(entry->marker);
  if (entry->gate) clReleaseEvent(entry->gate);
  free(entry);
  return ocl_stream_end(stream, error, NULL, 0, what);
}

const kw_stream_api ocl_stream_api = {
    .struct_size = sizeof ocl_stream_api,
    .create = stream_create,
    .destroy = stream_destroy,
    .synchronize = stream_synchronize,
    .query = stream_query,
    .call_host = stream_call_host,
};
