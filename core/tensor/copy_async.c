/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between two streams, of one device or of two, that the calling thread does not wait for: kw_tensor_copy_async.
 *
 * Devices of different plugins know nothing of each other, so the host stands between them: a function in the order of
 * the one stream tells a function in the order of the other that what came before has passed.
 */
#include "base/error.h"
#include "base/fork.h"
#include "device/abandon.h"
#include "device/host_memory.h"
#include "device/late_error.h"
#include "device/wait.h"
#include "tensor/transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- One stream waits for another -------------------------------------------------------------------------------- */

/* What the functions of a copy on both streams hold, a reference each. */
typedef struct crossing {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool passed; /* the first stream has run everything that came before, */
  bool lost;   /* or never will: its device is lost */
  unsigned refs;
  uint64_t first, second;
  kw_host_memory *staging; /* that both streams use; NULL: none */
} crossing;

/* What has become of a stream's device. One that is lost runs nothing any more, and its functions run only when its
 * streams are destroyed; one that was abandoned may still come to what it was given. */
typedef enum fate { HERE, LOST, ABANDONED } fate;

static fate fate_of(uint64_t token) {
  kw_stream *stream = kw_stream_pin_until_removed(token);
  if (!stream) return HERE; /* destroyed: all its functions have run */
  const kw_device *device = stream->device;
  const fate answer = kw_device_is_abandoned(device) ? ABANDONED : atomic_load(&device->lost) ? LOST : HERE;
  kw_stream_unpin(stream);
  return answer;
}

/* Also a function on a stream. */
static void leave(void *user) {
  crossing *c = user;
  pthread_mutex_lock(&c->mutex);
  const bool last = --c->refs == 0;
  pthread_mutex_unlock(&c->mutex);
  if (!last) return;
  if (c->staging && (fate_of(c->first) == ABANDONED || fate_of(c->second) == ABANDONED)) {
    kw_abandon_keep(c->staging);
  } else {
    kw_host_memory_give(NULL, c->staging, true);
  }
  pthread_cond_destroy(&c->changed);
  pthread_mutex_destroy(&c->mutex);
  free(c);
}

static void pass(void *user) {
  crossing *c = user;
  const bool lost = fate_of(c->first) != HERE;
  pthread_mutex_lock(&c->mutex);
  c->passed = true;
  c->lost = lost;
  pthread_cond_signal(&c->changed);
  pthread_mutex_unlock(&c->mutex);
  leave(c);
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
  pthread_mutex_lock(&c->mutex);
  while (!c->passed && !c->lost) {
    struct timespec until; /* when to look whether the other device still lives */
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (pthread_cond_timedwait(&c->changed, &c->mutex, &until) != ETIMEDOUT) continue;
    pthread_mutex_unlock(&c->mutex);
    const bool lost = fate_of(c->first) != HERE;
    pthread_mutex_lock(&c->mutex);
    c->lost |= lost && !c->passed;
  }
  const bool lost = c->lost;
  pthread_mutex_unlock(&c->mutex);
  if (lost) tell_second(c);
  leave(c);
}

/* With one reference; NULL, and a failure, when the host is out of memory. */
static crossing *make_crossing(const kw_stream *first, const kw_stream *second, kw_host_memory *staging) {
  crossing *c = malloc(sizeof *c);
  if (!c) {
    kw_fail(KW_ERR_OUT_OF_MEMORY, "kw_tensor_copy_async: the host is out of memory");
    return NULL;
  }
  *c = (crossing){.refs = 1, .first = first->token, .second = second->token, .staging = staging};
  pthread_mutex_init(&c->mutex, NULL);
  pthread_cond_init(&c->changed, NULL);
  return c;
}

/* The function, with a reference of its own. */
static kw_status enqueue(crossing *c, kw_stream *stream, void (*function)(void *)) {
  pthread_mutex_lock(&c->mutex);
  ++c->refs;
  pthread_mutex_unlock(&c->mutex);
  kw_status status = kw_stream_call_host(stream, function, c);
  if (status != KW_OK) leave(c);
  return status;
}

/* What `second` gets from now on runs after what `first` has now. */
static kw_status cross(crossing *c, kw_stream *first, kw_stream *second) {
  kw_status status = enqueue(c, first, pass);
  return status == KW_OK ? enqueue(c, second, wait_for_first) : status;
}

static kw_status follow(kw_stream *first, kw_stream *second) {
  crossing *c = make_crossing(first, second, NULL);
  if (!c) return KW_ERR_OUT_OF_MEMORY;
  kw_status status = cross(c, first, second);
  leave(c);
  return status;
}

/* ---- The copy ---------------------------------------------------------------------------------------------------- */

static const char function[] = "kw_tensor_copy_async";

static bool calls_host(const kw_stream *stream) {
  return (stream->device->plugin->native & KW_NATIVE_CALL_HOST) != 0;
}

static kw_status copy_on_one_device(kw_tensor *to, kw_stream *on, const kw_tensor *from, kw_stream *source) {
  if (on == source) return kw_tensor_copy_contiguous(to, from, on);
  kw_status status = kw_stream_follow(function, on, source);
  if (status == KW_OK) status = kw_tensor_copy_contiguous(to, from, on);
  return status == KW_OK ? kw_stream_follow(function, source, on) : status;
}

/* Through host memory of the copy's own, which goes with the last function. */
static kw_status copy_through_host(kw_tensor *to, kw_stream *on, const kw_tensor *from, kw_stream *source) {
  const uint64_t size = kw_ref_extent(&from->ref);
  kw_host_memory *staging = kw_host_memory_take(size);
  if (!staging) return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: the host has no memory for the copy", function);
  crossing *c = make_crossing(source, on, staging);
  if (!c) {
    kw_host_memory_give(NULL, staging, true);
    return KW_ERR_OUT_OF_MEMORY;
  }
  kw_stream *last = source; /* to use the staging */
  kw_status status = kw_tensor_read_async(from, staging->bytes, source);
  if (status == KW_OK) status = cross(c, source, on);
  if (status == KW_OK) {
    last = on;
    status = kw_tensor_write_async(to, staging->bytes, on);
  }
  if (status != KW_OK || enqueue(c, on, leave) != KW_OK) {
    c->staging = NULL;
    kw_host_memory_give(last, staging, false);
  }
  leave(c);
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
    kw_buffer_use(from->buffer, source); /* which waits for the copy */
    status = follow(source, on);
    if (status != KW_OK) return status;
    if (kw_tensor_enqueue_peer_copy(to, from, on, &status)) return status == KW_OK ? follow(on, source) : status;
  }
  return copy_through_host(to, on, from, source);
}
