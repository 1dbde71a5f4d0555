/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: records of calls that are launched as one.
 */
#ifndef KEYWAY_CORE_GRAPH_H
#define KEYWAY_CORE_GRAPH_H

#include "call/record.h"

struct kw_graph {
  kw_record record;  /* first: kw_stream.recording leads here */
  kw_device *device; /* a reference */
  kw_graph *outer;   /* that the same thread began to record before */
  uint64_t home;     /* token of the stream that it was recorded on */

  pthread_mutex_t launching;
  uint64_t last;    /* token of the stream that has work of it last; under `launching` */
  uint64_t word_of; /* token of the stream whose error word stands in the nodes' calls; 0 = none; under `launching` */
  void *native;     /* the plugin's graph, or NULL */
  void *native_stream; /* the plugin's stream that it was made on */
};

/* Has the plugin record the graph, where it can and all kernels allow it. When that fails, it is in the log, and the
 * graph is replayed node by node. */
void kw_graph_make_native(kw_graph *graph);
/* No stream runs it any more. */
void kw_graph_destroy_native(kw_graph *graph);

#endif /* KEYWAY_CORE_GRAPH_H */
