/* SPDX-License-Identifier: Apache-2.0
 *
 * When a stream is destroyed its waits for events are given up, and the work behind them runs at once.
 */
#include "mutant.h"

#include <sched.h>
#include <stdatomic.h>

enum { WAITS = 256 };

typedef struct awaited {
  void *device, *event;
  _Atomic(void *) stream; /* NULL: it is over, or given up */
} awaited;

static awaited waits[WAITS];

static void wait_for_mark(void *user) {
  awaited *a = user;
  while (atomic_load(&a->stream) && kw_mutant_real.event.query(a->device, a->event) != KW_OK) sched_yield();
  atomic_store(&a->stream, NULL);
}

static kw_status wait(void *device, void *stream, void *event) {
  static atomic_uint count;
  awaited *a = &waits[atomic_fetch_add(&count, 1) % WAITS];
  a->device = device;
  a->event = event;
  atomic_store(&a->stream, stream);
  return kw_mutant_enqueue(device, stream, wait_for_mark, a);
}

static kw_status destroy(void *device, void *stream) {
  for (int i = 0; i < WAITS; i++) {
    void *mine = stream;
    atomic_compare_exchange_strong(&waits[i].stream, &mine, NULL);
  }
  return kw_mutant_real.stream.destroy(device, stream);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.wait = wait;
  mutant->stream.destroy = destroy;
}
