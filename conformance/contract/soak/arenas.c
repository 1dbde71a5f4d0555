/* SPDX-License-Identifier: Apache-2.0
 *
 * The heap is known by its name. Arenas are known by their form: addresses from a multiple of their size on that may be
 * written to, and behind these the rest, which is reserved.
 */
#include "arenas.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

kw_malloc_addresses kw_malloc_addresses_now(void) {
  FILE *file = fopen("/proc/self/maps", "re");
  char line[512], rights[8];
  uint64_t begin, end, last = 0, last_end = 0; /* `last` begins what is written to and ends at last_end */
  kw_malloc_addresses found = {0, 0};
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &begin, &end, rights) != 3) continue;
    if (strstr(line, " [heap]")) found.heap += (int64_t)(end - begin);
    const uint64_t full = last + KW_ARENA_SIZE;
    const bool rest = strcmp(rights, "---p") == 0 && begin == last_end;
    if (rest && last % KW_ARENA_SIZE == 0 && begin < full && end >= full) found.arenas += (int64_t)KW_ARENA_SIZE;
    last = begin;
    last_end = strcmp(rights, "rw-p") == 0 ? end : 0;
  }
  if (file) fclose(file);
  return found;
}
