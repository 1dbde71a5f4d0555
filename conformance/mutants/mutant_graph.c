/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs by copies of calls, one stream at a time.
 */
#include "mutant_graph.h"

#include <stdlib.h>

enum { MOST = 64 };

typedef struct graph {
  kw_mutant_copy calls[MOST];
  uint32_t count;
  uint64_t launches;
} graph;

static graph *recorded; /* NULL: no stream records */
static void *recording; /* that stream */
static bool (*allows)(const kw_mutant_replay *);

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

static kw_status launch_graph(void *device, void *user, void *stream, const kw_graph_launch_info *info) {
  graph *g = user;
  kw_status status = KW_OK;
  (void)device;
  for (uint32_t i = 0; i < g->count && status == KW_OK; i++) {
    kw_call call = g->calls[i].call;
    const kw_mutant_replay replay = {.call = &call, .node = i, .launches = g->launches, .info = info};
    call.stream = stream;
    if (allows(&replay)) status = kw_mutant_launch_real(&call);
  }
  g->launches++;
  return status;
}

static kw_status destroy(void *device, void *user) {
  (void)device;
  free(user);
  return KW_OK;
}

static kw_status launch(const kw_call *call) {
  if (!recorded || call->stream != recording) return kw_mutant_launch_real(call);
  if (recorded->count == MOST) return KW_ERR_UNSUPPORTED;
  kw_mutant_copy_call(call, &recorded->calls[recorded->count++]);
  return KW_OK;
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->flags |= KW_KERNEL_CAPTURABLE;
}

void kw_mutant_add_graph(kw_mutant *mutant, const char *op, bool (*replay)(const kw_mutant_replay *)) {
  static const kw_graph_api api = {
      .struct_size = sizeof api, .begin = begin, .end = end, .launch = launch_graph, .destroy = destroy};
  allows = replay;
  kw_mutant_add_group(mutant, KW_GROUP_GRAPH, &api);
  mutant->op = op;
  mutant->launch = launch;
  mutant->kernel = kernel;
}
