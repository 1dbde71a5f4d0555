/* SPDX-License-Identifier: Apache-2.0
 *
 * What a GPU copies: rows of whole words of 16 bytes as such words, others element by element.
 */
#include "ops/families.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static kw_gpu_device device;

static kw_tensor_ref matrix(kw_dtype dtype, int64_t rows, int64_t columns, int64_t row_stride) {
  return (kw_tensor_ref){.struct_size = sizeof(kw_tensor_ref),
                         .dtype = dtype,
                         .rank = 2,
                         .numel = rows * columns,
                         .shape = {rows, columns},
                         .strides = {row_stride, 1}};
}

/* The bytes that an element of the copy of `from` to `to` has; checks that as many as there are come to all of both. */
static int64_t copied_by(const kw_tensor_ref *to, const kw_tensor_ref *from) {
  const kw_tensor_ref *const outs[] = {to};
  const kw_value args[] = {
      {.tag = KW_TAG_TENSOR, .u.tensor = to}, {.tag = KW_TAG_TENSOR, .u.tensor = from}, {.tag = KW_TAG_BOOL}};
  const kw_call call = {.struct_size = sizeof call,
                        .device = &device,
                        .op = "copy_",
                        .args = args,
                        .arg_count = 3,
                        .outs = outs,
                        .out_count = 1,
                        .user = (void *)(uintptr_t)kw_gpu_op_find("copy_")};
  kw_gpu_plan plan;
  kw_elementwise block;
  kw_gpu_plan_lower(&plan, &call);
  assert_int_equal(plan.status, KW_OK);
  assert_int_equal(plan.step_count, 1);
  memcpy(&block, plan.steps[0].block, sizeof block);
  const int64_t size = kw_gpu_module_variant(plan.steps[0].kernel->module, plan.steps[0].dtype);
  const bool words = strcmp(plan.steps[0].kernel->function, "kw_copy_words_kernel") == 0;
  const int64_t element = kw_gpu_module_variant(plan.steps[0].kernel->module, to->dtype);
  assert_int_equal(block.numel * size, to->numel * element);
  assert_int_equal(block.stride[0][0] * size, to->strides[0] * element);
  assert_int_equal(block.stride[1][0] * size, from->strides[0] * element);
  assert_int_equal(words, size > element);
  kw_gpu_plan_clear(&plan);
  return size;
}

static void rows_of_whole_words(void **state) {
  (void)state;
  const struct {
    kw_dtype dtype;
    int64_t columns, to_stride, from_stride, size;
  } cases[] = {
      {KW_F32, 64, 128, 64, 16}, {KW_F32, 64, 128, 0, 16}, {KW_F16, 64, 72, 64, 16},
      {KW_U8, 64, 80, 64, 16},   {KW_C64, 64, 66, 64, 16}, {KW_F32, 63, 128, 64, 4},
      {KW_F32, 64, 129, 64, 4},  {KW_F16, 64, 76, 64, 2},  {KW_C128, 64, 65, 64, 16},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const kw_tensor_ref to = matrix(cases[i].dtype, 5, cases[i].columns, cases[i].to_stride);
    const kw_tensor_ref from = matrix(cases[i].dtype, 5, cases[i].columns, cases[i].from_stride);
    assert_int_equal(copied_by(&to, &from), cases[i].size);
  }
}

static void columns_go_one_by_one(void **state) {
  (void)state;
  const kw_tensor_ref to = matrix(KW_F32, 64, 64, 128);
  kw_tensor_ref from = matrix(KW_F32, 64, 64, 1);
  from.strides[1] = 64;
  assert_int_equal(copied_by(&to, &from), 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_of_whole_words),
      cmocka_unit_test(columns_go_one_by_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
