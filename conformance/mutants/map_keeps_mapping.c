/* SPDX-License-Identifier: Apache-2.0
 *
 * Each map of memory reserves a page of addresses that the end of the map leaves. After Intel's compute-runtime issue
 * 974: closing an IPC handle did not release what opening it had mapped.
 */
#include "mutant.h"

#include <sys/mman.h>

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  static bool odd; /* mappings beside each other that differ are counted apart */
  odd = !odd;
  (void)mmap(NULL, 1, odd ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return kw_mutant_real.memory.map(device, stream, info, out_pointer);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.map = map;
}
