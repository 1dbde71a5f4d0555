/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of pools: results of those that are accepted, messages of those that are refused.
 */
#include "testing/test_infer.h"

static const test_infer_row accepted[] = {
    {"avg_pool1d f32[3,7] l:2", "f32: f32[3,3]"},
    {"avg_pool1d f16[2,3,7] i:3 i:1 i:1", "f16: f16[2,3,7]"},
    {"avg_pool2d f32[3,5,7] l:2,3", "f32: f32[3,2,2]"},
    {"avg_pool2d f64[2,3,5,7] l:2", "f64: f64[2,3,2,3]"},
    {"avg_pool2d f32[3,5,7] l:2,3 l:1", "f32: f32[3,4,5]"},
    {"avg_pool2d f32[3,5,7] l:3 l:2,1 l:1,0", "f32: f32[3,3,5]"},
    {"avg_pool2d f32[1,5,5] l:2 l:2 l:0 b:1", "f32: f32[1,3,3]"},
    {"avg_pool2d f32[1,4,4] l:2 l:3 l:0 b:1", "f32: f32[1,2,2]"}, /* a rest of 2 of 3 */
    {"avg_pool2d f32[1,5,5] l:2 l:2 l:1 b:1", "f32: f32[1,3,3]"}, /* the fourth would begin in the padding */
    {"avg_pool2d f32[1,2,2] l:3 l:2 l:0 b:1", "f32: f32[1,1,1]"}, /* hangs over the end */
    {"avg_pool2d f32[1,5,5] l:1 l:4 l:0 b:0", "f32: f32[1,2,2]"},
    {"avg_pool2d f32[0,3,5,7] l:2", "f32: f32[0,3,2,3]"},
    {"avg_pool2d f32[2,0,5,7] l:2", "f32: f32[2,0,2,3]"},
    {"avg_pool2d f32[1,5,5] l:2 l: l:0 b:0 b:1 i:-3", "f32: f32[1,2,2]"},
    {"avg_pool3d bf16[1,5,6,7] l:2,3,4 l:1,2,3", "bf16: bf16[1,4,2,2]"},
    {"max_pool1d_with_indices i32[3,7] l:3 l:2 l:1 l:2", "i32: i32[3,3] i64[3,3]"},
    {"max_pool2d_with_indices u8[3,5,7] l:2", "u8: u8[3,2,3] i64[3,2,3]"},
    {"max_pool2d_with_indices f32[1,7,7] l:3 l:1 l:1 l:4", "f32: f32[1,1,1] i64[1,1,1]"},
    {"max_pool2d_with_indices f32[1,1,1] l:3 l:1 l:3 l:3", "f32: f32[1,1,1] i64[1,1,1]"}, /* -3, 0, 3 */
    {"max_pool2d_with_indices f32[1,2,2] l:3 l:1 l:3 l:3", "f32: f32[1,2,2] i64[1,2,2]"},
    {"max_pool3d_with_indices f64[2,1,5,6,7] l:2 l:2 l:1", "f64: f64[2,1,3,4,4] i64[2,1,3,4,4]"},
    {"adaptive_avg_pool1d f32[3,7] l:3", "f32: f32[3,3]"},
    {"adaptive_avg_pool1d f32[3,7] l:0", "f32: f32[3,0]"},
    {"_adaptive_avg_pool2d f32[2,3,5,7] l:9,1", "f32: f32[2,3,9,1]"},
    {"_adaptive_avg_pool2d f32[2,0,5,7] l:3", "f32: f32[2,0,3,3]"},
    {"_adaptive_avg_pool3d f16[3,5,6,7] l:1,2,3", "f16: f16[3,1,2,3]"},
    {"adaptive_max_pool1d f32[2,3,7] l:4", "f32: f32[2,3,4] i64[2,3,4]"},
    {"adaptive_max_pool2d f32[3,5,7] l:2,3", "f32: f32[3,2,3] i64[3,2,3]"},
    {"adaptive_max_pool3d f64[3,5,6,7] l:2", "f64: f64[3,2,2,2] i64[3,2,2,2]"},
    {"avg_pool2d_backward f32[3,2,2] f32[3,5,7] l:2,3 l: l:0 b:0 b:1 -", "f32: f32[3,5,7]"},
    {"avg_pool3d_backward f16[1,4,2,2] f16[1,5,6,7] l:2,3,4 l:1,2,3 l:0 b:0 b:1 i:5", "f16: f16[1,5,6,7]"},
    {"max_pool2d_with_indices_backward f32[2,3,2,3] f32[2,3,5,7] l:2 l:2 l:0 l:1 b:0 i32[2,3,2,3]",
     "f32: f32[2,3,5,7]"},
    {"max_pool3d_with_indices_backward f64[1,1,1,1] f64[1,2,2,2] l:2 l: l:0 l:1 b:0 i64[1,1,1,1]", "f64: f64[1,2,2,2]"},
    {"_adaptive_avg_pool2d_backward bf16[3,9,1] bf16[3,5,7]", "bf16: bf16[3,5,7]"},
    {"_adaptive_avg_pool2d_backward f32[3,0,1] f32[3,5,7]", "f32: f32[3,5,7]"},
    {"_adaptive_avg_pool3d_backward f32[2,3,1,2,3] f32[2,3,5,6,7]", "f32: f32[2,3,5,6,7]"},
    {"adaptive_max_pool2d_backward f32[3,2,2] f32[3,5,7] i64[3,2,2]", "f32: f32[3,5,7]"},
    {"adaptive_max_pool3d_backward f32[3,2,2,2] f32[3,5,6,7] i32[3,2,2,2]", "f32: f32[3,5,6,7]"},
};

static const test_infer_row refused[] = {
    {"avg_pool1d f32[7] l:2", "avg_pool1d: argument 'self': expected rank 2 (channels, then what is pooled) or 3"},
    {"avg_pool2d f32[1,2,3,4,5] l:2", "argument 'self': expected rank 3"},
    {"avg_pool2d f32[3,0,7] l:2", "argument 'self': shape [3, 0, 7] has no elements along dimension 1 to be pooled"},
    {"avg_pool2d f32[0,1,9223372036854775807] l:1", "has too many elements along dimension 2"},
    {"avg_pool2d i64[3,5,7] l:2", "argument 'self': dtype i64 is not"},
    {"avg_pool2d f32[3,5,7] l:", "argument 'kernel_size': expected 2 numbers, or one for all, got 0"},
    {"avg_pool2d f32[3,5,7] l:2,2,2", "argument 'kernel_size': expected 2 numbers, or one for all, got 3"},
    {"avg_pool1d f32[3,5] l:2,2", "argument 'kernel_size': expected 1 number, or one for all, got 2"},
    {"avg_pool2d f32[3,5,7] l:2,0", "argument 'kernel_size': 0 is outside [1, 2147483647]"},
    {"avg_pool2d f32[3,5,7] l:2 l:1,-1", "argument 'stride': -1 is outside [1, "},
    {"avg_pool2d f32[3,5,7] l:2 l:1,2,3", "argument 'stride': expected 2 numbers"},
    {"avg_pool2d f32[3,5,7] l:2 l:1 l:-1", "argument 'padding': -1 is outside [0, "},
    {"avg_pool2d f32[3,5,7] l:2 l:1 l:", "argument 'padding': expected 2 numbers"},
    {"avg_pool2d f32[3,5,7] l:2 l:1 l:0,2147483648", "argument 'padding': 2147483648 is outside"},
    {"avg_pool2d f32[3,5,7] l:3 l:1 l:2", "argument 'padding': 2 is more than half of the 3 elements"},
    {"avg_pool2d f32[3,5,7] l:6",
     "argument 'kernel_size': a window that spans 6 elements does not fit into dimension 1, "
     "which has 5 with its padding"},
    {"avg_pool2d f32[3,5,7] l:8 l:3 l:0 b:1", "does not fit into dimension 1"},
    {"avg_pool2d f32[3,5,7] l:2 l: l:0 b:0 b:1 i:0", "argument 'divisor_override': 0 divides nothing"},
    {"avg_pool3d f32[3,5,7,5] l:2147483647", "argument 'kernel_size': a window has more than 2^63 elements"},
    {"max_pool2d_with_indices b:1 l:2", "argument 'self': expected Tensor, got bool"},
    {"max_pool2d_with_indices bool[3,5,7] l:2", "argument 'self': dtype bool is not"},
    {"max_pool2d_with_indices f32[3,5,7] l:2 l:1 l:0 l:0", "argument 'dilation': 0 is outside [1, "},
    {"max_pool2d_with_indices f32[3,7,7] l:3 l:1 l:2 l:1", "argument 'padding': 2 is more than half of the 3"},
    {"max_pool2d_with_indices f32[3,7,7] l:3 l:1 l:0 l:4", "a window that spans 9 elements does not fit"},
    {"max_pool2d_with_indices f32[1,1,1] l:2 l:1 l:2 l:3",
     "argument 'padding': with 2, a window meets none of the 1 elements of dimension 1"},
    {"_adaptive_avg_pool2d f32[3,5,7] l:2,-1", "argument 'output_size': -1 is outside [0, "},
    {"_adaptive_avg_pool2d f32[3,5,7] l:2,2,2", "argument 'output_size': expected 2 numbers"},
    {"_adaptive_avg_pool2d f32[3,5,0] l:2", "has no elements along dimension 2"},
    {"_adaptive_avg_pool2d f32[0,1,4294967296] l:2147483647", "argument 'output_size': 2147483647 windows over"},
    {"avg_pool2d_backward f32[3,2,2] f32[3,5,7] l:2 l: l:0 b:0 b:1 -",
     "argument 'grad_output': expected shape [3, 2, 3], that of the pool's result, got [3, 2, 2]"},
    {"avg_pool2d_backward f32[3,2,3] f32[3,5,7] l:2 l: l:2 b:0 b:1 -", "argument 'padding': 2 is more than half"},
    {"avg_pool2d_backward f32[3,2,3] f32[3,5,7] l:2 l: l:0 b:0 b:1 i:0", "argument 'divisor_override': 0 divides"},
    {"avg_pool2d_backward f32[3,2,3] f16[3,5,7] l:2 l: l:0 b:0 b:1 -", "argument 'self': expected f32, the dtype of"},
    {"avg_pool2d_backward i32[3,2,3] i32[3,5,7] l:2 l: l:0 b:0 b:1 -", "argument 'grad_output': dtype i32 is not"},
    {"max_pool2d_with_indices_backward f32[3,2,3] f32[3,5,7] l:2 l: l:0 l:1 b:0 i64[3,3,2]",
     "argument 'indices': expected shape [3, 2, 3], that of 'grad_output', got [3, 3, 2]"},
    {"max_pool2d_with_indices_backward f32[3,2,3] f32[3,5,7] l:2 l: l:0 l:1 b:0 f32[3,2,3]",
     "argument 'indices': indices are i64 or i32, not f32"},
    {"_adaptive_avg_pool2d_backward f32[2,2,2] f32[3,5,7]",
     "argument 'grad_output': expected shape [3, 2, 2], that of the pool's result, got [2, 2, 2]"},
    {"_adaptive_avg_pool2d_backward f32[2,2] f32[3,5,7]", "argument 'grad_output': expected shape [3, 5, 7]"},
    {"_adaptive_avg_pool2d_backward f32[3,5] f32[3,5]", "argument 'self': expected rank 3"},
    {"_adaptive_avg_pool3d_backward f32[2,3,5,6] f32[2,3,5,0]", "argument 'self': shape [2, 3, 5, 0] has no elements"},
    {"adaptive_max_pool2d_backward f32[3,2,2] f32[3,5,7] i64[3,2,3]", "argument 'indices': expected shape [3, 2, 2]"},
    {"adaptive_max_pool2d i32[3,5,7] l:2", "argument 'self': dtype i32 is not"},
};

int main(void) {
  const struct CMUnitTest tests[] = {TEST_INFER_TABLES(accepted, refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
