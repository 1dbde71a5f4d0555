/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: one immediate command list each. Such a list promises no order (in-order lists came after version 1.4), so
 * every command waits for the event of the one before and signals its own; the host waits for one after the other.
 *
 * A host callback is a barrier that waits for an event, the gate, which the callback's thread signals.
 */
#include "levelzero.h"

/* ---- Appending, under the stream's lock -------------------------------------------------------------------------- */

static uint64_t time_left(uint64_t begin, uint64_t timeout_ns) {
  const uint64_t passed = kw_gpu_now_ns() - begin;
  return timeout_ns == KW_WAIT_FOREVER ? timeout_ns : timeout_ns > passed ? timeout_ns - passed : 0;
}

/* As lz_event_wait, for a command and for the run of a graph that it is, if any: its event passes whether that has
 * failed or not, and a moment before the run is over. */
static ze_result_t command_wait(lz_event *event, lz_run *run, uint64_t timeout_ns) {
  const uint64_t begin = timeout_ns > 0 && run ? kw_gpu_now_ns() : 0;
  ze_result_t result = lz_event_wait(event, timeout_ns);
  if (result != ZE_RESULT_SUCCESS || !run) return result;
  result = lz_run_wait(run, timeout_ns > 0 ? time_left(begin, timeout_ns) : 0);
  if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY) lz_event_fail(event, result);
  return result;
}

/* Lets go of the commands that have finished, and reports the first that failed. */
static void reap(lz_stream *stream) {
  while (stream->oldest) {
    lz_event *event = stream->oldest;
    ze_result_t result = command_wait(event, event->run, 0);
    if (result == ZE_RESULT_NOT_READY) return;
    if (result != ZE_RESULT_SUCCESS)
      kw_gpu_stream_fail(&stream->base, event->call_id, lz_result_status(result), event->text);
    ++stream->finished;
    stream->oldest = event->next;
    if (!stream->oldest) stream->last = NULL;
    lz_run_drop(event->run);
    event->run = NULL;
    lz_event_drop(event->waits[0]);
    lz_event_drop(event->waits[1]);
    lz_event_drop(event);
  }
}

static lz_command begin(lz_stream *stream, lz_event *other) {
  lz_command command = {.result = ZE_RESULT_SUCCESS, .list = stream->list};
  if (stream->recording) {
    command.list = stream->recording;
    return command;
  }
  reap(stream);
  command.result = lz_event_take((lz_device *)stream->base.device, &command.event);
  if (command.result != ZE_RESULT_SUCCESS) return command;
  command.signal = command.event->handle;
  command.event->waits[0] = stream->last;
  command.event->waits[1] = other;
  for (int i = 0; i < 2; ++i)
    if (command.event->waits[i]) command.waits[command.wait_count++] = command.event->waits[i]->handle;
  return command;
}

static kw_status end(lz_stream *stream, lz_command *command, uint64_t call_id, const char *what) {
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
  return lz_check((const lz_device *)stream->base.device, command->result, what);
}

lz_command lz_stream_begin(lz_stream *stream, lz_event *other) {
  pthread_mutex_lock(&stream->base.lock);
  return begin(stream, other);
}

kw_status lz_stream_end(lz_stream *stream, lz_command *command, uint64_t call_id, const char *what) {
  kw_status status = end(stream, command, call_id, what);
  pthread_mutex_unlock(&stream->base.lock);
  return status;
}

/* ---- Life and waiting -------------------------------------------------------------------------------------------- */

ze_command_queue_desc_t lz_next_queue(lz_device *device) {
  return (ze_command_queue_desc_t){.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                   .ordinal = device->queue_ordinal,
                                   .index = atomic_fetch_add(&device->queues_given, 1) % device->queue_count,
                                   .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
}

kw_status lz_stream_create(kw_gpu_stream *base, uint64_t flags) {
  lz_device *device = (lz_device *)base->device;
  const ze_command_queue_desc_t queue = lz_next_queue(device);
  (void)flags;
  return lz_check(device,
                  ze.CommandListCreateImmediate(device->context, device->id, &queue, &((lz_stream *)base)->list),
                  "zeCommandListCreateImmediate");
}

kw_status lz_stream_destroy(kw_gpu_stream *stream) {
  ze.CommandListDestroy(((lz_stream *)stream)->list);
  return KW_OK;
}

/* Waits for one command after the other, so that the first to fail is known. */
kw_status lz_stream_synchronize(kw_gpu_stream *base, uint64_t timeout_ns) {
  lz_stream *stream = (lz_stream *)base;
  const uint64_t begin = kw_gpu_now_ns();
  ze_result_t result = ZE_RESULT_SUCCESS;
  pthread_mutex_lock(&base->lock);
  const uint64_t goal = stream->begun;
  for (reap(stream); stream->finished < goal && result != ZE_RESULT_NOT_READY; reap(stream)) {
    lz_event *event = stream->oldest;
    lz_run *run = event->run;
    lz_event_keep(event);
    lz_run_keep(run);
    pthread_mutex_unlock(&base->lock);
    result = command_wait(event, run, time_left(begin, timeout_ns));
    lz_run_drop(run);
    lz_event_drop(event);
    pthread_mutex_lock(&base->lock);
  }
  const bool passed = stream->finished >= goal;
  if (passed) base->failed = false;
  pthread_mutex_unlock(&base->lock);
  return passed ? KW_OK : KW_ERR_TIMEOUT;
}

kw_status lz_stream_query(kw_gpu_stream *base) {
  lz_stream *stream = (lz_stream *)base;
  pthread_mutex_lock(&base->lock);
  reap(stream);
  const bool idle = !stream->oldest;
  pthread_mutex_unlock(&base->lock);
  return idle ? KW_OK : KW_ERR_NOT_READY;
}

/* ---- Host callbacks ---------------------------------------------------------------------------------------------- */

kw_status lz_callback_hold(kw_gpu_callback *base) {
  lz_callback *callback = (lz_callback *)base;
  lz_stream *stream = (lz_stream *)base->stream;
  lz_device *device = (lz_device *)base->stream->device;
  kw_status status = lz_check(device, lz_event_take(device, &callback->gate), "preparing a host callback");
  if (status != KW_OK) return status;
  lz_command command = begin(stream, callback->gate);
  if (command.result == ZE_RESULT_SUCCESS)
    command.result = ze.CommandListAppendBarrier(command.list, command.signal, command.wait_count, command.waits);
  if (command.result == ZE_RESULT_SUCCESS) {
    callback->before = command.event->waits[0];
    lz_event_keep(callback->before);
  }
  status = end(stream, &command, 0, "zeCommandListAppendBarrier");
  if (status != KW_OK) lz_event_drop(callback->gate);
  return status;
}

void lz_callback_wait(kw_gpu_callback *base) {
  lz_event *before = ((lz_callback *)base)->before;
  if (before) lz_event_wait(before, UINT64_MAX);
}

void lz_callback_done(kw_gpu_callback *base) {
  lz_callback *callback = (lz_callback *)base;
  ze.EventHostSignal(callback->gate->handle);
  lz_event_drop(callback->before);
  lz_event_drop(callback->gate);
}
