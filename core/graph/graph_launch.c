/* SPDX-License-Identifier: Apache-2.0
 *
 * Launching a graph: its nodes one after another, or the plugin's own recording of them.
 */
#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/trace.h"
#include "call/launch.h"
#include "device/activity.h"
#include "device/late_error.h"
#include "device/wait.h"
#include "graph/graph.h"

/* ---- Native ------------------------------------------------------------------------------------------------------ */

static bool is_capturable(const kw_graph *graph) {
  const uint64_t native = graph->device->plugin->native;
  if (!(native & KW_NATIVE_GRAPH) || graph->record.node_count == 0) return false;
  for (uint32_t i = 0; i < graph->record.node_count; ++i) {
    const kw_plan *plan = graph->record.nodes[i].plan;
    if (plan ? !(plan->kernel->desc.flags & KW_KERNEL_CAPTURABLE) : !(native & KW_NATIVE_FILL)) return false;
  }
  return true;
}

/* Enqueues one node on a stream of the plugin's. Plain status. */
static kw_status capture_node(const kw_graph *graph, const kw_record_node *node) {
  kw_device *device = graph->device;
  if (!node->plan) {
    return KW_ASK(device->slots, memory.fill, device->handle, graph->native_stream, node->mem, node->offset, node->size,
                  node->pattern, node->pattern_size);
  }
  kw_call call = *node->call;
  call.stream = graph->native_stream;
  call.call_id = kw_call_id_make(node->plan->op->id, kw_trace_on() ? kw_activity_new_call() : 0);
  return kw_plugin_status(device->plugin, node->plan->kernel->desc.launch(&call));
}

static kw_status capture(kw_graph *graph) {
  kw_device *device = graph->device;
  const kw_plugin *plugin = device->slots;
  const kw_capture_info info = {.struct_size = sizeof info};
  kw_status status = KW_ASK(plugin, graph.begin, device->handle, graph->native_stream, &info);
  if (status != KW_OK) return kw_from_plugin(status, "graph.begin");
  for (uint32_t i = 0; i < graph->record.node_count && status == KW_OK; ++i) {
    status = capture_node(graph, &graph->record.nodes[i]);
    if (status != KW_OK) kw_from_plugin(status, "node %u", i);
  }
  if (status != KW_OK) {
    KW_ASK(plugin, graph.end, device->handle, graph->native_stream, NULL);
    return status;
  }
  status = KW_ASK(plugin, graph.end, device->handle, graph->native_stream, &graph->native);
  if (status == KW_OK && !graph->native) status = KW_ERR_INTERNAL;
  return status == KW_OK ? KW_OK : kw_from_plugin(status, "graph.end");
}

/* On a stream that no other code has: any thread may release a buffer, which enqueues events on the streams that used
 * it, and these events are no part of the graph. Late errors of the graph are the stream's that it was recorded on. */
void kw_graph_make_native(kw_graph *graph) {
  if (!is_capturable(graph)) return;
  kw_device *device = graph->device;
  const kw_stream_info info = {.struct_size = sizeof info, .token = graph->home};
  kw_status status = KW_ASK(device->slots, stream.create, device->handle, &info, &graph->native_stream);
  status = status == KW_OK ? capture(graph) : kw_from_plugin(status, "stream.create");
  if (status == KW_OK) return;
  kw_device_mark_if_lost(device, status);
  char reason[1024];
  kw_log(KW_LOG_WARN, "a graph of %s is replayed call by call, since its plugin did not record it: %s", device->name,
         kw_error_sentence(reason, sizeof reason));
  kw_graph_destroy_native(graph);
}

void kw_graph_destroy_native(kw_graph *graph) {
  kw_device *device = graph->device;
  kw_status status = KW_OK;
  if (graph->native) status = KW_ASK(device->slots, graph.destroy, device->handle, graph->native);
  if (status == KW_OK && graph->native_stream) {
    status = KW_ASK(device->slots, stream.destroy, device->handle, graph->native_stream);
  }
  graph->native = graph->native_stream = NULL;
  if (status == KW_OK) return;
  kw_device_mark_if_lost(device, kw_from_plugin(status, "destroying a graph of %s", device->name));
  kw_log(KW_LOG_WARN, "%s", kw_error_message());
}

/* ---- Launching --------------------------------------------------------------------------------------------------- */

/* The graph's memory is one for all its launches. So is the word that its plugin has recorded: what it says is the last
 * stream's, told before the next may store there. */
static kw_status follow_last_launch(const kw_graph *graph, kw_stream *stream) {
  if (graph->last == stream->token) return KW_OK;
  kw_stream *last = kw_stream_pin(graph->last);
  if (!last) return KW_OK; /* destroyed, so its work has ended */
  kw_status status = graph->native && graph->record.word ? kw_stream_let_pass("kw_graph_launch", last)
                                                         : kw_stream_follow("kw_graph_launch", stream, last);
  kw_stream_unpin(last);
  return status;
}

/* Each launch takes blocks as all its calls together would. */
static kw_status write_numbers(const kw_graph *graph, kw_stream *stream) {
  for (uint32_t i = 0; i < graph->record.numbers_count; ++i) {
    const kw_record_numbers *numbers = &graph->record.numbers[i];
    const kw_rng rng = kw_generator_take(numbers->generator, numbers->blocks);
    if (rng.algorithm != numbers->algorithm) {
      return kw_fail(KW_ERR_INVALID_ARGUMENT,
                     "kw_graph_launch: the graph was recorded with a generator of another algorithm: record it again");
    }
    const uint64_t state[] = {rng.seed, rng.offset};
    kw_status status =
        kw_memory_fill(stream, numbers->state->mem, numbers->state->offset, sizeof state, state, sizeof state);
    if (status != KW_OK) return status;
  }
  return KW_OK;
}

/* Errors that nodes find in the data are those of the stream that they run on, whose word stands in all their calls. */
static kw_status take_word(kw_graph *graph, kw_stream *stream) {
  if (!graph->record.word || graph->word_of == stream->token) return KW_OK;
  kw_error_word *word;
  kw_status status = kw_stream_error_word(stream, &word);
  if (status != KW_OK) return status;
  for (uint32_t i = 0; i < graph->record.node_count; ++i) {
    const kw_call *call = graph->record.nodes[i].call;
    if (call && call->extra && call->extra->error_mem) ((kw_call_extra *)(uintptr_t)call->extra)->error_mem = word->mem;
  }
  graph->word_of = stream->token;
  return KW_OK;
}

/* Launches a node that is one, whose call lacks only stream and number. Plain status. */
static inline kw_status launch_node(const kw_record_node *node, kw_stream *stream, bool traced) {
  if (__builtin_expect(traced, 0)) return kw_plan_launch(node->plan, stream, node->call);
  node->call->stream = stream->handle;
  atomic_store_explicit(&stream->last_call, ++node->call->call_id, memory_order_relaxed);
  return node->plan->kernel->desc.launch(node->call);
}

static kw_status fill_node(const kw_record_node *node, kw_stream *stream) {
  return kw_memory_fill(stream, node->mem, node->offset, node->size, node->pattern, node->pattern_size);
}

static __attribute__((cold)) kw_status fail_launch(const kw_record_node *node, kw_stream *stream, kw_status status) {
  const char *op = node->plan->op->schema.name, *kernel = node->plan->kernel->desc.name;
  if (status == KW_ERR_FALLBACK) {
    return kw_fail(KW_ERR_NOT_IMPLEMENTED,
                   "%s: kernel '%s' asks for cpu:0, which has no place in a graph; call the op outside of it", op,
                   kernel);
  }
  status = kw_plugin_status(stream->device->plugin, status);
  return kw_device_mark_if_lost(stream->device, kw_from_plugin(status, "%s, kernel '%s'", op, kernel));
}

/* Of the first `count` nodes, those that launch. */
static uint32_t count_launches(const kw_graph *graph, uint32_t count) {
  uint32_t launches = 0;
  for (uint32_t i = 0; i < count; ++i) launches += graph->record.nodes[i].plan != NULL;
  return launches;
}

/* Node by node. All that is the same in every launch has been settled when they were recorded. */
static kw_status replay(kw_graph *graph, kw_stream *stream) {
  const kw_record *record = &graph->record;
  const bool traced = kw_trace_on();
  kw_status status = take_word(graph, stream);
  if (status != KW_OK) return status;
  uint32_t i = 0;
  for (; i < record->node_count; ++i) {
    const kw_record_node *node = &record->nodes[i];
    status = node->plan ? launch_node(node, stream, traced) : fill_node(node, stream);
    if (__builtin_expect(status != KW_OK, 0)) {
      if (node->plan) status = fail_launch(node, stream, status);
      kw_wrap(status, "node %u of %u", i, record->node_count);
      break;
    }
  }
  if (record->word) kw_error_words_use_own(stream); /* also when a node failed: those before it run */
  if (!traced) {                                    /* else each was counted */
    atomic_fetch_add(&graph->device->launches, status == KW_OK ? record->launch_count : count_launches(graph, i));
  }
  return status;
}

/* The id of a launch of the graph, with the op that it ends with. */
static uint64_t last_call(const kw_graph *graph, uint64_t number) {
  uint32_t i = graph->record.node_count;
  while (i > 0 && !graph->record.nodes[i - 1].plan) --i;
  return i > 0 ? kw_call_id_make(graph->record.nodes[i - 1].plan->op->id, number) : number;
}

/* The plugin's own recording. */
static kw_status launch_native(const kw_graph *graph, kw_stream *stream) {
  kw_device *device = graph->device;
  const kw_graph_launch_info info = {.struct_size = sizeof info, .call_id = kw_trace_on() ? kw_activity_new_call() : 0};
  const uint64_t begin = kw_trace_begin();
  kw_status status = KW_ASK(device->slots, graph.launch, device->handle, graph->native, stream->handle, &info);
  kw_trace_stream_span("launch", "graph", NULL, begin, stream->token, info.call_id);
  if (status != KW_OK) return kw_device_mark_if_lost(device, kw_from_plugin(status, "graph.launch"));
  atomic_store_explicit(&stream->last_call, last_call(graph, info.call_id), memory_order_relaxed);
  atomic_fetch_add(&device->launches, graph->record.launch_count);
  return KW_OK;
}

/* Under graph->launching. */
static kw_status launch(kw_graph *graph, kw_stream *stream) {
  struct kw_word_use *use = NULL;
  if (graph->native && graph->record.word) {
    kw_status status = kw_word_use_create(graph->record.word, &use);
    if (status != KW_OK) return status;
  }
  kw_status status = follow_last_launch(graph, stream);
  if (status == KW_OK) {
    graph->last = stream->token;
    status = write_numbers(graph, stream);
    if (status == KW_OK) status = graph->native ? launch_native(graph, stream) : replay(graph, stream);
  }
  if (use) kw_error_words_use(stream, use); /* also when a node failed: those before it run */
  return status == KW_OK ? KW_OK : kw_wrap(status, "launching a graph on %s", graph->device->name);
}

KW_API kw_status kw_graph_launch(kw_graph *graph, kw_stream *stream) {
  if (!graph) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_graph_launch: argument graph is NULL.");
  kw_status status = kw_fork_check();
  if (status == KW_OK) status = kw_device_check(graph->device);
  if (status == KW_OK) status = kw_stream_resolve("kw_graph_launch", graph->device, stream, &stream);
  if (status == KW_OK) status = kw_stream_may_not_record("kw_graph_launch", stream);
  if (status != KW_OK) return status;
  if (!kw_stream_in_callback()) {
    pthread_mutex_lock(&graph->launching);
  } else if (pthread_mutex_trylock(&graph->launching) != 0) {
    return kw_fail(
        KW_ERR_BUSY,
        "kw_graph_launch: another thread launches this graph, and a function run by kw_stream_call_host must "
        "not wait. Try again later.");
  }
  uint64_t begin = kw_trace_begin();
  status = launch(graph, stream);
  kw_trace_span("op", "graph", graph->device->name, begin);
  pthread_mutex_unlock(&graph->launching);
  return status;
}
