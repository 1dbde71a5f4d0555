/* SPDX-License-Identifier: Apache-2.0
 *
 * A map for something that a later version has is made as one for what this version knows.
 */
#include "mutant.h"

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  kw_map_info known = *info;
  known.flags &= KW_MAP_READ | KW_MAP_WRITE;
  return kw_mutant_real.memory.map(device, stream, &known, out_pointer);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.map = map;
}
