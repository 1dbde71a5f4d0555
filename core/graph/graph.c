/* SPDX-License-Identifier: Apache-2.0
 *
 * Recording, and a graph's life. One thread records; nobody else has the graph until the recording ends, at the latest
 * with the thread.
 */
#include "graph/graph.h"

#include "call/call_copy.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "call/plan.h"
#include "base/struct.h"

#include <stdlib.h>
#include <string.h>

/* ---- Recording --------------------------------------------------------------------------------------------------- */

/* Room for one more in an array that doubles whenever its length is a power of two; NULL without memory. */
static void *grow(void *items, uint32_t count, size_t item_size) {
  if ((count & (count - 1)) != 0) return items;
  return realloc(items, (count > 0 ? 2 * (size_t)count : 1) * item_size);
}

static kw_status fail_host_memory(void) {
  return kw_fail(KW_ERR_OUT_OF_MEMORY, "recording a graph: the host is out of memory");
}

void kw_graph_keep(kw_graph *graph, kw_buffer *buffer) {
  if (buffer->graph == graph->id) return;
  kw_buffer **kept = grow(graph->kept, graph->kept_count, sizeof *kept);
  if (!kept) {
    graph->incomplete = true;
    return;
  }
  kw_buffer_retain(buffer);
  graph->kept = kept;
  graph->kept[graph->kept_count++] = buffer;
}

static kw_status find_numbers(kw_graph *graph, kw_generator *generator, kw_graph_numbers **out_numbers) {
  for (uint32_t i = 0; i < graph->numbers_count; ++i) {
    *out_numbers = &graph->numbers[i];
    if ((*out_numbers)->generator == generator) return KW_OK;
  }
  kw_graph_numbers *numbers = grow(graph->numbers, graph->numbers_count, sizeof *numbers);
  if (!numbers) return fail_host_memory();
  graph->numbers = numbers;
  numbers += graph->numbers_count;
  *numbers = (kw_graph_numbers){.generator = generator, .algorithm = kw_generator_take(generator, 0).algorithm};
  kw_status status = kw_buffer_create_for_call(graph->stream, 2 * sizeof(uint64_t), &numbers->state);
  if (status != KW_OK) return status;
  kw_generator_retain(generator);
  graph->numbers_count++;
  *out_numbers = numbers;
  return KW_OK;
}

kw_status kw_graph_take_numbers(kw_graph *graph, kw_generator *generator, uint64_t blocks, kw_rng *out_rng) {
  kw_graph_numbers *numbers = NULL;
  kw_status status = find_numbers(graph, generator, &numbers);
  if (status != KW_OK) return status;
  *out_rng = (kw_rng){.algorithm = numbers->algorithm,
                      .offset = numbers->blocks,
                      .state = numbers->state->mem,
                      .state_offset = numbers->state->offset};
  numbers->blocks += blocks;
  return KW_OK;
}

kw_status kw_graph_error_word(kw_graph *graph, kw_error_word **out_word) {
  kw_status status = graph->word ? KW_OK : kw_error_word_create(graph->stream, &graph->word);
  *out_word = graph->word;
  return status;
}

static kw_status add_node(kw_graph *graph, const kw_graph_node *node) {
  kw_graph_node *nodes = grow(graph->nodes, graph->node_count, sizeof *nodes);
  if (nodes) graph->nodes = nodes;
  const bool incomplete = graph->incomplete;
  graph->incomplete = false;
  if (!nodes || incomplete) return fail_host_memory();
  graph->nodes[graph->node_count++] = *node;
  return KW_OK;
}

kw_status kw_graph_add_launch(kw_graph *graph, kw_plan *plan, const kw_call *call) {
  const kw_graph_node node = {.plan = plan, .call = kw_call_copy(call)};
  kw_status status = node.call ? add_node(graph, &node) : fail_host_memory();
  if (status == KW_OK) {
    atomic_fetch_add(&plan->refs, 1);
  } else {
    free(node.call);
  }
  return status;
}

kw_status kw_graph_add_fill(kw_graph *graph, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                            uint32_t pattern_size) {
  kw_graph_node node = {.mem = mem, .offset = offset, .size = size, .pattern_size = pattern_size};
  memcpy(node.pattern, pattern, pattern_size);
  return add_node(graph, &node);
}

void kw_graph_rewind(kw_graph *graph, uint32_t count) {
  while (graph->node_count > count) {
    const kw_graph_node *node = &graph->nodes[--graph->node_count];
    kw_plan_unref(node->plan);
    free(node->call);
  }
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

/* No stream runs it. */
static void free_graph(kw_graph *graph) {
  kw_device *device = graph->device;
  kw_graph_destroy_native(graph);
  kw_graph_rewind(graph, 0);
  for (uint32_t i = 0; i < graph->kept_count; ++i) kw_buffer_release(graph->kept[i]);
  for (uint32_t i = 0; i < graph->numbers_count; ++i) {
    kw_buffer_release(graph->numbers[i].state);
    kw_generator_unref(graph->numbers[i].generator);
  }
  kw_error_word_unref(graph->word);
  kw_allocator_forget_pool(device, &graph->pool);
  pthread_mutex_destroy(&graph->launching);
  free(graph->nodes);
  free(graph->kept);
  free(graph->numbers);
  free(graph);
  kw_plan_reap(device);
  kw_device_release(device);
}

static pthread_key_t recordings; /* of each thread: the graph that it records, linked to others that it records */
static pthread_once_t recordings_once = PTHREAD_ONCE_INIT;
static int recordings_error;

/* The calling thread ends: nobody else could end what it records. */
static void throw_away(void *recorded) {
  pthread_setspecific(recordings, recorded);
  for (kw_graph *graph; (graph = pthread_getspecific(recordings));) {
    if (kw_graph_end(graph->stream, NULL) == KW_OK) continue;
    kw_log(KW_LOG_WARN, "a thread ended while it recorded a graph: %s", kw_error_message());
    pthread_setspecific(recordings, graph->outer);
  }
}

static void make_recordings(void) {
  recordings_error = pthread_key_create(&recordings, throw_away);
}

static kw_status add_recording(kw_graph *graph) {
  pthread_once(&recordings_once, make_recordings);
  graph->outer = recordings_error == 0 ? pthread_getspecific(recordings) : NULL;
  if (recordings_error == 0 && pthread_setspecific(recordings, graph) == 0) return KW_OK;
  return kw_fail(KW_ERR_OUT_OF_MEMORY, "recording a graph: the process has no room for what a thread records");
}

static void remove_recording(const kw_graph *graph) {
  kw_graph *first = pthread_getspecific(recordings);
  if (first == graph) {
    pthread_setspecific(recordings, graph->outer);
    return;
  }
  while (first->outer != graph) first = first->outer;
  first->outer = graph->outer;
}

KW_API kw_status kw_graph_begin(kw_stream *stream) {
  static atomic_ullong last_id;
  if (!stream) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_graph_begin: argument stream is NULL.");
  kw_device *device = stream->device;
  kw_status status = kw_fork_check();
  if (status == KW_OK) status = kw_device_check(device);
  if (status != KW_OK) return status;
  kw_graph *graph = calloc(1, sizeof *graph);
  if (!graph) return fail_host_memory();
  uintptr_t nobody = 0;
  if (!atomic_compare_exchange_strong(&stream->recorder, &nobody, kw_stream_this_thread())) {
    free(graph);
    return kw_stream_may_not_record("kw_graph_begin", stream);
  }
  status = add_recording(graph);
  if (status != KW_OK) {
    atomic_store(&stream->recorder, 0);
    free(graph);
    return status;
  }
  graph->id = graph->pool.graph = atomic_fetch_add(&last_id, 1) + 1;
  graph->device = device;
  graph->stream = stream;
  graph->home = graph->last = stream->token;
  pthread_mutex_init(&graph->launching, NULL);
  stream->graph = graph;
  atomic_store(&stream->recording, graph->id);
  kw_device_retain(device);
  atomic_fetch_add(&device->detours, 1);
  return KW_OK;
}

KW_API kw_status kw_graph_end(kw_stream *stream, kw_graph **out_graph) {
  if (!stream) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_graph_end: argument stream is NULL.");
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  kw_graph *graph = kw_stream_recorded(stream);
  if (!graph) {
    status = kw_stream_may_not_record("kw_graph_end", stream);
    if (status != KW_OK) return status;
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_graph_end: the stream does not record; call kw_graph_begin first.");
  }
  if (!out_graph) {
    status = kw_stream_may_wait("kw_graph_end");
    if (status != KW_OK) return status;
  }
  remove_recording(graph);
  graph->stream = NULL;
  stream->graph = NULL;
  atomic_store(&stream->recording, 0);
  atomic_store(&stream->recorder, 0);
  atomic_fetch_sub(&graph->device->detours, 1);
  if (!out_graph) return kw_graph_destroy(graph);
  kw_graph_make_native(graph);
  *out_graph = graph;
  return KW_OK;
}

KW_API kw_status kw_graph_destroy(kw_graph *graph) {
  if (!graph) return KW_OK;
  kw_status status = kw_stream_may_wait("kw_graph_destroy");
  if (status != KW_OK) return status;
  kw_stream *last = kw_stream_pin(graph->last);
  if (last) {
    kw_stream_drain(last);
    kw_stream_unpin(last);
  }
  free_graph(graph);
  return KW_OK;
}

KW_API kw_status kw_graph_get_info(const kw_graph *graph, kw_graph_info *out_info) {
  if (!graph) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_graph_get_info: argument graph is NULL.");
  kw_status status = kw_struct_check_given("kw_graph_get_info", out_info);
  if (status != KW_OK) return status;
  const kw_graph_info info = {
      .nodes = graph->node_count, .native = graph->native != NULL, .pool_bytes = graph->pool.bytes};
  kw_struct_write(out_info, &info, sizeof info);
  return KW_OK;
}
