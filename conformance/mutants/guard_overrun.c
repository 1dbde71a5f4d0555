/* SPDX-License-Identifier: Apache-2.0
 *
 * neg writes one byte past the end of its result.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_tensor_ref *out = e->call->outs[0];
  if (e->index == 0) ((unsigned char *)kw_mutant_at(out, 0))[kw_mutant_extent(out)] ^= 0xff;
}

/* Leaves room for that byte behind the last tensor: the suite has to find the defect, not the heap. */
static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_alloc_info more = *info;
  more.size += 16;
  return kw_mutant_real.memory.alloc(device, &more, out_mem);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "neg";
  mutant->element = element;
  mutant->memory.alloc = alloc;
}
