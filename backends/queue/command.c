/* SPDX-License-Identifier: Apache-2.0
 *
 * Making commands and enqueueing them.
 */
#include "kit.h"

#include <stdlib.h>
#include <string.h>

kw_queue_command *kw_queue_command_make(kw_queue_stream *stream, kw_queue_kind kind, size_t size) {
  kw_queue_command *command = calloc(1, sizeof *command + size);
  if (!command) {
    kw_queue_fail(stream->device->host, KW_ERR_OUT_OF_MEMORY, "no host memory for a command of %zu bytes", size);
    return NULL;
  }
  command->kind = kind;
  command->stream = stream;
  command->size = size;
  command->ends = 1;
  command->flight.command = command;
  return command;
}

void kw_queue_command_put_locked(kw_queue_command *command) {
  kw_queue_stream *stream = command->stream;
  *stream->last = command;
  stream->last = &command->next;
  ++stream->enqueued;
  if (kw_queue_advance(stream)) pthread_cond_broadcast(&stream->device->changed);
  pthread_cond_signal(&stream->device->work);
}

kw_status kw_queue_command_put(kw_queue_command *command) {
  kw_queue_device *device = command->stream->device;
  pthread_mutex_lock(&device->lock);
  kw_queue_command_put_locked(command);
  pthread_mutex_unlock(&device->lock);
  return KW_OK;
}

kw_status kw_queue_enqueue(const kw_call *call, const void *bytes, size_t size) {
  kw_queue_command *command = kw_queue_command_make(call->stream, KW_QUEUE_WORK, size);
  if (!command) return KW_ERR_OUT_OF_MEMORY;
  command->call_id = call->call_id;
  memcpy(command->bytes, bytes, size);
  return kw_queue_command_put(command);
}

void *kw_queue_chip(const kw_call *call) {
  return ((kw_queue_device *)call->device)->chip;
}
