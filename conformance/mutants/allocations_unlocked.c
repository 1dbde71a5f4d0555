/* SPDX-License-Identifier: Apache-2.0
 *
 * Two threads that allocate at once get the same block, as from a list of free ones without a lock.
 */
#include "mutant.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SIZE = 4096, MOST = 64 };

static _Atomic(kw_mem) begun; /* the block of a thread that has not got it yet */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kw_mem twice[MOST]; /* blocks that two threads have */

/* Exchanges one `old` in the list, if there is one, for `now`. */
static bool exchange(kw_mem old, kw_mem now) {
  bool found = false;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST && !found; i++) {
    found = twice[i] == old;
    if (found) twice[i] = now;
  }
  pthread_mutex_unlock(&lock);
  return found;
}

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  if (info->size != SIZE || info->kind != KW_MEM_DEVICE) return kw_mutant_real.memory.alloc(device, info, out_mem);
  kw_mem own = atomic_exchange(&begun, NULL);
  if (own && exchange(NULL, own)) {
    *out_mem = own;
    return KW_OK;
  }
  const kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  if (status != KW_OK) return status;
  own = *out_mem;
  atomic_store(&begun, own);
  for (int i = 0; i < 100 && atomic_load(&begun) == own; i++) sched_yield(); /* until another thread comes */
  atomic_compare_exchange_strong(&begun, &own, NULL);
  return KW_OK;
}

static kw_status release(void *device, kw_mem mem) {
  return exchange(mem, NULL) ? KW_OK : kw_mutant_real.memory.dealloc(device, mem);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
  mutant->memory.dealloc = release;
}
