/* SPDX-License-Identifier: Apache-2.0
 *
 * Arenas are known by their form: a block of addresses whose beginning may be written to, and whose rest is reserved.
 */
#include "arenas.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int64_t kw_arena_addresses(void) {
  FILE *file = fopen("/proc/self/maps", "re");
  char line[512], rights[8];
  uint64_t begin, end, last = 0, last_end = 0; /* `last` begins what is written to and ends at last_end */
  int64_t reserved = 0;
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &begin, &end, rights) != 3) continue;
    if (strcmp(rights, "---p") == 0 && begin == last_end && begin % KW_ARENA_SIZE != 0) {
      const uint64_t from =
          begin / KW_ARENA_SIZE * KW_ARENA_SIZE; /* where an arena that ends its memory here would begin */
      if (last <= from && end >= from + KW_ARENA_SIZE) reserved += (int64_t)KW_ARENA_SIZE;
    }
    last = begin;
    last_end = strcmp(rights, "rw-p") == 0 ? end : 0;
  }
  if (file) fclose(file);
  return reserved;
}
