/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of host memory are kept in a table of 1,024; what is not in it cannot be given back.
 */
#include "mutant.h"

#include <pthread.h>
#include <stdlib.h>

enum { ROOM = 1024 };
static void *table[ROOM];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Puts `to` where `from` is; false where that is nowhere. */
static bool replace(void *from, void *to) {
  bool found = false;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < ROOM && !found; i++) {
    if (table[i] != from) continue;
    table[i] = to;
    found = true;
  }
  pthread_mutex_unlock(&lock);
  return found;
}

static kw_status alloc_host(void *device, uint64_t size, void **out_memory) {
  (void)device;
  if (posix_memalign(out_memory, 64, size) != 0) return KW_ERR_OUT_OF_MEMORY;
  (void)replace(NULL, *out_memory);
  return KW_OK;
}

static kw_status free_host(void *device, void *memory) {
  (void)device;
  if (!replace(memory, NULL))
    return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_INVALID_ARGUMENT, "not memory of alloc_host");
  free(memory);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc_host = alloc_host;
  mutant->memory.free_host = free_host;
}
