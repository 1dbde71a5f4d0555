/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: one immediate command list each. Such a list promises no order (in-order lists came after version 1.4), so
 * every command waits for the event of the one before and signals its own; the host waits for one after the other.
 *
 * A host callback is a barrier that waits for an event, the gate, which the callback's thread signals.
 */
#include "levelzero.h"

#include <stdlib.h>

/* ---- Appending, under the stream's lock -------------------------------------------------------------------------- */

static void report_failure(lz_stream *stream, const lz_event *event, ze_result_t result) {
  const kw_host_api *host = stream->device->base.host;
  if (!stream->failed)
    host->report_async_error(host->ctx, stream->token, event->call_id, lz_result_status(result), event->text);
  stream->failed = true;
}

/* Lets go of the commands that have finished, and reports the first that failed. */
static void reap(lz_stream *stream) {
  while (stream->oldest) {
    lz_event *event = stream->oldest;
    ze_result_t result = lz_event_wait(event, 0);
    if (result == ZE_RESULT_NOT_READY) return;
    if (result != ZE_RESULT_SUCCESS) report_failure(stream, event, result);
    ++stream->finished;
    stream->oldest = event->next;
    if (!stream->oldest) stream->last = NULL;
    lz_event_drop(event->waits[0]);
    lz_event_drop(event->waits[1]);
    lz_event_drop(event);
  }
}

lz_command lz_stream_begin(lz_stream *stream, lz_event *other) {
  lz_command command = {.result = ZE_RESULT_SUCCESS, .list = stream->list};
  pthread_mutex_lock(&stream->lock);
  if (stream->recording) {
    command.list = stream->recording;
    return command;
  }
  reap(stream);
  command.result = lz_event_take(stream->device, &command.event);
  if (command.result != ZE_RESULT_SUCCESS) return command;
  command.signal = command.event->handle;
  command.event->waits[0] = stream->last;
  command.event->waits[1] = other;
  for (int i = 0; i < 2; ++i)
    if (command.event->waits[i]) command.waits[command.wait_count++] = command.event->waits[i]->handle;
  return command;
}

kw_status lz_stream_end(lz_stream *stream, lz_command *command, uint64_t call_id, const char *what) {
  lz_event *event = command->event;
  if (command->result != ZE_RESULT_SUCCESS) {
    lz_event_drop(event);
  } else if (event) {
    lz_event_keep(event->waits[0]);
    lz_event_keep(event->waits[1]);
    event->call_id = call_id;
    event->next = NULL;
    *(stream->last ? &stream->last->next : &stream->oldest) = event;
    stream->last = event;
    ++stream->begun;
  } else { /* recorded: the next command comes behind a barrier */
    command->result = ze.CommandListAppendBarrier(command->list, NULL, 0, NULL);
  }
  pthread_mutex_unlock(&stream->lock);
  return lz_check(stream->device, command->result, what);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

ze_command_queue_desc_t lz_next_queue(lz_device *device) {
  return (ze_command_queue_desc_t){.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                   .ordinal = device->queue_ordinal,
                                   .index = atomic_fetch_add(&device->queues_given, 1) % device->queue_count,
                                   .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
}

static kw_status stream_create(void *state, const kw_stream_info *info, void **out_stream) {
  lz_device *device = state;
  lz_stream *stream = calloc(1, sizeof *stream);
  if (!stream) return lz_check(device, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "creating a stream");
  const ze_command_queue_desc_t queue = lz_next_queue(device);
  ze_result_t result = ze.CommandListCreateImmediate(device->context, device->id, &queue, &stream->list);
  if (result != ZE_RESULT_SUCCESS) {
    free(stream);
    return lz_check(device, result, "zeCommandListCreateImmediate");
  }
  stream->device = device;
  stream->token = info->token;
  pthread_mutex_init(&stream->lock, NULL);
  *out_stream = stream;
  return KW_OK;
}

/* Waits for one command after the other, so that the first to fail is known. */
static kw_status stream_synchronize(void *state, void *handle) {
  (void)state;
  lz_stream *stream = handle;
  pthread_mutex_lock(&stream->lock);
  const uint64_t goal = stream->begun;
  for (reap(stream); stream->finished < goal; reap(stream)) {
    lz_event *event = stream->oldest;
    lz_event_keep(event);
    pthread_mutex_unlock(&stream->lock);
    lz_event_wait(event, UINT64_MAX);
    lz_event_drop(event);
    pthread_mutex_lock(&stream->lock);
  }
  stream->failed = false;
  pthread_mutex_unlock(&stream->lock);
  return KW_OK;
}

static kw_status stream_destroy(void *state, void *handle) {
  lz_stream *stream = handle;
  kw_status status = stream_synchronize(state, stream);
  if (stream->callbacks) kw_gpu_callbacks_finish(stream->callbacks);
  ze.CommandListDestroy(stream->list);
  pthread_mutex_destroy(&stream->lock);
  free(stream);
  return status;
}

static kw_status stream_query(void *state, void *handle) {
  (void)state;
  lz_stream *stream = handle;
  pthread_mutex_lock(&stream->lock);
  reap(stream);
  bool idle = !stream->oldest;
  pthread_mutex_unlock(&stream->lock);
  return idle ? KW_OK : KW_ERR_NOT_READY;
}

typedef struct callback {
  kw_gpu_callback base; /* first: what the thread takes it for */
  lz_event *before;     /* everything before the callback; NULL when that has finished */
  lz_event *gate;       /* everything after it */
} callback;

static void callback_wait(kw_gpu_callback *base) {
  callback *self = (callback *)base;
  if (self->before) lz_event_wait(self->before, UINT64_MAX);
}

static void callback_done(kw_gpu_callback *base) {
  callback *self = (callback *)base;
  ze.EventHostSignal(self->gate->handle);
  lz_event_drop(self->before);
  lz_event_drop(self->gate);
  free(self);
}

static kw_status stream_call_host(void *state, void *handle, uint64_t token) {
  lz_device *device = state;
  lz_stream *stream = handle;
  lz_event *gate = NULL;
  callback *entry = calloc(1, sizeof *entry);
  ze_result_t result = entry ? lz_event_take(device, &gate) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  if (result != ZE_RESULT_SUCCESS) {
    free(entry);
    return lz_check(device, result, "preparing a host callback");
  }
  lz_command command = lz_stream_begin(stream, gate);
  if (command.result == ZE_RESULT_SUCCESS && !stream->callbacks) {
    stream->callbacks = kw_gpu_callbacks_start(device->base.host);
    if (!stream->callbacks) command.result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  }
  if (command.result == ZE_RESULT_SUCCESS)
    command.result = ze.CommandListAppendBarrier(command.list, command.signal, command.wait_count, command.waits);
  if (command.result == ZE_RESULT_SUCCESS) {
    *entry = (callback){{.token = token, .wait = callback_wait, .done = callback_done}, command.event->waits[0], gate};
    lz_event_keep(entry->before);
    lz_event_keep(entry->gate);
    kw_gpu_callbacks_push(stream->callbacks, &entry->base); /* while locked: in the stream's order */
  } else {
    free(entry);
  }
  kw_status status = lz_stream_end(stream, &command, 0, "zeCommandListAppendBarrier");
  lz_event_drop(gate);
  return status;
}

const kw_stream_api lz_stream_api = {
    .struct_size = sizeof lz_stream_api,
    .create = stream_create,
    .destroy = stream_destroy,
    .synchronize = stream_synchronize,
    .query = stream_query,
    .call_host = stream_call_host,
};
