/* SPDX-License-Identifier: Apache-2.0
 *
 * An event that is recorded again when its mark has been passed uses that mark again, though a stream has yet to come
 * to its wait for it: the stream then waits for the new record.
 */
#include "mutant.h"

#include <stdatomic.h>

enum { WAITS = 256 };

typedef struct awaited {
  void *device;
  _Atomic(void *) event; /* NULL: free, or for nothing more than it was told to wait for */
  atomic_bool used_again;
} awaited;

static awaited waits[WAITS];

static void wait_for_mark(void *user) {
  awaited *a = user;
  void *event = atomic_exchange(&a->event, NULL);
  if (event && atomic_load(&a->used_again)) kw_mutant_real.event.synchronize(a->device, event, KW_WAIT_FOREVER);
}

static kw_status wait(void *device, void *stream, void *event) {
  static atomic_uint count;
  awaited *a = &waits[atomic_fetch_add(&count, 1) % WAITS];
  const kw_status status = kw_mutant_real.event.wait(device, stream, event);
  if (status != KW_OK) return status;
  a->device = device;
  atomic_store(&a->used_again, false);
  atomic_store(&a->event, event);
  return kw_mutant_enqueue(device, stream, wait_for_mark, a);
}

static kw_status record(void *device, void *event, void *stream) {
  const bool is_passed = kw_mutant_real.event.query(device, event) == KW_OK;
  const kw_status status = kw_mutant_real.event.record(device, event, stream);
  for (int i = 0; i < WAITS && is_passed; i++) {
    if (atomic_load(&waits[i].event) == event) atomic_store(&waits[i].used_again, true);
  }
  return status;
}

static kw_status destroy(void *device, void *event) {
  for (int i = 0; i < WAITS; i++) {
    void *mine = event;
    atomic_compare_exchange_strong(&waits[i].event, &mine, NULL);
  }
  return kw_mutant_real.event.destroy(device, event);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.wait = wait;
  mutant->event.record = record;
  mutant->event.destroy = destroy;
}
