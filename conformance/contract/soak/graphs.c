/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite soak: graphs that come and go, and one that is launched again and again.
 */
#include "soak.h"

#include "base/worker_note.h"

#include <stdio.h>

enum { BLOCK = 500, LEAST = 64, GRAPHS = 20 };

static kw_soak_call call;
static kw_stream *stream;

static void begin(void) {
  kw_soak_call_make(BLOCK, &call);
  stream = kw_test_stream();
}

static void end(void) {
  KW_CHECK_OK(kw_stream_destroy(stream));
  kw_soak_call_free(&call);
}

static kw_graph *record(uint64_t place) {
  kw_graph *graph = NULL;
  KW_CHECK_OK(kw_graph_begin(stream));
  kw_status status = kw_soak_call_run(&call, stream, place);
  KW_CHECK_OK(kw_graph_end(stream, &graph));
  KW_CHECK_STATUS(status, KW_OK);
  return graph;
}

/* Some live at once, and each is launched twice. */
static void run_graphs(void *user, uint64_t first, uint64_t count) {
  (void)user;
  kw_graph *graphs[GRAPHS] = {NULL};
  kw_soak_call_clear(&call, count);
  for (uint64_t i = 0; i < count; i++) {
    KW_CHECK_OK(kw_graph_destroy(graphs[i % GRAPHS]));
    graphs[i % GRAPHS] = record(i);
    for (int k = 0; k < 2; k++) KW_CHECK_OK(kw_graph_launch(graphs[i % GRAPHS], stream));
  }
  for (int i = 0; i < GRAPHS; i++) KW_CHECK_OK(kw_graph_destroy(graphs[i]));
  kw_soak_call_check(&call, count, "graph", first);
}

/* Graph after graph: recorded, launched, destroyed. */
void kw_contract_soak_graphs(void **state) {
  (void)state;
  begin();
  const kw_soak_work work = {
      .objects = "graphs", .count = kw_soak_count(250, 5000, 70000), .block = BLOCK, .least = LEAST, .run = run_graphs};
  kw_soak_run(&work);
  end();
}

enum { MANY = 100 };

/* Each has calls for MANY places. */
static void run_graphs_of_many(void *user, uint64_t first, uint64_t count) {
  (void)user;
  kw_soak_call_clear(&call, MANY);
  for (uint64_t i = 0; i < count; i++) {
    kw_graph *graph = NULL;
    kw_status status = KW_OK;
    KW_CHECK_OK(kw_graph_begin(stream));
    for (uint64_t k = 0; k < MANY && status == KW_OK; k++) status = kw_soak_call_run(&call, stream, k);
    KW_CHECK_OK(kw_graph_end(stream, &graph));
    KW_CHECK_STATUS(status, KW_OK);
    KW_CHECK_OK(kw_graph_launch(graph, stream));
    KW_CHECK_OK(kw_graph_destroy(graph));
  }
  KW_CHECK_OK(kw_stream_synchronize(stream));
  kw_soak_call_check(&call, MANY, "graphs, each of a hundred calls, the last one's call number", first);
}

/* Graphs of many calls come and go: what is made for their calls goes with them. */
void kw_contract_soak_graphs_of_many(void **state) {
  (void)state;
  begin();
  const kw_soak_work work = {.objects = "graphs of a hundred calls",
                             .count = kw_soak_count(20, 200, 5000),
                             .block = 10,
                             .least = 128,
                             .run = run_graphs_of_many};
  kw_soak_run(&work);
  end();
}

/* A graph of so many calls, each of which shows, launched twice. */
static void launch_long(uint64_t calls) {
  char object[64];
  kw_graph *graph = NULL;
  kw_status status = KW_OK;
  snprintf(object, sizeof object, "of a graph of %s calls number", kw_soak_number(calls));
  kw_test_waits("the recording of a long graph");
  kw_soak_call_make(calls, &call);
  stream = kw_test_stream();
  KW_CHECK_OK(kw_graph_begin(stream));
  for (uint64_t i = 0; i < calls && status == KW_OK; i++) {
    status = kw_soak_call_run(&call, stream, i);
    if (i % BLOCK == BLOCK - 1) kw_worker_note_step();
  }
  KW_CHECK_OK(kw_graph_end(stream, &graph));
  KW_CHECK_STATUS(status, KW_OK);
  for (int i = 0; i < 2; i++) {
    kw_soak_call_clear(&call, calls);
    KW_CHECK_OK(kw_graph_launch(graph, stream));
    KW_CHECK_OK(kw_stream_synchronize(stream));
    kw_soak_call_check(&call, calls, object, 0);
  }
  KW_CHECK_OK(kw_graph_destroy(graph));
  end();
}

/* All calls of a graph run, however many it has. */
void kw_contract_soak_long_graphs(void **state) {
  (void)state;
  launch_long(300);
  if (kw_contract.effort >= KW_EFFORT_NORMAL) launch_long(3000);
  if (kw_contract.effort == KW_EFFORT_THOROUGH) launch_long(30000);
}

typedef struct replay {
  kw_graph *graph;
  kw_tensor *unset; /* what the place of the graph's result holds before each launch */
} replay;

/* The graph writes to one place; what it wrote is copied to another after each launch. */
static void run_replays(void *user, uint64_t first, uint64_t count) {
  const replay *r = user;
  kw_soak_call_clear(&call, count);
  for (uint64_t i = 1; i < count; i++) {
    kw_status status = kw_tensor_copy_async(call.results[0], stream, r->unset, stream);
    if (status == KW_OK) status = kw_graph_launch(r->graph, stream);
    if (status == KW_OK) status = kw_tensor_copy_async(call.results[i], stream, call.results[0], stream);
    KW_CHECK(status == KW_OK, "launch %s of a graph gave %s: %s", kw_soak_number(first + i), kw_status_name(status),
             kw_error_message());
  }
  KW_CHECK_OK(kw_graph_launch(r->graph, stream)); /* the last one stays where it was written */
  KW_CHECK_OK(kw_stream_synchronize(stream));
  kw_soak_call_check(&call, count, "launch of a graph after number", first);
}

void kw_soak_graph_launches(uint64_t first, uint64_t count) {
  begin();
  replay r = {.graph = record(0)};
  kw_soak_call_clear(&call, 1);
  KW_CHECK_OK(kw_tensor_to(call.results[0], kw_contract.device, &r.unset));
  const kw_soak_work work = {.objects = "launches of a graph",
                             .first = first,
                             .count = count,
                             .block = BLOCK,
                             .least = 16,
                             .run = run_replays,
                             .user = &r};
  run_replays(&r, 0, BLOCK); /* what a heap takes for the first launches is not what launches keep */
  kw_soak_run(&work);
  kw_tensor_release(r.unset);
  KW_CHECK_OK(kw_graph_destroy(r.graph));
  end();
}

/* One graph, launched more often than a small counter counts. */
void kw_contract_soak_graph_launches(void **state) {
  (void)state;
  kw_soak_graph_launches(0, kw_soak_count(2500, 70000, 150000));
}
