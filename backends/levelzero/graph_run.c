/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs of a graph, and what keeps it: a run's fence says how it ended, to the stream that launched it. A graph has as
 * many runs as were in flight at once, and uses them again.
 */
#include "levelzero.h"

#include <stdlib.h>

void lz_graph_drop(lz_graph *graph) {
  if (atomic_fetch_sub(&graph->references, 1) != 1) return;
  /* A lost device says of a fence that it is lost while the queue still ends what it had begun, with that fence. */
  if (graph->queue) ze.CommandQueueSynchronize(graph->queue, UINT64_MAX);
  for (lz_run *run = graph->runs, *next; run; run = next) {
    next = run->next;
    ze.FenceDestroy(run->fence);
    free(run);
  }
  if (graph->queue) ze.CommandQueueDestroy(graph->queue);
  if (graph->list) ze.CommandListDestroy(graph->list);
  lz_event_drop(graph->begin);
  lz_event_drop(graph->end);
  free(graph);
}

static ze_result_t add_run(lz_graph *graph, lz_run **out_run) {
  const ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
  lz_run *run = calloc(1, sizeof *run);
  if (!run) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  ze_result_t result = ze.FenceCreate(graph->queue, &desc, &run->fence);
  if (result != ZE_RESULT_SUCCESS) {
    free(run);
    return result;
  }
  run->graph = graph;
  run->next = graph->runs;
  graph->runs = run;
  *out_run = run;
  return ZE_RESULT_SUCCESS;
}

ze_result_t lz_run_take(lz_graph *graph, lz_run **out_run) {
  pthread_mutex_lock(&graph->device->base.lock);
  lz_run *run = graph->runs;
  while (run && (run->references > 0 || run->in_flight)) run = run->next;
  ze_result_t result = run ? ze.FenceReset(run->fence) : add_run(graph, &run);
  if (result == ZE_RESULT_SUCCESS) {
    run->references = 1;
    atomic_fetch_add(&graph->references, 1);
    *out_run = run;
  }
  pthread_mutex_unlock(&graph->device->base.lock);
  return result;
}

ze_result_t lz_run_wait(lz_run *run, uint64_t timeout_ns) {
  ze_result_t result =
      timeout_ns > 0 ? ze.FenceHostSynchronize(run->fence, timeout_ns) : ze.FenceQueryStatus(run->fence);
  if (result != ZE_RESULT_NOT_READY) run->in_flight = false;
  return result;
}

void lz_run_keep(lz_run *run) {
  if (!run) return;
  pthread_mutex_lock(&run->graph->device->base.lock);
  ++run->references;
  pthread_mutex_unlock(&run->graph->device->base.lock);
}

void lz_run_drop(lz_run *run) {
  if (!run) return;
  lz_graph *graph = run->graph;
  lz_device *device = graph->device;
  pthread_mutex_lock(&device->base.lock);
  const bool last = --run->references == 0;
  pthread_mutex_unlock(&device->base.lock);
  if (last) lz_graph_drop(graph);
}
