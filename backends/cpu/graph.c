/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: a launch runs all that was recorded as one entry of its stream's queue. Calls that work element by element
 * and follow each other run as chains.
 */
#include "graph.h"

#include "arithmetic.h"
#include "chain.h"
#include "wait.h"

#include <stdlib.h>

typedef struct recorded_call {
  _Alignas(16) kw_call call; /* what it points to lies behind this struct */
} recorded_call;

typedef struct graph_node {
  kw_call *call; /* of a recorded_call; NULL: a fill */
  kw_cpu_table table;
  kw_cpu_fill fill;
} graph_node;

struct kw_cpu_graph {
  kw_cpu_device *device;
  graph_node *nodes;
  kw_chain **chains; /* for each node, the chain that begins there, or NULL */
  uint32_t count, room;
};

/* ---- Recording --------------------------------------------------------------------------------------------------- */

static kw_status fail_memory(const kw_cpu_device *device) {
  return kw_cpu_error(device->host, KW_ERR_OUT_OF_MEMORY, "no host memory for a graph");
}

static kw_status add_node(kw_cpu_graph *graph, const graph_node *node) {
  if (graph->count == graph->room) {
    const uint32_t room = graph->room ? 2 * graph->room : 16;
    graph_node *nodes = realloc(graph->nodes, room * sizeof *nodes);
    if (!nodes) return fail_memory(graph->device);
    graph->nodes = nodes;
    graph->room = room;
  }
  graph->nodes[graph->count++] = *node;
  return KW_OK;
}

kw_status kw_cpu_graph_add_call(kw_cpu_graph *graph, const kw_call *call, kw_cpu_table table) {
  recorded_call *copy = malloc(sizeof *copy + kw_cpu_call_room(call));
  if (!copy) return fail_memory(graph->device);
  copy->call = kw_cpu_call_copy(call, copy + 1);
  kw_status status = add_node(graph, &(graph_node){.call = &copy->call, .table = table});
  if (status != KW_OK) free(copy);
  return status;
}

kw_status kw_cpu_graph_add_fill(kw_cpu_graph *graph, const kw_cpu_fill *fill) {
  return add_node(graph, &(graph_node){.fill = *fill});
}

static kw_status graph_begin(void *device, void *stream, const kw_capture_info *info) {
  kw_cpu_device *cpu = device;
  kw_status status = kw_cpu_check_critical(cpu->host, info->flags, info->next);
  if (status != KW_OK) return status;
  kw_cpu_graph *graph = calloc(1, sizeof *graph);
  if (!graph) return fail_memory(cpu);
  graph->device = cpu;
  ((kw_cpu_stream *)stream)->recording = graph;
  return KW_OK;
}

static void free_graph(kw_cpu_graph *graph) {
  for (uint32_t i = 0; i < graph->count; i++) {
    if (graph->chains) kw_chain_free(graph->chains[i]);
    free(graph->nodes[i].call);
  }
  free(graph->chains);
  free(graph->nodes);
  free(graph);
}

/* Makes the chains. Nodes whose chain there is no memory for run one by one. */
static kw_status find_chains(kw_cpu_graph *graph) {
  const kw_call **calls = malloc((graph->count + 1) * sizeof *calls);
  graph->chains = calloc(graph->count + 1, sizeof *graph->chains);
  if (!calls || !graph->chains) {
    free(calls);
    return fail_memory(graph->device);
  }
  for (uint32_t i = 0; i < graph->count; i++) {
    const graph_node *node = &graph->nodes[i];
    calls[i] = node->table == KW_CPU_FAST ? node->call : NULL;
  }
  for (uint32_t i = 0; i < graph->count;) {
    graph->chains[i] = kw_chain_make(&calls[i], graph->count - i);
    i += graph->chains[i] ? kw_chain_length(graph->chains[i]) : 1;
  }
  free(calls);
  return KW_OK;
}

static kw_status graph_end(void *device, void *stream_pointer, void **out_graph) {
  kw_cpu_stream *stream = stream_pointer;
  kw_cpu_graph *graph = stream->recording;
  (void)device;
  stream->recording = NULL;
  kw_status status = out_graph ? find_chains(graph) : KW_OK;
  if (out_graph && status == KW_OK) {
    *out_graph = graph;
  } else {
    free_graph(graph);
  }
  return status;
}

static kw_status graph_destroy(void *device, void *graph) {
  (void)device;
  free_graph(graph);
  return KW_OK;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

typedef struct graph_run {
  kw_cpu_stream *stream;
  const kw_cpu_graph *graph;
  uint64_t launch_id;
  uint32_t launches; /* that have run */
  uint32_t node;     /* that runs, or failed */
} graph_run;

static void record(const graph_run *run, const kw_call *call, uint32_t number, uint64_t begin, uint64_t end) {
  kw_cpu_activity_add(run->stream, &(kw_activity){.kind = call ? KW_ACTIVITY_LAUNCH : KW_ACTIVITY_FILL,
                                                  .node = call ? number : 0,
                                                  .call_id = call ? call->call_id : 0,
                                                  .launch_id = run->launch_id,
                                                  .begin = begin,
                                                  .end = end});
}

static kw_status run_node(graph_run *run) {
  const graph_node *node = &run->graph->nodes[run->node];
  const uint64_t begin = kw_cpu_activity_begin(run->stream);
  kw_status status = KW_OK;
  if (node->call) {
    status = kw_cpu_call_run(run->stream->device->host, node->call, node->table);
  } else {
    kw_cpu_fill_run(&node->fill);
  }
  if (begin) record(run, node->call, run->launches, begin, kw_cpu_now_ns());
  if (status != KW_OK) return status;
  run->launches += node->call != NULL;
  run->node++;
  return KW_OK;
}

/* The links of a chain take turns, piece by piece. Their records show how much of its time each took. */
static kw_status run_chain(graph_run *run, const kw_chain *chain) {
  const uint32_t length = kw_chain_length(chain);
  const uint64_t begin = kw_cpu_activity_begin(run->stream);
  uint64_t took[KW_CHAIN_LIMIT] = {0}, all = 0, before = 0;
  kw_status status = kw_chain_run(run->stream->device->host, chain, begin ? took : NULL);
  if (status != KW_OK) return status;
  const uint64_t passed = begin ? kw_cpu_now_ns() - begin : 0;
  for (uint32_t i = 0; begin && i < length; i++) all += took[i];
  for (uint32_t i = 0; begin && i < length; i++) {
    const uint64_t from = begin + (uint64_t)((double)passed * (double)before / (double)(all + 1));
    before += took[i];
    const uint64_t to = begin + (uint64_t)((double)passed * (double)before / (double)(all + 1));
    record(run, run->graph->nodes[run->node + i].call, run->launches + i, from, to);
  }
  run->launches += length;
  run->node += length;
  return KW_OK;
}

static kw_status run_graph(graph_run *run) {
  kw_status status = KW_OK;
  while (status == KW_OK && run->node < run->graph->count) {
    const kw_chain *chain = run->graph->chains[run->node];
    status = chain ? run_chain(run, chain) : run_node(run);
  }
  return status;
}

static kw_status launch_here(graph_run *run) {
  kw_cpu_arithmetic arithmetic;
  pthread_mutex_lock(&run->stream->lock);
  kw_cpu_arithmetic_begin(&arithmetic);
  kw_status status = run_graph(run);
  kw_cpu_arithmetic_end(&arithmetic);
  pthread_mutex_unlock(&run->stream->lock);
  if (status == KW_OK) return KW_OK;
  return kw_cpu_error(run->stream->device->host, status, "node %u of %u: the kernel of %s %s", run->node,
                      run->graph->count, run->graph->nodes[run->node].call->op, kw_cpu_kernel_fault(status));
}

typedef struct graph_task {
  kw_cpu_task task;
  const kw_cpu_graph *graph;
} graph_task;

static kw_status run_task(kw_cpu_stream *stream, kw_cpu_task *task) {
  return run_graph(&(graph_run){.stream = stream, .graph = ((graph_task *)task)->graph, .launch_id = task->call_id});
}

static kw_status graph_launch(void *device, void *graph, void *stream_pointer, const kw_graph_launch_info *info) {
  kw_cpu_stream *stream = stream_pointer;
  (void)device;
  if (stream->is_default) {
    return launch_here(&(graph_run){.stream = stream, .graph = graph, .launch_id = info->call_id});
  }
  graph_task *task = kw_cpu_task_create(stream, sizeof *task, run_task);
  if (!task) return KW_ERR_OUT_OF_MEMORY;
  task->graph = graph;
  task->task.call_id = info->call_id;
  kw_cpu_stream_submit(stream, &task->task);
  return KW_OK;
}

const kw_graph_api kw_cpu_graph_api = {
    .struct_size = sizeof(kw_graph_api),
    .begin = graph_begin,
    .end = graph_end,
    .launch = graph_launch,
    .destroy = graph_destroy,
};
