/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of all streams, and what a thread may do with one.
 *
 * Locks: `lock` guards the list and pins. No lock is held while a plugin or an application's function runs.
 */
#include "device/stream.h"

#include "base/error.h"
#include "base/fork.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t unpinned = PTHREAD_COND_INITIALIZER;
static kw_stream *streams;
static uint64_t last_token;

static _Thread_local unsigned callback_depth;

/* ---- The list of all ----------------------------------------------------------------------------------------------
 */

uint64_t kw_stream_new_token(void) {
  pthread_mutex_lock(&lock);
  uint64_t token = ++last_token;
  pthread_mutex_unlock(&lock);
  return token;
}

void kw_stream_add(kw_stream *stream) {
  pthread_mutex_lock(&lock);
  stream->next = streams;
  if (streams != NULL) streams->prev = stream;
  streams = stream;
  pthread_mutex_unlock(&lock);
}

static kw_stream *pin(uint64_t token, bool idle_too) {
  pthread_mutex_lock(&lock);
  kw_stream *stream = streams;
  while (stream != NULL && stream->token != token) stream = stream->next;
  if (stream != NULL && stream->idle && !idle_too) stream = NULL;
  if (stream != NULL) {
    ++stream->pins;
    stream->marked |= stream->closing && !idle_too;
  }
  pthread_mutex_unlock(&lock);
  return stream;
}

kw_stream *kw_stream_pin(uint64_t token) {
  return pin(token, false);
}

kw_stream *kw_stream_pin_until_removed(uint64_t token) {
  return pin(token, true);
}

static void wait_unpinned_locked(const kw_stream *stream) {
  while (stream->pins > 0) pthread_cond_wait(&unpinned, &lock);
}

static void unpin_locked(kw_stream *stream) {
  if (--stream->pins == 0) pthread_cond_broadcast(&unpinned);
}

void kw_stream_unpin(kw_stream *stream) {
  pthread_mutex_lock(&lock);
  unpin_locked(stream);
  pthread_mutex_unlock(&lock);
}

/* A pin keeps `previous` in the list, so that its neighbour is found. */
kw_stream *kw_stream_pin_next(const kw_device *device, kw_stream *previous) {
  pthread_mutex_lock(&lock);
  kw_stream *stream = previous != NULL ? previous->next : streams;
  while (stream != NULL && (stream->device != device || stream->idle)) stream = stream->next;
  if (stream != NULL) ++stream->pins;
  if (previous != NULL) unpin_locked(previous);
  pthread_mutex_unlock(&lock);
  return stream;
}

void kw_stream_begin_closing(kw_stream *stream) {
  pthread_mutex_lock(&lock);
  stream->closing = true;
  wait_unpinned_locked(stream);
  pthread_mutex_unlock(&lock);
}

/* While the work was waited for the allocator may have pinned the stream: to wait for it, too, or to enqueue an event.
 */
bool kw_stream_set_idle(kw_stream *stream) {
  pthread_mutex_lock(&lock);
  stream->idle = true;
  wait_unpinned_locked(stream);
  bool marked = stream->marked;
  pthread_mutex_unlock(&lock);
  return marked;
}

void kw_stream_stop_closing(kw_stream *stream) {
  pthread_mutex_lock(&lock);
  stream->closing = stream->idle = false;
  pthread_mutex_unlock(&lock);
}

void kw_stream_remove(kw_stream *stream) {
  pthread_mutex_lock(&lock);
  wait_unpinned_locked(stream); /* late errors arrived during the destroy */
  if (stream->prev != NULL) stream->prev->next = stream->next;
  if (stream->next != NULL) stream->next->prev = stream->prev;
  if (streams == stream) streams = stream->next;
  pthread_mutex_unlock(&lock);
}

kw_status kw_stream_resolve(const char *function, kw_device *device, kw_stream *stream, kw_stream **out_stream) {
  if (stream == NULL) stream = device->default_stream;
  if (stream->device != device) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument stream belongs to %s, not to %s. Use a stream of %s.",
                   function, stream->device->name, device->name, device->name);
  }
  *out_stream = stream;
  return KW_OK;
}

kw_stream *kw_stream_default(kw_device *device) {
  return device == NULL ? NULL : device->default_stream;
}

kw_device *kw_stream_device(const kw_stream *stream) {
  return stream == NULL ? NULL : stream->device;
}

/* ---- Who may wait -------------------------------------------------------------------------------------------------
 */

bool kw_stream_in_callback(void) {
  return callback_depth > 0;
}

void kw_stream_enter_callback(void) {
  ++callback_depth;
}

void kw_stream_leave_callback(void) {
  --callback_depth;
}

kw_status kw_stream_may_wait(const char *function) {
  if (!kw_stream_in_callback()) return kw_fork_check();
  return kw_fail(KW_ERR_BUSY,
                 "%s: it waits for a stream, and a function run by kw_stream_call_host must not wait: the stream waits "
                 "for that function. Call it from another thread, or after the function has returned.",
                 function);
}

/* ---- Recording ----------------------------------------------------------------------------------------------------
 */

uintptr_t kw_stream_this_thread(void) {
  static _Thread_local char name; /* its address */
  return (uintptr_t)&name;
}

kw_status kw_stream_may_not_record(const char *function, kw_stream *stream) {
  uintptr_t recorder = atomic_load(&stream->recorder);
  if (recorder == 0) return KW_OK;
  if (recorder != kw_stream_this_thread()) {
    return kw_fail(KW_ERR_BUSY,
                   "%s: another thread records a graph on this stream of %s, and has it for itself until kw_graph_end. "
                   "Use another stream.",
                   function, stream->device->name);
  }
  return kw_fail(KW_ERR_BUSY,
                 "%s: the stream of %s records a graph, and this has no place in one: what was recorded runs when the "
                 "graph is launched. End the recording first (kw_graph_end), or use another stream.",
                 function, stream->device->name);
}
