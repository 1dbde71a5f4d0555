/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs by copies of calls, one stream at a time. A graph with more calls than these, or with a fill, the host has to
 * replay by itself.
 */
#include "mutant_graph.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { MOST = 1024, REPLAYS = 1 << 14 }; /* those that nobody has drained yet */

typedef struct graph {
  kw_call *calls[MOST];
  uint32_t count;
  uint64_t launches;
} graph;

/* What the record of activity of a replay has to say, by the number that stands in the call's id meanwhile. */
static const uint64_t OWN_ID = UINT64_C(0x5ead) << 48;
static struct {
  uint64_t call_id, launch_id;
  uint32_t node;
} replays[REPLAYS];
static atomic_uint replay_count;

static graph *recorded; /* NULL: no stream records */
static void *recording; /* that stream */
static bool (*allows)(const kw_mutant_replay *);
static kw_status (*pass_on)(const kw_call *call); /* what launches calls that are not recorded */
static kw_status (*fill_on)(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                            uint32_t pattern_size);

static void free_graph(graph *g) {
  for (uint32_t i = 0; g && i < g->count; i++) free(g->calls[i]);
  free(g);
}

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
  if (!out_graph) free_graph(recorded);
  recorded = recording = NULL;
  return KW_OK;
}

static kw_status launch_graph(void *device, void *user, void *stream, const kw_graph_launch_info *info) {
  graph *g = user;
  kw_status status = KW_OK;
  (void)device;
  for (uint32_t i = 0; i < g->count && status == KW_OK; i++) {
    kw_call call = *g->calls[i];
    const unsigned number = atomic_fetch_add(&replay_count, 1) % REPLAYS;
    replays[number].call_id = call.call_id;
    replays[number].launch_id = info->call_id;
    replays[number].node = i;
    call.call_id = OWN_ID | number;
    const kw_mutant_replay replay = {.call = &call,
                                     .graph = g,
                                     .node = i,
                                     .last = i + 1 == g->count,
                                     .launches = g->launches,
                                     .info = info,
                                     .launch_id = &replays[number].launch_id};
    call.stream = stream;
    if (allows(&replay)) status = kw_mutant_launch_real(&call);
  }
  g->launches++;
  return status;
}

static void complete_records(kw_activity *records, uint32_t *inout_count) {
  for (uint32_t i = 0; i < *inout_count; i++) {
    const uint64_t number = records[i].call_id ^ OWN_ID;
    if (number >= REPLAYS) continue;
    records[i].call_id = replays[number].call_id;
    records[i].launch_id = replays[number].launch_id;
    records[i].node = replays[number].node;
  }
}

static kw_status destroy(void *device, void *user) {
  (void)device;
  free_graph(user);
  return KW_OK;
}

static kw_status launch(const kw_call *call) {
  if (!recorded || call->stream != recording) return pass_on(call);
  if (recorded->count == MOST) return KW_ERR_UNSUPPORTED;
  kw_call *kept = kw_mutant_keep_call(call);
  if (!kept) return KW_ERR_OUT_OF_MEMORY;
  recorded->calls[recorded->count++] = kept;
  return KW_OK;
}

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  if (recorded && stream == recording) return KW_ERR_UNSUPPORTED;
  return fill_on(device, stream, mem, offset, size, pattern, pattern_size);
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->flags |= KW_KERNEL_CAPTURABLE;
}

void kw_mutant_add_graph(kw_mutant *mutant, const char *op, bool (*replay)(const kw_mutant_replay *)) {
  static const kw_graph_api api = {
      .struct_size = sizeof api, .begin = begin, .end = end, .launch = launch_graph, .destroy = destroy};
  allows = replay;
  pass_on = mutant->launch ? mutant->launch : kw_mutant_launch_real;
  fill_on = mutant->memory.fill;
  mutant->memory.fill = fill;
  mutant->records = complete_records;
  kw_mutant_add_group(mutant, KW_GROUP_GRAPH, &api);
  mutant->op = op;
  mutant->launch = launch;
  mutant->kernel = kernel;
}
