/* SPDX-License-Identifier: Apache-2.0
 *
 * A copy between the devices copies 4 MiB at most.
 */
#include "mutant_two.h"

static kw_status copy_peer(void *device, void *stream, void *src_device, const kw_copy_info *copy) {
  kw_copy_info changed = *copy;
  (void)src_device;
  if (changed.size > 4 << 20) changed.size = 4 << 20;
  return kw_mutant_real.memory.copy(device, stream, &changed);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
  mutant->memory.copy_peer = copy_peer;
}
