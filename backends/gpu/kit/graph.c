/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: what a stream records (lower/record.h), launched by the driver's own graph, or command by command.
 */
#include "kit/graph.h"

#include "kit/activity.h"
#include "lower/record.h"

#include <stdlib.h>
#include <string.h>

typedef struct graph {
  kw_gpu_recorder *recorder; /* has the commands, unless `own` does */
  void *own;                 /* the driver's graph; NULL: it has none */
} graph;

/* The driver's own group, or NULL. */
static const kw_graph_api *api_of(const kw_gpu_device *device) {
  const kw_gpu_driver *driver = device->driver;
  for (uint32_t i = 0; i < driver->group_count; ++i)
    if (strcmp(driver->groups[i].name, KW_GROUP_GRAPH) == 0) return driver->groups[i].table;
  return NULL;
}

static kw_status fail_memory(const kw_gpu_device *device) {
  return kw_gpu_error(device->host, KW_ERR_OUT_OF_MEMORY, "no host memory for a graph");
}

static kw_status graph_begin(void *state, void *handle, const kw_capture_info *info) {
  kw_gpu_device *device = state;
  kw_gpu_stream *stream = handle;
  const kw_graph_api *api = api_of(device);
  kw_status status = kw_gpu_check_critical(device->host, info->flags, info->next);
  if (status != KW_OK) return status;
  kw_gpu_recorder *recorder = kw_gpu_recorder_create(stream, api == NULL);
  if (!recorder) return fail_memory(device);
  if (api) status = api->begin(device, stream, info);
  if (status == KW_OK) {
    stream->recorder = recorder;
  } else {
    kw_gpu_recorder_free(recorder);
  }
  return status;
}

static kw_status destroy(kw_gpu_device *device, graph *g) {
  kw_status status = g->own ? api_of(device)->destroy(device, g->own) : KW_OK;
  kw_gpu_recorder_free(g->recorder);
  free(g);
  return status;
}

static kw_status graph_end(void *state, void *handle, void **out_graph) {
  kw_gpu_device *device = state;
  kw_gpu_stream *stream = handle;
  const kw_graph_api *api = api_of(device);
  graph *g = calloc(1, sizeof *g);
  kw_gpu_recorder *recorder = stream->recorder;
  kw_status status = g ? KW_OK : fail_memory(device);
  if (status == KW_OK && out_graph) status = kw_gpu_recorder_settle(recorder);
  stream->recorder = NULL;
  if (api) {
    const bool wanted = out_graph && status == KW_OK;
    const kw_status ended = api->end(device, stream, wanted ? &g->own : NULL);
    if (status == KW_OK) status = ended;
  }
  if (g) g->recorder = recorder;
  if (out_graph && status == KW_OK) {
    *out_graph = g;
  } else if (g) {
    destroy(device, g);
  } else {
    kw_gpu_recorder_free(recorder);
  }
  return status;
}

static kw_status run(const graph *g, kw_gpu_device *device, kw_gpu_stream *stream, uint64_t launch_id) {
  const bool joined = kw_gpu_recorder_joined(g->recorder);
  uint32_t count;
  const kw_gpu_command *const *commands = kw_gpu_recorder_commands(g->recorder, &count);
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < count && status == KW_OK; ++i) {
    kw_gpu_activity_replay(&(kw_gpu_replay){.launch_id = launch_id, .as_one = joined, .node = commands[i]->node});
    status = kw_gpu_command_run(commands[i], device, stream);
  }
  kw_gpu_activity_replay(NULL);
  return status;
}

static kw_status graph_launch(void *state, void *handle, void *stream, const kw_graph_launch_info *info) {
  kw_gpu_device *device = state;
  const graph *g = handle;
  return g->own ? api_of(device)->launch(device, g->own, stream, info) : run(g, device, stream, info->call_id);
}

static kw_status graph_destroy(void *device, void *handle) {
  return destroy(device, handle);
}

const kw_graph_api kw_gpu_graph_slots = {
    .struct_size = sizeof kw_gpu_graph_slots,
    .begin = graph_begin,
    .end = graph_end,
    .launch = graph_launch,
    .destroy = graph_destroy,
};
