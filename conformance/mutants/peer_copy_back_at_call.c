/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies to the second device happen when they are enqueued, whatever their stream has still to do; those to the first
 * one have their turn.
 */
#include "mutant_two.h"

#include <string.h>

static kw_status copy_peer(void *device, void *stream, void *src_device, const kw_copy_info *copy) {
  (void)src_device; /* memory is the host's */
  if (device != kw_mutant_device(1)) return kw_mutant_real.memory.copy(device, stream, copy);
  memcpy(kw_mutant_memory_at(copy->dst_mem, copy->dst_offset), kw_mutant_memory_at(copy->src_mem, copy->src_offset),
         copy->size);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
  mutant->memory.copy_peer = copy_peer;
}
