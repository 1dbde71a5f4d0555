/* SPDX-License-Identifier: Apache-2.0
 *
 * Locks: `registry` guards the list of streams, pins and host callbacks; a stream's own mutex guards its error text. No
 * lock is held while a plugin or an application's function runs.
 */
#include "device/stream.h"

#include "device/allocator.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "op/op.h"
#include "base/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A function given to kw_stream_call_host that has not run yet. */
typedef struct host_callback {
  uint64_t token;
  kw_stream *stream;
  void (*fn)(void *user);
  void *user;
  struct host_callback *next;
} host_callback;

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t unpinned = PTHREAD_COND_INITIALIZER;
static kw_stream *streams;
static uint64_t last_stream_token;
static host_callback *callbacks, **callbacks_end = &callbacks; /* in order of their tokens */
static uint64_t last_callback_token;

static _Thread_local unsigned callback_depth;

/* ---- Looking up ------------------------------------------------------------------------------------------------- */

bool kw_stream_in_callback(void) {
  return callback_depth > 0;
}

kw_status kw_stream_may_wait(const char *function) {
  if (!kw_stream_in_callback()) return kw_fork_check();
  return kw_fail(KW_ERR_BUSY,
                 "%s: it waits for a stream, and a function run by kw_stream_call_host must not wait: the stream waits "
                 "for that function. Call it from another thread, or after the function has returned.",
                 function);
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

static kw_stream *pin(uint64_t token, bool idle_too) {
  pthread_mutex_lock(&registry);
  kw_stream *stream = streams;
  while (stream != NULL && stream->token != token) stream = stream->next;
  if (stream != NULL && stream->idle && !idle_too) stream = NULL;
  if (stream != NULL) {
    ++stream->pins;
    stream->marked |= stream->closing && !idle_too;
  }
  pthread_mutex_unlock(&registry);
  return stream;
}

kw_stream *kw_stream_pin(uint64_t token) {
  return pin(token, false);
}

static void wait_unpinned_locked(const kw_stream *stream) {
  while (stream->pins > 0) pthread_cond_wait(&unpinned, &registry);
}

static void unpin_locked(kw_stream *stream) {
  if (--stream->pins == 0) pthread_cond_broadcast(&unpinned);
}

void kw_stream_unpin(kw_stream *stream) {
  pthread_mutex_lock(&registry);
  unpin_locked(stream);
  pthread_mutex_unlock(&registry);
}

/* ---- Late errors ------------------------------------------------------------------------------------------------ */

/* The first one stays; later ones are consequences more often than news. */
void kw_stream_keep_error(kw_stream *stream, kw_status status, const char *text) {
  pthread_mutex_lock(&stream->mutex);
  if (atomic_load(&stream->sticky) == KW_OK) {
    snprintf(stream->error_text, sizeof stream->error_text, "%s", text);
    atomic_store(&stream->sticky, status);
  } else {
    kw_log(KW_LOG_INFO, "a further late error on a stream of %s: %s", stream->device->name, text);
  }
  pthread_mutex_unlock(&stream->mutex);
}

kw_status kw_stream_report_error(uint64_t token, uint64_t call_id, kw_status status, const char *message) {
  if (status == KW_OK) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "report_async_error: status is KW_OK. Report failures only.");
  }
  bool unknown = status < 0 || status >= KW_STATUS_COUNT;
  if (message == NULL || message[0] == 0) message = unknown ? "the plugin gave no text" : kw_status_name(status);
  const kw_op *op = kw_op_by_id(kw_call_id_op(call_id));
  kw_stream *stream = pin(token, true);
  if (stream == NULL) {
    kw_log(KW_LOG_WARN, "a late error of a stream that does not exist any more (token %" PRIu64 ", %s): %s", token,
           op != NULL ? op->schema.name : "unknown op", message);
    return KW_OK;
  }
  char number[40] = "";
  if (unknown) snprintf(number, sizeof number, " (unknown status %d)", (int)status);
  if (unknown) status = KW_ERR_INTERNAL;
  kw_device_note(stream->device, status);
  char text[sizeof stream->error_text];
  snprintf(text, sizeof text, "%s failed on %s after it was enqueued%s: %.600s\n%s",
           op != NULL ? op->schema.name : "an unknown operation", stream->device->name, number, message,
           status == KW_ERR_DEVICE_LOST
               ? "The device is lost: release its tensors, close it and open it again."
               : "What this stream wrote since its last synchronise is not to be trusted; the stream is usable again.");
  kw_stream_keep_error(stream, status, text);
  kw_stream_unpin(stream);
  return KW_OK;
}

/* Returns the stream's late error, once; that of a lost device each time. */
static kw_status surface_error(kw_stream *stream) {
  if (atomic_load(&stream->sticky) == KW_OK) return kw_device_check(stream->device);
  char text[sizeof stream->error_text];
  pthread_mutex_lock(&stream->mutex);
  kw_status status = atomic_load(&stream->sticky);
  memcpy(text, stream->error_text, sizeof text);
  if (status != KW_ERR_DEVICE_LOST) atomic_store(&stream->sticky, KW_OK);
  pthread_mutex_unlock(&stream->mutex);
  if (status == KW_OK) return kw_device_check(stream->device); /* another thread took it */
  return kw_fail(status, "%s", text);
}

/* ---- Waiting ---------------------------------------------------------------------------------------------------- */

void kw_stream_drain(kw_stream *stream) {
  kw_device *device = stream->device;
  if (atomic_load(&device->lost)) return;
  struct kw_word_check *check = kw_error_words_begin_check(stream);
  uint64_t begin = kw_trace_begin();
  kw_status status = device->plugin->stream.synchronize(device->handle, stream->handle);
  kw_trace_span("sync", "stream", device->name, begin);
  if (status != KW_OK) {
    status = kw_device_note(device, kw_from_plugin(status, "waiting for a stream of %s", device->name));
    kw_stream_keep_error(stream, status, kw_error_message());
  }
  kw_error_words_end_check(stream, check, status == KW_OK);
}

kw_status kw_stream_synchronize(kw_stream *stream) {
  if (stream == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_stream_synchronize: argument stream is NULL.");
  kw_status status = kw_stream_may_wait("kw_stream_synchronize");
  if (status == KW_OK) status = kw_stream_may_not_record("kw_stream_synchronize", stream);
  if (status != KW_OK) return status;
  kw_stream_drain(stream);
  return surface_error(stream);
}

/* Drains every stream of a device; with `out_status` the first late error surfaces there, otherwise all stay. */
static void drain_all(kw_device *device, kw_status *out_status) {
  pthread_mutex_lock(&registry);
  for (kw_stream *stream = streams; stream != NULL; stream = stream->next) {
    if (stream->device != device || stream->idle) continue; /* a stream being destroyed counts while it works */
    ++stream->pins;                                         /* keeps it in the list, too */
    pthread_mutex_unlock(&registry);
    kw_stream_drain(stream);
    if (out_status && *out_status == KW_OK) *out_status = surface_error(stream);
    pthread_mutex_lock(&registry);
    unpin_locked(stream);
  }
  pthread_mutex_unlock(&registry);
}

void kw_stream_drain_all(kw_device *device) {
  drain_all(device, NULL);
}

/* KW_OK, or KW_ERR_BUSY when a stream of the device records. */
static kw_status check_none_records(kw_device *device) {
  kw_status status = KW_OK;
  pthread_mutex_lock(&registry);
  for (kw_stream *stream = streams; stream != NULL && status == KW_OK; stream = stream->next) {
    if (stream->device == device) status = kw_stream_may_not_record("kw_device_synchronize", stream);
  }
  pthread_mutex_unlock(&registry);
  return status;
}

kw_status kw_stream_synchronize_all(kw_device *device) {
  kw_status status = kw_stream_may_wait("kw_device_synchronize");
  if (status == KW_OK) status = check_none_records(device);
  if (status == KW_OK) drain_all(device, &status);
  return status;
}

kw_status kw_stream_query(kw_stream *stream) {
  if (stream == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_stream_query: argument stream is NULL.");
  kw_device *device = stream->device;
  kw_status status = kw_device_check(device);
  if (status == KW_OK) status = kw_stream_may_not_record("kw_stream_query", stream);
  if (status != KW_OK) return status;
  if ((device->plugin->native & KW_NATIVE_QUERY) == 0) {
    status = kw_stream_may_wait("kw_stream_query");
    if (status != KW_OK) return status;
    kw_stream_drain(stream);
    return kw_device_check(device);
  }
  status = device->plugin->stream.query(device->handle, stream->handle);
  if (status == KW_OK || status == KW_ERR_NOT_READY) return status;
  return kw_device_note(device, kw_from_plugin(status, "asking whether a stream of %s is idle", device->name));
}

/* ---- Host callbacks --------------------------------------------------------------------------------------------- */

static void run_and_free(host_callback *callback) {
  ++callback_depth;
  callback->fn(callback->user);
  --callback_depth;
  free(callback);
}

/* Takes the callback out of the list; by token, or with token 0 the first one of a stream. */
static host_callback *take_callback(uint64_t token, const kw_stream *stream) {
  pthread_mutex_lock(&registry);
  host_callback **link = &callbacks;
  while (*link != NULL && (token != 0 ? (*link)->token != token : (*link)->stream != stream)) link = &(*link)->next;
  host_callback *callback = *link;
  if (callback != NULL) {
    *link = callback->next;
    if (callbacks_end == &callback->next) callbacks_end = link;
  }
  pthread_mutex_unlock(&registry);
  return callback;
}

kw_status kw_stream_run_callback(uint64_t callback_token) {
  host_callback *callback = callback_token == 0 ? NULL : take_callback(callback_token, NULL);
  if (callback == NULL) {
    return kw_fail(KW_ERR_NOT_FOUND,
                   "run_callback: there is no host function with token %" PRIu64
                   "; it never existed or has run already. Call it once per stream.call_host.",
                   callback_token);
  }
  run_and_free(callback);
  return KW_OK;
}

static kw_status enqueue_callback(host_callback *callback) {
  kw_stream *stream = callback->stream;
  kw_device *device = stream->device;
  pthread_mutex_lock(&registry);
  uint64_t token = callback->token = ++last_callback_token;
  *callbacks_end = callback;
  callbacks_end = &callback->next;
  pthread_mutex_unlock(&registry);
  kw_status status = device->plugin->stream.call_host(device->handle, stream->handle, token);
  if (status == KW_OK) return KW_OK;
  free(take_callback(token, NULL));
  return kw_device_note(device, kw_from_plugin(status, "enqueueing a host function on %s", device->name));
}

kw_status kw_stream_call_host(kw_stream *stream, void (*fn)(void *user), void *user) {
  if (stream == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_stream_call_host: argument stream is NULL.");
  if (fn == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_stream_call_host: argument fn is NULL.");
  kw_device *device = stream->device;
  kw_status status = kw_fork_check();
  if (status == KW_OK) status = kw_device_check(device);
  if (status == KW_OK) status = kw_stream_may_not_record("kw_stream_call_host", stream);
  bool native = (device->plugin->native & KW_NATIVE_CALL_HOST) != 0;
  if (status == KW_OK && !native) status = kw_stream_may_wait("kw_stream_call_host");
  if (status != KW_OK) return status;
  host_callback *callback = malloc(sizeof *callback);
  if (callback == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "kw_stream_call_host: the host is out of memory.");
  *callback = (host_callback){.stream = stream, .fn = fn, .user = user};
  /* fn may drop what keeps the device open; here it is needed until the plugin has returned. */
  atomic_fetch_add(&device->host_calls, 1);
  kw_device_retain(device);
  if (native) {
    status = enqueue_callback(callback);
  } else {
    kw_stream_drain(stream);
    run_and_free(callback);
  }
  atomic_fetch_sub(&device->host_calls, 1);
  kw_device_release(device);
  return status;
}

/* ---- Life ------------------------------------------------------------------------------------------------------- */

static kw_status create(kw_device *device, bool is_default, kw_stream **out_stream) {
  kw_stream *stream = calloc(1, sizeof *stream);
  if (stream == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "kw_stream_create: the host is out of memory.");
  stream->device = device;
  stream->is_default = is_default;
  pthread_mutex_init(&stream->mutex, NULL);
  pthread_mutex_lock(&registry);
  stream->token = ++last_stream_token;
  pthread_mutex_unlock(&registry);

  kw_stream_info info = {
      .struct_size = sizeof info, .flags = is_default ? KW_STREAM_DEFAULT : 0, .token = stream->token};
  kw_status status = device->plugin->stream.create(device->handle, &info, &stream->handle);
  if (status != KW_OK) {
    status = kw_device_note(device, kw_from_plugin(status, "creating a stream on %s", device->name));
    pthread_mutex_destroy(&stream->mutex);
    free(stream);
    return status;
  }
  pthread_mutex_lock(&registry);
  stream->next = streams;
  if (streams != NULL) streams->prev = stream;
  streams = stream;
  pthread_mutex_unlock(&registry);
  *out_stream = stream;
  return KW_OK;
}

/* Everything but the free: the plugin's stream is gone, and nobody finds this one any more. */
static kw_status close_stream(kw_stream *stream) {
  kw_device *device = stream->device;
  pthread_mutex_lock(&registry);
  stream->closing = true;
  wait_unpinned_locked(stream);
  pthread_mutex_unlock(&registry);

  kw_stream_drain(stream);
  /* Meanwhile the allocator may have pinned it: to wait for it, too, or to enqueue an event. */
  pthread_mutex_lock(&registry);
  stream->idle = true;
  wait_unpinned_locked(stream);
  bool marked = stream->marked;
  pthread_mutex_unlock(&registry);
  if (marked) kw_stream_drain(stream);
  kw_status status = device->plugin->stream.destroy(device->handle, stream->handle);
  if (status != KW_OK) {
    status = kw_device_note(device, kw_from_plugin(status, "destroying a stream of %s", device->name));
  }
  /* A plugin drops what is enqueued on a lost device; the promise that each function runs once holds all the same. */
  for (host_callback *callback; (callback = take_callback(0, stream)) != NULL;) run_and_free(callback);
  kw_error_words_free(stream);

  pthread_mutex_lock(&registry);
  wait_unpinned_locked(stream); /* late errors arrived during the destroy */
  if (stream->prev != NULL) stream->prev->next = stream->next;
  if (stream->next != NULL) stream->next->prev = stream->prev;
  if (streams == stream) streams = stream->next;
  pthread_mutex_unlock(&registry);
  if (atomic_load(&stream->sticky) != KW_OK && !atomic_load(&device->lost)) {
    kw_log(KW_LOG_WARN, "a stream of %s is destroyed with a late error that nobody asked for: %s", device->name,
           stream->error_text);
  }
  return status;
}

static void free_stream(kw_stream *stream) {
  pthread_mutex_destroy(&stream->mutex);
  free(stream);
}

kw_status kw_stream_create_default(kw_device *device) {
  return create(device, true, &device->default_stream);
}

void kw_stream_destroy_default(kw_device *device) {
  if (device->default_stream == NULL) return;
  if (close_stream(device->default_stream) != KW_OK) kw_log(KW_LOG_WARN, "%s", kw_error_message());
  free_stream(device->default_stream);
  device->default_stream = NULL;
}

kw_status kw_stream_create(kw_device *device, kw_stream **out_stream) {
  if (device == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_stream_create: argument device is NULL.");
  if (out_stream == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_stream_create: argument out_stream is NULL.");
  kw_status status = kw_fork_check();
  if (status == KW_OK) status = kw_device_check(device);
  if (status == KW_OK) status = create(device, false, out_stream);
  if (status == KW_OK) kw_device_retain(device);
  return status;
}

kw_status kw_stream_destroy(kw_stream *stream) {
  if (stream == NULL) return KW_OK;
  kw_device *device = stream->device;
  if (stream->is_default) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "kw_stream_destroy: this is the default stream of %s, which lives as long as the device. Close the "
                   "device instead.",
                   device->name);
  }
  kw_status status = kw_stream_may_wait("kw_stream_destroy");
  if (status == KW_OK) status = kw_stream_may_not_record("kw_stream_destroy", stream);
  if (status != KW_OK) return status;
  status = close_stream(stream);
  kw_allocator_forget_stream(stream);
  free_stream(stream);
  kw_device_release(device);
  return status;
}

kw_stream *kw_stream_default(kw_device *device) {
  return device == NULL ? NULL : device->default_stream;
}

kw_device *kw_stream_device(const kw_stream *stream) {
  return stream == NULL ? NULL : stream->device;
}
