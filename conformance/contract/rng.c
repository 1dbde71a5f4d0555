/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite rng: random numbers are Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011),
 * a function of the generator's state and the element's place alone; the state moves as documented and can be set back.
 */
#include "call.h"

#include <stdio.h>

/* ---- What is expected -------------------------------------------------------------------------------------------- */

static void philox(uint64_t seed, uint64_t block, uint32_t out[4]) {
  uint32_t c[4] = {(uint32_t)block, (uint32_t)(block >> 32), 0, 0}, k[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  for (int round = 0; round < 10; round++) {
    uint64_t a = (uint64_t)0xd2511f53 * c[0], b = (uint64_t)0xcd9e8d57 * c[2];
    uint32_t next[] = {(uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ k[1], (uint32_t)a};
    memcpy(c, next, sizeof next);
    k[0] += 0x9e3779b9;
    k[1] += 0xbb67ae85;
  }
  memcpy(out, c, sizeof c);
}

static uint32_t word_at(uint64_t seed, uint64_t offset, int64_t element) {
  uint32_t words[4];
  philox(seed, offset + (uint64_t)element / 4, words);
  return words[element % 4];
}

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

static bool has(const char *op, kw_dtype dtype) {
  const kw_op *found = kw_op_find(op);
  return found && kw_op_support(found, kw_contract.device, dtype) != KW_SUPPORT_NONE;
}

static void need_words(void) {
  if (!has("random_.from", KW_I64)) kw_test_skip("the device has no random_.from in i64");
}

static void need_uniform(void) {
  if (!has("uniform_", KW_F32)) kw_test_skip("the device has no uniform_ in f32");
}

static bool is_random(const kw_op *op) {
  kw_arg_info arg = {.struct_size = sizeof arg};
  for (uint32_t i = 0; kw_op_get_arg(op, i, &arg) == KW_OK; i++) {
    if (arg.tag == KW_TAG_GENERATOR) return true;
  }
  return false;
}

static kw_generator *generator_at(uint64_t seed, uint64_t offset) {
  kw_generator *generator = NULL;
  const kw_generator_state state = {sizeof state, KW_GENERATOR_PHILOX4X32_10, seed, offset};
  KW_CHECK_OK(kw_generator_create(kw_contract.device, seed, &generator));
  KW_CHECK_OK(kw_generator_set_state(generator, &state));
  return generator;
}

static kw_generator_state state_of(const kw_generator *generator) {
  kw_generator_state state = {.struct_size = sizeof state};
  KW_CHECK_OK(kw_generator_get_state(generator, &state));
  return state;
}

static kw_status draw_below(kw_value end, kw_generator *generator, kw_stream *stream, kw_tensor *into) {
  kw_value args[] = {kw_arg_tensor(into), kw_arg_int(0), end, kw_arg_generator(generator)};
  return kw_op_call(kw_op_find("random_.from"), stream, args, 4, NULL, 0);
}

/* random_ from 0 to 2^32 into i64: the words as they are. Usable on any thread. */
static kw_status draw_words(kw_generator *generator, kw_stream *stream, kw_tensor *into) {
  return draw_below(kw_arg_int(INT64_C(1) << 32), generator, stream, into);
}

static kw_tensor *words_tensor(int64_t count) {
  kw_tensor *tensor = NULL;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_I64, 1, &count, &tensor));
  return tensor;
}

static void expect_words(kw_generator *generator, kw_stream *stream, uint64_t seed, uint64_t offset, int64_t count,
                         const char *what) {
  kw_tensor *tensor = words_tensor(count);
  int64_t *got = kw_test_memory((size_t)count * sizeof *got);
  KW_CHECK_OK(draw_words(generator, stream, tensor));
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  KW_CHECK_OK(kw_tensor_read(tensor, got));
  for (int64_t i = 0; i < count; i++) {
    uint32_t want = word_at(seed, offset, i);
    KW_CHECK(got[i] == (int64_t)want, "%s: element %lld of %lld is 0x%llx, not 0x%08x, with seed %llu and offset %llu",
             what, (long long)i, (long long)count, (unsigned long long)got[i], want, (unsigned long long)seed,
             (unsigned long long)offset);
  }
  kw_tensor_release(tensor);
  free(got);
}

static void draw_uniform(kw_generator *generator, kw_tensor *into) {
  kw_value args[] = {kw_arg_tensor(into), kw_arg_float(0), kw_arg_float(1), kw_arg_generator(generator)};
  KW_CHECK_OK(kw_op_call(kw_op_find("uniform_"), NULL, args, 4, NULL, 0));
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* The published answer for counter 0 and key 0, through an op. */
void kw_contract_rng_known_answer(void **state) {
  (void)state;
  static const uint32_t want[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  need_words();
  for (int i = 0; i < 4; i++) {
    KW_CHECK(word_at(0, 0, i) == want[i], "this suite's own Philox is wrong: 0x%08x", word_at(0, 0, i));
  }
  kw_generator *generator = generator_at(0, 0);
  expect_words(generator, NULL, 0, 0, 4, "the first block of seed 0");
  kw_generator_destroy(generator);
}

/* Seeds and offsets of all 64 bits; the offset wraps. */
void kw_contract_rng_words(void **state) {
  (void)state;
  static const struct {
    uint64_t seed, offset;
  } cases[] = {
      {1, 0},
      {UINT64_C(0x299f31d0a4093822), 7},
      {UINT64_MAX, (UINT64_C(1) << 32) - 3}, /* the low word of the counter carries */
      {42, UINT64_MAX - 5},                  /* the counter wraps */
      {UINT64_C(1) << 63, UINT64_C(1) << 40},
  };
  need_words();
  kw_stream *stream = kw_test_stream();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (int own_stream = 0; own_stream < 2; own_stream++) {
      kw_generator *generator = generator_at(cases[i].seed, cases[i].offset);
      expect_words(generator, own_stream ? stream : NULL, cases[i].seed, cases[i].offset, 1001,
                   own_stream ? "words on a stream" : "words on the default stream");
      kw_generator_destroy(generator);
    }
  }
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* The numbers depend on an element's place in row-major order, not on shape, strides or how a kernel is launched. */
void kw_contract_rng_shape_and_strides(void **state) {
  (void)state;
  enum { COUNT = 1000, EXTENT = 3 * COUNT };
  need_uniform();
  static const struct {
    uint32_t rank;
    int64_t shape[3], strides[3];
    const char *what;
  } views[] = {
      {1, {1000}, {1}, "[1000]"},
      {2, {10, 100}, {100, 1}, "[10, 100]"},
      {2, {10, 100}, {1, 10}, "[10, 100], transposed"},
      {3, {10, 20, 5}, {5, 50, 1}, "[10, 20, 5], permuted"},
      {1, {1000}, {3}, "[1000] with a stride of 3"},
      {2, {100, 10}, {20, 1}, "[100, 10] with a pitch of 20"},
  };
  float first[COUNT], got[COUNT];
  for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
    kw_generator *generator = generator_at(5, 11);
    kw_tensor *base = kw_test_f32(EXTENT, 1), *view = NULL;
    KW_CHECK_OK(kw_tensor_as_strided(base, views[i].rank, views[i].shape, views[i].strides, 0, &view));
    draw_uniform(generator, view);
    KW_CHECK_OK(kw_tensor_read(view, i == 0 ? first : got));
    KW_CHECK(state_of(generator).offset == 11 + COUNT / 4, "uniform_ on %s moved the offset by %lld, not by %d",
             views[i].what, (long long)(state_of(generator).offset - 11), COUNT / 4);
    for (int k = 0; k < COUNT && i == 0; k++) {
      float want = (float)(word_at(5, 11, k) >> 8) * 0x1p-24f;
      KW_CHECK(first[k] == want, "uniform_: element %d is %.9g, not %.9g", k, (double)first[k], (double)want);
    }
    if (i > 0) kw_test_same(got, first, sizeof first, views[i].what);
    kw_tensor_release(view);
    kw_tensor_release(base);
    kw_generator_destroy(generator);
  }
}

/* Draws into a tensor from the generator's block `offset` on, by the op with the call's other arguments. */
static void draw_into(const kw_test_call *call, kw_tensor *into, uint64_t offset) {
  kw_generator *generator = generator_at(17, offset);
  kw_value values[KW_MAX_ARGS];
  uint32_t given = call->given;
  kw_test_call_values(call, values);
  values[0] = kw_arg_tensor(into);
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    if (call->args[i].info.tag != KW_TAG_GENERATOR) continue;
    values[i] = kw_arg_generator(generator);
    if (given <= i) given = i + 1;
  }
  KW_CHECK_OK(kw_op_call(call->op, NULL, values, given, NULL, 0));
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  kw_generator_destroy(generator);
}

/* Numbers far behind the first are those that a small draw from their block gives, at places where counters of blocks,
 * of threads or of what one launch draws may end. */
static void check_long(const kw_test_call *call) {
  enum { LOG2_LEAST = 14, LOG2_MOST = 22, SIDE = 8, LENGTH = (1 << LOG2_MOST) + 5 };
  const int64_t length = LENGTH, stride = 1;
  const size_t size =
      kw_test_bytes_of(call->args[0].tensors[0]) / (size_t)kw_tensor_describe(call->args[0].tensors[0])->numel;
  const uint64_t offset = (UINT64_C(1) << 32) - 77; /* the number of a block passes 32 bits on the way */
  kw_tensor *all = NULL;
  kw_status status = kw_tensor_create(kw_contract.device, call->dtype, 1, &length, &all);
  if (status == KW_ERR_OUT_OF_MEMORY) kw_contract_not_tried("rng/long_draws needs %d MiB", (int)(size * LENGTH >> 20));
  KW_CHECK_OK(status);
  draw_into(call, all, offset);
  for (int log2 = LOG2_LEAST; log2 <= LOG2_MOST; log2++) {
    const int64_t first = (INT64_C(1) << log2) - SIDE, rest = length - first, count = rest < 2 * SIDE ? rest : 2 * SIDE;
    kw_tensor *part = NULL, *alone = NULL;
    unsigned char got[2 * SIDE * sizeof(double)], want[sizeof got];
    char what[160];
    KW_CHECK_OK(kw_tensor_create(kw_contract.device, call->dtype, 1, &count, &alone));
    KW_CHECK_OK(kw_tensor_as_strided(all, 1, &count, &stride, first, &part));
    draw_into(call, alone, offset + (uint64_t)first / 4);
    KW_CHECK_OK(kw_tensor_read(part, got));
    KW_CHECK_OK(kw_tensor_read(alone, want));
    snprintf(what, sizeof what, "%s of %lld elements, from element %lld on, beside a draw from that block",
             call->info.name, (long long)length, (long long)first);
    kw_test_same(got, want, size * (size_t)count, what);
    kw_tensor_release(part);
    kw_tensor_release(alone);
  }
  kw_tensor_release(all);
}

/* Each op that fills a tensor at random draws block n for element 4n of a long one, too; with the least effort the
 * first such op does. */
void kw_contract_rng_long_draws(void **state) {
  (void)state;
  int checked = 0;
  for (uint32_t i = 0; i < kw_op_count() && !(checked && kw_contract.effort == KW_EFFORT_QUICK); i++) {
    const kw_op *op = kw_op_at(i);
    kw_op_info info = {.struct_size = sizeof info};
    kw_test_call call;
    KW_CHECK_OK(kw_op_get_info(op, &info));
    const bool floats = kw_op_support(op, kw_contract.device, KW_F32) != KW_SUPPORT_NONE;
    if (info.level == KW_LEVEL_VENDOR || !is_random(op)) continue;
    if (!kw_test_call_make(op, floats ? KW_F32 : KW_I64, 4, &call)) continue;
    if (call.in_place && call.args[0].role == KW_ROLE_DATA) {
      check_long(&call);
      checked++;
    }
    kw_test_call_free(&call);
  }
  if (!checked) kw_test_skip("the device has no op that fills a tensor at random");
}

/* bernoulli_ and bernoulli give 1 where u < p; where u = p they give 0. */
void kw_contract_rng_bernoulli_threshold(void **state) {
  (void)state;
  enum { COUNT = 32 };
  const bool fixed = has("bernoulli_.float", KW_F32), each = has("bernoulli", KW_F32);
  if (!fixed && !each) kw_test_skip("the device has no bernoulli in f32");
  kw_generator *generator = generator_at(8, 3);
  const kw_generator_state start = state_of(generator);
  kw_tensor *p = kw_test_f32(COUNT, 1), *drawn = kw_test_f32(COUNT, 1);
  float probabilities[COUNT], got[COUNT];
  for (int above = 0; above < 2; above++) {
    for (int i = 0; i < COUNT; i++) probabilities[i] = (float)((word_at(8, 3, i) >> 8) + (unsigned)above) * 0x1p-24f;
    for (int i = 0; i < COUNT && fixed; i++) {
      kw_value args[] = {kw_arg_tensor(drawn), kw_arg_float(probabilities[i]), kw_arg_generator(generator)};
      KW_CHECK_OK(kw_generator_set_state(generator, &start));
      KW_CHECK_OK(kw_op_call(kw_op_find("bernoulli_.float"), NULL, args, 3, NULL, 0));
      KW_CHECK_OK(kw_tensor_read(drawn, got));
      KW_CHECK(got[i] == (float)above, "bernoulli_: element %d with u = p%s is %g, not %d", i, above ? " - 2^-24" : "",
               (double)got[i], above);
    }
    kw_value args[] = {kw_arg_tensor(p), kw_arg_generator(generator)};
    if (!each) continue;
    KW_CHECK_OK(kw_generator_set_state(generator, &start));
    KW_CHECK_OK(kw_tensor_write(p, probabilities));
    KW_CHECK_OK(kw_op_call(kw_op_find("bernoulli"), NULL, args, 2, &drawn, 1));
    KW_CHECK_OK(kw_tensor_read(drawn, got));
    for (int i = 0; i < COUNT; i++) {
      KW_CHECK(got[i] == (float)above, "bernoulli: element %d with u = p%s is %g, not %d", i, above ? " - 2^-24" : "",
               (double)got[i], above);
    }
  }
  kw_tensor_release(p);
  kw_tensor_release(drawn);
  kw_generator_destroy(generator);
}

/* ---- State ------------------------------------------------------------------------------------------------------- */

/* Two runs of a call from one state: the same bits, and the offset moves by ceil(numel / 4). */
static void check_moves(const kw_test_call *call, kw_generator *generator) {
  unsigned char *bytes[2];
  size_t size = 0;
  const kw_generator_state start = state_of(generator);
  for (int i = 0; i < 2; i++) {
    kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
    KW_CHECK_OK(kw_generator_set_state(generator, &start));
    KW_CHECK_OK(kw_test_call_run(call, NULL, outs));
    KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
    KW_CHECK_OK(kw_test_call_results(call, outs, &bytes[i], &size));
    uint64_t numel = (uint64_t)kw_tensor_describe(kw_test_call_result(call, outs, 0))->numel;
    kw_generator_state moved = state_of(generator);
    KW_CHECK(moved.offset - start.offset == (numel + 3) / 4 && moved.seed == start.seed,
             "%s in %s of %llu elements moved the offset by %llu, not by %llu", call->info.name,
             kw_dtype_name(call->dtype), (unsigned long long)numel, (unsigned long long)(moved.offset - start.offset),
             (unsigned long long)((numel + 3) / 4));
    for (uint32_t r = 0; r < call->info.result_count; r++) kw_tensor_release(outs[r]);
  }
  char what[128];
  snprintf(what, sizeof what, "%s in %s, again from the same state", call->info.name, kw_dtype_name(call->dtype));
  kw_test_same(bytes[1], bytes[0], size, what);
  free(bytes[0]);
  free(bytes[1]);
}

/* Every random op in every dtype moves the offset as documented, and gives the same bits from the same state. */
void kw_contract_rng_every_op(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 3, 4, 5, 64, 1000};
  kw_generator *generator = kw_generator_default(kw_contract.device);
  const kw_generator_state saved = state_of(generator);
  int checked = 0;
  for (uint32_t i = 0; i < kw_op_count(); i++) {
    const kw_op *op = kw_op_at(i);
    for (kw_dtype dtype = 0; dtype < KW_KEY_DTYPE_COUNT && is_random(op); dtype++) {
      for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        kw_test_call call;
        if (kw_op_support(op, kw_contract.device, dtype) == KW_SUPPORT_NONE) continue;
        if (!kw_test_call_make(op, dtype, sizes[s], &call)) continue;
        check_moves(&call, generator);
        kw_test_call_free(&call);
        checked++;
      }
    }
  }
  KW_CHECK_OK(kw_generator_set_state(generator, &saved));
  if (!checked) kw_test_skip("the device has no op that draws random numbers");
}

/* State can be saved and set back; a seed sets the offset to 0; generators do not move each other. */
void kw_contract_rng_state(void **state) {
  (void)state;
  need_words();
  kw_generator *generator = generator_at(9, 100), *other = generator_at(9, 100);
  kw_generator *fallback = kw_generator_default(kw_contract.device);
  const kw_generator_state before = state_of(fallback);
  expect_words(generator, NULL, 9, 100, 10, "a first draw");
  const kw_generator_state saved = state_of(generator);
  KW_CHECK(saved.seed == 9 && saved.offset == 103 && saved.algorithm == KW_GENERATOR_PHILOX4X32_10,
           "after 10 numbers from offset 100 the state is seed %llu, offset %llu", (unsigned long long)saved.seed,
           (unsigned long long)saved.offset);
  expect_words(generator, NULL, 9, 103, 7, "a second draw");
  KW_CHECK_OK(kw_generator_set_state(generator, &saved));
  expect_words(generator, NULL, 9, 103, 7, "a draw after the state was set back");
  expect_words(other, NULL, 9, 100, 10, "a draw from another generator of the same seed");
  KW_CHECK_OK(kw_generator_seed(generator, 77));
  expect_words(generator, NULL, 77, 0, 10, "a draw after a new seed");
  kw_generator_state after = state_of(fallback);
  KW_CHECK(after.seed == before.seed && after.offset == before.offset,
           "draws from generators of their own moved the device's default generator");
  kw_generator_destroy(generator);
  kw_generator_destroy(other);
  kw_generator_destroy(NULL);
}

/* The default generator serves calls that name none; that of another device is another one. */
void kw_contract_rng_default_generator(void **state) {
  (void)state;
  need_words();
  kw_generator *generator = kw_generator_default(kw_contract.device);
  const kw_generator_state saved = state_of(generator);
  const char *name = NULL;
  kw_device *second = kw_test_other_device(&name);
  kw_generator_state elsewhere = {0};
  if (second) {
    KW_CHECK(kw_generator_default(second) != generator, "two devices have one default generator");
    elsewhere = state_of(kw_generator_default(second));
  }
  KW_CHECK_OK(kw_generator_seed(generator, 3));
  expect_words(NULL, NULL, 3, 0, 9, "a draw without a generator");
  KW_CHECK(state_of(generator).offset == 3, "a draw without a generator moved the default generator to offset %llu",
           (unsigned long long)state_of(generator).offset);
  if (second) {
    kw_generator_state now = state_of(kw_generator_default(second));
    KW_CHECK(now.seed == elsewhere.seed && now.offset == elsewhere.offset, "a draw on one device moved %s's generator",
             name);
    KW_CHECK_OK(kw_device_close(second));
  }
  KW_CHECK_OK(kw_generator_set_state(generator, &saved));
}

/* What a generator does not take. */
void kw_contract_rng_refusals(void **state) {
  (void)state;
  kw_generator *generator = kw_generator_default(kw_contract.device);
  const kw_generator_state before = state_of(generator);
  const kw_generator_state unknown = {sizeof unknown, 99, 1, 1}, unsized = {0, KW_GENERATOR_PHILOX4X32_10, 1, 1};
  kw_generator_state answer = {0};
  KW_CHECK_STATUS(kw_generator_set_state(generator, &unknown), KW_ERR_UNSUPPORTED);
  KW_CHECK_STATUS(kw_generator_set_state(generator, &unsized), KW_ERR_INVALID_ARGUMENT);
  KW_CHECK_STATUS(kw_generator_get_state(generator, &answer), KW_ERR_INVALID_ARGUMENT);
  KW_CHECK_STATUS(kw_generator_seed(NULL, 1), KW_ERR_INVALID_ARGUMENT);
  KW_CHECK_STATUS(kw_generator_create(NULL, 1, &generator), KW_ERR_INVALID_ARGUMENT);
  kw_generator_state after = state_of(kw_generator_default(kw_contract.device));
  KW_CHECK(after.seed == before.seed && after.offset == before.offset, "refused calls changed the generator's state");
}

/* ---- Many at once ------------------------------------------------------------------------------------------------ */

enum { DRAWS = 64, BLOCKS = KW_TEST_THREADS * DRAWS };

typedef struct shared_generator {
  kw_generator *generator;
  int64_t words[BLOCKS][4];
} shared_generator;

static int draw_body(int index, void *user, char *text, size_t size) {
  shared_generator *shared = user;
  const int64_t shape = 4;
  kw_tensor *tensor = NULL;
  int failed =
      kw_test_note(kw_tensor_create(kw_contract.device, KW_I64, 1, &shape, &tensor), "kw_tensor_create", text, size);
  for (int i = 0; i < DRAWS && !failed; i++) {
    failed = kw_test_note(draw_words(shared->generator, NULL, tensor), "random_.from", text, size) ||
             kw_test_note(kw_tensor_read(tensor, shared->words[index * DRAWS + i]), "kw_tensor_read", text, size);
  }
  kw_tensor_release(tensor);
  return failed;
}

/* Threads that share a generator get each of its blocks once. */
void kw_contract_rng_shared_by_threads(void **state) {
  (void)state;
  need_words();
  static shared_generator shared;
  shared.generator = generator_at(21, 0);
  kw_test_run_threads(draw_body, &shared);
  bool seen[BLOCKS] = {false};
  for (int i = 0; i < BLOCKS; i++) {
    uint64_t block = 0;
    for (; block < BLOCKS; block++) {
      bool same = true;
      for (int k = 0; k < 4; k++) same = same && shared.words[i][k] == (int64_t)word_at(21, block, k);
      if (same) break;
    }
    KW_CHECK(block < BLOCKS, "a draw gave numbers that are no block of the generator's");
    KW_CHECK(!seen[block], "block %llu of a generator was given out twice", (unsigned long long)block);
    seen[block] = true;
  }
  KW_CHECK(state_of(shared.generator).offset == BLOCKS, "%d blocks were drawn, and the offset is %llu", BLOCKS,
           (unsigned long long)state_of(shared.generator).offset);
  kw_generator_destroy(shared.generator);
}

/* Two calls in a graph, the generator standing at `offset`. */
static void draw_in_graph(uint64_t offset) {
  enum { COUNT = 10, LAUNCHES = 4 };
  kw_stream *stream = kw_test_stream();
  kw_generator *generator = generator_at(13, offset);
  kw_tensor *first = words_tensor(COUNT), *second = words_tensor(COUNT);
  kw_graph *graph = NULL;
  KW_CHECK_OK(kw_graph_begin(stream));
  KW_CHECK_OK(draw_words(generator, stream, first));
  KW_CHECK_OK(draw_words(generator, stream, second));
  KW_CHECK_OK(kw_graph_end(stream, &graph));
  KW_CHECK(state_of(generator).offset == offset, "recording random calls moved the generator by %lld blocks",
           (long long)(state_of(generator).offset - offset));
  for (uint64_t i = 0; i < LAUNCHES; i++) {
    int64_t got[2][COUNT];
    KW_CHECK_OK(kw_graph_launch(graph, stream));
    KW_CHECK_OK(kw_stream_synchronize(stream));
    KW_CHECK_OK(kw_tensor_read(first, got[0]));
    KW_CHECK_OK(kw_tensor_read(second, got[1]));
    for (int k = 0; k < 2 * COUNT; k++) {
      uint32_t want = word_at(13, offset + 6 * i + 3u * (unsigned)(k / COUNT), k % COUNT);
      KW_CHECK(got[k / COUNT][k % COUNT] == (int64_t)want,
               "launch %llu of a graph, call %d, element %d: 0x%llx, not 0x%08x as the call at once would give",
               (unsigned long long)i, k / COUNT, k % COUNT, (unsigned long long)got[k / COUNT][k % COUNT], want);
    }
    if (i == 1) expect_words(generator, NULL, 13, offset + 6 * 2, 4, "a call between launches of a graph");
    if (i == 1) { /* as if it had not been */
      const kw_generator_state back = {sizeof back, KW_GENERATOR_PHILOX4X32_10, 13, offset + 6 * 2};
      KW_CHECK_OK(kw_generator_set_state(generator, &back));
    }
  }
  KW_CHECK(state_of(generator).offset == offset + 6 * LAUNCHES,
           "%d launches moved the generator by %lld blocks, not by %d", LAUNCHES,
           (long long)(state_of(generator).offset - offset), 6 * LAUNCHES);
  KW_CHECK_OK(kw_graph_destroy(graph));
  kw_generator_destroy(generator);
  kw_tensor_release(first);
  kw_tensor_release(second);
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* For devices without words: two calls of uniform_ in a graph, against the same two at once. */
static void draw_uniform_in_graph(uint64_t offset) {
  enum { COUNT = 10, CALLS = 2 };
  kw_stream *stream = kw_test_stream();
  kw_generator *generators[] = {generator_at(13, offset), generator_at(13, offset)};
  kw_tensor *at_once[CALLS], *replayed[CALLS];
  float want[COUNT], got[COUNT];
  kw_graph *graph = NULL;
  for (int i = 0; i < CALLS; i++) {
    at_once[i] = kw_test_f32(COUNT, 1);
    replayed[i] = kw_test_f32(COUNT, 2);
    draw_uniform(generators[0], at_once[i]);
  }
  KW_CHECK_OK(kw_graph_begin(stream));
  for (int i = 0; i < CALLS; i++) {
    kw_value args[] = {kw_arg_tensor(replayed[i]), kw_arg_float(0), kw_arg_float(1), kw_arg_generator(generators[1])};
    KW_CHECK_OK(kw_op_call(kw_op_find("uniform_"), stream, args, 4, NULL, 0));
  }
  KW_CHECK_OK(kw_graph_end(stream, &graph));
  KW_CHECK_OK(kw_graph_launch(graph, stream));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  for (int i = 0; i < CALLS; i++) {
    KW_CHECK_OK(kw_tensor_read(at_once[i], want));
    KW_CHECK_OK(kw_tensor_read(replayed[i], got));
    kw_test_same(got, want, sizeof got, "what uniform_ drew in a graph, against the same calls at once");
    kw_tensor_release(at_once[i]);
    kw_tensor_release(replayed[i]);
    kw_generator_destroy(generators[i]);
  }
  KW_CHECK_OK(kw_graph_destroy(graph));
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* Each launch of a graph draws anew: together they are what the calls would have drawn, and the state moves alike. */
void kw_contract_rng_graph(void **state) {
  (void)state;
  static const uint64_t offsets[] = {
      50,
      (UINT64_C(1) << 32) - 10, /* the low word is full within a call, */
      (UINT64_C(1) << 32) - 14, /* and between two of a launch */
      (UINT64_C(1) << 32) - 2,
      UINT64_MAX - 13,
  };
  const bool words = has("random_.from", KW_I64);
  if (!words && !has("uniform_", KW_F32))
    kw_test_skip("the device has neither random_.from in i64 nor uniform_ in f32");
  for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++)
    (words ? draw_in_graph : draw_uniform_in_graph)(offsets[i]);
}

/* The other algorithm: what OpenSSL's aes-128-ctr makes of zeros with the seed as key, from counter blocks `offset` and
 * 2^64 + `offset` on. Devices may lack it. */
void kw_contract_rng_aes_known_answer(void **state) {
  (void)state;
  enum { WORDS = 8 };
  static const struct {
    uint64_t offset;
    uint32_t words[2][WORDS];
  } known[] = {
      {5,
       {{0x9b18c617, 0xd453df85, 0x322f77a9, 0x2c12bea5, 0xdce1b0b2, 0xc89a4b0b, 0x28b6a8ed, 0x8157df9e},
        {0xf5fa603a, 0xdca98d0d, 0x20187da4, 0xddc16880, 0x3ea27dec, 0x4e3f66ff, 0x2b7310b4, 0x011d2582}}},
      {(UINT64_C(1) << 32) + 5,
       {{0xa8780d3f, 0x53c5e437, 0x1f93b7b5, 0x0eaef564, 0x1344d38b, 0x25471327, 0x036ad67a, 0x397c31e4},
        {0x98ae7c21, 0xeaa939f7, 0x84ae1199, 0xd416092d, 0xfaaade88, 0x93c3c2cc, 0xb2aecf38, 0xe8b838be}}},
  };
  need_words();
  kw_generator *generator = generator_at(0, 0);
  kw_tensor *tensor = words_tensor(WORDS);
  kw_status status = KW_OK;
  for (size_t k = 0; k < 2 * sizeof known / sizeof known[0] && status == KW_OK; k++) {
    const uint32_t *above = known[k / 2].words[0], *below = known[k / 2].words[1];
    const bool wide = k % 2; /* words of 64 bits, their sign cut off */
    const kw_generator_state aes = {sizeof aes, KW_GENERATOR_AES128_CTR, UINT64_C(0x0123456789abcdef),
                                    known[k / 2].offset};
    KW_CHECK_OK(kw_generator_set_state(generator, &aes));
    status = wide ? draw_below(kw_arg_none(), generator, NULL, tensor) : draw_words(generator, NULL, tensor);
    int64_t got[WORDS];
    if (status == KW_OK) KW_CHECK_OK(kw_tensor_read(tensor, got));
    for (int i = 0; status == KW_OK && i < WORDS; i++) {
      const uint64_t want = wide ? ((uint64_t)above[i] << 32 | below[i]) & INT64_MAX : above[i];
      KW_CHECK((uint64_t)got[i] == want, "word %d of AES-128-CTR from block %llu on is 0x%llx, not 0x%llx", i,
               (unsigned long long)aes.offset, (unsigned long long)got[i], (unsigned long long)want);
    }
  }
  KW_CHECK(status == KW_OK || status == KW_ERR_NOT_IMPLEMENTED, "drawing by AES-128-CTR gives %s: %s",
           kw_status_name(status), kw_error_message());
  kw_tensor_release(tensor);
  kw_generator_destroy(generator);
  if (status != KW_OK) kw_test_skip("the device draws from Philox only");
}
