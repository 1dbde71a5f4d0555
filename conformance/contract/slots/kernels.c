/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: kernels, graphs and streams whose slots are called directly. Keyway keeps what a kernel has prepared,
 * and the graphs that it makes, until long after their last use; other hosts give them back at once.
 */
#include "launch.h"

#include "contract/scenarios.h"
#include "contract/soak/resources.h"
#include "contract/soak/soak.h"

#include <stdio.h>

/* ---- Prepared ---------------------------------------------------------------------------------------------------- */

int kw_child_slots_prepared(void) {
  kw_bench_open();
  void *stream = kw_bench_stream(1);
  const uint64_t rounds = kw_soak_count(1, 8, 50);
  for (uint64_t round = 0; round < rounds; round++) {
    kw_launch *first = kw_launch_draw(), *second = kw_launch_draw(); /* the same call, prepared twice */
    if (!first) kw_test_skip("the plugin has no kernel that this suite can launch by itself");
    const kw_mem mems[] = {kw_launch_result(first), kw_launch_result(second)};
    kw_launch_run(first, stream, mems[0], 1);
    kw_launch_run(second, stream, mems[1], 2);
    kw_bench_wait(stream);
    kw_launch_expect(first, stream, mems[0], "the result of a launch, of which another is prepared alike");
    kw_launch_free(first);
    kw_launch_expect(second, stream, mems[1],
                     "the result of a launch, looked at when another prepared alike was released");
    kw_bench_free(mems[1]);
    const kw_mem again = kw_launch_result(second);
    kw_launch_run(second, stream, again, 3);
    kw_bench_wait(stream);
    kw_launch_expect(second, stream, again,
                     "the result of a launch after another that was prepared alike was released");
    kw_launch_free(second);
    kw_bench_free(mems[0]);
    kw_bench_free(again);
  }
  kw_bench_end_stream(stream);
  kw_bench_close();
  return 0;
}

/* What a kernel prepares is each its own, also for one signature, and is released as soon as its launches have been
 * waited for. */
void kw_contract_slots_prepared_apart(void **state) {
  (void)state;
  kw_test_child("slots_prepared");
}

/* ---- Many threads ------------------------------------------------------------------------------------------------ */

enum { SIZE = 4000 };

typedef struct shared_stream {
  void *stream;
  const kw_launch *launch; /* NULL: none */
  kw_mem mems[KW_TEST_THREADS], results[KW_TEST_THREADS];
  void *events[KW_TEST_THREADS]; /* without the group NULL */
  uint64_t rounds;
} shared_stream;

static kw_status wait_for_own(shared_stream *s, int index) {
  if (!s->events[index]) return KW_SLOT(stream, synchronize, s->stream, KW_WAIT_FOREVER);
  const kw_status status = KW_SLOT(event, record, s->events[index], s->stream);
  return status == KW_OK ? KW_SLOT(event, synchronize, s->events[index], KW_WAIT_FOREVER) : status;
}

static int share_stream(int index, void *user, char *text, size_t size) {
  static unsigned char sent[KW_TEST_THREADS][SIZE], got[KW_TEST_THREADS][SIZE];
  shared_stream *s = user;
  for (uint64_t round = 0; round < s->rounds; round++) {
    kw_test_pattern(sent[index], SIZE, 100 * round + (uint64_t)index);
    kw_status status = kw_bench_try_write(s->stream, s->mems[index], 0, sent[index], SIZE);
    if (status == KW_OK && s->launch) status = kw_launch_try(s->launch, s->stream, s->results[index], round + 1);
    if (status == KW_OK) status = kw_bench_try_read(s->stream, s->mems[index], 0, got[index], SIZE);
    if (status == KW_OK) status = wait_for_own(s, index);
    if (status != KW_OK || memcmp(sent[index], got[index], SIZE) != 0) {
      snprintf(text, size, "on a stream that all use at once %s%s",
               status == KW_OK ? "it read other bytes than it had written" : "a slot gave ",
               status == KW_OK ? "" : kw_status_name(status));
      return 1;
    }
  }
  return 0;
}

int kw_child_slots_threads(void) {
  static shared_stream s;
  kw_bench_open();
  kw_launch *launch = kw_launch_draw();
  void *other = kw_bench_stream(2);
  s = (shared_stream){.stream = kw_bench_stream(1), .launch = launch, .rounds = kw_soak_count(20, 200, 5000)};
  for (int i = 0; i < KW_TEST_THREADS; i++) {
    s.mems[i] = kw_bench_memory(SIZE);
    if (launch) s.results[i] = kw_launch_result(launch);
    if (kw_bench.guest.event) s.events[i] = kw_bench_event();
  }
  kw_test_run_threads(share_stream, &s);
  kw_bench_wait(s.stream);
  for (int i = 0; i < KW_TEST_THREADS; i++) {
    if (launch)
      kw_launch_expect(launch, other, s.results[i], "the result of launches from several threads on one stream");
    if (launch) kw_bench_free(s.results[i]);
    if (s.events[i]) KW_SLOT_OK(event, destroy, s.events[i]);
    kw_bench_free(s.mems[i]);
  }
  kw_launch_free(launch);
  kw_bench_end_stream(s.stream);
  kw_bench_end_stream(other);
  kw_bench_close();
  return 0;
}

/* Several threads enqueue on one stream, and nobody but the plugin keeps them apart. */
void kw_contract_slots_threads_share_stream(void **state) {
  (void)state;
  kw_test_child("slots_threads");
}

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

enum { MOST_BYTES = 1 << 16, FILLED = 4000 };

/* What is recorded leaves `want` in the memory: a launch, or a fill. */
typedef struct graph_bench {
  kw_launch *launch; /* NULL: a fill */
  void *recorder, *stream;
  kw_mem mem;
  uint64_t size;
  unsigned char want[MOST_BYTES], before[MOST_BYTES], between[MOST_BYTES], got[4][MOST_BYTES];
} graph_bench;

/* NULL where the slots do not take this, as when it is thrown away: hosts do without. */
static void *record(graph_bench *b, bool kept) {
  static const uint32_t word = 0x01020304;
  const kw_capture_info info = {.struct_size = sizeof info};
  void *graph = NULL;
  if (KW_SLOT(graph, begin, b->recorder, &info) != KW_OK) return NULL;
  const kw_status status = b->launch ? kw_launch_try(b->launch, b->recorder, b->mem, 1)
                                     : KW_SLOT(memory, fill, b->recorder, b->mem, 0, FILLED, &word, sizeof word);
  const kw_status ended = KW_SLOT(graph, end, b->recorder, kept ? &graph : NULL);
  return status == KW_OK && ended == KW_OK ? graph : NULL;
}

static void expect(graph_bench *b, int place, const unsigned char *want, const char *what) {
  kw_test_same(b->got[place], want, b->size, what);
}

/* Twice in flight on one stream, and destroyed when that has been waited for. */
static void fly(graph_bench *b, void *graph) {
  const kw_graph_launch_info info = {.struct_size = sizeof info, .call_id = 1};
  kw_gate *gate = kw_bench_shut(b->stream);
  kw_bench_read(b->stream, b->mem, b->got[0], b->size);
  KW_SLOT_OK(graph, launch, graph, b->stream, &info);
  kw_bench_read(b->stream, b->mem, b->got[1], b->size);
  kw_bench_write(b->stream, b->mem, b->between, b->size);
  kw_bench_read(b->stream, b->mem, b->got[2], b->size);
  KW_SLOT_OK(graph, launch, graph, b->stream, &info);
  kw_bench_read(b->stream, b->mem, b->got[3], b->size);
  kw_gate_open(gate);
  kw_bench_wait(b->stream);
  KW_SLOT_OK(graph, destroy, graph);
  expect(b, 0, b->before, "what was there before a graph's launch");
  expect(b, 1, b->want, "what a graph's launch left");
  expect(b, 2, b->between, "what was written between two launches of a graph");
  expect(b, 3, b->want, "what a graph's second launch left");
}

static void record_and_fly(graph_bench *b) {
  kw_bench_write(b->stream, b->mem, b->before, b->size);
  kw_bench_wait(b->stream);
  (void)record(b, false);
  void *graph = record(b, true);
  kw_bench_wait(b->recorder);
  kw_bench_read(b->stream, b->mem, b->got[0], b->size);
  kw_bench_wait(b->stream);
  expect(b, 0, b->before, "memory that only a recording has written to so far");
  if (!graph) kw_test_skip("the plugin records neither fills nor the launch that was tried");
  fly(b, graph);
  kw_bench_write(b->recorder, b->mem, b->between, b->size); /* it is usable again */
  kw_bench_read(b->recorder, b->mem, b->got[0], b->size);
  kw_bench_wait(b->recorder);
  expect(b, 0, b->between, "what was written on a stream after something was recorded there");
}

static void open_graphs(graph_bench *b) {
  kw_bench_open();
  *b = (graph_bench){.launch = kw_launch_draw(), .recorder = kw_bench_stream(1), .stream = kw_bench_stream(2)};
  if (b->launch && kw_launch_is_recordable(b->launch)) {
    const unsigned char *want = kw_launch_want(b->launch, &b->size);
    memcpy(b->want, want, b->size);
    b->mem = kw_launch_result(b->launch);
  } else {
    kw_launch_free(b->launch);
    b->launch = NULL;
    b->size = FILLED;
    for (int i = 0; i < FILLED; i++) b->want[i] = (unsigned char)(4 - i % 4);
    b->mem = kw_bench_memory(FILLED);
    if (!kw_bench.guest.memory->fill) kw_test_skip("the plugin records neither fills nor the launch that was tried");
  }
  for (uint64_t i = 0; i < b->size; i++) b->before[i] = (unsigned char)~b->want[i], b->between[i] = b->want[i] ^ 0x55;
}

static void close_graphs(graph_bench *b) {
  kw_bench_free(b->mem);
  kw_launch_free(b->launch);
  kw_bench_end_stream(b->recorder);
  kw_bench_end_stream(b->stream);
  kw_bench_close();
}

int kw_child_slots_graphs(void) {
  static graph_bench b;
  open_graphs(&b);
  for (uint64_t round = 0; round < kw_soak_count(1, 4, 100); round++) record_and_fly(&b);
  close_graphs(&b);
  return 0;
}

/* What is recorded does not run before it is launched, then each time and in its stream's order, thrown away never; its
 * graph ends when it has been waited for, and the stream that it was recorded on is one like others again. */
void kw_contract_slots_graphs_in_flight(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_GRAPH | KW_NATIVE_CALL_HOST);
  kw_test_child("slots_graphs");
}

static void throw_away(graph_bench *b, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) (void)record(b, false);
  kw_bench_wait(b->recorder);
}

/* What is kept once, or for some time, is no growth. */
int kw_child_slots_thrown_away(void) {
  enum { ROUNDS = 4, LEAST = 64 };
  static graph_bench b;
  const uint64_t count = kw_soak_count(100, 600, 10000);
  bool grows = true;
  if (!kw_resource_memory_tells()) kw_test_skip("sanitizers keep what is freed");
  open_graphs(&b);
  throw_away(&b, count);
  for (int round = 0; round < ROUNDS && grows; round++) {
    const int64_t held = kw_resource_heap();
    throw_away(&b, count);
    grows = kw_resource_heap() - held >= (int64_t)count * LEAST;
  }
  KW_CHECK(!grows,
           "what was recorded on a stream is not given back when graph.end is told that nobody wants the graph "
           "(out_graph NULL): the heap grows with each");
  close_graphs(&b);
  return 0;
}

/* A recording that is thrown away leaves nothing. */
void kw_contract_slots_thrown_away_is_freed(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_GRAPH);
  kw_test_child("slots_thrown_away");
}
