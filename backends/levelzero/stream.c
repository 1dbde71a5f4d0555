/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: one immediate command list each. Such a list promises no order (in-order lists came after version 1.4), so
 * every command waits for the event of the one before and signals its own; the host waits for the newest's.
 *
 * A host callback is a barrier that waits for an event, the gate, which the callback's thread signals.
 */
#include "levelzero.h"

#include <stdlib.h>

/* A command that may not have finished. It holds references to all events that it has to do with. */
typedef struct lz_flight {
  lz_event *event, *previous, *other;
  uint64_t call_id;
} lz_flight;

/* ---- Commands in flight, under the stream's lock ----------------------------------------------------------------- */

static bool reserve_flight(lz_stream *stream) {
  if (stream->flight_count < stream->flight_capacity) return true;
  uint32_t capacity = stream->flight_capacity ? 2 * stream->flight_capacity : 64;
  lz_flight *flight = malloc(capacity * sizeof *flight);
  if (!flight) return false;
  for (uint32_t i = 0; i < stream->flight_count; ++i)
    flight[i] = stream->flight[(stream->flight_first + i) % stream->flight_capacity];
  free(stream->flight);
  stream->flight = flight;
  stream->flight_first = 0;
  stream->flight_capacity = capacity;
  return true;
}

static void report_failure(lz_stream *stream, ze_result_t result, uint64_t call_id) {
  const lz_device *device = stream->device;
  char text[600];
  if (stream->failed) return;
  stream->failed = true;
  lz_explain(device->driver, result, "a command failed on the device", text, sizeof text);
  device->base.host->report_async_error(device->base.host->ctx, stream->token, call_id, lz_result_status(result), text);
}

/* Lets go of the commands that have finished, and reports the first that failed. */
static void reap(lz_stream *stream) {
  while (stream->flight_count > 0) {
    lz_flight *oldest = &stream->flight[stream->flight_first];
    ze_result_t result = ze.EventQueryStatus(oldest->event->handle);
    if (result == ZE_RESULT_NOT_READY) return;
    if (result != ZE_RESULT_SUCCESS) report_failure(stream, result, oldest->call_id);
    lz_event_drop(stream->device, oldest->event);
    lz_event_drop(stream->device, oldest->previous);
    lz_event_drop(stream->device, oldest->other);
    stream->flight_first = (stream->flight_first + 1) % stream->flight_capacity;
    --stream->flight_count;
  }
}

/* ---- Appending --------------------------------------------------------------------------------------------------- */

lz_command lz_stream_begin(lz_stream *stream, lz_event *other) {
  lz_command command = {.result = ZE_RESULT_SUCCESS, .list = stream->list};
  pthread_mutex_lock(&stream->lock);
  if (stream->recording) {
    command.list = stream->recording;
    return command;
  }
  reap(stream);
  if (stream->flight_count > 0) command.previous = stream->last;
  command.other = other;
  if (command.previous) command.waits[command.wait_count++] = command.previous->handle;
  if (command.other) command.waits[command.wait_count++] = command.other->handle;
  if (!reserve_flight(stream)) {
    command.result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  } else {
    command.result = lz_event_take(stream->device, &command.event);
  }
  if (command.result == ZE_RESULT_SUCCESS) command.signal = command.event->handle;
  return command;
}

/* In a recorded list every command is followed by a barrier. */
static ze_result_t finish_recorded(const lz_command *command) {
  return ze.CommandListAppendBarrier(command->list, NULL, 0, NULL);
}

static void finish_immediate(lz_stream *stream, const lz_command *command, uint64_t call_id) {
  uint32_t end = (stream->flight_first + stream->flight_count++) % stream->flight_capacity;
  stream->flight[end] = (lz_flight){.event = command->event,
                                    .previous = lz_event_keep(command->previous),
                                    .other = lz_event_keep(command->other),
                                    .call_id = call_id};
  lz_event_drop(stream->device, stream->last);
  stream->last = lz_event_keep(command->event);
}

kw_status lz_stream_end(lz_stream *stream, lz_command *command, uint64_t call_id, const char *what) {
  const lz_device *device = stream->device;
  if (command->result == ZE_RESULT_SUCCESS) {
    if (command->event) {
      finish_immediate(stream, command, call_id);
    } else {
      command->result = finish_recorded(command);
    }
  } else {
    lz_event_drop(stream->device, command->event);
  }
  pthread_mutex_unlock(&stream->lock);
  return command->result == ZE_RESULT_SUCCESS ? KW_OK
                                              : lz_fail(device->base.host, device->driver, command->result, what);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

static kw_status stream_create(void *state, const kw_stream_info *info, void **out_stream) {
  lz_device *device = state;
  const kw_host_api *host = device->base.host;
  lz_stream *stream = calloc(1, sizeof *stream);
  if (!stream) return host->set_error(host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for a stream");
  stream->queue_desc =
      (ze_command_queue_desc_t){.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                .ordinal = device->queue_ordinal,
                                .index = atomic_fetch_add(&device->queues_given, 1) % device->queue_count,
                                .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
  ze_result_t result = ze.CommandListCreateImmediate(device->context, device->id, &stream->queue_desc, &stream->list);
  if (result != ZE_RESULT_SUCCESS) {
    free(stream);
    return lz_fail(host, device->driver, result, "zeCommandListCreateImmediate");
  }
  stream->device = device;
  stream->token = info->token;
  pthread_mutex_init(&stream->lock, NULL);
  *out_stream = stream;
  return KW_OK;
}

static kw_status stream_synchronize(void *state, void *handle) {
  lz_device *device = state;
  lz_stream *stream = handle;
  pthread_mutex_lock(&stream->lock);
  lz_event *last = lz_event_keep(stream->last);
  pthread_mutex_unlock(&stream->lock);
  ze_result_t result = last ? ze.EventHostSynchronize(last->handle, UINT64_MAX) : ZE_RESULT_SUCCESS;
  pthread_mutex_lock(&stream->lock);
  reap(stream);
  bool reported = stream->failed;
  stream->failed = false;
  pthread_mutex_unlock(&stream->lock);
  lz_event_drop(device, last);
  return result == ZE_RESULT_SUCCESS || reported
             ? KW_OK
             : lz_fail(device->base.host, device->driver, result, "zeEventHostSynchronize");
}

static kw_status stream_destroy(void *state, void *handle) {
  lz_device *device = state;
  lz_stream *stream = handle;
  kw_status status = stream_synchronize(state, stream);
  if (stream->callbacks) kw_gpu_callbacks_finish(stream->callbacks);
  lz_event_drop(device, stream->last);
  if (stream->queue) ze.CommandQueueDestroy(stream->queue);
  ze.CommandListDestroy(stream->list);
  pthread_mutex_destroy(&stream->lock);
  free(stream->flight);
  free(stream);
  return status;
}

static kw_status stream_query(void *state, void *handle) {
  (void)state;
  lz_stream *stream = handle;
  pthread_mutex_lock(&stream->lock);
  reap(stream);
  bool idle = stream->flight_count == 0;
  pthread_mutex_unlock(&stream->lock);
  return idle ? KW_OK : KW_ERR_NOT_READY;
}

typedef struct callback {
  kw_gpu_callback base; /* first: what the thread takes it for */
  lz_device *device;
  lz_event *before; /* everything before the callback; NULL when that has finished */
  lz_event *gate;   /* everything after it */
} callback;

static void callback_wait(kw_gpu_callback *base) {
  callback *self = (callback *)base;
  if (self->before) ze.EventHostSynchronize(self->before->handle, UINT64_MAX);
}

static void callback_done(kw_gpu_callback *base) {
  callback *self = (callback *)base;
  ze.EventHostSignal(self->gate->handle);
  lz_event_drop(self->device, self->before);
  lz_event_drop(self->device, self->gate);
  free(self);
}

static kw_status stream_call_host(void *state, void *handle, uint64_t token) {
  lz_device *device = state;
  lz_stream *stream = handle;
  const kw_host_api *host = device->base.host;
  callback *entry = calloc(1, sizeof *entry);
  if (!entry) return host->set_error(host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for a callback");
  *entry = (callback){.base = {.token = token, .wait = callback_wait, .done = callback_done}, .device = device};
  ze_result_t result = lz_event_take(device, &entry->gate);
  if (result != ZE_RESULT_SUCCESS) {
    free(entry);
    return lz_fail(host, device->driver, result, "making an event");
  }
  lz_command command = lz_stream_begin(stream, entry->gate);
  if (command.result == ZE_RESULT_SUCCESS && !stream->callbacks) {
    stream->callbacks = kw_gpu_callbacks_start(host);
    if (!stream->callbacks) command.result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  }
  if (command.result == ZE_RESULT_SUCCESS)
    command.result = ze.CommandListAppendBarrier(command.list, command.signal, command.wait_count, command.waits);
  const bool appended = command.result == ZE_RESULT_SUCCESS;
  entry->before = appended ? lz_event_keep(command.previous) : NULL;
  lz_event *gate = lz_event_keep(entry->gate); /* `end` names it, when the callback may have run already */
  if (appended) kw_gpu_callbacks_push(stream->callbacks, &entry->base); /* while locked: in the stream's order */
  kw_status status = lz_stream_end(stream, &command, 0, "zeCommandListAppendBarrier");
  lz_event_drop(device, gate);
  if (!appended) {
    lz_event_drop(device, entry->gate);
    free(entry);
  }
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
