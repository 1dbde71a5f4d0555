/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: the runtime's own do what plugin.h asks for.
 */
#include "runtime.h"

static const kw_rt_runtime *const runtime = &kw_rt_backend_runtime;

static kw_status graph_begin(void *device, void *stream, const kw_capture_info *info) {
  kw_status status = kw_gpu_check_critical(((kw_gpu_device *)device)->host, info->flags, info->next);
  if (status != KW_OK) return status;
  void *before = runtime->enter(device);
  int error = kw_rt.capture_begin(((kw_gpu_stream *)stream)->handle, 2); /* other threads may go on as they like */
  runtime->leave(before);
  atomic_store(&((kw_rt_stream *)stream)->captures, error == 0);
  return kw_rt_check(device, KW_RT_capture_begin, error);
}

static kw_status graph_end(void *device, void *stream, void **out_graph) {
  void *graph = NULL;
  void *before = runtime->enter(device);
  atomic_store(&((kw_rt_stream *)stream)->captures, false);
  kw_status status =
      kw_rt_check(device, KW_RT_capture_end, kw_rt.capture_end(((kw_gpu_stream *)stream)->handle, &graph));
  if (status == KW_OK && out_graph)
    status = kw_rt_check(device, KW_RT_graph_make, kw_rt.graph_make(out_graph, graph, 0));
  if (graph) kw_rt.graph_destroy(graph);
  runtime->leave(before);
  return status;
}

static kw_status graph_launch(void *device, void *graph, void *stream, const kw_graph_launch_info *info) {
  void *before = runtime->enter(device);
  const kw_rt_span span = kw_rt_span_begin(stream);
  int error = kw_rt.graph_launch(graph, ((kw_gpu_stream *)stream)->handle);
  kw_rt_span_end(&span, KW_ACTIVITY_GRAPH, info->call_id, error);
  runtime->leave(before);
  return kw_rt_check(device, KW_RT_graph_launch, error);
}

static kw_status graph_destroy(void *device, void *graph) {
  void *before = runtime->enter(device);
  int error = kw_rt.graph_unmake(graph);
  runtime->leave(before);
  return kw_rt_check(device, KW_RT_graph_unmake, error);
}

const kw_graph_api kw_rt_graph_api = {
    .struct_size = sizeof kw_rt_graph_api,
    .begin = graph_begin,
    .end = graph_end,
    .launch = graph_launch,
    .destroy = graph_destroy,
};
