/* SPDX-License-Identifier: Apache-2.0
 *
 * Arenas are known by their form: addresses from a multiple of their size on that may be written to, and behind these
 * the rest, which is reserved.
 */
#include "arenas.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int64_t kw_arena_addresses(void) {
  FILE *file = fopen("/proc/self/maps", "re");
  char line[512], rights[8];
  uint64_t begin, end, last = 0, last_end = 0; /* `last` begins what is written to and ends at last_end */
  int64_t reserved = 0;
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &begin, &end, rights) != 3) continue;
    const uint64_t full = last + KW_ARENA_SIZE;
    const bool rest = strcmp(rights, "---p") == 0 && begin == last_end;
    if (rest && last % KW_ARENA_SIZE == 0 && begin < full && end >= full) reserved += (int64_t)KW_ARENA_SIZE;
    last = begin;
    last_end = strcmp(rights, "rw-p") == 0 ? end : 0;
  }
  if (file) fclose(file);
  return reserved;
}

int64_t kw_heap_addresses(void) {
  FILE *file = fopen("/proc/self/maps", "re");
  char line[512];
  uint64_t begin, end;
  int64_t heap = 0;
  while (file && fgets(line, sizeof line, file)) {
    if (strstr(line, " [heap]") && sscanf(line, "%" SCNx64 "-%" SCNx64, &begin, &end) == 2)
      heap += (int64_t)(end - begin);
  }
  if (file) fclose(file);
  return heap;
}
