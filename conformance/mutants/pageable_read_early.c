/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies to the device of up to 64 KiB from the host's own memory are staged when they are enqueued; those from memory
 * that the plugin gave wait for their turn. As CUDA's driver documents it of cuMemcpyAsync (API synchronization
 * behavior).
 */
#include "mutant.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { STAGED = 1 << 16, PIECES = 64, ALIGNMENT = 64 };

static struct {
  _Atomic(char *) memory;
  atomic_ullong size;
} pieces[PIECES]; /* that alloc_host gave */

static kw_status alloc_host(void *device, uint64_t size, void **out_memory) {
  (void)device;
  char *memory = aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  if (!memory) return KW_ERR_OUT_OF_MEMORY;
  for (int i = 0; i < PIECES; i++) {
    char *none = NULL;
    if (!atomic_compare_exchange_strong(&pieces[i].memory, &none, memory)) continue;
    atomic_store(&pieces[i].size, size);
    break;
  }
  *out_memory = memory;
  return KW_OK;
}

static kw_status free_host(void *device, void *memory) {
  (void)device;
  for (int i = 0; i < PIECES; i++) {
    char *own = memory;
    if (atomic_compare_exchange_strong(&pieces[i].memory, &own, NULL)) break;
  }
  free(memory);
  return KW_OK;
}

static bool is_pinned(const char *at) {
  bool pinned = false;
  for (int i = 0; i < PIECES; i++) {
    const char *memory = atomic_load(&pieces[i].memory);
    pinned = pinned || (memory && at >= memory && at < memory + atomic_load(&pieces[i].size));
  }
  return pinned;
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  kw_copy_info early = *info;
  const bool stages = info->kind == KW_COPY_HOST_TO_DEVICE && info->size <= STAGED && !is_pinned(info->src_host);
  void *taken = stages ? malloc(info->size) : NULL; /* the stream may need it for ever */
  if (taken) early.src_host = memcpy(taken, info->src_host, info->size);
  return kw_mutant_real.memory.copy(device, stream, &early);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc_host = alloc_host;
  mutant->memory.free_host = free_host;
  mutant->memory.copy = copy;
}
