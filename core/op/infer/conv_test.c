/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of convolutions: results of those that are accepted, messages of those that are refused.
 */
#include "testing/test_infer.h"

static const test_infer_row accepted[] = {
    {"convolution f32[2,3,7,9] f32[5,3,3,2] f32[5] l:2,1 l:1,0 l:1,2 b:0 l:0,0 i:1", "f32: f32[2,5,4,7]"},
    {"convolution f32[1,3,200,200] f32[8,3,3,3] - l:1 l:1 l:1 b:0 l:0 i:1", "f32: f32[1,8,200,200]"},
    {"convolution f16[2,6,9] f16[4,3,2] - l:3 l:0 l:4 b:0 l:1 i:2", "f16: f16[2,4,2]"},
    {"convolution f64[0,1,2,2,2] f64[1,1,2,2,2] - l:1 l:0 l:1 b:0 l:0 i:1", "f64: f64[0,1,1,1,1]"},
    {"convolution bf16[2,3,4] bf16[3,5,4] bf16[5] l:3 l:1 l:2 b:1 l:2 i:1", "bf16: bf16[2,5,16]"},
    {"convolution f32[2,6,4,4] f32[6,1,3,3] - l:2,2 l:1,1 l:1,1 b:1 l:1,0 i:6", "f32: f32[2,6,8,7]"},
    {"convolution f32[2,0,4] f32[5,0,3] - l:1 l:0 l:1 b:0 l:0 i:1", "f32: f32[2,5,2]"},
    {"convolution_backward f32[2,5,4,7] f32[2,3,7,9] f32[5,3,3,2] l:5 l:2,1 l:1,0 l:1,2 b:0 l:0,0 i:1 l:1,1,1",
     "f32: f32[2,3,7,9] f32[5,3,3,2] f32[5]"},
    {"convolution_backward f32[2,5,4,7] f32[2,3,7,9] f32[5,3,3,2] l:9 l:2,1 l:1,0 l:1,2 b:0 l:0,0 i:1 l:0,1,0",
     "f32: - f32[5,3,3,2] -"},
    {"convolution_backward bf16[2,5,16] bf16[2,3,4] bf16[3,5,4] - l:3 l:1 l:2 b:1 l:2 i:1 l:1,0,1",
     "bf16: bf16[2,3,4] - bf16[5]"},
    {"im2col f32[2,3,5,4] l:3,2 l:1,2 l:1,0 l:2,1", "f32: f32[2,18,6]"},
    {"im2col f16[3,5,5] i:2 i:1 i:0 i:1", "f16: f16[12,16]"},
    {"im2col f32[0,3,5,5] l:2,2 l:1,1 l:0,0 l:1,1", "f32: f32[0,12,16]"},
    {"col2im f32[2,18,6] l:5,4 l:3,2 l:1,2 l:1,0 l:2,1", "f32: f32[2,3,5,4]"},
    {"col2im f64[12,16] l:5,5 i:2 i:1 i:0 i:1", "f64: f64[3,5,5]"},
};

static const test_infer_row refused[] = {
    {"convolution i32[1,1,2] i32[1,1,2] - l:1 l:0 l:1 b:0 l:0 i:1", "argument 'input': dtype i32 is not"},
    {"convolution f32[1,1,2] f16[1,1,2] - l:1 l:0 l:1 b:0 l:0 i:1", "argument 'weight': expected f32"},
    {"convolution f32[1,1] f32[1,1] - l:1 l:0 l:1 b:0 l:0 i:1",
     "argument 'weight': expected two dimensions for channels and 1 to 3 for the kernel, got [1, 1]"},
    {"convolution f32[1,1,1,1,1,1] f32[1,1,1,1,1,1] - l:1 l:0 l:1 b:0 l:0 i:1", "1 to 3 for the kernel"},
    {"convolution f32[3,5,5] f32[4,3,3,3] - l:1 l:0 l:1 b:0 l:0 i:1",
     "argument 'input': expected as many dimensions as 'weight': batch, channels, then the spatial ones, got [3, 5, "
     "5]"},
    {"convolution f32[1,4,5] f32[4,3,3] - l:1 l:0 l:1 b:0 l:0 i:1",
     "argument 'input': expected 3 channels, as 'weight' and 'groups' say, got 4"},
    {"convolution f32[1,4,5] f32[3,4,3] - l:1 l:0 l:1 b:1 l:0 i:1", "argument 'input': expected 3 channels"},
    {"convolution f32[1,6,5] f32[4,2,3] - l:1 l:0 l:1 b:0 l:0 i:3",
     "argument 'groups': 3 does not divide the 4 channels of 'weight'"},
    {"convolution f32[1,1,5] f32[1,1,3] - l:1 l:0 l:1 b:0 l:0 i:0", "argument 'groups': 0 is too small"},
    {"convolution f32[1,2,5] f32[3,2,3] f32[2] l:1 l:0 l:1 b:0 l:0 i:1",
     "argument 'bias': expected one number for each channel of the result, got [2]"},
    {"convolution f32[1,2,5] f32[3,2,3] f32[3,1] l:1 l:0 l:1 b:0 l:0 i:1", "argument 'bias': expected one number"},
    {"convolution f32[1,1,5] f32[1,1,3] - l:0 l:0 l:1 b:0 l:0 i:1",
     "argument 'stride': 0 is too small: the least is 1"},
    {"convolution f32[1,1,5] f32[1,1,3] - l:1 l:-1 l:1 b:0 l:0 i:1", "argument 'padding': -1 is too small"},
    {"convolution f32[1,1,5] f32[1,1,3] - l:1 l:0 l:0 b:0 l:0 i:1", "argument 'dilation': 0 is too small"},
    {"convolution f32[1,1,5] f32[1,1,3] - l:1 l:0 l:1 b:0 l:-1 i:1", "argument 'output_padding': -1 is too small"},
    {"convolution f32[1,1,5] f32[1,1,3] - l:2 l:0 l:1 b:1 l:2 i:1",
     "argument 'output_padding': 2 is too large: it has to be less than stride or dilation"},
    {"convolution f32[1,1,5,5] f32[1,1,3,3] - l:1,1,1 l:0 l:1 b:0 l:0 i:1",
     "argument 'stride': expected 2 numbers, one for each spatial dimension, or one for all; got 3"},
    {"convolution f32[1,1,5] f32[1,1,3] - l: l:0 l:1 b:0 l:0 i:1", "argument 'stride': expected 1 numbers"},
    {"convolution f32[1,1,5] f32[1,1,3] - l:1 l:0 l:3 b:0 l:0 i:1",
     "the kernel of 3, with its dilation, is longer than the padded input, which has 5"},
    {"convolution f32[1,1,2] f32[1,1,3] - l:1 l:3 l:1 b:1 l:0 i:1",
     "argument 'padding': along spatial dimension 0 it takes away all of the result's 4"},
    {"convolution f32[1,1,0] f32[1,1,3] - l:1 l:2 l:1 b:0 l:0 i:1",
     "argument 'input': expected at least one element along each spatial dimension, got [1, 1, 0]"},
    {"convolution f32[1,1,5] f32[1,1,0] - l:1 l:2 l:1 b:0 l:0 i:1",
     "argument 'weight': expected a kernel with elements"},
    {"convolution f32[1,1,5] f32[1,1,3] - l:1 l:4611686018427387904 l:1 b:0 l:0 i:1", "do not fit in 64 bits"},
    {"convolution f32[1,1,5] f32[1,1,3] - l:1 l:0 l:9223372036854775807 b:0 l:0 i:1", "do not fit in 64 bits"},
    {"convolution f32[1,1,3] f32[1,1,3] - l:9223372036854775807 l:0 l:1 b:1 l:0 i:1", "do not fit in 64 bits"},
    {"convolution f32[1,1,2] f32[1,1,2] - l:9223372036854775807 l:0 l:1 b:1 l:0 i:1", "do not fit in 64 bits"},
    {"convolution_backward f32[2,5,3] f32[2,3,7] f32[5,3,3] - l:2 l:1 l:1 b:0 l:0 i:1 l:1,1,1",
     "argument 'grad_output': expected [2, 5, 4], got [2, 5, 3]"},
    {"convolution_backward f32[2,5,4] f32[2,3,7] f32[5,3,3] l:3 l:2 l:1 l:1 b:0 l:0 i:1 l:0,0,1",
     "argument 'bias_sizes': expected [5], one number for each channel of the result, or none"},
    {"convolution_backward f32[2,5,4] f32[2,3,7] f32[5,3,3] - l:2 l:1 l:1 b:0 l:0 i:1 l:1,1",
     "argument 'output_mask': expected a list of 3 bools, got 2"},
    {"im2col f32[2,3,5,5,5] l:2,2 l:1,1 l:0,0 l:1,1", "argument 'self': expected [channels, height, width]"},
    {"im2col f32[3,0,5] l:2,2 l:1,1 l:2,2 l:1,1", "argument 'self': expected [channels, height, width] with elements"},
    {"im2col f32[3,5,5] l:0,2 l:1,1 l:0,0 l:1,1", "argument 'kernel_size': 0 is too small"},
    {"im2col f32[3,5,5] l:2,6 l:1,1 l:0,0 l:1,1", "along spatial dimension 1 the kernel of 6"},
    {"im2col f32[3,5,5] l:2,2,2 l:1,1 l:0,0 l:1,1", "argument 'kernel_size': expected 2 numbers"},
    {"col2im f32[12,15] l:5,5 l:2,2 l:1,1 l:0,0 l:1,1",
     "expected a multiple of 4 rows, the elements under the kernel, and 16 columns, its places in the output; got [12, "
     "15]"},
    {"col2im f32[11,16] l:5,5 l:2,2 l:1,1 l:0,0 l:1,1", "expected a multiple of 4 rows"},
    {"col2im f32[16] l:5,5 l:2,2 l:1,1 l:0,0 l:1,1", "argument 'self': expected [channels * kernel, columns]"},
    {"col2im f32[12,16] l:4294967296,4294967296 l:2,2 l:1,1 l:0,0 l:1,1",
     "argument 'output_size': there would be more"},
    {"col2im f32[12,16] l:0,5 l:2,2 l:1,1 l:0,0 l:1,1", "argument 'output_size': 0 is too small"},
};

int main(void) {
  const struct CMUnitTest tests[] = {TEST_INFER_TABLES(accepted, refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
