/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite launch: a kernel runs when its stream comes to it, and no call knows of the ones before it: neither their data
 * nor their attributes nor their shapes.
 */
#include "tools.h"

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

/* Whether a kernel takes a call follows from dtypes, shapes, strides, alignment and attributes: it answers alike each
 * time, and for other memory of the same kind. */
void kw_contract_launch_choice_is_pure(void **state) {
  (void)state;
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
