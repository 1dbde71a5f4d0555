/* SPDX-License-Identifier: Apache-2.0
 *
 * How many bytes a copy moves is kept in 32 bits: of 4 GiB and some only the rest is moved. After PyTorch issue 124335
 * (tensors of 4 GiB and more arrive on MPS corrupted) and tt-metal issue 22336 (a tensor of 4 GB comes back as zeros).
 */
#include "mutant.h"

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  kw_copy_info changed = *info;
  changed.size = (uint32_t)info->size;
  return changed.size == 0 ? KW_OK : kw_mutant_real.memory.copy(device, stream, &changed);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.copy = copy;
}
