/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph's life: kw_graph_begin to kw_graph_destroy. A recording ends with its thread at the latest.
 */
#include "graph/graph.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/struct.h"
#include "base/thread_own.h"
#include "call/plan_cache.h"
#include "call/record_drop.h"
#include "device/wait.h"

#include <stdlib.h>
#include <string.h>

/* No stream runs it. */
static void free_graph(kw_graph *graph) {
  kw_device *device = graph->device;
  kw_graph_destroy_native(graph);
  kw_record_free(&graph->record);
  kw_allocator_forget_pool(device, &graph->record.recording.pool);
  pthread_mutex_destroy(&graph->launching);
  free(graph);
  kw_plan_reap(device);
  kw_device_release(device);
}

static kw_thread_key recordings; /* of each thread: the graph that it records, linked to others that it records */

/* The calling thread ends: no other thread could end what it records. */
static void throw_away(void *recorded) {
  pthread_setspecific(kw_thread_key_of(&recordings), recorded);
  for (kw_graph *graph; (graph = pthread_getspecific(kw_thread_key_of(&recordings)));) {
    if (kw_graph_end(graph->record.stream, NULL) == KW_OK) continue;
    kw_log(KW_LOG_WARN, "a thread ended while it recorded a graph: %s", kw_error_message());
    pthread_setspecific(kw_thread_key_of(&recordings), graph->outer);
  }
}

static kw_status add_recording(kw_graph *graph) {
  const bool room = kw_thread_key_obtain(&recordings, throw_away);
  graph->outer = room ? pthread_getspecific(kw_thread_key_of(&recordings)) : NULL;
  if (room && pthread_setspecific(kw_thread_key_of(&recordings), graph) == 0) return KW_OK;
  return kw_fail(KW_ERR_OUT_OF_MEMORY, "recording a graph: the process has no room for what a thread records");
}

static void remove_recording(const kw_graph *graph) {
  kw_graph *first = pthread_getspecific(kw_thread_key_of(&recordings));
  if (first == graph) {
    pthread_setspecific(kw_thread_key_of(&recordings), graph->outer);
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
  if (!graph) return kw_fail(KW_ERR_OUT_OF_MEMORY, "recording a graph: the host is out of memory");
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
  const uint64_t id = graph->record.recording.pool.graph = atomic_fetch_add(&last_id, 1) + 1;
  graph->device = device;
  graph->record.stream = stream;
  graph->home = graph->last = stream->token;
  pthread_mutex_init(&graph->launching, NULL);
  stream->recording = &graph->record.recording;
  atomic_store(&stream->recording_graph, id);
  kw_device_retain(device);
  kw_device_bar(device);
  return KW_OK;
}

KW_API kw_status kw_graph_end(kw_stream *stream, kw_graph **out_graph) {
  if (!stream) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_graph_end: argument stream is NULL.");
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  kw_graph *graph = (kw_graph *)kw_record_of(stream);
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
  graph->record.stream = NULL;
  stream->recording = NULL;
  atomic_store(&stream->recording_graph, 0);
  atomic_store(&stream->recorder, 0);
  kw_device_unbar(graph->device);
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
    status = kw_stream_drain(last);
    kw_stream_unpin(last);
    if (status == KW_ERR_TIMEOUT) return kw_wrap(status, "kw_graph_destroy");
  }
  free_graph(graph);
  return KW_OK;
}

KW_API kw_status kw_graph_get_info(const kw_graph *graph, kw_graph_info *out_info) {
  if (!graph) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_graph_get_info: argument graph is NULL.");
  kw_status status = kw_struct_check_given("kw_graph_get_info", out_info);
  if (status != KW_OK) return status;
  const kw_graph_info info = {.nodes = graph->record.node_count,
                              .native = graph->native != NULL,
                              .pool_bytes = graph->record.recording.pool.bytes};
  kw_struct_write(out_info, &info, sizeof info);
  return KW_OK;
}
