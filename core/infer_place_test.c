/* SPDX-License-Identifier: Apache-2.0 */
#include "test_infer.h"

static const test_infer_row accepted[] = {
    {"repeat f32[2,3] l:4,5", "f32: f32[8,15]"},
    {"repeat u8[2,3] l:4,1,0", "u8: u8[4,2,0]"},
    {"repeat c64[] l:", "c64: c64[]"},
    {"flip f32[2,3] l:0,-1", "f32: f32[2,3]"},
    {"flip f32[] l:-1", "f32: f32[]"},
    {"flip bool[2] l:", "bool: bool[2]"},
    {"roll f32[2,3] i:5", "f32: f32[2,3]"},
    {"roll f32[2,3] l:1,2 l:0,0", "f32: f32[2,3]"},
    {"roll i8[0] l:-9223372036854775808 l:-1", "i8: i8[0]"},
    {"triu f32[2,3] i:-9", "f32: f32[2,3]"},
    {"tril f16[4,2,3]", "f16: f16[4,2,3]"},
    {"select_scatter f32[2,3] f32[2] i:1 i:-3", "f32: f32[2,3]"},
    {"select_scatter f32[2] f32[] i:0 i:1", "f32: f32[2]"},
    {"slice_scatter f32[5] f32[5]", "f32: f32[5]"},
    {"slice_scatter f32[5,2] f32[2,2] i:0 i:1 i:-1 i:2", "f32: f32[5,2]"},
    {"slice_scatter f32[5] f32[0] i:0 i:4 i:1", "f32: f32[5]"},
    {"slice_scatter f32[5] f32[1] i:0 i:-1 i:9223372036854775807 i:9223372036854775807", "f32: f32[5]"},
    {"constant_pad_nd f32[2,3] l:1,2", "f32: f32[2,6]"},
    {"constant_pad_nd f32[2,3] l:1,2,-1,0 f:0.5", "f32: f32[1,6]"},
    {"constant_pad_nd i64[3] l:-1,-2 i:7", "i64: i64[0]"},
    {"constant_pad_nd c64[] l: c:1", "c64: c64[]"},
    {"reflection_pad1d f32[2,3] l:2,1", "f32: f32[2,6]"},
    {"reflection_pad1d f32[0,2,3] l:1,1", "f32: f32[0,2,5]"},
    {"reflection_pad2d f32[2,3,4] l:3,3,2,-1", "f32: f32[2,4,10]"},
    {"reflection_pad3d f32[1,1,2,3,4] l:1,1,2,2,0,1", "f32: f32[1,1,3,7,6]"},
    {"reflection_pad1d_backward f32[2,6] f32[2,3] l:2,1", "f32: f32[2,3]"},
    {"replication_pad2d_backward f16[1,11,12] f16[1,2,3] l:0,9,9,0", "f16: f16[1,2,3]"},
    {"replication_pad1d f32[2,3] l:20,-1", "f32: f32[2,22]"},
    {"replication_pad2d u8[1,2,3] l:0,9,9,0", "u8: u8[1,11,12]"},
    {"replication_pad3d f16[1,2,3,4] l:1,1,1,1,1,1", "f16: f16[1,4,5,6]"},
};

static void accepted_calls_infer(void **state) {
  (void)state;
  test_infer_check(accepted, sizeof accepted / sizeof accepted[0], KW_OK);
}

static const test_infer_row refused[] = {
    {"repeat f32[2,3] l:4", "repeat: argument 'repeats': 1 numbers for a tensor of rank 2"},
    {"repeat f32[2] l:-1", "repeat: argument 'repeats': -1 for dimension 0 is negative"},
    {"repeat f32[2] l:9223372036854775807", "repeat: argument 'repeats': dimension 0 would have more than 2^63 - 1"},
    {"repeat f32[2] l:4294967296,4294967296", "repeat: argument 'repeats': the tensor would have more than"},
    {"flip f32[2,3] l:0,-2", "flip: argument 'dims': dimension 0 appears twice"},
    {"flip f32[2,3] l:2", "flip: argument 'dims': dimension 2 is outside [-2, 1]"},
    {"roll f32[2,3] l:", "roll: argument 'shifts': it is empty"},
    {"roll f32[2,3] l:1,2", "roll: argument 'dims': 0 for 2 shifts"},
    {"roll f32[2,3] l:1 l:0,1", "roll: argument 'dims': 2 for 1 shifts"},
    {"roll f32[2,3] l:1 l:2", "roll: argument 'dims': dimension 2 is outside"},
    {"triu f32[3]", "triu: argument 'self': expected a matrix, or several of them, got rank 1"},
    {"select_scatter f32[] f32[] i:0 i:0", "argument 'self': a tensor of rank 0 has no parts"},
    {"select_scatter f32[2,3] f32[2] i:1 i:3", "argument 'index': 3 is outside [-3, 3) of dimension 1"},
    {"select_scatter f32[2,3] f32[2] i:1 i:-4", "argument 'index': -4 is outside"},
    {"select_scatter f32[2,3] f32[1] i:1 i:0", "argument 'src': expected shape [2], that of the part"},
    {"select_scatter f32[2,3] f32[2,1] i:1 i:0", "argument 'src': expected shape [2], that of the part"},
    {"select_scatter f32[2,3] i32[2] i:1 i:0", "argument 'src': expected f32, the dtype of 'self', got i32"},
    {"select_scatter f32[2,3] f32[2] i:2 i:0", "argument 'dim': dimension 2 is outside"},
    {"slice_scatter f32[5] f32[4]", "argument 'src': expected shape [5]"},
    {"slice_scatter f32[5] f32[1] i:0 i:4 i:1", "argument 'src': expected shape [0]"},
    {"slice_scatter f32[5] f32[5] i:0 - - i:0", "argument 'step': 0 is not positive"},
    {"slice_scatter f32[] f32[]", "argument 'self': a tensor of rank 0 has no parts"},
    {"constant_pad_nd f32[2,3] l:1", "argument 'pad': 1 numbers for a tensor of rank 2"},
    {"constant_pad_nd f32[3] l:1,1,1,1", "argument 'pad': 4 numbers for a tensor of rank 1"},
    {"constant_pad_nd f32[3] l:-2,-2", "argument 'pad': -2 and -2 make dimension 0 of size 3 shorter than nothing"},
    {"constant_pad_nd f32[3] l:9223372036854775807,0", "of size 3 longer than 2^63 - 1"},
    {"constant_pad_nd f32[3] l:2305843009213693952,0", "argument 'pad': the tensor would have more than"},
    {"constant_pad_nd f32[3] l:1,1 c:1", "argument 'value': a complex number does not fit a tensor of f32"},
    {"reflection_pad1d f32[2,3] l:3,0", "argument 'padding': 3 and 0 reflect past the 3 elements of dimension 1"},
    {"reflection_pad1d f32[2,3] l:0,3", "argument 'padding': 0 and 3 reflect past"},
    {"reflection_pad1d f32[2,0] l:0,0", "argument 'self': dimension 1 of shape [2, 0] has no elements to pad with"},
    {"reflection_pad1d f32[2,3] l:-1,-2", "argument 'padding': -1 and -2 leave nothing of dimension 1"},
    {"reflection_pad1d f32[3] l:1,1", "argument 'self': expected rank 2 (channels first), or 3"},
    {"reflection_pad2d f32[2,3] l:1,1,1,1", "argument 'self': expected rank 3 (channels first), or 4"},
    {"reflection_pad1d_backward f32[2,5] f32[2,3] l:2,1", "argument 'grad_output': expected shape [2, 6], that of"},
    {"reflection_pad1d_backward f32[2,6] f32[2,3] l:3,0", "argument 'padding': 3 and 0 reflect past"},
    {"replication_pad1d_backward f32[2,4] f32[2,0] l:2,2", "argument 'self': dimension 1 of shape [2, 0] has no"},
    {"replication_pad1d_backward f32[2,5] f64[2,3] l:1,1", "argument 'self': expected f32, the dtype of 'grad_output'"},
    {"replication_pad1d_backward i32[2,5] i32[2,3] l:1,1", "argument 'grad_output': dtype i32 is not"},
    {"replication_pad1d f32[2,3] l:1,1,1", "argument 'padding': 3 numbers; give 2"},
    {"replication_pad3d f32[1,2,0,3] l:1,1,1,1,1,1",
     "argument 'self': dimension 2 of shape [1, 2, 0, 3] has no elements"},
};

static void refused_calls_say_why(void **state) {
  (void)state;
  test_infer_check(refused, sizeof refused / sizeof refused[0], KW_ERR_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accepted_calls_infer),
      cmocka_unit_test(refused_calls_say_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
