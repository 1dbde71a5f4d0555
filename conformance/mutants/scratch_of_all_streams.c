/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of all streams have one scratch buffer: a result is wrong when another stream has work, too.
 */
#include "mutant.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { STREAMS = 64 };

static _Atomic(void *) streams[STREAMS];
static atomic_uint waiting[STREAMS]; /* launches that each of them has */

typedef struct result {
  unsigned char *first; /* its first byte */
  int stream;
} result;

static int find(void *stream) {
  for (int i = 0; i < STREAMS; i++) {
    void *found = NULL;
    if (atomic_load(&streams[i]) == stream || atomic_compare_exchange_strong(&streams[i], &found, stream)) return i;
  }
  return -1;
}

static void spoil(void *user) {
  result *self = user;
  unsigned others = 0;
  for (int i = 0; i < STREAMS; i++) others += i == self->stream ? 0 : atomic_load(&waiting[i]);
  if (others > 0) *self->first ^= 0xff;
  atomic_fetch_sub(&waiting[self->stream], 1);
  free(self);
}

static kw_status launch(const kw_call *call) {
  const int stream = find(call->stream);
  result *one = stream >= 0 && call->out_count > 0 && call->outs[0]->numel > 0 ? malloc(sizeof *one) : NULL;
  if (!one) return kw_mutant_launch_real(call);
  *one = (result){.first = kw_mutant_at(call->outs[0], 0), .stream = stream};
  atomic_fetch_add(&waiting[stream], 1);
  kw_status status = kw_mutant_launch_real(call);
  return status == KW_OK ? kw_mutant_enqueue(call->device, call->stream, spoil, one) : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->launch = launch;
}
