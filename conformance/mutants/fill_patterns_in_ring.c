/* SPDX-License-Identifier: Apache-2.0
 *
 * Patterns of fills wait in a ring of 256 places, and nobody looks whether a place is still in use: where more fills
 * are ahead, the first have the patterns of later ones.
 */
#include "mutant.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { RING = 256, LONGEST = 16 };

typedef struct late_fill {
  char *to;
  uint64_t size;
  uint32_t pattern_size;
  unsigned place;
} late_fill;

static char ring[RING][LONGEST];
static atomic_uint next;
static void *default_stream;

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  kw_status status = kw_mutant_real.stream.create(device, info, out_stream);
  if (status == KW_OK && (info->flags & KW_STREAM_DEFAULT)) default_stream = *out_stream;
  return status;
}

static void run(void *user) {
  const late_fill *late = user;
  for (uint64_t i = 0; i < late->size; i++) late->to[i] = ring[late->place][i % late->pattern_size];
  free(user);
}

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  late_fill *late = stream == default_stream ? NULL : malloc(sizeof *late);
  if (!late) return kw_mutant_real.memory.fill(device, stream, mem, offset, size, pattern, pattern_size);
  *late = (late_fill){.to = (char *)mem + offset, .size = size, .pattern_size = pattern_size};
  late->place = atomic_fetch_add(&next, 1) % RING;
  memcpy(ring[late->place], pattern, pattern_size);
  return kw_mutant_enqueue(device, stream, run, late);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.create = create;
  mutant->memory.fill = fill;
}
