/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between two streams, of one device or of two, that the calling thread does not wait for: kw_tensor_copy_async.
 *
 * Devices of different plugins know nothing of each other, so the host stands between them: a function in the order of
 * the one stream tells a function in the order of the other that what came before has passed.
 */
#include "base/error.h"
#include "base/fork.h"
#include "device/host_memory.h"
#include "device/late_error.h"
#include "device/wait.h"
#include "tensor/transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- One stream waits for another -------------------------------------------------------------------------------- */

/* What a function on each of the two streams holds. */
typedef struct crossing {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool passed;   /* the first stream has run everything that came before */
  unsigned refs; /* functions that have not run */
  uint64_t first, second;
} crossing;

static void leave(crossing *c) {
  pthread_mutex_lock(&c->mutex);
  const bool last = --c->refs == 0;
  pthread_mutex_unlock(&c->mutex);
  if (!last) return;
  pthread_cond_destroy(&c->changed);
  pthread_mutex_destroy(&c->mutex);
  free(c);
}

static void pass(void *user) {
  crossing *c = user;
  pthread_mutex_lock(&c->mutex);
  c->passed = true;
  pthread_cond_signal(&c->changed);
  pthread_mutex_unlock(&c->mutex);
  leave(c);
}

/* A lost device runs nothing any more, and its functions run only when its streams are destroyed. */
static bool is_lost(uint64_t token) {
  kw_stream *stream = kw_stream_pin(token);
  if (!stream) return false;
  const bool lost = atomic_load(&stream->device->lost);
  kw_stream_unpin(stream);
  return lost;
}

static void tell_second(const crossing *c) {
  kw_stream *stream = kw_stream_pin_until_removed(c->second);
  if (!stream) return;
  kw_late_error_keep(stream, KW_ERR_INTERNAL,
                     "kw_tensor_copy_async: the device that the copy waited for was lost: what this stream wrote since "
                     "its last synchronise is not to be trusted");
  kw_stream_unpin(stream);
}

static void wait_for_first(void *user) {
  crossing *c = user;
  bool lost = false;
  pthread_mutex_lock(&c->mutex);
  while (!c->passed && !lost) {
    struct timespec until; /* when to look whether the other device still lives */
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (pthread_cond_timedwait(&c->changed, &c->mutex, &until) != ETIMEDOUT) continue;
    pthread_mutex_unlock(&c->mutex);
    lost = is_lost(c->first);
    pthread_mutex_lock(&c->mutex);
  }
  lost = lost && !c->passed;
  pthread_mutex_unlock(&c->mutex);
  if (lost) tell_second(c);
  leave(c);
}

/* What `second` gets from now on runs after what `first` has now. */
static kw_status follow(kw_stream *first, kw_stream *second) {
  crossing *c = malloc(sizeof *c);
  if (!c) return kw_fail(KW_ERR_OUT_OF_MEMORY, "kw_tensor_copy_async: the host is out of memory");
  *c = (crossing){.refs = 2, .first = first->token, .second = second->token};
  pthread_mutex_init(&c->mutex, NULL);
  pthread_cond_init(&c->changed, NULL);
  kw_status status = kw_stream_call_host(first, pass, c);
  if (status != KW_OK) {
    leave(c); /* that of pass, which never runs */
    leave(c);
    return status;
  }
  status = kw_stream_call_host(second, wait_for_first, c);
  if (status != KW_OK) leave(c);
  return status;
}

/* ---- The copy ---------------------------------------------------------------------------------------------------- */

static const char function[] = "kw_tensor_copy_async";

static bool calls_host(const kw_stream *stream) {
  return (stream->device->plugin->native & KW_NATIVE_CALL_HOST) != 0;
}

static kw_status copy_on_one_device(kw_tensor *to, kw_stream *on, const kw_tensor *from, kw_stream *source) {
  if (on == source) return kw_tensor_copy_contiguous(to, from, on);
  kw_event *event;
  kw_status status = kw_event_create(on->device, &event);
  if (status != KW_OK) return status;
  status = kw_event_record(event, source);
  if (status == KW_OK) status = kw_stream_wait_event(on, event);
  if (status == KW_OK) status = kw_tensor_copy_contiguous(to, from, on);
  if (status == KW_OK) status = kw_event_record(event, on);
  if (status == KW_OK) status = kw_stream_wait_event(source, event);
  kw_event_destroy(event);
  return status;
}

static void free_staging(void *staging) {
  kw_host_memory_give(NULL, staging, true);
}

/* Through host memory of the copy's own, which the last function on `on` frees. */
static kw_status copy_through_host(kw_tensor *to, kw_stream *on, const kw_tensor *from, kw_stream *source) {
  const uint64_t size = kw_ref_extent(&from->ref);
  kw_host_memory *staging = kw_host_memory_take(size);
  if (!staging) return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: the host has no memory for the copy", function);
  kw_status status = kw_tensor_read_async(from, staging->bytes, source);
  if (status == KW_OK) status = follow(source, on);
  if (status != KW_OK) { /* what has been enqueued is on `source` */
    kw_host_memory_give(source, staging, false);
    return status;
  }
  status = kw_tensor_write_async(to, staging->bytes, on);
  if (status == KW_OK && kw_stream_call_host(on, free_staging, staging) == KW_OK) return KW_OK;
  kw_host_memory_give(on, staging, false);
  return status;
}

static kw_status check(kw_tensor *to, kw_stream **on, const kw_tensor *from, kw_stream **source) {
  kw_status status = kw_fork_check();
  if (status == KW_OK) status = kw_tensor_check(function, "to", to);
  if (status == KW_OK) status = kw_tensor_check(function, "from", from);
  if (status == KW_OK) status = kw_tensor_check_writable(function, to);
  if (status == KW_OK) status = kw_device_check(to->device);
  if (status == KW_OK) status = kw_device_check(from->device);
  if (status == KW_OK) status = kw_stream_resolve(function, to->device, *on, on);
  if (status == KW_OK) status = kw_stream_resolve(function, from->device, *source, source);
  if (status == KW_OK) status = kw_stream_may_not_record(function, *on);
  if (status == KW_OK) status = kw_stream_may_not_record(function, *source);
  if (status != KW_OK) return status;
  const kw_tensor_ref *a = &to->ref, *b = &from->ref;
  if (a->dtype == b->dtype && a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof a->shape[0]) == 0 &&
      kw_ref_is_contiguous(a) && kw_ref_is_contiguous(b)) {
    return KW_OK;
  }
  char left[256], right[256];
  return kw_fail(
      KW_ERR_INVALID_ARGUMENT,
      "%s: `to` is %s and `from` %s; both must have one dtype and shape and be contiguous: call copy_ on one "
      "device, or kw_tensor_to",
      function, kw_ref_describe(a, left, sizeof left), kw_ref_describe(b, right, sizeof right));
}

kw_status kw_tensor_copy_async(kw_tensor *to, kw_stream *to_stream, const kw_tensor *from, kw_stream *from_stream) {
  kw_stream *on = to_stream, *source = from_stream;
  kw_status status = check(to, &on, from, &source);
  if (status != KW_OK || from->ref.numel == 0) return status;
  if (to->device == from->device) return copy_on_one_device(to, on, from, source);
  if (!calls_host(on) || !calls_host(source)) return kw_tensor_copy_between(to, from, source, on);
  if (kw_tensor_may_copy_peer(to, from)) {
    status = follow(source, on);
    if (status != KW_OK) return status;
    if (kw_tensor_enqueue_peer_copy(to, from, on, &status)) return status == KW_OK ? follow(on, source) : status;
  }
  return copy_through_host(to, on, from, source);
}
