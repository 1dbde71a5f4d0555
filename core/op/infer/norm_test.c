/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of softmax and normalisations: results of those that are accepted, messages of those that are refused.
 */
#include "testing/test_infer.h"

static const test_infer_row accepted[] = {
    {"_softmax f32[2,3] i:1 b:0", "f32: f32[2,3]"},
    {"_softmax f64[2,0] i:-2 b:0", "f64: f64[2,0]"},
    {"_softmax f16[] i:0 b:0", "f16: f16[]"},
    {"_softmax f16[] i:-1 b:1", "f16: f32[]"},
    {"_log_softmax bf16[2,3,4] i:-3 b:0", "bf16: bf16[2,3,4]"},
    {"_log_softmax f16[4] i:0 b:1", "f16: f32[4]"},
    {"native_layer_norm f32[2,3] l:3 - - f:1e-5", "f32: f32[2,3] f32[2,1] f32[2,1]"},
    {"native_layer_norm f16[2,3,4] l:3,4 f16[3,4] - f:1e-5", "f16: f16[2,3,4] f32[2,1,1] f32[2,1,1]"},
    {"native_layer_norm f64[5] l:5 - f64[5] f:0", "f64: f64[5] f64[1] f64[1]"},
    {"native_layer_norm bf16[2,3] l:3 f32[3] f32[3] f:1e-5", "f32: f32[2,3] f32[2,1] f32[2,1] cast 0"},
    {"native_layer_norm f16[2,3] l:3 bf16[3] - f:1e-5", "f32: f32[2,3] f32[2,1] f32[2,1] cast 0 2"},
    {"native_layer_norm f32[2,0] l:0 - - f:1e-5", "f32: f32[2,0] f32[2,1] f32[2,1]"},
    {"rms_norm f32[2,3] l:3", "f32: f32[2,3]"},
    {"rms_norm bf16[2,3] l:2,3 bf16[2,3] f:1e-6", "bf16: bf16[2,3]"},
    {"rms_norm f32[2,3] l:3 f64[3]", "f64: f64[2,3] cast 0"},
    {"_softmax_backward_data f32[2,3] f32[2,3] i:-1 d:f32", "f32: f32[2,3]"},
    {"_softmax_backward_data f32[2,3] f32[2,3] i:0 d:f16", "f32: f16[2,3]"},
    {"_log_softmax_backward_data bf16[] bf16[] i:0 d:bf16", "bf16: bf16[]"},
};

static const test_infer_row refused[] = {
    {"_softmax i32[2] i:0 b:0", "_softmax: argument 'self': dtype i32 is not"},
    {"_softmax f32[2,3] i:2 b:0", "_softmax: argument 'dim': dimension 2 is outside [-2, 1]"},
    {"_softmax f32[] i:1 b:0", "argument 'dim': dimension 1 is outside [-1, 0] of a tensor of rank 0"},
    {"_softmax f32[2] i:0 b:1", "_softmax: argument 'half_to_float': it goes with f16 only, 'self' is f32"},
    {"_log_softmax bf16[2] i:0 b:1", "argument 'half_to_float': it goes with f16 only, 'self' is bf16"},
    {"native_layer_norm f32[2,3] l: - - f:1e-5", "argument 'normalized_shape': it is empty"},
    {"native_layer_norm f32[] l: - - f:1e-5", "argument 'normalized_shape': it is empty"},
    {"native_layer_norm f32[2,3] l:2 - - f:1e-5",
     "argument 'normalized_shape': [2] does not match the last dimensions of 'input', whose shape is [2, 3]"},
    {"native_layer_norm f32[3] l:2,3 - - f:1e-5", "[2, 3] does not match the last dimensions of 'input'"},
    {"native_layer_norm f32[3] l:-3 - - f:1e-5", "[-3] does not match"},
    {"native_layer_norm f32[2,3] l:3 f32[1,3] - f:1e-5",
     "argument 'weight': expected shape [3], as normalized_shape says, got [1, 3]"},
    {"native_layer_norm f32[2,3] l:3 - f32[1] f:1e-5", "argument 'bias': expected shape [3]"},
    {"native_layer_norm i32[2,3] l:3 - - f:1e-5", "argument 'input': dtype i32 is not"},
    {"rms_norm f32[2,3] l:3 f32[2]", "argument 'weight': expected shape [3], as normalized_shape says, got [2]"},
    {"rms_norm f32[2,3] l:2", "rms_norm: argument 'normalized_shape': [2] does not match"},
    {"rms_norm i64[2,3] l:3", "argument 'input': dtype i64 is not"},
    {"_softmax_backward_data f32[2,3] f32[3,2] i:0 d:f32",
     "argument 'output': expected shape [2, 3], that of 'grad_output', got [3, 2]"},
    {"_softmax_backward_data f32[2] f32[2,1] i:0 d:f32", "argument 'output': expected shape [2]"},
    {"_softmax_backward_data f32[2] f16[2] i:0 d:f32", "argument 'output': expected f32, the dtype of 'grad_output'"},
    {"_softmax_backward_data f32[2] f32[2] i:1 d:f32", "argument 'dim': dimension 1 is outside [-1, 0]"},
    {"_softmax_backward_data f64[2] f64[2] i:0 d:f16", "argument 'input_dtype': it is f64 here, not f16"},
    {"_softmax_backward_data f32[2] f32[2] i:0 d:bf16", "argument 'input_dtype': it is f32 or f16 here, not bf16"},
    {"_log_softmax_backward_data i32[2] i32[2] i:0 d:i32", "dtype i32 is not"},
};

/* More sizes than a tensor can have are no match, and no overrun of the message either. */
static void long_lists_are_refused(void **state) {
  (void)state;
  int64_t sizes[40] = {1};
  kw_tensor_ref input = {.struct_size = sizeof input, .dtype = KW_F32, .rank = 1, .numel = 1, .shape = {1}};
  kw_value args[] = {{.tag = KW_TAG_TENSOR, .u.tensor = &input}, kw_arg_int_list(sizes, 40)};
  kw_value normal[KW_MAX_ARGS];
  int64_t scratch[KW_MAX_ARGS];
  kw_inference inference;
  const kw_op *op = kw_op_find("rms_norm");
  assert_int_equal(kw_op_normalize(op, args, 2, normal, scratch), KW_OK);
  assert_int_equal(kw_infer(op, normal, &inference), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "0].. does not match the last dimensions"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST_INFER_TABLES(accepted, refused),
      cmocka_unit_test(long_lists_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
