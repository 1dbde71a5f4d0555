/* SPDX-License-Identifier: Apache-2.0
 *
 * Recorded work: what is enqueued on a stream that records goes into a graph.
 */
#ifndef KEYWAY_CPU_GRAPH_H
#define KEYWAY_CPU_GRAPH_H

#include "call.h"
#include "cpu.h"
#include "fill.h"

typedef struct kw_cpu_graph kw_cpu_graph;

/* Both copy what they are given. */
kw_status kw_cpu_graph_add_call(kw_cpu_graph *graph, const kw_call *call, kw_cpu_table table);
kw_status kw_cpu_graph_add_fill(kw_cpu_graph *graph, const kw_cpu_fill *fill);

#endif /* KEYWAY_CPU_GRAPH_H */
