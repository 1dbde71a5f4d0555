/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite graph: what a graph replays is what the same calls give when they run at once, bit by bit where kernels are
 * deterministic; it reads what tensors hold at launch, keeps its memory to itself and gives it back.
 */
#include "call.h"
#include "tools.h"

#include <pthread.h>
#include <stdio.h>

enum { COUNT = 1001 };

/* What graphs are made of here; threads may outlive a failed check. */
static const kw_pair *pair;

/* A graph of y = op(x, x); z = op(y, x) on tensors that the graph allocates. */
typedef struct recorded {
  kw_stream *stream;
  kw_graph *graph;
  kw_tensor *x, *y, *z;
} recorded;

static recorded record(uint64_t tag) {
  recorded r = {.stream = kw_test_stream(), .x = kw_test_f32(COUNT, tag)};
  KW_CHECK_OK(kw_graph_begin(r.stream));
  KW_CHECK_OK(kw_test_pair(pair, r.stream, r.x, r.x, &r.y));
  KW_CHECK_OK(kw_test_pair(pair, r.stream, r.y, r.x, &r.z));
  KW_CHECK_OK(kw_graph_end(r.stream, &r.graph));
  KW_CHECK(r.graph, "kw_graph_end gave KW_OK and no graph");
  return r;
}

static void launch(const recorded *r) {
  KW_CHECK_OK(kw_graph_launch(r->graph, r->stream));
  KW_CHECK_OK(kw_stream_synchronize(r->stream));
}

static void forget(recorded *r) {
  KW_CHECK_OK(kw_graph_destroy(r->graph));
  kw_tensor_release(r->x);
  kw_tensor_release(r->y);
  kw_tensor_release(r->z);
  KW_CHECK_OK(kw_stream_destroy(r->stream));
}

static void expect_result(const kw_tensor *z, uint64_t tag, const char *what) {
  float want[COUNT];
  kw_test_floats(want, COUNT, tag);
  for (int i = 0; i < COUNT; i++) want[i] = pair->of(pair->of(want[i], want[i]), want[i]);
  kw_test_expect_f32(z, want, COUNT, what);
}

static void write_floats(kw_tensor *x, uint64_t tag) {
  float values[COUNT];
  kw_test_floats(values, COUNT, tag);
  KW_CHECK_OK(kw_tensor_write(x, values));
}

/* ---- Replay ------------------------------------------------------------------------------------------------------ */

static void compare_with_eager(const kw_test_call *call) {
  kw_test_call eager, again;
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL}, *replayed[KW_MAX_RESULTS] = {NULL};
  unsigned char *want = NULL, *got = NULL;
  size_t size = 0;
  char what[128];
  snprintf(what, sizeof what, "%s in %s, replayed, against the same call at once", call->info.name,
           kw_dtype_name(call->dtype));
  kw_test_call_copy(call, &eager);
  kw_test_call_copy(call, &again);
  kw_stream *stream = kw_test_stream();
  kw_graph *graph = NULL;
  KW_CHECK_OK(kw_graph_begin(stream));
  KW_CHECK_OK(kw_test_call_run(&again, stream, replayed));
  KW_CHECK_OK(kw_graph_end(stream, &graph));
  /* In place, the second launch begins where the first has ended; random numbers go on. */
  const bool goes_on = call->in_place || kw_test_call_random(call);
  int launches = goes_on ? 2 : 3;
  for (int i = 0; i < launches; i++) {
    if (i == 0 || goes_on) KW_CHECK_OK(kw_test_call_run(&eager, stream, outs));
    KW_CHECK_OK(kw_graph_launch(graph, stream));
    KW_CHECK_OK(kw_stream_synchronize(stream));
    KW_CHECK_OK(kw_test_call_results(&eager, outs, &want, &size));
    KW_CHECK_OK(kw_test_call_results(&again, replayed, &got, &size));
    kw_test_same(got, want, size, what);
    free(want);
    free(got);
  }
  KW_CHECK_OK(kw_graph_destroy(graph));
  KW_CHECK_OK(kw_stream_destroy(stream));
  for (uint32_t r = 0; r < call->info.result_count; r++) {
    kw_tensor_release(outs[r]);
    kw_tensor_release(replayed[r]);
  }
  kw_test_call_free(&eager);
  kw_test_call_free(&again);
}

/* Every op, in one dtype of each kind: a replay gives the bits of the call. */
void kw_contract_graph_op(void **state) {
  (void)state;
  int compared = 0;
  for (int d = 0; d < KW_TEST_KINDS && kw_test_op_repeats(kw_contract.op); d++) {
    kw_test_call call;
    if (kw_op_support(kw_contract.op, kw_contract.device, kw_test_kinds[d]) == KW_SUPPORT_NONE) continue;
    if (!kw_test_call_make(kw_contract.op, kw_test_kinds[d], 300, &call)) continue;
    compare_with_eager(&call);
    compared++;
    kw_test_call_free(&call);
  }
  if (!compared) kw_test_skip("a kernel of this op is not flagged deterministic");
}

/* Recording computes nothing; a launch does; so does the next, with what the inputs hold by then. */
void kw_contract_graph_launch_computes(void **state) {
  (void)state;
  pair = kw_test_need_pair();
  kw_stream *stream = kw_test_stream();
  kw_tensor *x = kw_test_f32(COUNT, 1), *z = kw_test_f32(COUNT, 2);
  kw_graph *graph = NULL;
  float before[COUNT], want[COUNT];
  kw_test_floats(before, COUNT, 2);
  KW_CHECK_OK(kw_graph_begin(stream));
  KW_CHECK_OK(kw_test_pair(pair, stream, x, x, &z));
  KW_CHECK_OK(kw_graph_end(stream, &graph));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  kw_test_expect_f32(z, before, COUNT, "the result of a call that was recorded and not launched");
  for (uint64_t tag = 3; tag < 8; tag++) {
    write_floats(x, tag);
    KW_CHECK_OK(kw_graph_launch(graph, stream));
    KW_CHECK_OK(kw_stream_synchronize(stream));
    kw_test_floats(want, COUNT, tag);
    for (int i = 0; i < COUNT; i++) want[i] = pair->of(want[i], want[i]);
    kw_test_expect_f32(z, want, COUNT, "the result of a launch after the input was written again");
  }
  KW_CHECK_OK(kw_graph_destroy(graph));
  kw_tensor_release(x);
  kw_tensor_release(z);
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* Calls of a graph run in their order; results of one are arguments of the next; launches too, on whatever stream. */
void kw_contract_graph_launches_in_order(void **state) {
  (void)state;
  enum { LAUNCHES = 12 };
  pair = kw_test_need_pair();
  kw_stream *streams[] = {kw_test_stream(), kw_test_stream(), kw_test_stream()};
  kw_tensor *x = kw_test_f32(COUNT, 1), *y = kw_test_f32(COUNT, 1);
  kw_graph *graph = NULL;
  float want[COUNT];
  KW_CHECK_OK(kw_graph_begin(streams[0])); /* y = op(x, x); x = op(y, y) */
  KW_CHECK_OK(kw_test_pair(pair, streams[0], x, x, &y));
  KW_CHECK_OK(kw_test_pair(pair, streams[0], y, y, &x));
  KW_CHECK_OK(kw_graph_end(streams[0], &graph));
  /* Where a stream can be held, and others wait for it without the caller, all are enqueued before the first begins. */
  const uint32_t wanted = KW_NATIVE_CALL_HOST | KW_NATIVE_EVENTS;
  const bool holds = (kw_device_native(kw_contract.device) & wanted) == wanted;
  kw_gate *gate = holds ? kw_gate_close(streams[0]) : NULL;
  for (int i = 0; i < LAUNCHES; i++) KW_CHECK_OK(kw_graph_launch(graph, streams[i % 3]));
  if (gate) kw_gate_open(gate);
  KW_CHECK_OK(kw_graph_launch(graph, NULL));
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  kw_test_floats(want, COUNT, 1);
  for (int i = 0; i < 2 * (LAUNCHES + 1); i++) {
    for (int k = 0; k < COUNT; k++) want[k] = pair->of(want[k], want[k]);
  }
  kw_test_expect_f32(x, want, COUNT, "x after 13 launches that change it on four streams");
  KW_CHECK_OK(kw_graph_destroy(graph));
  kw_tensor_release(x);
  kw_tensor_release(y);
  for (int i = 0; i < 3; i++) KW_CHECK_OK(kw_stream_destroy(streams[i]));
}

/* Calls that read and write parts of one memory, or memories each of which is a part. */
enum { PARTS = 6, CONSTANTS = 2, DEEPEST = 8, STEPS = 16 };

typedef struct conflicts {
  kw_tensor *memory; /* of all parts; NULL: each has its own */
  kw_tensor *parts[PARTS], *constants[CONSTANTS];
  float *want, *known[CONSTANTS];
  size_t count, step; /* elements of a part, and from one part's beginning to the next one's */
  int depth[PARTS];   /* how many calls a part's numbers have gone through: sums of a few stay exact */
} conflicts;

static void open_conflicts(conflicts *c, size_t count, size_t step, bool apart, uint64_t tag) {
  static const int64_t stride = 1;
  const int64_t shape = (int64_t)count;
  const size_t whole = (PARTS - 1) * step + count;
  *c = (conflicts){.count = count, .step = step, .want = kw_test_memory(whole * sizeof *c->want)};
  kw_test_floats(c->want, whole, tag);
  if (!apart) c->memory = kw_test_f32(whole, tag);
  for (size_t i = 0; i < PARTS; i++) {
    if (apart) {
      c->parts[i] = kw_test_f32(count, tag + i);
      kw_test_floats(c->want + i * step, count, tag + i);
    } else {
      KW_CHECK_OK(kw_tensor_as_strided(c->memory, 1, &shape, &stride, (int64_t)(i * step), &c->parts[i]));
    }
  }
  for (uint64_t i = 0; i < CONSTANTS; i++) {
    c->constants[i] = kw_test_f32(count, tag + PARTS + i);
    c->known[i] = kw_test_memory(count * sizeof *c->want);
    kw_test_floats(c->known[i], count, tag + PARTS + i);
  }
}

static void close_conflicts(conflicts *c) {
  for (int i = 0; i < PARTS; i++) kw_tensor_release(c->parts[i]);
  for (int i = 0; i < CONSTANTS; i++) {
    kw_tensor_release(c->constants[i]);
    free(c->known[i]);
  }
  kw_tensor_release(c->memory);
  free(c->want);
}

static bool overlap(const conflicts *c, int a, int b) {
  return (size_t)abs(a - b) * c->step < c->count;
}

/* A part that does not overlap `target` and may still be added up, or a constant: by the number drawn. */
static kw_tensor *operand(const conflicts *c, int target, unsigned drawn, const float **out_want, int *inout_depth) {
  const int part = (int)(drawn % (PARTS + CONSTANTS));
  if (part < PARTS && !overlap(c, part, target) && c->depth[part] < DEEPEST) {
    *out_want = c->want + (size_t)part * c->step;
    if (c->depth[part] > *inout_depth) *inout_depth = c->depth[part];
    return c->parts[part];
  }
  *out_want = c->known[drawn % CONSTANTS];
  return c->constants[drawn % CONSTANTS];
}

/* Records calls whose operands and results are drawn, and computes what they give one after the other. */
static kw_graph *record_conflicts(conflicts *c, kw_stream *stream, uint64_t tag) {
  unsigned char drawn[STEPS][3];
  kw_graph *graph = NULL;
  kw_test_pattern(drawn, sizeof drawn, tag);
  KW_CHECK_OK(kw_graph_begin(stream));
  for (int i = 0; i < STEPS; i++) {
    const int target = drawn[i][0] % PARTS;
    const float *a = NULL, *b = NULL;
    float *want = c->want + (size_t)target * c->step;
    int depth = 0;
    kw_tensor *left = operand(c, target, drawn[i][1], &a, &depth), *right = operand(c, target, drawn[i][2], &b, &depth);
    KW_CHECK_OK(kw_test_pair(pair, stream, left, right, &c->parts[target]));
    for (size_t k = 0; k < c->count; k++) want[k] = pair->of(a[k], b[k]);
    for (int p = 0; p < PARTS; p++) {
      if (p == target || (overlap(c, p, target) && c->depth[p] <= depth)) c->depth[p] = depth + 1;
    }
  }
  KW_CHECK_OK(kw_graph_end(stream, &graph));
  return graph;
}

static void replay_conflicts(size_t count, size_t step, bool apart, uint64_t tag) {
  static conflicts c;
  kw_stream *stream = kw_test_stream();
  open_conflicts(&c, count, step, apart, tag);
  kw_graph *graph = record_conflicts(&c, stream, tag + PARTS + CONSTANTS);
  KW_CHECK_OK(kw_graph_launch(graph, stream));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  for (size_t i = 0; i < PARTS; i++)
    kw_test_expect_f32(c.parts[i], c.want + i * step, count,
                       "memory that the calls of a graph have read and written in turn");
  KW_CHECK_OK(kw_graph_destroy(graph));
  close_conflicts(&c);
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* What a call writes and another has read, or has written, stays in order as well as what one writes and another reads:
 * parts of one memory beside each other, such as overlap, and tensors too large to share an allocation. */
void kw_contract_graph_conflicts(void **state) {
  (void)state;
  enum { ROUNDS = 12, LARGE = 1 << 19 };
  pair = kw_test_need_pair();
  for (uint64_t round = 0; round < ROUNDS; round++)
    replay_conflicts(COUNT, round % 2 ? COUNT / 2 : COUNT, round % 4 == 0, 1000 * round);
  for (uint64_t round = ROUNDS; round < ROUNDS + 2; round++) replay_conflicts(LARGE, LARGE, true, 1000 * round);
}

/* A recorded call of this rank, contiguous or with its dimensions turned round. */
static void replay_rank(kw_stream *stream, uint32_t rank, bool turned) {
  enum { MOST = 24 };
  int64_t shape[KW_MAX_RANK], strides[KW_MAX_RANK], count = 1;
  float values[MOST], want[MOST];
  for (uint32_t d = 0; d < rank; d++) shape[d] = d == 0 ? 2 : d == rank - 1 ? 4 : d == rank / 2 ? 3 : 1;
  for (uint32_t i = 0; i < rank; i++) {
    const uint32_t d = turned ? i : rank - 1 - i;
    strides[d] = count;
    count *= shape[d];
  }
  kw_tensor *base = kw_test_f32((size_t)count, rank), *view = NULL, *out = NULL;
  kw_graph *graph = NULL;
  KW_CHECK_OK(kw_tensor_as_strided(base, rank, shape, strides, 0, &view));
  KW_CHECK_OK(kw_graph_begin(stream));
  KW_CHECK_OK(kw_test_pair(pair, stream, view, view, &out));
  KW_CHECK_OK(kw_graph_end(stream, &graph));
  KW_CHECK_OK(kw_graph_launch(graph, stream));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  KW_CHECK_OK(kw_tensor_read(view, values));
  for (int64_t k = 0; k < count; k++) want[k] = pair->of(values[k], values[k]);
  kw_test_expect_f32(out, want, (size_t)count, "the result of a recorded call on tensors of many dimensions");
  KW_CHECK_OK(kw_graph_destroy(graph));
  kw_tensor_release(out);
  kw_tensor_release(view);
  kw_tensor_release(base);
}

/* A recorded call keeps its tensors' shapes and strides whatever their rank. */
void kw_contract_graph_ranks(void **state) {
  (void)state;
  pair = kw_test_need_pair();
  kw_stream *stream = kw_test_stream();
  for (uint32_t rank = 1; rank <= KW_MAX_RANK; rank++) {
    replay_rank(stream, rank, false);
    replay_rank(stream, rank, true);
  }
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* Launches wait for what is on their stream, and leave the caller alone. */
void kw_contract_graph_launch_behind_gate(void **state) {
  (void)state;
  pair = kw_test_need_pair();
  kw_test_need(KW_NATIVE_CALL_HOST);
  recorded r = record(1);
  launch(&r);
  write_floats(r.x, 2);
  kw_gate *gate = kw_gate_close(r.stream);
  KW_CHECK_OK(kw_graph_launch(r.graph, r.stream));
  kw_test_busy(kw_stream_default(kw_contract.device));
  expect_result(r.z, 1, "the result of a graph while its second launch is held up");
  kw_gate_open(gate);
  KW_CHECK_OK(kw_stream_synchronize(r.stream));
  expect_result(r.z, 2, "the result of that launch once its stream went on");
  forget(&r);
}

/* A launch runs on the stream that it names, whatever stream the graph was recorded for or launched on before. */
void kw_contract_graph_launch_elsewhere(void **state) {
  (void)state;
  pair = kw_test_need_pair();
  kw_test_need(KW_NATIVE_CALL_HOST);
  recorded r = record(1);
  kw_stream *other = kw_test_stream();
  launch(&r);
  write_floats(r.x, 2);
  kw_gate *gate = kw_gate_close(other);
  KW_CHECK_OK(kw_graph_launch(r.graph, other));
  KW_CHECK_OK(kw_stream_synchronize(r.stream));
  kw_test_busy(kw_stream_default(kw_contract.device));
  expect_result(r.z, 1, "the result of a graph while its launch on another stream than its first is held up");
  kw_gate_open(gate);
  KW_CHECK_OK(kw_stream_synchronize(other));
  expect_result(r.z, 2, "the result of that launch once its stream went on");
  KW_CHECK_OK(kw_stream_destroy(other));
  forget(&r);
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

/* The graph keeps what its calls use, though the application has released it. */
void kw_contract_graph_outlives_tensors(void **state) {
  (void)state;
  pair = kw_test_need_pair();
  recorded r = record(1);
  kw_tensor_release(r.x);
  kw_tensor_release(r.y);
  r.x = r.y = NULL;
  for (uint64_t i = 0; i < 16; i++) kw_tensor_release(kw_test_f32(COUNT, 50 + i)); /* would take memory given back */
  launch(&r);
  expect_result(r.z, 1, "the result of a graph whose inputs were released");
  forget(&r);
}

/* Its results outlive the graph; work in flight finishes. */
void kw_contract_graph_results_outlive_graph(void **state) {
  (void)state;
  pair = kw_test_need_pair();
  for (int round = 0; round < 5; round++) {
    recorded r = record((uint64_t)round);
    KW_CHECK_OK(kw_graph_launch(r.graph, r.stream));
    KW_CHECK_OK(kw_graph_destroy(r.graph));
    r.graph = NULL;
    for (uint64_t i = 0; i < 16; i++) kw_tensor_release(kw_test_f32(COUNT, 50 + i));
    KW_CHECK_OK(kw_stream_synchronize(r.stream));
    expect_result(r.z, (uint64_t)round, "a result of a graph that was destroyed right after its launch");
    forget(&r);
  }
}

/* A graph's memory goes to no other tensor while the graph lives, and is free when the graph is destroyed. */
void kw_contract_graph_memory(void **state) {
  (void)state;
  pair = kw_test_need_pair();
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  kw_memory_stats before = kw_test_stats();
  for (int round = 0; round < 10; round++) {
    recorded r = record(1);
    kw_graph_info info = {.struct_size = sizeof info};
    KW_CHECK_OK(kw_graph_get_info(r.graph, &info));
    KW_CHECK(info.nodes >= 2, "a graph of two calls has %u nodes", info.nodes);
    KW_CHECK(info.pool_bytes >= 2 * COUNT * sizeof(float), "a graph with two results of %zu bytes has %llu bytes",
             COUNT * sizeof(float), (unsigned long long)info.pool_bytes);
    kw_tensor_release(r.y); /* the graph still writes there */
    r.y = NULL;
    kw_tensor *others[16];
    for (uint64_t i = 0; i < 16; i++) others[i] = kw_test_f32(COUNT, 50 + i);
    launch(&r);
    for (uint64_t i = 0; i < 16; i++) {
      float want[COUNT];
      kw_test_floats(want, COUNT, 50 + i);
      kw_test_expect_f32(others[i], want, COUNT, "a tensor made while a graph lived, after a launch of the graph");
      kw_tensor_release(others[i]);
    }
    forget(&r);
  }
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  kw_memory_stats after = kw_test_stats();
  KW_CHECK(after.live == before.live && after.allocated == before.allocated,
           "after ten graphs came and went %llu allocations and %llu bytes are live that were not",
           (unsigned long long)(after.live - before.live), (unsigned long long)(after.allocated - before.allocated));
  KW_CHECK(after.held <= before.held, "after ten graphs came and went and a trim, %llu bytes more are held",
           (unsigned long long)(after.held - before.held));
}

/* Recording that is thrown away leaves nothing: the stream runs calls again, and the memory is back. */
void kw_contract_graph_thrown_away(void **state) {
  (void)state;
  pair = kw_test_need_pair();
  kw_stream *stream = kw_test_stream();
  kw_tensor *x = kw_test_f32(COUNT, 1), *sum = NULL, *product = NULL;
  uint64_t live = kw_test_stats().live;
  KW_CHECK_OK(kw_graph_begin(stream));
  KW_CHECK_OK(kw_test_pair(pair, stream, x, x, &sum));
  KW_CHECK_OK(kw_graph_end(stream, NULL));
  kw_tensor_release(sum);
  KW_CHECK(kw_test_stats().live == live, "a recording that was thrown away left allocations");
  KW_CHECK_OK(kw_test_pair(pair, stream, x, x, &product));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  float want[COUNT];
  kw_test_floats(want, COUNT, 1);
  for (int i = 0; i < COUNT; i++) want[i] = pair->of(want[i], want[i]);
  kw_test_expect_f32(product, want, COUNT, "a call on a stream whose recording was thrown away");
  kw_tensor_release(product);
  kw_tensor_release(x);
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

static void expect_busy(const char *call, kw_status status) {
  KW_CHECK(status == KW_ERR_BUSY, "while a stream records, %s gave %s, not %s%s%s", call,
           status == KW_OK ? "KW_OK" : kw_status_name(status), kw_status_name(KW_ERR_BUSY), status == KW_OK ? "" : ": ",
           status == KW_OK ? "" : kw_error_message());
  KW_CHECK(strstr(kw_error_message(), "record") || strstr(kw_error_message(), "graph"),
           "%s was refused while a stream records, and the text does not say that: %s", call, kw_error_message());
}
#define EXPECT_BUSY(call) (kw_error_clear(), expect_busy(#call, (call)))

static void nothing(void *user) {
  (void)user;
}

static void *call_from_elsewhere(void *user) {
  const recorded *r = user;
  kw_tensor *sum = NULL;
  return (void *)(intptr_t)kw_test_pair(pair, r->stream, r->x, r->x, &sum);
}

/* What would wait for the recording stream, or has no place in a graph, is refused with KW_ERR_BUSY and a text that
 * says why; other streams go on; the recording is none the worse. */
void kw_contract_graph_refused_while_recording(void **state) {
  (void)state;
  pair = kw_test_need_pair();
  recorded other = record(2), r = {.stream = kw_test_stream(), .x = kw_test_f32(COUNT, 1)};
  kw_event *event = kw_test_event();
  static float host[COUNT];
  KW_CHECK_OK(kw_graph_begin(r.stream));
  KW_CHECK_OK(kw_test_pair(pair, r.stream, r.x, r.x, &r.y));
  EXPECT_BUSY(kw_graph_begin(r.stream));
  EXPECT_BUSY(kw_stream_synchronize(r.stream));
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device)); /* what is recorded has not been enqueued */
  EXPECT_BUSY(kw_stream_query(r.stream));
  EXPECT_BUSY(kw_stream_call_host(r.stream, nothing, NULL));
  EXPECT_BUSY(kw_event_record(event, r.stream));
  EXPECT_BUSY(kw_stream_wait_event(r.stream, event));
  EXPECT_BUSY(kw_tensor_write_async(r.x, host, r.stream));
  EXPECT_BUSY(kw_tensor_read_async(r.x, host, r.stream));
  EXPECT_BUSY(kw_graph_launch(other.graph, r.stream));
  EXPECT_BUSY(kw_stream_destroy(r.stream));
  pthread_t thread;
  void *answer = NULL;
  KW_NEED(pthread_create(&thread, NULL, call_from_elsewhere, &r) == 0, "threads");
  pthread_join(thread, &answer);
  KW_CHECK((intptr_t)answer == KW_ERR_BUSY, "a call of another thread on a stream that records gave %d (%s), not %s",
           (int)(intptr_t)answer, kw_status_name((kw_status)(intptr_t)answer), kw_status_name(KW_ERR_BUSY));
  kw_test_busy(other.stream);
  launch(&other);
  expect_result(other.z, 2, "a graph launched on another stream while one records");
  KW_CHECK_OK(kw_test_pair(pair, r.stream, r.y, r.x, &r.z));
  KW_CHECK_OK(kw_graph_end(r.stream, &r.graph));
  launch(&r);
  expect_result(r.z, 1, "the result of a graph during whose recording calls were refused");
  KW_CHECK_OK(kw_event_destroy(event));
  forget(&r);
  forget(&other);
}

/* A wrong call while recording is refused as ever, and is no part of the graph. */
void kw_contract_graph_goes_on_after_wrong_call(void **state) {
  (void)state;
  pair = kw_test_need_pair();
  recorded r = {.stream = kw_test_stream(), .x = kw_test_f32(COUNT, 1)};
  kw_tensor *longer = kw_test_f32(COUNT + 1, 2), *none = NULL;
  kw_value wrong[] = {kw_arg_tensor(r.x), kw_arg_tensor(longer)};
  KW_CHECK_OK(kw_graph_begin(r.stream));
  KW_CHECK_OK(kw_test_pair(pair, r.stream, r.x, r.x, &r.y));
  KW_CHECK_STATUS(kw_op_call(kw_op_find(pair->op), r.stream, wrong, 2, &none, 1), KW_ERR_INVALID_ARGUMENT);
  KW_CHECK(strstr(kw_error_message(), pair->op), "the text does not name the op: %s", kw_error_message());
  KW_CHECK_OK(kw_test_pair(pair, r.stream, r.y, r.x, &r.z));
  KW_CHECK_OK(kw_graph_end(r.stream, &r.graph));
  launch(&r);
  expect_result(r.z, 1, "the result of a graph after a wrong call while it was recorded");
  kw_tensor_release(longer);
  forget(&r);
}

/* Ends without a begin, launches of nothing. */
void kw_contract_graph_misuse(void **state) {
  (void)state;
  kw_stream *stream = kw_test_stream();
  kw_graph *graph = NULL;
  KW_CHECK_STATUS(kw_graph_end(stream, &graph), KW_ERR_INVALID_ARGUMENT);
  KW_CHECK(!graph, "kw_graph_end without a begin gave a graph");
  KW_CHECK_STATUS(kw_graph_launch(NULL, stream), KW_ERR_INVALID_ARGUMENT);
  KW_CHECK_STATUS(kw_graph_begin(NULL), KW_ERR_INVALID_ARGUMENT);
  KW_CHECK_OK(kw_graph_destroy(NULL));
  KW_CHECK_OK(kw_graph_begin(stream)); /* a graph of nothing is one */
  KW_CHECK_OK(kw_graph_end(stream, &graph));
  KW_CHECK_OK(kw_graph_launch(graph, stream));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  KW_CHECK_OK(kw_graph_destroy(graph));
  KW_CHECK_OK(kw_stream_destroy(stream));
  kw_test_usable("a round trip after graphs were misused");
}
