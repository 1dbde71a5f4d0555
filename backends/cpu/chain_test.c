/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of chains: random calls on tensors that share memory in every way leave the same bytes as a chain, whose pieces
 * come last to first, and one by one.
 */
#include "fast/test_fast.h"

#include "chain.h"

#include <stdbool.h>

enum { REGIONS = 12, REGION_BYTES = 1 << 20, CALLS = 10, TENSORS = 3, PROGRAMS = 24 };

typedef struct test_call {
  kw_call call;
  kw_value args[TENSORS];
  kw_tensor_ref refs[TENSORS];
  const kw_tensor_ref *out;
} test_call;

static uint32_t random_state;

static uint32_t pick(uint32_t count) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) % count;
}

static const kw_fast_kernel *kernel_of(const char *op) {
  const kw_fast_kernel *kernel = test_fast_kernel(op);
  if (!kernel) fail_msg("no fast kernel of %s", op);
  return kernel;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

typedef struct shape {
  uint8_t rank;
  int64_t sizes[4];
} shape;

static const shape shapes[] = {{1, {200003}}, {2, {500, 400}}, {3, {20, 100, 101}}, {4, {1, 50, 8, 513}}};

static kw_tensor_ref tensor_in(void *memory, uint32_t region, kw_dtype dtype, const shape *of) {
  kw_tensor_ref tensor = {.struct_size = sizeof tensor, .dtype = dtype, .rank = of->rank, .mem = memory, .numel = 1};
  tensor.offset = (uint64_t)region * REGION_BYTES;
  tensor.alignment = 64;
  for (uint32_t d = of->rank; d-- > 0;) {
    tensor.shape[d] = of->sizes[d];
    tensor.strides[d] = tensor.numel;
    tensor.numel *= of->sizes[d];
  }
  return tensor;
}

static void exchange(kw_tensor_ref *tensor) {
  tensor->strides[0] = 1;
  for (uint32_t d = 1; d < tensor->rank; d++) tensor->strides[d] = tensor->strides[d - 1] * tensor->shape[d - 1];
}

/* One that is read: all, repeated along some dimensions, with its dimensions the other way round, a bit further on, or
 * as windows into what follows, which may not reach into the result. */
static kw_tensor_ref read_in(void *memory, uint32_t region, kw_dtype dtype, const shape *of, uint32_t out_region) {
  kw_tensor_ref tensor = tensor_in(memory, region, dtype, of);
  switch (pick(10)) {
    case 0:
      for (uint32_t d = 0; d < tensor.rank; d++) {
        if (pick(2) == 0) continue;
        tensor.numel /= tensor.shape[d];
        tensor.shape[d] = 1;
      }
      break;
    case 1:
      exchange(&tensor);
      break;
    case 2:
      tensor.offset += 64;
      break;
    case 3:
      if (tensor.rank < 2 || region + 1 == out_region) break;
      tensor.strides[tensor.rank - 1] = tensor.strides[tensor.rank - 2];
      break;
    default:
      break;
  }
  return tensor;
}

/* A call whose result is none of its arguments' memory, or is exactly one of them. Often it reads the last result. */
static void make_call(test_call *made, void *memory, const shape *of, uint32_t last_region) {
  static const struct {
    const char *op;
    uint32_t tensors;
    bool has_scalar;
  } ops[] = {{"add.Tensor", 2, true}, {"mul.Tensor", 2, false}, {"relu", 1, false},
             {"exp", 1, false},       {"mul.Scalar", 1, true},  {"copy_", 2, false}};
  const uint32_t which = pick(sizeof ops / sizeof *ops), out_region = pick(REGIONS);
  const bool is_copy = strcmp(ops[which].op, "copy_") == 0;
  const kw_dtype dtype = pick(9) == 0 ? KW_F16 : KW_F32, out_dtype = is_copy && pick(4) == 0 ? KW_F16 : dtype;
  const kw_fast_kernel *kernel = kernel_of(ops[which].op);
  kw_tensor_ref *out = &made->refs[TENSORS - 1];
  *out = tensor_in(memory, out_region, out_dtype, of);
  if (pick(8) == 0) exchange(out);
  for (uint32_t i = 0; i < ops[which].tensors; i++) {
    const uint32_t region = pick(2) == 0 ? last_region : pick(REGIONS);
    const bool is_place = (is_copy && i == 0) || (region == out_region && !is_copy);
    made->refs[i] =
        is_place ? *out : read_in(memory, (region + (region == out_region)) % REGIONS, dtype, of, out_region);
    made->args[i] = (kw_value){.tag = KW_TAG_TENSOR, .u.tensor = &made->refs[i]};
  }
  if (ops[which].has_scalar) {
    made->args[ops[which].tensors] = (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_F64, .u.f = 0.5};
  }
  made->out = out;
  made->call = (kw_call){.struct_size = sizeof made->call,
                         .arg_count = ops[which].tensors + ops[which].has_scalar,
                         .out_count = 1,
                         .op = ops[which].op,
                         .args = made->args,
                         .outs = &made->out,
                         .user = (void *)(uintptr_t)kernel};
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static void run_alone(const kw_host_api *host, kw_call *call) {
  const kw_fast_kernel *kernel = call->user;
  void *plan = NULL;
  assert_int_equal(kw_fast_prepare(call, &plan), KW_OK);
  assert_int_equal(kernel->run(host, call, plan), KW_OK);
  kw_fast_release(call->user, plan);
}

/* How many of the calls ran in chains. */
static uint32_t run_in_chains(const kw_host_api *host, test_call *made) {
  const kw_call *calls[CALLS];
  uint32_t chained = 0;
  for (uint32_t i = 0; i < CALLS; i++) calls[i] = &made[i].call;
  for (uint32_t i = 0; i < CALLS;) {
    kw_chain *chain = kw_chain_make(&calls[i], CALLS - i);
    uint64_t took[KW_CHAIN_LIMIT] = {0};
    if (!chain) {
      run_alone(host, &made[i++].call);
      continue;
    }
    const uint32_t length = kw_chain_length(chain);
    assert_in_range(length, 2, CALLS - i);
    assert_int_equal(kw_chain_run(host, chain, pick(2) ? took : NULL), KW_OK);
    kw_chain_free(chain);
    chained += length;
    i += length;
  }
  return chained;
}

static void test_chains_leave_the_same_bytes(void **state) {
  const size_t size = (size_t)(REGIONS + 1) * REGION_BYTES; /* windows reach into the one behind the last */
  char *memory = aligned_alloc(64, size), *before = malloc(size), *expected = malloc(size);
  uint32_t chained = 0;
  (void)state;
  assert_true(memory && before && expected);
  for (size_t i = 0; i < size / sizeof(float); i++) {
    const float value = (float)pick(1000) / 500 - 1;
    memcpy(before + i * sizeof value, &value, sizeof value);
  }
  for (uint32_t program = 0; program < PROGRAMS; program++) {
    int64_t piece = 1 + pick(3), whole = 1 << 30;
    const kw_host_api alone = test_host(&whole), host = test_host(&piece);
    static test_call made[CALLS];
    random_state = program;
    const shape *of = &shapes[pick(sizeof shapes / sizeof *shapes)];
    for (uint32_t i = 0; i < CALLS; i++) {
      make_call(&made[i], memory, of, i > 0 ? (uint32_t)(made[i - 1].out->offset / REGION_BYTES) : 0);
    }
    memcpy(memory, before, size);
    for (uint32_t i = 0; i < CALLS; i++) run_alone(&alone, &made[i].call);
    memcpy(expected, memory, size);
    memcpy(memory, before, size);
    chained += run_in_chains(&host, made);
    if (memcmp(memory, expected, size) != 0) fail_msg("program %u leaves other bytes", program);
  }
  print_message("%u of %u calls ran in chains\n", chained, PROGRAMS * CALLS);
  assert_in_range(chained, PROGRAMS * CALLS / 4, PROGRAMS * CALLS);
  free(memory);
  free(before);
  free(expected);
}

int main(void) {
  const char *why;
  if (!kw_fast_choose(&why)) return 0; /* the environment wants no fast kernels */
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains_leave_the_same_bytes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
