/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions given to kw_stream_call_host that have not returned yet, found by the token that the plugin gives back.
 */
#include "device/host_call.h"

#include "base/error.h"
#include "base/fork.h"
#include "device/wait.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct host_call {
  uint64_t token;
  kw_stream *stream;
  void (*fn)(void *user);
  void *user;
  bool runs;
  struct host_call *next;
} host_call;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* not held while a plugin or a function runs */
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static host_call *calls, **calls_end = &calls; /* in order of their tokens */
static uint64_t last_token;

static void run(host_call *call) {
  kw_stream_enter_callback();
  call->fn(call->user);
  kw_stream_leave_callback();
}

/* Under the lock: the first that has not begun, by token, or with token 0 of a stream. */
static host_call *find(uint64_t token, const kw_stream *stream) {
  host_call *call = calls;
  while (call != NULL && (call->runs || (token != 0 ? call->token != token : call->stream != stream))) {
    call = call->next;
  }
  return call;
}

/* It runs from here on, on the calling thread. */
static host_call *take(uint64_t token, const kw_stream *stream) {
  pthread_mutex_lock(&lock);
  host_call *call = find(token, stream);
  if (call != NULL) call->runs = true;
  pthread_mutex_unlock(&lock);
  return call;
}

/* Under the lock. */
static void remove_locked(host_call *call) {
  host_call **link = &calls;
  while (*link != call) link = &(*link)->next;
  *link = call->next;
  if (calls_end == &call->next) calls_end = link;
  free(call);
}

static void run_taken(host_call *call) {
  run(call);
  pthread_mutex_lock(&lock);
  remove_locked(call);
  pthread_cond_broadcast(&returned);
  pthread_mutex_unlock(&lock);
}

kw_status kw_host_call_run(uint64_t token) {
  host_call *call = token == 0 ? NULL : take(token, NULL);
  if (call == NULL) {
    return kw_fail(KW_ERR_NOT_FOUND,
                   "run_callback: there is no host function with token %" PRIu64
                   "; it never existed or has run already. Call it once per stream.call_host.",
                   token);
  }
  run_taken(call);
  return KW_OK;
}

/* Under the lock: whether a function of the stream's runs on another thread. A function waits for none: the other might
 * be waiting for it. */
static bool is_awaited(const kw_stream *stream) {
  if (kw_stream_in_callback()) return false;
  const host_call *call = calls;
  while (call != NULL && !(call->runs && call->stream == stream)) call = call->next;
  return call != NULL;
}

/* A plugin drops what is enqueued on a lost device; the promise that each function runs once holds all the same, and
 * that none runs any more when its stream is gone. */
void kw_host_call_run_dropped(const kw_stream *stream) {
  for (host_call *call; (call = take(0, stream)) != NULL;) run_taken(call);
  pthread_mutex_lock(&lock);
  while (is_awaited(stream)) pthread_cond_wait(&returned, &lock);
  pthread_mutex_unlock(&lock);
}

/* False: it runs, or has run. */
static bool withdraw(uint64_t token) {
  pthread_mutex_lock(&lock);
  host_call *call = find(token, NULL);
  if (call != NULL) remove_locked(call);
  pthread_mutex_unlock(&lock);
  return call != NULL;
}

static kw_status enqueue(host_call *call) {
  kw_stream *stream = call->stream;
  kw_device *device = stream->device;
  pthread_mutex_lock(&lock);
  uint64_t token = call->token = ++last_token;
  *calls_end = call;
  calls_end = &call->next;
  pthread_mutex_unlock(&lock);
  kw_status status = KW_ASK(device->slots, stream.call_host, device->handle, stream->handle, token);
  if (status == KW_OK || !withdraw(token)) return KW_OK; /* what runs was enqueued, whatever happened after that */
  return kw_device_mark_if_lost(device, kw_from_plugin(status, "enqueueing a host function on %s", device->name));
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
  host_call *call = malloc(sizeof *call);
  if (call == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "kw_stream_call_host: the host is out of memory.");
  *call = (host_call){.stream = stream, .fn = fn, .user = user};
  /* fn may drop what keeps the device open; here it is needed until the plugin has returned. */
  atomic_fetch_add(&device->host_calls, 1);
  kw_device_retain(device);
  if (native) {
    status = enqueue(call);
  } else if ((status = kw_stream_drain(stream)) == KW_ERR_TIMEOUT) {
    free(call);
  } else {
    status = KW_OK; /* a late error is the stream's */
    run(call);
    free(call);
  }
  atomic_fetch_sub(&device->host_calls, 1);
  kw_device_release(device);
  return status;
}
