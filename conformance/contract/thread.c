/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite thread: what many threads do at once on many streams, on one stream, with shared tensors and plans, gives what
 * one thread alone gives, bit by bit; counters are exact; nothing is left behind.
 */
#include "contract/soak/soak.h"
#include "known_call.h"
#include "tools.h"

#include <pthread.h>
#include <stdio.h>

static bool same_bits(const void *got, const void *want, size_t size, const char *what, char *text, size_t room) {
  const unsigned char *a = got, *b = want;
  for (size_t i = 0; i < size; i++) {
    if (a[i] == b[i]) continue;
    snprintf(text, room, "%s: byte %zu of %zu is 0x%02x, not 0x%02x as on one thread alone", what, i, size, a[i], b[i]);
    return false;
  }
  return true;
}

/* ---- Many ops ---------------------------------------------------------------------------------------------------- */

enum { MOST_CALLS = 32, CALL_NUMEL = 300 };

typedef struct known_calls {
  kw_known_call *calls;
  uint32_t count;
  kw_stream *streams[KW_TEST_THREADS];
} known_calls;

/* An op in a dtype that the device has. */
typedef struct claim {
  const kw_op *op;
  kw_dtype dtype;
} claim;

static uint32_t find_claims(const kw_dtype *dtypes, uint32_t dtype_count, claim *out_claims) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < kw_op_count(); i++) {
    const kw_op *op = kw_op_at(i);
    kw_kernel_info any = {.struct_size = sizeof any};
    if (kw_op_get_kernel(op, kw_contract.device, 0, &any) != KW_OK || !kw_test_op_repeats(op)) continue;
    for (uint32_t d = 0; d < dtype_count; d++) {
      if (kw_op_support(op, kw_contract.device, dtypes[d]) != KW_SUPPORT_NONE)
        out_claims[count++] = (claim){op, dtypes[d]};
    }
  }
  return count;
}

static void learn_call(known_calls *known, const claim *claimed) {
  if (known->count == MOST_CALLS) return;
  known->count += kw_known_call_make(claimed->op, claimed->dtype, CALL_NUMEL, &known->calls[known->count]);
}

static int run_known(const kw_known_call *c, kw_stream *stream, char *text, size_t size) {
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  unsigned char *got = NULL;
  size_t length = 0;
  const char *name = c->call.info.name;
  int failed = kw_test_note(kw_test_call_run(&c->call, stream, outs), name, text, size) ||
               kw_test_note(kw_stream_synchronize(stream), name, text, size) ||
               kw_test_note(kw_test_call_results(&c->call, outs, &got, &length), name, text, size);
  failed = failed || !same_bits(got, c->want, length, name, text, size);
  for (uint32_t r = 0; r < c->call.info.result_count; r++) kw_tensor_release(outs[r]);
  free(got);
  return failed;
}

/* All calls, each thread beginning with another one, in another order. */
static int known_body(int index, void *user, char *text, size_t size) {
  const known_calls *known = user;
  static const uint32_t steps[] = {1, 7, 11, 13, 17, 19, 23, 29}; /* prime: each goes through all of them */
  uint32_t at = (uint32_t)index * 37 % known->count, step = known->count % steps[index] ? steps[index] : 1;
  for (uint32_t i = 0; i < 2 * known->count; i++, at = (at + step) % known->count) {
    if (run_known(&known->calls[at], known->streams[index], text, size)) return 1;
  }
  return 0;
}

/* Calls of what the device has, since drivers may have to compile each: a sample by the seed, and where nothing of it
 * can be compared the next one. */
static void learn_calls(known_calls *known, const claim *claims, uint32_t count) {
  const uint32_t step = count / MOST_CALLS + 1;
  for (uint32_t phase = 0; phase < step && known->count == 0; phase++) {
    for (uint32_t i = (uint32_t)((kw_contract.seed + phase) % step); i < count; i += step)
      learn_call(known, &claims[i]);
  }
}

static void check_known(bool one_stream) {
  static known_calls known; /* threads may outlive a failed check */
  known = (known_calls){.calls = kw_test_memory(MOST_CALLS * sizeof(kw_known_call))};
  static const kw_dtype usual[] = {KW_F32, KW_I32};
  claim *claims = kw_test_memory(KW_TEST_KINDS * kw_op_count() * sizeof *claims);
  learn_calls(&known, claims, find_claims(usual, 2, claims));
  if (known.count == 0) learn_calls(&known, claims, find_claims(kw_test_kinds, KW_TEST_KINDS, claims));
  free(claims);
  if (known.count == 0) kw_test_skip("the device has no kernel that promises the same bits and computes a result anew");
  for (int i = 0; i < KW_TEST_THREADS; i++)
    known.streams[i] = one_stream && i > 0 ? known.streams[0] : kw_test_stream();
  kw_test_run_threads(known_body, &known);
  for (int i = 0; i < (one_stream ? 1 : KW_TEST_THREADS); i++) KW_CHECK_OK(kw_stream_destroy(known.streams[i]));
  for (uint32_t i = 0; i < known.count; i++) kw_known_call_free(&known.calls[i]);
  free(known.calls);
}

/* Ops of the device from all threads at once, on the same inputs, each thread on a stream of its own. */
void kw_contract_thread_ops_on_many_streams(void **state) {
  (void)state;
  check_known(false);
}

/* The same with one stream for all. */
void kw_contract_thread_ops_on_one_stream(void **state) {
  (void)state;
  check_known(true);
}

/* ---- One kernel, twice at once ----------------------------------------------------------------------------------- */

/* Few large calls, for what a kernel shares for its whole time, and many small ones, for what it shares for a moment.
 */
static const struct {
  int64_t numel;
  int runs;
} twin_sizes[] = {{1 << 16, 8}, {CALL_NUMEL, 160}};
enum { MOST_RUNS = 160 };

/* The same call on two streams, on numbers of their own. */
typedef struct twin {
  kw_known_call known;
  kw_stream *stream;
  kw_tensor *outs[MOST_RUNS][KW_MAX_RESULTS];
} twin;

static void write_numbers(const kw_test_call *call, uint64_t tag) {
  for (uint32_t i = 0; i < call->given; i++) {
    for (uint32_t k = 0; call->args[i].role == KW_ROLE_DATA && k < KW_TEST_ENTRIES; k++) {
      kw_tensor *tensor = call->args[i].tensors[k];
      if (!tensor) continue;
      void *numbers = kw_test_memory(kw_test_bytes_of(tensor));
      kw_test_fill(call->dtype, numbers, (size_t)kw_tensor_describe(tensor)->numel, tag + 16 * i + k);
      KW_CHECK_OK(kw_tensor_write(tensor, numbers));
      free(numbers);
    }
  }
}

static void learn_twin(twin *t, uint64_t tag) {
  t->stream = kw_test_stream();
  write_numbers(&t->known.call, tag);
  kw_known_call_learn(&t->known);
}

static void check_twin(twin *t, int runs) {
  char text[200];
  for (int i = 0; i < runs; i++) {
    unsigned char *got = NULL;
    size_t size = 0;
    KW_CHECK_OK(kw_test_call_results(&t->known.call, t->outs[i], &got, &size));
    const bool same = same_bits(got, t->known.want, size, t->known.call.info.name, text, sizeof text);
    KW_CHECK(same, "beside the same op on another stream: %s", text);
    free(got);
    for (uint32_t r = 0; r < t->known.call.info.result_count; r++) kw_tensor_release(t->outs[i][r]);
  }
  KW_CHECK_OK(kw_stream_destroy(t->stream));
  kw_known_call_free(&t->known);
}

/* False: such a call cannot be compared. */
static bool run_twins(const claim *claimed, int64_t numel, int runs) {
  static twin twins[2];
  memset(twins, 0, sizeof twins);
  if (!kw_known_call_make(claimed->op, claimed->dtype, numel, &twins[0].known)) return false;
  kw_test_call_copy(&twins[0].known.call, &twins[1].known.call);
  kw_gate *gates[2] = {NULL};
  for (int s = 0; s < 2; s++) learn_twin(&twins[s], 1000 * (uint64_t)(s + 1));
  for (int s = 0; s < 2; s++) gates[s] = kw_gate_close(twins[s].stream);
  for (int i = 0; i < runs; i++) {
    for (int s = 0; s < 2; s++) KW_CHECK_OK(kw_test_call_run(&twins[s].known.call, twins[s].stream, twins[s].outs[i]));
  }
  for (int s = 0; s < 2; s++) kw_gate_open(gates[s]);
  for (int s = 0; s < 2; s++) KW_CHECK_OK(kw_stream_synchronize(twins[s].stream));
  for (int s = 0; s < 2; s++) check_twin(&twins[s], runs);
  return true;
}

/* Kernels share nothing: two streams begin at once with the same calls, on numbers of their own. Some ops are
 * drawn; thoroughly it is all. */
void kw_contract_thread_same_op_at_once(void **state) {
  (void)state;
  static const kw_dtype usual[] = {KW_F32, KW_I32};
  kw_test_need(KW_NATIVE_CALL_HOST);
  claim *claims = kw_test_memory(KW_TEST_KINDS * kw_op_count() * sizeof *claims);
  const uint32_t count = find_claims(usual, 2, claims);
  const uint64_t most = kw_soak_count(4, 24, count);
  uint32_t tried = 0;
  for (uint32_t i = 0; i < count && tried < most; i++) {
    /* by steps that meet each of them once, whatever their number */
    const uint32_t step = count > 97 && count % 97 ? 97 : 1;
    const claim *claimed = &claims[(uint32_t)((kw_contract.seed + (uint64_t)i * step) % count)];
    bool ran = false;
    for (size_t k = 0; k < sizeof twin_sizes / sizeof twin_sizes[0]; k++) {
      ran = run_twins(claimed, twin_sizes[k].numel, twin_sizes[k].runs) || ran;
    }
    tried += ran;
  }
  free(claims);
  if (tried == 0) kw_test_skip("the device has no kernel that promises the same bits and computes a result anew");
}

/* ---- Chains on one stream ---------------------------------------------------------------------------------------- */

enum { COUNT = 1001, STEPS = 40 };

typedef struct chain {
  kw_stream *stream;
  const kw_pair *pair;
} chain;

static int chain_body(int index, void *user, char *text, size_t size) {
  const chain *c = user;
  kw_stream *stream = c->stream;
  const int64_t shape = COUNT;
  float sent[COUNT], values[COUNT], got[COUNT];
  kw_tensor *x = NULL;
  kw_test_floats(sent, COUNT, (uint64_t)index);
  memcpy(values, sent, sizeof sent);
  int failed = kw_test_note(kw_tensor_create_on(stream, KW_F32, 1, &shape, &x), "kw_tensor_create_on", text, size) ||
               kw_test_note(kw_tensor_write_async(x, sent, stream), "kw_tensor_write_async", text, size);
  for (int step = 0; step < STEPS && !failed; step++) { /* x = op(x, x), each time into new memory */
    kw_tensor *next = NULL;
    failed = kw_test_note(kw_test_pair(c->pair, stream, x, x, &next), c->pair->op, text, size);
    kw_tensor_release(x);
    x = next;
    for (int i = 0; i < COUNT; i++) values[i] = c->pair->of(values[i], values[i]);
  }
  failed = failed || kw_test_note(kw_tensor_read_async(x, got, stream), "kw_tensor_read_async", text, size);
  /* Always: the stream reads and writes this thread's stack. */
  failed |= kw_test_note(kw_stream_synchronize(stream), "kw_stream_synchronize", text, size);
  kw_tensor_release(x);
  return failed ||
         !same_bits(got, values, sizeof got, "a chain of x = op(x, x) on a stream that threads share", text, size);
}

/* Threads that share a stream interleave; the work of each keeps its order, and its memory to itself. */
void kw_contract_thread_chains_on_one_stream(void **state) {
  (void)state;
  static chain c; /* threads may outlive a failed check */
  c = (chain){.pair = kw_test_need_pair()};
  c.stream = kw_test_stream();
  for (int round = 0; round < 4; round++) kw_test_run_threads(chain_body, &c);
  KW_CHECK_OK(kw_stream_destroy(c.stream));
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

typedef struct shared_plan {
  kw_plan *plan;
  const kw_pair *pair;
  kw_tensor *inputs[KW_TEST_THREADS], *outs[KW_TEST_THREADS];
  kw_stream *streams[KW_TEST_THREADS];
} shared_plan;

static int plan_body(int index, void *user, char *text, size_t size) {
  const shared_plan *shared = user;
  float want[COUNT], got[COUNT];
  kw_tensor *out = shared->outs[index];
  kw_value args[] = {kw_arg_tensor(shared->inputs[index]), kw_arg_tensor(shared->inputs[index])};
  kw_test_floats(want, COUNT, (uint64_t)index);
  for (int i = 0; i < COUNT; i++) want[i] = shared->pair->of(want[i], want[i]);
  for (int round = 0; round < 100; round++) {
    kw_status status = kw_plan_run(shared->plan, shared->streams[index], args, shared->pair->tensors, &out, 1);
    if (kw_test_note(status, "kw_plan_run", text, size)) return 1;
    if (kw_test_note(kw_stream_synchronize(shared->streams[index]), "kw_stream_synchronize", text, size)) return 1;
    if (kw_test_note(kw_tensor_read(out, got), "kw_tensor_read", text, size)) return 1;
    if (!same_bits(got, want, sizeof got, "a plan that threads share", text, size)) return 1;
  }
  return 0;
}

/* One plan, run by all threads at once, each with its own tensors. */
void kw_contract_thread_plan_shared(void **state) {
  (void)state;
  static shared_plan shared;
  shared.pair = kw_test_need_pair();
  for (int i = 0; i < KW_TEST_THREADS; i++) {
    shared.inputs[i] = kw_test_f32(COUNT, (uint64_t)i);
    shared.outs[i] = kw_test_f32(COUNT, 99);
    shared.streams[i] = kw_test_stream();
  }
  kw_value args[] = {kw_arg_tensor(shared.inputs[0]), kw_arg_tensor(shared.inputs[0])};
  KW_CHECK_OK(kw_plan_make(kw_op_find(shared.pair->op), NULL, args, shared.pair->tensors, &shared.outs[0], 1, NULL,
                           &shared.plan));
  kw_test_run_threads(plan_body, &shared);
  kw_plan_destroy(shared.plan);
  for (int i = 0; i < KW_TEST_THREADS; i++) {
    kw_tensor_release(shared.inputs[i]);
    kw_tensor_release(shared.outs[i]);
    KW_CHECK_OK(kw_stream_destroy(shared.streams[i]));
  }
}

static int signatures_body(int index, void *user, char *text, size_t size) {
  enum { SIGNATURES = 700, COLUMNS = 80, MOST = KW_TEST_THREADS * COLUMNS }; /* on 8 threads more than Keyway keeps */
  float values[MOST], got[MOST];
  const kw_scaled *op = user;
  kw_test_floats(values, MOST, (uint64_t)index);
  for (int i = 0; i < SIGNATURES; i++) {
    int64_t shape[] = {1 + index, 1 + i % COLUMNS}, numel = shape[0] * shape[1];
    kw_tensor *x = NULL, *scaled = NULL;
    if (kw_test_note(kw_tensor_create(kw_contract.device, KW_F32, 2, shape, &x), "kw_tensor_create", text, size))
      return 1;
    int failed = kw_test_note(kw_tensor_write(x, values), "kw_tensor_write", text, size);
    /* The number is part of the signature. */
    failed = failed || kw_test_note(kw_test_scaled(op, NULL, x, i, &scaled), op->op, text, size);
    failed = failed || kw_test_note(kw_tensor_read(scaled, got), "kw_tensor_read", text, size);
    for (int64_t k = 0; k < numel && !failed; k++) {
      if (got[k] == op->of(values[k], (float)i)) continue;
      snprintf(text, size, "%s of %g with %d gave %g while plans were made and forgotten on all threads", op->op,
               (double)values[k], i, (double)got[k]);
      failed = 1;
    }
    kw_tensor_release(x);
    kw_tensor_release(scaled);
    if (failed) return 1;
  }
  return 0;
}

/* More signatures than are remembered, on all threads: kernels run while their plans are thrown away. */
void kw_contract_thread_more_signatures_than_kept(void **state) {
  (void)state;
  static const kw_scaled *op; /* threads may outlive a failed check */
  op = kw_test_need_scaled();
  kw_test_run_threads(signatures_body, (void *)op);
}

/* ---- Counters ---------------------------------------------------------------------------------------------------- */

enum { LAUNCHES = 500 };

typedef struct launches {
  const kw_pair *pair;
  kw_tensor *tensors[KW_TEST_THREADS + 1];
} launches;

static int launch_body(int index, void *user, char *text, size_t size) {
  const launches *l = user;
  kw_tensor *out = l->tensors[index + 1], *in = l->tensors[0];
  for (int i = 0; i < LAUNCHES; i++) {
    if (kw_test_note(kw_test_pair(l->pair, NULL, in, in, &out), l->pair->op, text, size)) return 1;
  }
  return 0;
}

static kw_counters counters(void) {
  kw_counters counted = {.struct_size = sizeof counted};
  KW_CHECK_OK(kw_device_get_counters(kw_contract.device, &counted));
  return counted;
}

/* Every launch of every thread is counted, once, those of threads that have ended too. */
void kw_contract_thread_counters_exact(void **state) {
  (void)state;
  static launches l; /* threads may outlive a failed check */
  l.pair = kw_test_need_pair();
  for (int i = 0; i <= KW_TEST_THREADS; i++) l.tensors[i] = kw_test_f32(64, (uint64_t)i);
  uint64_t before = counters().launches;
  KW_CHECK_OK(kw_test_pair(l.pair, NULL, l.tensors[0], l.tensors[0], &l.tensors[1]));
  uint64_t each = counters().launches - before; /* launches of one call */
  for (int round = 0; round < 3; round++) {
    kw_counters first = counters();
    kw_memory_stats stats = kw_test_stats();
    kw_test_run_threads(launch_body, &l);
    kw_counters last = counters();
    KW_CHECK(last.launches - first.launches == each * LAUNCHES * KW_TEST_THREADS,
             "%d threads launched %d times each, and %llu launches were counted", KW_TEST_THREADS, LAUNCHES,
             (unsigned long long)(last.launches - first.launches));
    KW_CHECK(last.fallbacks == first.fallbacks && last.decomposed == first.decomposed,
             "fallbacks or decompositions were counted that did not happen");
    KW_CHECK(kw_test_stats().allocations == stats.allocations, "%llu allocations were counted that did not happen",
             (unsigned long long)(kw_test_stats().allocations - stats.allocations));
  }
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  for (int i = 0; i <= KW_TEST_THREADS; i++) kw_tensor_release(l.tensors[i]);
}

static int allocation_body(int index, void *user, char *text, size_t size) {
  (void)user;
  for (int i = 0; i < LAUNCHES; i++) {
    kw_tensor *tensor = NULL;
    int64_t shape = 1 + (index * 131 + i * 17) % 5000;
    if (kw_test_note(kw_tensor_create(kw_contract.device, KW_U8, 1, &shape, &tensor), "kw_tensor_create", text, size))
      return 1;
    kw_tensor_release(tensor);
  }
  return 0;
}

/* So is every allocation; and all that was allocated is given back. */
void kw_contract_thread_allocations_exact(void **state) {
  (void)state;
  kw_memory_stats before = kw_test_stats();
  kw_test_run_threads(allocation_body, NULL);
  kw_memory_stats after = kw_test_stats();
  KW_CHECK(after.allocations - before.allocations == LAUNCHES * KW_TEST_THREADS,
           "%d threads allocated %d times each, and %llu allocations were counted", KW_TEST_THREADS, LAUNCHES,
           (unsigned long long)(after.allocations - before.allocations));
  KW_CHECK(after.live == before.live && after.allocated == before.allocated,
           "%llu allocations, %llu bytes are live that were released", (unsigned long long)(after.live - before.live),
           (unsigned long long)(after.allocated - before.allocated));
}

/* ---- Life and death ---------------------------------------------------------------------------------------------- */

static int churn_round(int index, int round, char *text, size_t size) {
  kw_stream *stream = NULL;
  kw_event *event = NULL;
  kw_tensor *tensor = NULL, *view = NULL;
  unsigned char sent[512], got[512];
  const int64_t shape = sizeof sent;
  memset(got, 0, sizeof got);
  memset(sent, index * 31 + round, sizeof sent);
  int failed =
      kw_test_note(kw_stream_create(kw_contract.device, &stream), "kw_stream_create", text, size) ||
      kw_test_note(kw_event_create(kw_contract.device, &event), "kw_event_create", text, size) ||
      kw_test_note(kw_tensor_create_on(stream, KW_U8, 1, &shape, &tensor), "kw_tensor_create_on", text, size) ||
      kw_test_note(kw_tensor_slice(tensor, 0, 0, shape, 1, &view), "kw_tensor_slice", text, size) ||
      kw_test_note(kw_tensor_write_async(tensor, sent, stream), "kw_tensor_write_async", text, size) ||
      kw_test_note(kw_event_record(event, stream), "kw_event_record", text, size);
  kw_tensor_release(tensor);
  failed = failed || kw_test_note(kw_tensor_read_async(view, got, stream), "kw_tensor_read_async", text, size);
  kw_tensor_release(view);
  if (event) failed |= kw_test_note(kw_event_destroy(event), "kw_event_destroy", text, size);
  if (stream && round % 2) failed |= kw_test_note(kw_stream_synchronize(stream), "kw_stream_synchronize", text, size);
  failed |= kw_test_note(kw_stream_destroy(stream), "kw_stream_destroy", text, size); /* work in flight finishes */
  return failed || !same_bits(got, sent, sizeof got, "what went through a stream that lived for it", text, size);
}

static int churn_body(int index, void *user, char *text, size_t size) {
  (void)user;
  for (int round = 0; round < 60; round++) {
    if (churn_round(index, round, text, size)) return 1;
  }
  return 0;
}

/* Streams, events, tensors and views made, used and destroyed on all threads. */
void kw_contract_thread_create_and_destroy(void **state) {
  (void)state;
  kw_memory_stats before = kw_test_stats();
  kw_test_run_threads(churn_body, NULL);
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  KW_CHECK(kw_test_stats().live == before.live, "%llu allocations are live that were released",
           (unsigned long long)(kw_test_stats().live - before.live));
  kw_test_usable("a round trip after streams, events and tensors came and went on many threads");
}

/* ---- Handing over ------------------------------------------------------------------------------------------------ */

enum { PAIRS = KW_TEST_THREADS / 2, ROUNDS = 50, HANDED = 4096 };

/* Thread 2 i gives to thread 2 i + 1. */
typedef struct hand_over {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int given, taken; /* rounds */
  kw_stream *from, *to;
  kw_event *event;
  kw_tensor *tensor;
  unsigned char sent[HANDED], got[HANDED];
} hand_over;

static int give(hand_over *h, int round, char *text, size_t size) {
  pthread_mutex_lock(&h->mutex);
  while (h->taken < round) pthread_cond_wait(&h->changed, &h->mutex);
  pthread_mutex_unlock(&h->mutex);
  kw_test_pattern(h->sent, HANDED, (uint64_t)round);
  int failed = kw_test_note(kw_tensor_write_async(h->tensor, h->sent, h->from), "kw_tensor_write_async", text, size) ||
               kw_test_note(kw_event_record(h->event, h->from), "kw_event_record", text, size);
  pthread_mutex_lock(&h->mutex);
  h->given = failed ? ROUNDS + 1 : round + 1;
  pthread_cond_broadcast(&h->changed);
  pthread_mutex_unlock(&h->mutex);
  return failed;
}

static int take(hand_over *h, int round, char *text, size_t size) {
  pthread_mutex_lock(&h->mutex);
  while (h->given <= round) pthread_cond_wait(&h->changed, &h->mutex);
  pthread_mutex_unlock(&h->mutex);
  int failed = kw_test_note(kw_stream_wait_event(h->to, h->event), "kw_stream_wait_event", text, size) ||
               kw_test_note(kw_tensor_read_async(h->tensor, h->got, h->to), "kw_tensor_read_async", text, size) ||
               kw_test_note(kw_stream_synchronize(h->to), "kw_stream_synchronize", text, size);
  failed = failed || !same_bits(h->got, h->sent, HANDED,
                                "what one thread's stream wrote and another's read after the event", text, size);
  pthread_mutex_lock(&h->mutex);
  h->taken = failed ? ROUNDS + 1 : round + 1;
  pthread_cond_broadcast(&h->changed);
  pthread_mutex_unlock(&h->mutex);
  return failed;
}

static int hand_over_body(int index, void *user, char *text, size_t size) {
  hand_over *h = (hand_over *)user + index / 2;
  for (int round = 0; round < ROUNDS; round++) {
    if (index % 2 ? take(h, round, text, size) : give(h, round, text, size)) return 1;
  }
  return 0;
}

/* An event carries the work of one thread's stream over to another thread's. */
void kw_contract_thread_events_hand_over(void **state) {
  (void)state;
  static hand_over pairs[PAIRS];
  for (int i = 0; i < PAIRS; i++) {
    pairs[i] = (hand_over){.from = kw_test_stream(), .to = kw_test_stream(), .event = kw_test_event()};
    pthread_mutex_init(&pairs[i].mutex, NULL);
    pthread_cond_init(&pairs[i].changed, NULL);
    pairs[i].tensor = kw_test_bytes_on(pairs[i].from, HANDED);
  }
  kw_test_run_threads(hand_over_body, pairs);
  for (int i = 0; i < PAIRS; i++) {
    kw_tensor_release(pairs[i].tensor);
    KW_CHECK_OK(kw_event_destroy(pairs[i].event));
    KW_CHECK_OK(kw_stream_destroy(pairs[i].from));
    KW_CHECK_OK(kw_stream_destroy(pairs[i].to));
    pthread_mutex_destroy(&pairs[i].mutex);
    pthread_cond_destroy(&pairs[i].changed);
  }
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static int error_body(int index, void *user, char *text, size_t size) {
  kw_tensor *const *tensors = user;
  char shape[32];
  snprintf(shape, sizeof shape, "[%d]", 1000 + index);
  for (int i = 0; i < 200; i++) {
    kw_value args[] = {kw_arg_tensor(tensors[KW_TEST_THREADS]), kw_arg_tensor(tensors[index])};
    kw_tensor *out = NULL;
    kw_status status = kw_op_call(kw_op_find("add.Tensor"), NULL, args, 2, &out, 1);
    if (status == KW_ERR_INVALID_ARGUMENT && strstr(kw_error_message(), shape)) continue;
    snprintf(text, size, "a call with a tensor of shape %s gave %s: %s", shape, kw_status_name(status),
             kw_error_message());
    return 1;
  }
  return 0;
}

/* Calls that fail on all threads at once: each thread has the text of its own call. */
void kw_contract_thread_error_text(void **state) {
  (void)state;
  static kw_tensor *tensors[KW_TEST_THREADS + 1];
  for (int i = 0; i <= KW_TEST_THREADS; i++) tensors[i] = kw_test_f32(1000 + (size_t)i, 1);
  kw_test_run_threads(error_body, tensors);
  for (int i = 0; i <= KW_TEST_THREADS; i++) kw_tensor_release(tensors[i]);
  kw_test_usable("a round trip after calls failed on many threads");
}
