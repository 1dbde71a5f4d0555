/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: one in-order command queue each.
 *
 * A host callback is a marker M, then a barrier on a user event U. A thread of the stream's own, started at its first
 * callback, waits for M, runs the callback and completes U: callbacks may block for long, and must hold up neither the
 * driver's threads nor other streams.
 */
#include "opencl.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct callback {
  struct callback *next;
  uint64_t token;
  cl_event marker; /* everything before the callback */
  cl_event gate;   /* user event: everything after it */
} callback;

struct ocl_callbacks {
  const kw_host_api *host;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  callback *first, **end;
  bool stop;
};

static void *callbacks_main(void *argument) {
  struct ocl_callbacks *self = argument;
  fesetenv(FE_DFL_ENV); /* not what the thread that asked for it has set */
  pthread_mutex_lock(&self->lock);
  for (;;) {
    callback *entry = self->first;
    if (!entry) {
      if (self->stop) break;
      pthread_cond_wait(&self->changed, &self->lock);
      continue;
    }
    self->first = entry->next;
    if (!self->first) self->end = &self->first;
    pthread_mutex_unlock(&self->lock);
    /* Even when the work before has failed: a token runs exactly once. */
    clWaitForEvents(1, &entry->marker);
    self->host->run_callback(self->host->ctx, entry->token);
    clSetUserEventStatus(entry->gate, CL_COMPLETE);
    clReleaseEvent(entry->marker);
    clReleaseEvent(entry->gate);
    free(entry);
    pthread_mutex_lock(&self->lock);
  }
  pthread_mutex_unlock(&self->lock);
  return NULL;
}

static struct ocl_callbacks *callbacks_start(const kw_host_api *host) {
  struct ocl_callbacks *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->host = host;
  self->end = &self->first;
  pthread_mutex_init(&self->lock, NULL);
  pthread_cond_init(&self->changed, NULL);
  if (pthread_create(&self->thread, NULL, callbacks_main, self) != 0) {
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
    return NULL;
  }
  return self;
}

static void callbacks_push(struct ocl_callbacks *self, callback *entry) {
  pthread_mutex_lock(&self->lock);
  *self->end = entry;
  self->end = &entry->next;
  pthread_cond_signal(&self->changed);
  pthread_mutex_unlock(&self->lock);
}

/* Runs what is queued, then ends the thread. */
static void callbacks_finish(struct ocl_callbacks *self) {
  pthread_mutex_lock(&self->lock);
  self->stop = true;
  pthread_cond_signal(&self->changed);
  pthread_mutex_unlock(&self->lock);
  pthread_join(self->thread, NULL);
  pthread_cond_destroy(&self->changed);
  pthread_mutex_destroy(&self->lock);
  free(self);
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
  if (stream->callbacks) callbacks_finish(stream->callbacks);
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
  entry->token = token;
  cl_command_queue queue = ocl_stream_begin(stream);
  if (!stream->callbacks) stream->callbacks = callbacks_start(host);
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
  callbacks_push(stream->callbacks, entry); /* while locked: callbacks run in the order of their markers */
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
