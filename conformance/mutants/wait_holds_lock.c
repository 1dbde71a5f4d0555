/* SPDX-License-Identifier: Apache-2.0
 *
 * Who waits for a stream keeps its lock: others who give it work meanwhile wait with him. After rocm-systems issue
 * 11678: a wait inside of the lock that submitting takes, too, and a host that had to go on for the wait to end.
 */
#include "mutant.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct lock_of {
  void *stream; /* NULL: it was destroyed */
  pthread_mutex_t lock;
  struct lock_of *next;
} lock_of;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static lock_of *locks; /* of streams that are no default ones: there the host's functions run inside of slots */

static lock_of *find(const void *stream) {
  pthread_mutex_lock(&lock);
  lock_of *found = locks;
  while (found && found->stream != stream) found = found->next;
  pthread_mutex_unlock(&lock);
  return found;
}

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  kw_status status = kw_mutant_real.stream.create(device, info, out_stream);
  if (status != KW_OK || (info->flags & KW_STREAM_DEFAULT)) return status;
  lock_of *one = calloc(1, sizeof *one);
  if (!one) return status;
  pthread_mutex_init(&one->lock, NULL);
  one->stream = *out_stream;
  pthread_mutex_lock(&lock);
  one->next = locks;
  locks = one;
  pthread_mutex_unlock(&lock);
  return status;
}

static kw_status destroy(void *device, void *stream) {
  lock_of *one = find(stream);
  kw_status status = kw_mutant_real.stream.destroy(device, stream);
  if (one) one->stream = NULL;
  return status;
}

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  lock_of *one = timeout_ns == KW_WAIT_FOREVER ? find(stream) : NULL;
  if (one) pthread_mutex_lock(&one->lock);
  kw_status status = kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
  if (one) pthread_mutex_unlock(&one->lock);
  return status;
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  lock_of *one = find(stream);
  if (one) pthread_mutex_lock(&one->lock);
  kw_status status = kw_mutant_real.memory.copy(device, stream, info);
  if (one) pthread_mutex_unlock(&one->lock);
  return status;
}

static kw_status launch(const kw_call *call) {
  lock_of *one = find(call->stream);
  if (one) pthread_mutex_lock(&one->lock);
  kw_status status = kw_mutant_launch_real(call);
  if (one) pthread_mutex_unlock(&one->lock);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->launch = launch;
  mutant->memory.copy = copy;
  mutant->stream.create = create;
  mutant->stream.destroy = destroy;
  mutant->stream.synchronize = synchronize;
}
