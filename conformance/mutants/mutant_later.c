/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches as work of the mutant's own in the queues of the cpu plugin. Each stream has another one of that plugin's
 * beside it, where its kernels run.
 */
#include "mutant_later.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct pair {
  void *stream, *kernels; /* NULL: the stream was destroyed */
  struct pair *next;
} pair;

static kw_status (*at_turn)(const kw_call *call);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pair *pairs; /* of streams that are no default ones */

/* NULL: a default stream, or none that is known. With `new_stream` the place gets that one. */
static pair *pair_of(const void *stream, void *new_stream) {
  pthread_mutex_lock(&lock);
  pair *found = pairs;
  while (found && found->stream != stream) found = found->next;
  if (!found && new_stream && (found = calloc(1, sizeof *found))) {
    found->next = pairs;
    pairs = found;
  }
  if (found && new_stream) found->stream = new_stream;
  pthread_mutex_unlock(&lock);
  return found;
}

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  kw_status status = kw_mutant_real.stream.create(device, info, out_stream);
  if (status != KW_OK || (info->flags & KW_STREAM_DEFAULT)) return status;
  pair *place = pair_of(NULL, *out_stream);
  return place ? kw_mutant_real.stream.create(device, info, &place->kernels) : KW_ERR_OUT_OF_MEMORY;
}

static kw_status destroy(void *device, void *stream) {
  pair *of = pair_of(stream, NULL);
  kw_status status = kw_mutant_real.stream.destroy(device, stream); /* its launches run before it returns */
  if (!of) return status;
  kw_mutant_real.stream.destroy(device, of->kernels);
  of->stream = NULL;
  return status;
}

static void run(void *user) {
  kw_call *call = user;
  at_turn(call);
  free(call);
}

static kw_status launch(const kw_call *call) {
  if (!pair_of(call->stream, NULL)) return at_turn(call);
  kw_call *kept = kw_mutant_keep_call(call);
  return kept ? kw_mutant_enqueue(call->device, call->stream, run, kept) : KW_ERR_OUT_OF_MEMORY;
}

kw_status kw_mutant_run_now(const kw_call *call) {
  const pair *of = pair_of(call->stream, NULL);
  kw_call copy = *call;
  if (!of) return kw_mutant_launch_real(call);
  copy.stream = of->kernels;
  return kw_mutant_run_real(&copy);
}

void kw_mutant_at_turn(kw_mutant *mutant, kw_status (*turn)(const kw_call *call)) {
  at_turn = turn;
  mutant->op = "*";
  mutant->launch = launch;
  mutant->stream.create = create;
  mutant->stream.destroy = destroy;
}
