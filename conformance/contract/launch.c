/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite launch: a kernel runs when its stream comes to it, and no call knows of the ones before it: neither their data
 * nor their attributes nor their shapes.
 */
#include "child.h"
#include "tools.h"

#include <stdio.h>

enum { COUNT = 1001, ROUNDS = 4 };

/* A kernel does not run ahead of what its stream has still to do. The result is looked at on another stream. */
void kw_contract_launch_behind_gate(void **state) {
  (void)state;
  const kw_pair *pair = kw_test_need_pair();
  kw_stream *stream = kw_test_stream(), *bystander = kw_test_stream();
  kw_tensor *a = kw_test_f32(COUNT, 1), *sum = kw_test_f32(COUNT, 2);
  float *before = kw_test_memory(2 * COUNT * sizeof *before), *after = before + COUNT;
  kw_test_floats(before, COUNT, 2);
  kw_test_floats(after, COUNT, 1);
  for (int i = 0; i < COUNT; i++) after[i] = pair->of(after[i], after[i]);
  kw_gate *gate = kw_gate_close(stream);
  KW_CHECK_OK(kw_test_pair(pair, stream, a, a, &sum));
  kw_test_busy(bystander);
  kw_test_expect_f32(sum, before, COUNT, "the result of a call whose stream is held up");
  kw_gate_open(gate);
  KW_CHECK_OK(kw_stream_synchronize(stream));
  kw_test_expect_f32(sum, after, COUNT, "the result of that call once its stream went on");
  kw_tensor_release(a);
  kw_tensor_release(sum);
  KW_CHECK_OK(kw_stream_destroy(stream));
  KW_CHECK_OK(kw_stream_destroy(bystander));
  free(before);
}

/* What comes after a call on its stream sees the inputs as they were, before anybody synchronises too. */
void kw_contract_launch_inputs_kept(void **state) {
  (void)state;
  const kw_pair *pair = kw_test_need_pair();
  kw_stream *stream = kw_test_stream();
  kw_tensor *inputs[2] = {kw_test_f32(COUNT, 1), kw_test_f32(COUNT, 2)};
  float *got = kw_test_memory(3 * COUNT * sizeof *got), *want = got + 2 * COUNT;
  for (int round = 0; round < ROUNDS; round++) {
    kw_tensor *sum = NULL;
    KW_CHECK_OK(kw_test_pair(pair, stream, inputs[0], inputs[1], &sum));
    for (int i = 0; i < 2; i++) KW_CHECK_OK(kw_tensor_read_async(inputs[i], got + i * COUNT, stream));
    KW_CHECK_OK(kw_stream_synchronize(stream));
    for (int i = 0; i < 2; i++) {
      kw_test_floats(want, COUNT, (uint64_t)i + 1);
      kw_test_same(got + i * COUNT, want, COUNT * sizeof *want, "an input, read on the stream right after the call");
    }
    kw_tensor_release(sum);
  }
  for (int i = 0; i < 2; i++) kw_tensor_release(inputs[i]);
  KW_CHECK_OK(kw_stream_destroy(stream));
  free(got);
}

/* The same call on the same memory with other data gives another result. */
void kw_contract_launch_data_anew(void **state) {
  (void)state;
  const kw_pair *pair = kw_test_need_pair();
  kw_tensor *a = kw_test_f32(COUNT, 1), *sum = kw_test_f32(COUNT, 2);
  float *values = kw_test_memory(COUNT * sizeof *values);
  for (int round = 0; round < ROUNDS; round++) {
    kw_test_floats(values, COUNT, 10 + (uint64_t)round);
    KW_CHECK_OK(kw_tensor_write(a, values));
    KW_CHECK_OK(kw_test_pair(pair, NULL, a, a, &sum));
    for (int i = 0; i < COUNT; i++) values[i] = pair->of(values[i], values[i]);
    kw_test_expect_f32(sum, values, COUNT, "the result of a call whose input was written again");
  }
  kw_tensor_release(a);
  kw_tensor_release(sum);
  free(values);
}

/* So does the same call with another Scalar. */
void kw_contract_launch_attributes_anew(void **state) {
  (void)state;
  const kw_scaled *op = kw_test_need_scaled();
  kw_tensor *a = kw_test_f32(COUNT, 1), *scaled = kw_test_f32(COUNT, 2);
  float *values = kw_test_memory(COUNT * sizeof *values);
  for (int number = 1; number <= ROUNDS; number++) {
    KW_CHECK_OK(kw_test_scaled(op, NULL, a, number, &scaled));
    kw_test_floats(values, COUNT, 1);
    for (int i = 0; i < COUNT; i++) values[i] = op->of(values[i], (float)number);
    kw_test_expect_f32(scaled, values, COUNT, "the result of a call with another Scalar than the one before");
  }
  kw_tensor_release(a);
  kw_tensor_release(scaled);
  free(values);
}

/* And so do views of the same memory with other shapes and strides. */
void kw_contract_launch_shapes_anew(void **state) {
  (void)state;
  const kw_pair *pair = kw_test_need_pair();
  enum { ROWS = 6, COLUMNS = 7 };
  kw_tensor *base = kw_test_f32(ROWS * COLUMNS, 1);
  float values[ROWS * COLUMNS], want[ROWS * COLUMNS];
  kw_test_floats(values, ROWS * COLUMNS, 1);
  for (int round = 0; round < 2 * ROUNDS; round++) {
    bool turned = round % 2;
    int64_t columns = round % 4 < 2 ? COLUMNS : COLUMNS - 2, strides[] = {turned ? 1 : COLUMNS, turned ? ROWS : 1};
    kw_tensor *view = NULL, *sum = NULL;
    KW_CHECK_OK(kw_tensor_as_strided(base, 2, (int64_t[]){ROWS, columns}, strides, 0, &view));
    KW_CHECK_OK(kw_test_pair(pair, NULL, view, view, &sum));
    for (int64_t i = 0; i < ROWS * columns; i++) {
      const float value = values[i / columns * strides[0] + i % columns * strides[1]];
      want[i] = pair->of(value, value);
    }
    kw_test_expect_f32(sum, want, (size_t)(ROWS * columns), "the result of a view after those of others");
    kw_tensor_release(view);
    kw_tensor_release(sum);
  }
  kw_tensor_release(base);
}

/* Whether a kernel takes a call, and how much memory it wants for that, follows from dtypes, shapes, strides, alignment
 * and attributes: it answers alike each time, whatever memory is in use, on any thread, and for other memory of the
 * same kind. */
void kw_contract_launch_choice_is_pure(void **state) {
  (void)state;
  kw_test_child("launch_choice");
  const kw_pair *pair = kw_test_need_pair();
  const kw_op *op = kw_op_find(pair->op);
  kw_kernel_info kernel = {.struct_size = sizeof kernel};
  for (uint32_t k = 0; kw_op_get_kernel(op, kw_contract.device, k, &kernel) == KW_OK; k++) {
    if (!(kernel.dtypes.bits[0] & KW_DTYPE_BIT(KW_F32))) continue;
    kw_status first = KW_OK;
    KW_CHECK_OK(kw_math_mode_set(kernel.math_mode));
    for (int round = 0; round < ROUNDS; round++) {
      kw_tensor *a = kw_test_f32(COUNT, 1), *sum = kw_test_f32(COUNT, 2);
      kw_value args[] = {kw_arg_tensor(a), kw_arg_tensor(a)};
      kw_plan *plan = NULL;
      kw_status status = kw_plan_make(op, NULL, args, pair->tensors, &sum, 1, kernel.name, &plan);
      if (round == 0) first = status;
      KW_CHECK(status == first, "kernel %s of %s answered %s to a call, and %s to the same call again", kernel.name,
               pair->op, kw_status_name(first), kw_status_name(status));
      kw_plan_destroy(plan);
      kw_tensor_release(a);
      kw_tensor_release(sum);
    }
  }
}

/* ---- Views and dimensions that cases seldom have -------------------------------------------------------------------
 */

/* Two inputs that begin less than any binding's alignment apart, in one buffer. */
static void check_parts(const kw_pair *pair, kw_tensor *base, const float *values, const size_t begins[2],
                        size_t count) {
  kw_tensor *parts[2] = {NULL}, *result = NULL;
  float want[COUNT];
  for (int k = 0; k < 2; k++) {
    KW_CHECK_OK(kw_tensor_slice(base, 0, (int64_t)begins[k], (int64_t)(begins[k] + count), 1, &parts[k]));
  }
  KW_CHECK_OK(kw_test_pair(pair, NULL, parts[0], parts[1], &result));
  for (size_t i = 0; i < count; i++) want[i] = pair->of(values[begins[0] + i], values[begins[1] + i]);
  kw_test_expect_f32(result, want, count, "the result of two inputs that are parts of one buffer");
  for (int k = 0; k < 2; k++) kw_tensor_release(parts[k]);
  kw_tensor_release(result);
}

/* Inputs of a call may be parts of one buffer, side by side or one in the other, however near to each other they begin:
 * what a driver binds by buffer, or at multiples of some alignment, is told apart by element. */
void kw_contract_launch_parts_of_one_buffer(void **state) {
  (void)state;
  enum { PARTS = 2 * COUNT };
  const kw_pair *pair = kw_test_need_pair();
  static const size_t apart[] = {1, 2, 4, 16, 31, 63, 64, 100, 1000};
  float *values = kw_test_memory(PARTS * sizeof *values);
  if (pair->tensors != 2) kw_test_skip("the device has no add, mul, sub, maximum or minimum in f32");
  kw_test_floats(values, PARTS, 1);
  kw_tensor *base = kw_test_f32(PARTS, 1);
  for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++) {
    for (size_t first = 0; first < 2; first++) {
      check_parts(pair, base, values, (size_t[]){first * 64, first * 64 + apart[i]}, 20);
      check_parts(pair, base, values, (size_t[]){first * 3 + apart[i], first * 3}, COUNT - 10);
    }
  }
  kw_tensor_release(base);
  free(values);
}

/* Reductions over a list of dimensions, exact on few small whole numbers. */
static float added(float a, float b) {
  return a + b;
}

static float larger(float a, float b) {
  return a > b ? a : b;
}

static float smaller(float a, float b) {
  return a < b ? a : b;
}

typedef struct reduction {
  const char *op;
  float (*of)(float a, float b);
  bool is_mean;
} reduction;

enum { MOST_DIMENSIONS = 8, SIDES = 2, CUBE = 1 << MOST_DIMENSIONS };

/* `values`, with sides of 2, reduced over the first `count` of `dims`; how many numbers are left. */
static size_t reduce(const reduction *r, const float *values, uint32_t rank, const int64_t *dims, uint32_t count,
                     float *out) {
  uint32_t reduced = 0;
  bool seen[CUBE] = {false};
  const size_t left = (size_t)1 << (rank - count);
  for (uint32_t i = 0; i < count; i++) reduced |= 1u << (rank - 1 - (uint32_t)dims[i]);
  for (uint32_t at = 0; at < 1u << rank; at++) {
    size_t to = 0;
    for (uint32_t bit = rank; bit-- > 0;) {
      if (!(reduced >> bit & 1)) to = 2 * to + (at >> bit & 1);
    }
    out[to] = seen[to] ? r->of(out[to], values[at]) : values[at];
    seen[to] = true;
  }
  for (size_t i = 0; i < left && r->is_mean; i++) out[i] /= (float)(1u << count);
  return left;
}

static void check_reduction(const reduction *r, uint32_t rank) {
  static const int64_t sides[] = {SIDES, SIDES, SIDES, SIDES, SIDES, SIDES, SIDES, SIDES};
  static const int64_t order[][MOST_DIMENSIONS] = {{0, 1, 2, 3, 4, 5, 6, 7}, {4, 1, 0, 3, 2, 5, 7, 6}};
  float values[CUBE], want[CUBE];
  kw_tensor *x = NULL;
  kw_test_floats(values, (size_t)1 << rank, rank);
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_F32, rank, sides, &x));
  KW_CHECK_OK(kw_tensor_write(x, values));
  for (uint32_t count = 1; count <= 2 * rank; count++) {
    char what[96];
    kw_tensor *result = NULL;
    const uint32_t taken = (count + 1) / 2;
    int64_t dims[MOST_DIMENSIONS];
    uint32_t used = 0;
    for (uint32_t i = 0; i < MOST_DIMENSIONS && used < taken; i++) {
      if (order[count % 2][i] < rank) dims[used++] = order[count % 2][i];
    }
    const kw_value args[] = {kw_arg_tensor(x), kw_arg_int_list(dims, used)};
    const kw_status status = kw_op_call(kw_op_find(r->op), NULL, args, 2, &result, 1);
    if (status == KW_ERR_NOT_IMPLEMENTED) break; /* kernels may take fewer dimensions */
    KW_CHECK(status == KW_OK, "%s over %u of %u dimensions: %s", r->op, used, rank, kw_error_message());
    const size_t left = reduce(r, values, rank, dims, used, want);
    snprintf(what, sizeof what, "%s over %u of %u dimensions", r->op, used, rank);
    kw_test_expect_f32(result, want, left, what);
    kw_tensor_release(result);
  }
  kw_tensor_release(x);
}

/* Reductions over 1 to 8 dimensions at once. */
void kw_contract_launch_many_dimensions(void **state) {
  (void)state;
  static const reduction reductions[] = {
      {"sum.dim_IntList", added, false}, {"mean.dim", added, true}, {"amax", larger, false}, {"amin", smaller, false}};
  uint32_t checked = 0;
  for (size_t i = 0; i < sizeof reductions / sizeof reductions[0]; i++) {
    if (!kw_test_has(reductions[i].op)) continue;
    for (uint32_t rank = 5; rank <= MOST_DIMENSIONS; rank++) check_reduction(&reductions[i], rank);
    checked++;
  }
  if (checked == 0) kw_test_skip("the device has no sum, mean, amax or amin over a list of dimensions in f32");
}
