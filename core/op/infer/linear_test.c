/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of products of matrices: results of those that are accepted, messages of those that are refused.
 */
#include "testing/test_infer.h"

static const test_infer_row accepted[] = {
    {"keyway::int8_linear i8[2,3] i8[5,3] f32[] f32[]", "i8: f32[2,5]"},
    {"keyway::int8_linear i8[2,3] i8[5,3] f32[2] f32[5] f16[5] d:bf16", "i8: bf16[2,5]"},
    {"keyway::int8_linear i8[0,0] i8[0,0] f32[0] f32[0] f32[0]", "i8: f32[0,0]"},
    {"keyway::f8_linear f8e4m3fn[2,3] f8e5m2[5,3] f32[] f32[5] - d:f16", "f8e4m3fn: f16[2,5]"},
    {"keyway::int4_linear f16[2,8] u8[5,4] f16[5,2] f16[5,2]", "f16: f16[2,5]"},
    {"keyway::int4_linear f32[2,0] u8[5,0] f32[5,0] f32[5,0] f32[5]", "f32: f32[2,5]"},
    {"keyway::sparse24_linear bf16[2,12] bf16[5,6] u8[5,2] bf16[5]", "bf16: bf16[2,5]"},
    {"keyway::sparse24_linear f32[2,0] f32[5,0] u8[5,0]", "f32: f32[2,5]"},
    {"keyway::bsr_linear f32[2,6] i32[3] i64[4] f32[4,5,3]", "f32: f32[2,10]"},
    {"keyway::bsr_linear f16[2,6] i64[1] i32[0] f16[0,5,3] f16[0]", "f16: f16[2,0]"},
    {"keyway::int4_pack u8[3,8]", "u8: u8[3,4]"},
    {"keyway::int4_pack u8[2,3,0]", "u8: u8[2,3,0]"},
    {"keyway::sparse24_compress f16[3,12]", "f16: f16[3,6] u8[3,2]"},
    {"keyway::sparse24_compress f32[0,8]", "f32: f32[0,4] u8[0,1]"},
};

static const test_infer_row refused[] = {
    {"keyway::int8_linear i8[3] i8[5,3] f32[] f32[]", "argument 'input': expected a matrix, got shape [3]"},
    {"keyway::int8_linear i8[2,3] i8[3] f32[] f32[]", "argument 'weight': expected a matrix, got shape [3]"},
    {"keyway::int8_linear i8[2,3] i8[5,4] f32[] f32[]", "argument 'weight': expected shape [5, 3], got [5, 4]"},
    {"keyway::int8_linear i8[2,3] i8[5,3] f32[3] f32[]", "argument 'input_scale': expected shape [2], got [3]"},
    {"keyway::int8_linear i8[2,3] i8[5,3] f32[2] f32[5,1]", "argument 'weight_scale': expected shape [5], got [5, 1]"},
    {"keyway::int8_linear i8[2,3] i8[5,3] f32[2] f32[5] f32[2]", "argument 'bias': expected shape [5], got [2]"},
    {"keyway::int8_linear u8[2,3] u8[5,3] f32[] f32[]", "argument 'input': dtype u8 is not"},
    {"keyway::int8_linear i8[2,3] u8[5,3] f32[] f32[]", "argument 'weight': expected i8"},
    {"keyway::int8_linear i8[2,3] i8[5,3] f16[] f32[]", "argument 'input_scale': dtype f16 is not one it may have"},
    {"keyway::int8_linear i8[2,3] i8[5,3] f32[] f32[] f64[5]", "argument 'bias': dtype f64 is not one it may have"},
    {"keyway::int8_linear i8[2,3] i8[5,3] f32[] f32[] - d:i8", "argument 'out_dtype': i8 is none of"},
    {"keyway::f8_linear f8e5m2[2,3] i8[5,3] f32[] f32[]", "argument 'weight': dtype i8 is not one it may have"},
    {"keyway::f8_linear f16[2,3] f8e5m2[5,3] f32[] f32[]", "argument 'input': dtype f16 is not"},
    {"keyway::int4_linear f16[2,7] u8[5,3] f16[5,1] f16[5,1]", "argument 'input': 7 columns are no multiple of 2"},
    {"keyway::int4_linear f16[2,8] u8[5,8] f16[5,1] f16[5,1]", "argument 'weight': expected shape [5, 4], got [5, 8]"},
    {"keyway::int4_linear f16[2,8] u8[5,4] f16[5,3] f16[5,3]",
     "argument 'scales': 3 groups do not divide the 8 columns of 'input' evenly"},
    {"keyway::int4_linear f16[2,8] u8[5,4] f16[5,0] f16[5,0]", "argument 'scales': 0 groups do not divide"},
    {"keyway::int4_linear f16[2,8] u8[5,4] f16[5,2] f16[5,1]", "argument 'zeros': expected shape [5, 2], got [5, 1]"},
    {"keyway::int4_linear f16[2,8] u8[5,4] f32[5,2] f16[5,2]", "argument 'scales': expected f16"},
    {"keyway::int4_linear f16[2,8] i8[5,4] f16[5,2] f16[5,2]",
     "argument 'weight': dtype i8 is not one it may have: u8"},
    {"keyway::int4_linear f64[2,8] u8[5,4] f64[5,2] f64[5,2]", "argument 'input': dtype f64 is not"},
    {"keyway::sparse24_linear f32[2,6] f32[5,3] u8[5,1]", "argument 'input': 6 columns are no multiple of 4"},
    {"keyway::sparse24_linear f32[2,8] f32[5,8] u8[5,1]", "argument 'values': expected shape [5, 4], got [5, 8]"},
    {"keyway::sparse24_linear f32[2,12] f32[5,6] u8[5,1]", "argument 'meta': expected shape [5, 2], got [5, 1]"},
    {"keyway::bsr_linear f32[2,6] i32[0] i64[4] f32[4,5,3]", "argument 'crow_indices': it is empty"},
    {"keyway::bsr_linear f32[2,6] i32[3,1] i64[4] f32[4,5,3]", "argument 'crow_indices': expected rank 1"},
    {"keyway::bsr_linear f32[2,6] i32[3] i64[3] f32[4,5,3]", "argument 'col_indices': expected shape [4], got [3]"},
    {"keyway::bsr_linear f32[2,7] i32[3] i64[4] f32[4,5,3]", "argument 'input': 7 columns are no multiple of 3"},
    {"keyway::bsr_linear f32[2,6] i32[3] i64[4] f32[4,0,3]", "argument 'values': blocks of 0 x 3 hold nothing"},
    {"keyway::bsr_linear f32[2,6] i32[3] i64[4] f32[4,15]", "argument 'values': expected rank 3"},
    {"keyway::bsr_linear f32[2,6] f32[3] i64[4] f32[4,5,3]",
     "argument 'crow_indices': dtype f32 is not one it may have: i32, i64"},
    {"keyway::bsr_linear f32[2,6] i32[3] i64[4] f32[4,5,3] f32[3]", "argument 'bias': expected shape [10], got [3]"},
    {"keyway::int4_pack u8[]", "argument 'input': a tensor of rank 0 has no pairs"},
    {"keyway::int4_pack u8[2,3]", "argument 'input': the last dimension's size, 3, is odd"},
    {"keyway::int4_pack i8[2,4]", "argument 'input': dtype i8 is not"},
    {"keyway::sparse24_compress f32[4]", "argument 'input': expected a matrix"},
    {"keyway::sparse24_compress f32[4,6]", "argument 'input': 6 columns are no multiple of 4"},
};

/* As many rows as no tensor has: an index tensor of stride 0. */
static void too_many_rows_are_refused(void **state) {
  (void)state;
  kw_tensor_ref input = {.struct_size = sizeof input, .dtype = KW_F32, .rank = 2, .numel = 4, .shape = {2, 2}};
  kw_tensor_ref rows = {.struct_size = sizeof rows, .dtype = KW_I32, .rank = 1, .shape = {INT64_MAX}};
  kw_tensor_ref columns = {.struct_size = sizeof columns, .dtype = KW_I32, .rank = 1, .shape = {0}};
  kw_tensor_ref values = {.struct_size = sizeof values, .dtype = KW_F32, .rank = 3, .shape = {0, 2, 2}};
  const kw_tensor_ref *tensors[] = {&input, &rows, &columns, &values};
  kw_value args[4], normal[KW_MAX_ARGS];
  for (int i = 0; i < 4; ++i) args[i] = (kw_value){.tag = KW_TAG_TENSOR, .u.tensor = tensors[i]};
  int64_t scratch[KW_MAX_ARGS];
  kw_inference inference;
  const kw_op *op = kw_op_find("keyway::bsr_linear");
  assert_int_equal(kw_op_normalize(op, args, 4, normal, scratch), KW_OK);
  assert_int_equal(kw_infer(op, normal, &inference), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "have more than 2^63 - 1 rows"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST_INFER_TABLES(accepted, refused),
      cmocka_unit_test(too_many_rows_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
