/* SPDX-License-Identifier: Apache-2.0
 *
 * The pattern of a fill is read when it is the fill's turn, where the host has it no more. After OpenCL-CTS pull
 * request 2677: nobody had tried what becomes of a fill whose pattern is overwritten before it runs.
 */
#include "mutant.h"

#include <stdlib.h>

typedef struct late_fill {
  char *to;
  uint64_t size;
  const char *pattern;
  uint32_t pattern_size;
} late_fill;

static void *default_stream;

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  kw_status status = kw_mutant_real.stream.create(device, info, out_stream);
  if (status == KW_OK && (info->flags & KW_STREAM_DEFAULT)) default_stream = *out_stream;
  return status;
}

static void run(void *user) {
  const late_fill *late = user;
  for (uint64_t i = 0; i < late->size; i++) late->to[i] = late->pattern[i % late->pattern_size];
  free(user);
}

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  late_fill *late = stream == default_stream ? NULL : malloc(sizeof *late);
  if (!late) return kw_mutant_real.memory.fill(device, stream, mem, offset, size, pattern, pattern_size);
  *late = (late_fill){.to = (char *)mem + offset, .size = size, .pattern = pattern, .pattern_size = pattern_size};
  return kw_mutant_enqueue(device, stream, run, late);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.create = create;
  mutant->memory.fill = fill;
}
