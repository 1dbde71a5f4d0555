/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of distances and Fourier transforms: results of those that are accepted, messages of those that are refused.
 */
#include "testing/test_infer.h"

static const test_infer_row accepted[] = {
    {"_cdist_forward f32[3,5] f32[4,5] f:2 -", "f32: f32[3,4]"},
    {"_cdist_forward f64[2,1,3,5] f64[7,4,5] f:0 i:2", "f64: f64[2,7,3,4]"},
    {"_cdist_forward f32[0,5] f32[4,5] f:1 i:0", "f32: f32[0,4]"},
    {"_pdist_forward f32[4,3]", "f32: f32[6]"},
    {"_pdist_forward f32[0,3] f:1", "f32: f32[0]"},
    {"_pdist_forward f64[1,3]", "f64: f64[0]"},
    {"_fft_r2c f32[4,6] l:0,1 i:0 b:1", "f32: c64[4,4]"},
    {"_fft_r2c f64[4,6] l:-2 i:1 b:1", "f64: c128[3,6]"},
    {"_fft_r2c f32[4,6] l:1 i:2 b:0", "f32: c64[4,6]"},
    {"_fft_c2r c64[4,4] l:0,1 i:0 i:6", "c64: f32[4,6]"},
    {"_fft_c2r c128[4] l:0 i:0 i:7", "c128: f64[7]"},
    {"_fft_c2r c64[1] l:0 i:0 i:1", "c64: f32[1]"},
    {"_fft_c2c c64[4,0,6] l:0,2 i:0 b:1", "c64: c64[4,0,6]"},
    {"_fft_c2c c128[3] l: i:0 b:0", "c128: c128[3]"},
};

static const test_infer_row refused[] = {
    {"_cdist_forward f32[5] f32[4,5] f:2 -", "argument 'x1': expected a matrix, or several of them, got shape [5]"},
    {"_cdist_forward f32[3,5] f32[4,6] f:2 -", "argument 'x2': shapes [3, 5] and [4, 6] have rows of 5 and of 6"},
    {"_cdist_forward f32[2,3,5] f32[3,4,5] f:2 -", "argument 'x2': shapes [2] and [3] do not broadcast"},
    {"_cdist_forward f32[3,5] f64[4,5] f:2 -", "argument 'x2': expected f32"},
    {"_cdist_forward f32[3,5] f32[4,5] f:-1 -", "argument 'p': there is no norm with p = -1"},
    {"_cdist_forward f32[3,5] f32[4,5] f:nan -", "argument 'p': there is no norm with p = "},
    {"_cdist_forward f32[3,5] f32[4,5] f:2 i:3", "argument 'compute_mode': 3 is not known"},
    {"_pdist_forward f32[2,3,5]", "argument 'self': expected a matrix, got shape [2, 3, 5]"},
    {"_pdist_forward f16[3,5]", "argument 'self': dtype f16 is not"},
    {"_pdist_forward f32[9223372036854775807,0]", "argument 'self': 9223372036854775807 rows make more than"},
    {"_fft_r2c f32[4] l: i:0 b:1", "argument 'dim': it is empty"},
    {"_fft_r2c f32[] l:0 i:0 b:1", "argument 'self': a tensor of rank 0 has no dimension"},
    {"_fft_r2c f32[4] l:0,0 i:0 b:1", "argument 'dim': dimension 0 appears twice"},
    {"_fft_r2c f32[4] l:1 i:0 b:1", "argument 'dim': dimension 1 is outside"},
    {"_fft_r2c f32[4] l:0 i:3 b:1", "argument 'normalization': 3 is not known"},
    {"_fft_r2c f32[4,0] l:1 i:0 b:1", "argument 'self': dimension 1 of shape [4, 0] has no elements to transform"},
    {"_fft_r2c c64[4] l:0 i:0 b:1", "argument 'self': dtype c64 is not"},
    {"_fft_c2r c64[4] l:0 i:0 i:8",
     "argument 'last_dim_size': 4 numbers along dimension 0 are no half of 8, which has 5"},
    {"_fft_c2r c64[4] l:0 i:0 i:0", "argument 'last_dim_size': 4 numbers along dimension 0 are no half of 0"},
    {"_fft_c2r c64[4] l: i:0 i:6", "argument 'dim': it is empty"},
    {"_fft_c2c f32[4] l:0 i:0 b:1", "argument 'self': dtype f32 is not"},
};

int main(void) {
  const struct CMUnitTest tests[] = {TEST_INFER_TABLES(accepted, refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
