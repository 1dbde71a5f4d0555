/* SPDX-License-Identifier: Apache-2.0
 *
 * Two devices, and a copy from one to the other begins where the source's memory does, whatever the offset in it.
 */
#include "mutant_two.h"

static kw_status copy_peer(void *device, void *stream, void *src_device, const kw_copy_info *copy) {
  kw_copy_info changed = *copy;
  (void)src_device; /* memory is the host's */
  changed.src_offset = 0;
  return kw_mutant_real.memory.copy(device, stream, &changed);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
  mutant->memory.copy_peer = copy_peer;
}
