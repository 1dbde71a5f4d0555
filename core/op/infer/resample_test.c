/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of upsampling and sampling of grids: results of those that are accepted, messages of those that are refused.
 */
#include "testing/test_infer.h"

static const test_infer_row accepted[] = {
    {"upsample_nearest1d f32[2,3,5] l:7", "f32: f32[2,3,7]"},
    {"upsample_nearest2d f16[2,3,5,4] l:7,9 f:1.5 -", "f16: f16[2,3,7,9]"},
    {"upsample_nearest2d f32[2,3,5,4] i:7", "f32: f32[2,3,7,7]"},
    {"_upsample_nearest_exact2d f32[0,3,5,4] l:7,9", "f32: f32[0,3,7,9]"},
    {"upsample_nearest3d f64[1,2,3,4,5] l:6,7,8", "f64: f64[1,2,6,7,8]"},
    {"upsample_linear1d bf16[2,0,5] l:1 b:1", "bf16: bf16[2,0,1]"},
    {"upsample_bilinear2d f32[2,3,5,4] l:7,9 b:0 f:2 f:0.5", "f32: f32[2,3,7,9]"},
    {"upsample_bicubic2d f32[2,3,5,4] l:7,9 b:1", "f32: f32[2,3,7,9]"},
    {"upsample_trilinear3d f32[1,2,3,4,5] l:6,7,8 b:0", "f32: f32[1,2,6,7,8]"},
    {"upsample_nearest2d_backward f32[2,3,7,9] l:7,9 l:2,3,5,4", "f32: f32[2,3,5,4]"},
    {"upsample_bilinear2d_backward f16[0,3,7,9] l:7,9 l:0,3,5,4 b:1 f:2 -", "f16: f16[0,3,5,4]"},
    {"grid_sampler_2d f32[2,3,5,4] f32[2,7,9,2] i:0 i:0 b:0", "f32: f32[2,3,7,9]"},
    {"grid_sampler_2d f32[2,3,5,4] f32[2,0,9,2] i:2 i:2 b:1", "f32: f32[2,3,0,9]"},
    {"grid_sampler_2d_backward f32[2,3,7,9] f32[2,3,5,4] f32[2,7,9,2] i:1 i:1 b:0 l:1,1",
     "f32: f32[2,3,5,4] f32[2,7,9,2]"},
    {"grid_sampler_2d_backward f32[2,3,7,9] f32[2,3,5,4] f32[2,7,9,2] i:1 i:1 b:0 l:0,1", "f32: - f32[2,7,9,2]"},
};

static const test_infer_row refused[] = {
    {"upsample_nearest1d i32[2,3,5] l:7", "argument 'self': dtype i32 is not"},
    {"upsample_nearest1d f32[2,3,5,4] l:7", "argument 'self': expected [n, c, w], got [2, 3, 5, 4]"},
    {"upsample_nearest2d f32[3,5,4] l:7,9", "argument 'self': expected [n, c, h, w], got [3, 5, 4]"},
    {"upsample_trilinear3d f32[3,5,4] l:7,9,9 b:0", "argument 'self': expected [n, c, d, h, w]"},
    {"upsample_nearest2d f32[2,3,5,4] l:7,9,8", "argument 'output_size': expected 2 sizes, or one for all, got 3"},
    {"upsample_nearest2d f32[2,3,5,4] l:", "argument 'output_size': expected 2 sizes, or one for all, got 0"},
    {"upsample_nearest2d f32[2,3,5,4] l:7,0", "argument 'output_size': spatial size 0 is too small: the least is 1"},
    {"upsample_nearest2d f32[2,3,5,4] l:4294967296,4294967296", "argument 'output_size': the tensor would have more"},
    {"upsample_nearest2d f32[2,3,0,4] l:7,9", "argument 'self': spatial size 0 is too small"},
    {"upsample_nearest2d f32[2,3,5,4] l:7,9 f:0", "argument 'scales_h': 0 is no scale"},
    {"upsample_bilinear2d f32[2,3,5,4] l:7,9 b:0 - f:-1", "argument 'scales_w': -1 is no scale"},
    {"upsample_linear1d f32[2,3,5] l:7 b:0 f:inf", "argument 'scales': inf is no scale"},
    {"upsample_nearest2d_backward f32[2,3,7,9] l:7,9 l:2,3,5", "argument 'input_size': expected 4 sizes"},
    {"upsample_nearest2d_backward f32[2,3,7,9] l:7,9 l:-2,3,5,4", "argument 'input_size': size -2 is negative"},
    {"upsample_nearest2d_backward f32[2,3,7,9] l:7,9 l:2,3,0,4", "argument 'input_size': spatial size 0"},
    {"upsample_nearest2d_backward f32[2,3,7,9] l:7,8 l:2,3,5,4", "argument 'grad_output': expected [2, 3, 7, 8], got"},
    {"grid_sampler_2d f32[3,5,4] f32[2,7,9,2] i:0 i:0 b:0", "argument 'input': expected [n, c, h, w], got [3, 5, 4]"},
    {"grid_sampler_2d f32[2,3,0,4] f32[2,7,9,2] i:0 i:0 b:0", "argument 'input': spatial size 0 is too small"},
    {"grid_sampler_2d f32[2,3,5,4] f32[2,7,9,3] i:0 i:0 b:0",
     "argument 'grid': expected [n, h, w, 2] with the input's n, got [2, 7, 9, 3]"},
    {"grid_sampler_2d f32[2,3,5,4] f32[1,7,9,2] i:0 i:0 b:0", "argument 'grid': expected [n, h, w, 2]"},
    {"grid_sampler_2d f32[2,3,5,4] f64[2,7,9,2] i:0 i:0 b:0", "argument 'grid': expected f32"},
    {"grid_sampler_2d f32[2,3,5,4] f32[2,7,9,2] i:3 i:0 b:0", "argument 'interpolation_mode': 3 is not known"},
    {"grid_sampler_2d f32[2,3,5,4] f32[2,7,9,2] i:0 i:-1 b:0", "argument 'padding_mode': -1 is not known"},
    {"grid_sampler_2d_backward f32[2,3,7,8] f32[2,3,5,4] f32[2,7,9,2] i:0 i:0 b:0 l:1,1",
     "argument 'grad_output': expected [2, 3, 7, 9], got [2, 3, 7, 8]"},
};

int main(void) {
  const struct CMUnitTest tests[] = {TEST_INFER_TABLES(accepted, refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
