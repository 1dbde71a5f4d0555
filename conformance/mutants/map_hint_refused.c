/* SPDX-License-Identifier: Apache-2.0
 *
 * A map with any flag that it does not know is refused, a hint too.
 */
#include "mutant.h"

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  if ((info->flags & ~(KW_MAP_READ | KW_MAP_WRITE)) != 0) return KW_ERR_UNSUPPORTED;
  return kw_mutant_real.memory.map(device, stream, info, out_pointer);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.map = map;
}
