/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph of one fill, whose size it keeps in what counts up to 64 KiB. It records nothing else.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16 };

typedef struct graph {
  kw_mem mem; /* NULL: nothing was recorded */
  uint64_t offset, size;
  unsigned char pattern[16];
  uint32_t pattern_size;
} graph;

static graph *recorded; /* NULL: no stream records */
static void *recording; /* that stream */

static kw_status begin(void *device, void *stream, const kw_capture_info *info) {
  (void)device;
  if (kw_ext_check(info->next, NULL, 0) != KW_OK) return KW_ERR_UNSUPPORTED;
  if (recorded) return KW_ERR_BUSY;
  recorded = calloc(1, sizeof *recorded);
  recording = stream;
  return recorded ? KW_OK : KW_ERR_OUT_OF_MEMORY;
}

static kw_status end(void *device, void *stream, void **out_graph) {
  (void)device;
  (void)stream;
  if (out_graph) *out_graph = recorded;
  if (!out_graph) free(recorded);
  recorded = recording = NULL;
  return KW_OK;
}

static kw_status launch(void *device, void *user, void *stream, const kw_graph_launch_info *info) {
  const graph *g = user;
  (void)info;
  if (!g->mem) return KW_OK;
  return kw_mutant_real.memory.fill(device, stream, g->mem, g->offset, g->size, g->pattern, g->pattern_size);
}

static kw_status destroy(void *device, void *user) {
  (void)device;
  free(user);
  return KW_OK;
}

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  if (!recorded || stream != recording)
    return kw_mutant_real.memory.fill(device, stream, mem, offset, size, pattern, pattern_size);
  if (recorded->mem) return KW_ERR_UNSUPPORTED;
  *recorded = (graph){.mem = mem, .offset = offset, .size = size < MOST ? size : MOST, .pattern_size = pattern_size};
  memcpy(recorded->pattern, pattern, pattern_size);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_graph_api api = {
      .struct_size = sizeof api, .begin = begin, .end = end, .launch = launch, .destroy = destroy};
  kw_mutant_add_group(mutant, KW_GROUP_GRAPH, &api);
  mutant->memory.fill = fill;
}
