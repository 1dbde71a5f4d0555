/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: launches and fills that were recorded in place of being enqueued.
 */
#ifndef KEYWAY_CORE_GRAPH_H
#define KEYWAY_CORE_GRAPH_H

#include "device/allocator.h"
#include "device/generator.h"

struct kw_plan;

/* One launch (plan is set) or one fill. */
typedef struct kw_graph_node {
  struct kw_plan *plan; /* one reference: keeps kernel and prepared state */
  kw_call *call;        /* the node's own; its stream and call id are those of each launch */
  kw_mem mem;
  uint64_t offset, size;
  unsigned char pattern[16];
  uint32_t pattern_size;
} kw_graph_node;

/* A generator that random ops of the graph draw from. */
typedef struct kw_graph_numbers {
  kw_generator *generator; /* one reference */
  uint32_t algorithm;      /* its, when the calls were recorded */
  kw_buffer *state;        /* {u64 seed, u64 offset}, written before each launch */
  uint64_t blocks;         /* that one launch takes */
} kw_graph_numbers;

struct kw_graph {
  uint64_t id;       /* unique in this process, never 0 */
  kw_device *device; /* a reference */
  kw_stream *stream; /* that it is recorded on; only while it is recorded */
  kw_graph *outer;   /* that the same thread began to record before */
  kw_pool pool;
  kw_graph_node *nodes;
  kw_buffer **kept; /* that are none of the pool's; one reference for each use */
  kw_graph_numbers *numbers;
  uint32_t node_count, kept_count, numbers_count;
  bool incomplete;     /* no host memory to keep a buffer of the next node */
  kw_error_word *word; /* in the calls of kernels that may leave errors, NULL = none do; `native` stores to it, while
                          calls that are replayed take the word of the stream that they run on */
  uint64_t home;       /* token of the stream that it was recorded on */

  pthread_mutex_t launching;
  uint64_t last;       /* token of the stream that has work of it last; under `launching` */
  void *native;        /* the plugin's graph, or NULL */
  void *native_stream; /* the plugin's stream that it was made on */
};

/* While recording, by the thread that records: see kw_stream_recorded. */

static inline kw_pool *kw_graph_pool(kw_graph *graph) {
  return &graph->pool;
}
/* Keeps a buffer for as long as the graph lives, unless it is of the graph's own pool: that orders itself. */
void kw_graph_keep(kw_graph *graph, kw_buffer *buffer);
/* Numbers for a random op: relative to what the graph finds in its state. */
kw_status kw_graph_take_numbers(kw_graph *graph, kw_generator *generator, uint64_t blocks, kw_rng *out_rng);
/* The graph's error word, made if there is none. */
kw_status kw_graph_error_word(kw_graph *graph, kw_error_word **out_word);
/* Adds a node; buffers have been kept by kw_buffer_use. */
kw_status kw_graph_add_launch(kw_graph *graph, struct kw_plan *plan, const kw_call *call);
kw_status kw_graph_add_fill(kw_graph *graph, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                            uint32_t pattern_size);
/* Drops the nodes from number `count` on: of a call that failed. */
void kw_graph_rewind(kw_graph *graph, uint32_t count);

/* Has the plugin record the graph, where it can and all kernels allow it. When that fails, it is in the log, and the
 * graph is replayed node by node. */
void kw_graph_make_native(kw_graph *graph);
/* No stream runs it any more. */
void kw_graph_destroy_native(kw_graph *graph);

#endif /* KEYWAY_CORE_GRAPH_H */
