/* SPDX-License-Identifier: Apache-2.0
 *
 * The stream group: lists of commands, and a thread for the host's functions of a stream that has some.
 */
#include "kit.h"

#include <stdlib.h>

/* ---- Functions of the host's ------------------------------------------------------------------------------------- */

static void *callbacks_main(void *state) {
  kw_queue_stream *stream = state;
  kw_queue_device *device = stream->device;
  pthread_mutex_lock(&device->lock);
  while (stream->callback || !stream->ending) {
    kw_queue_command *command = stream->callback;
    if (!command) {
      pthread_cond_wait(&stream->called, &device->lock);
      continue;
    }
    pthread_mutex_unlock(&device->lock);
    device->host->run_callback(device->host->ctx, command->token);
    pthread_mutex_lock(&device->lock);
    stream->callback = NULL;
    ++stream->finished;
    free(command);
    kw_queue_advance(stream);
    pthread_cond_broadcast(&device->changed);
    pthread_cond_signal(&device->work);
  }
  pthread_mutex_unlock(&device->lock);
  return NULL;
}

static kw_status stream_call_host(void *device_ptr, void *stream_ptr, uint64_t token) {
  kw_queue_device *device = device_ptr;
  kw_queue_stream *stream = stream_ptr;
  kw_queue_command *command = kw_queue_command_make(stream, KW_QUEUE_CALLBACK, 0);
  if (!command) return KW_ERR_OUT_OF_MEMORY;
  command->token = token;
  pthread_mutex_lock(&device->lock);
  if (!stream->has_thread) stream->has_thread = kw_queue_start_thread(&stream->thread, callbacks_main, stream) == 0;
  const bool has_thread = stream->has_thread;
  pthread_mutex_unlock(&device->lock);
  if (has_thread) return kw_queue_command_put(command);
  free(command);
  return kw_queue_fail(device->host, KW_ERR_OUT_OF_MEMORY, "stream.call_host: no thread for it");
}

static bool has_finished(const kw_queue_stream *stream, uint64_t commands) {
  return stream->finished >= commands && kw_queue_all_told(stream->device);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

static kw_status stream_create(void *device_ptr, const kw_stream_info *info, void **out_stream) {
  kw_queue_device *device = device_ptr;
  kw_status status = kw_queue_check_critical(device->host, info->flags, info->next);
  if (status != KW_OK) return status;
  kw_queue_stream *stream = calloc(1, sizeof *stream);
  if (!stream) return kw_queue_fail(device->host, KW_ERR_OUT_OF_MEMORY, "stream.create: no host memory");
  stream->device = device;
  stream->token = info->token;
  stream->last = &stream->first;
  pthread_cond_init(&stream->called, NULL);
  pthread_mutex_lock(&device->lock);
  stream->queue = device->next_queue++ % device->driver->queues;
  stream->next = device->streams;
  device->streams = stream;
  pthread_mutex_unlock(&device->lock);
  *out_stream = stream;
  return KW_OK;
}

static kw_status stream_destroy(void *device_ptr, void *stream_ptr) {
  kw_queue_device *device = device_ptr;
  kw_queue_stream *stream = stream_ptr;
  const kw_queue_deadline never = kw_queue_deadline_in(KW_WAIT_FOREVER);
  pthread_mutex_lock(&device->lock);
  while (!has_finished(stream, stream->enqueued)) kw_queue_wait_changed(device, &never);
  stream->ending = true;
  pthread_cond_signal(&stream->called);
  kw_queue_stream **link = &device->streams;
  while (*link != stream) link = &(*link)->next;
  *link = stream->next;
  pthread_mutex_unlock(&device->lock);
  if (stream->has_thread) pthread_join(stream->thread, NULL);
  pthread_cond_destroy(&stream->called);
  free(stream);
  return KW_OK;
}

static kw_status stream_synchronize(void *device_ptr, void *stream_ptr, uint64_t timeout_ns) {
  kw_queue_device *device = device_ptr;
  kw_queue_stream *stream = stream_ptr;
  const kw_queue_deadline deadline = kw_queue_deadline_in(timeout_ns);
  pthread_mutex_lock(&device->lock);
  if (stream->has_thread && pthread_equal(pthread_self(), stream->thread)) {
    pthread_mutex_unlock(&device->lock);
    return kw_queue_fail(device->host, KW_ERR_BUSY, "stream.synchronize: from a function that the stream itself runs");
  }
  const uint64_t target = stream->enqueued; /* what is enqueued meanwhile is not waited for */
  while (!has_finished(stream, target) && kw_queue_wait_changed(device, &deadline)) continue;
  const kw_status status = has_finished(stream, target) ? KW_OK : KW_ERR_TIMEOUT;
  pthread_mutex_unlock(&device->lock);
  return status;
}

static kw_status stream_query(void *device_ptr, void *stream_ptr) {
  kw_queue_device *device = device_ptr;
  const kw_queue_stream *stream = stream_ptr;
  pthread_mutex_lock(&device->lock);
  const bool idle = has_finished(stream, stream->enqueued);
  pthread_mutex_unlock(&device->lock);
  return idle ? KW_OK : KW_ERR_NOT_READY;
}

const kw_stream_api kw_queue_stream_slots = {.struct_size = sizeof(kw_stream_api),
                                             .create = stream_create,
                                             .destroy = stream_destroy,
                                             .synchronize = stream_synchronize,
                                             .query = stream_query,
                                             .call_host = stream_call_host};
