/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: a regular command list each, run by a queue of its own. A queue and the stream's immediate list know nothing
 * of each other's order, so the list begins by waiting for one event, which the stream signals before, and ends by
 * signalling another, which the stream waits for. Either is reset by who waited for it: the list may be run again at
 * once, and by any stream, for with one queue only one run at a time waits to begin.
 *
 * The event at the end says that the list has ended, not how: that its run does (graph_run.c).
 */
#include "levelzero.h"

#include <stdlib.h>

/* Streams on which nobody has waited since may still have to ask how a run of it went. */
static kw_status graph_destroy(void *device, void *graph) {
  (void)device;
  lz_graph_drop(graph);
  return KW_OK;
}

/* ---- Recording --------------------------------------------------------------------------------------------------- */

static ze_result_t append_begin(lz_graph *graph) {
  ze_result_t result = ze.CommandListAppendWaitOnEvents(graph->list, 1, &graph->begin->handle);
  if (result == ZE_RESULT_SUCCESS) result = ze.CommandListAppendEventReset(graph->list, graph->begin->handle);
  if (result == ZE_RESULT_SUCCESS) result = ze.CommandListAppendBarrier(graph->list, NULL, 0, NULL);
  return result;
}

static kw_status graph_begin(void *state, void *handle, const kw_capture_info *info) {
  lz_device *device = state;
  kw_status status = kw_gpu_check_critical(device->base.host, info->flags, info->next);
  if (status != KW_OK) return status;
  lz_stream *stream = handle;
  const ze_command_queue_desc_t queue_desc = lz_next_queue(device);
  const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                       .commandQueueGroupOrdinal = queue_desc.ordinal};
  lz_graph *graph = calloc(1, sizeof *graph);
  if (!graph) return lz_check(device, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "beginning a graph");
  graph->device = device;
  graph->references = 1;
  ze_result_t result = lz_event_take(device, &graph->begin);
  if (result == ZE_RESULT_SUCCESS) result = lz_event_take(device, &graph->end);
  if (result == ZE_RESULT_SUCCESS) result = ze.CommandListCreate(device->context, device->id, &desc, &graph->list);
  if (result == ZE_RESULT_SUCCESS)
    result = ze.CommandQueueCreate(device->context, device->id, &queue_desc, &graph->queue);
  if (result == ZE_RESULT_SUCCESS) result = append_begin(graph);
  if (result != ZE_RESULT_SUCCESS) {
    lz_graph_drop(graph);
    return lz_check(device, result, "beginning a graph");
  }
  pthread_mutex_lock(&stream->base.lock);
  stream->graph = graph;
  stream->recording = graph->list;
  pthread_mutex_unlock(&stream->base.lock);
  return KW_OK;
}

static kw_status graph_end(void *state, void *handle, void **out_graph) {
  lz_device *device = state;
  lz_stream *stream = handle;
  pthread_mutex_lock(&stream->base.lock);
  lz_graph *graph = stream->graph;
  stream->graph = NULL;
  stream->recording = NULL;
  pthread_mutex_unlock(&stream->base.lock);
  if (!out_graph) return graph_destroy(device, graph);
  ze_result_t result = ze.CommandListAppendSignalEvent(graph->list, graph->end->handle);
  if (result == ZE_RESULT_SUCCESS) result = ze.CommandListClose(graph->list);
  if (result == ZE_RESULT_SUCCESS) {
    *out_graph = graph;
  } else {
    lz_graph_drop(graph);
  }
  return lz_check(device, result, "zeCommandListClose");
}

/* ---- Launching --------------------------------------------------------------------------------------------------- */

/* While activity is recorded: when everything before has passed. */
static ze_result_t append_start(lz_device *device, const lz_command *command) {
  if (!kw_gpu_activity_on(&device->base)) return ZE_RESULT_SUCCESS;
  ze_result_t result = lz_event_take(device, &command->event->start);
  if (result != ZE_RESULT_SUCCESS) return result;
  return ze.CommandListAppendBarrier(command->list, command->event->start->handle, command->wait_count,
                                     (ze_event_handle_t *)command->waits);
}

static ze_result_t execute(lz_graph *graph, lz_run *run) {
  ze_result_t result = ze.CommandQueueExecuteCommandLists(graph->queue, 1, &graph->list, run->fence);
  run->in_flight = result == ZE_RESULT_SUCCESS;
  return result;
}

/* The stream's command: everything before, then the list, then `command.signal`. */
static ze_result_t append_run(lz_device *device, lz_run *run, const lz_command *command) {
  lz_graph *graph = run->graph;
  ze_result_t result = append_start(device, command);
  if (result == ZE_RESULT_SUCCESS)
    result = ze.CommandListAppendBarrier(command->list, graph->begin->handle, command->wait_count,
                                         (ze_event_handle_t *)command->waits);
  if (result == ZE_RESULT_SUCCESS) result = execute(graph, run);
  if (result == ZE_RESULT_SUCCESS) result = ze.CommandListAppendBarrier(command->list, NULL, 1, &graph->end->handle);
  if (result == ZE_RESULT_SUCCESS) result = ze.CommandListAppendEventReset(command->list, graph->end->handle);
  if (result == ZE_RESULT_SUCCESS) result = ze.CommandListAppendBarrier(command->list, command->signal, 0, NULL);
  return result;
}

static ze_result_t append_graph(lz_device *device, lz_graph *graph, const lz_command *command) {
  lz_run *run = NULL;
  ze_result_t result = lz_run_take(graph, &run);
  if (result == ZE_RESULT_SUCCESS) result = append_run(device, run, command);
  if (result == ZE_RESULT_SUCCESS) {
    command->event->run = run;
  } else {
    lz_run_drop(run);
  }
  return result;
}

static kw_status graph_launch(void *state, void *graph, void *stream, const kw_graph_launch_info *info) {
  lz_command command = lz_stream_begin(stream, NULL);
  if (command.result == ZE_RESULT_SUCCESS) command.result = append_graph(state, graph, &command);
  lz_activity_note(stream, &command, KW_ACTIVITY_GRAPH, info->call_id);
  return lz_stream_end(stream, &command, info->call_id, "zeCommandQueueExecuteCommandLists");
}

const kw_graph_api lz_graph_api = {
    .struct_size = sizeof lz_graph_api,
    .begin = graph_begin,
    .end = graph_end,
    .launch = graph_launch,
    .destroy = graph_destroy,
};
