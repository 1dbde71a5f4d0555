/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of ops that select: results of those that are accepted, messages of those that are refused.
 */
#include "testing/test_infer.h"

static const test_infer_row accepted[] = {
    {"nonzero f32[2,3]", "f32: i64[6,2] i64[]"},
    {"nonzero bool[]", "bool: i64[1,0] i64[]"},
    {"nonzero u8[0,5]", "u8: i64[0,2] i64[]"},
    {"masked_select c64[2,3] bool[3]", "c64: c64[6] i64[]"},
    {"masked_select f8e5m2[] bool[2,2]", "f8e5m2: f8e5m2[4] i64[]"},
    {"masked_scatter f16[3] bool[2,1] f16[50]", "f16: f16[2,3]"},
    {"sort f32[2,3]", "f32: f32[2,3] i64[2,3]"},
    {"sort.stable bool[2,3] - i:0 b:1", "bool: bool[2,3] i64[2,3]"},
    {"topk f32[2,5] i:3", "f32: f32[2,3] i64[2,3]"},
    {"topk i8[2,5] i:0 i:-2", "i8: i8[0,5] i64[0,5]"},
    {"topk f64[] i:1", "f64: f64[] i64[]"},
    {"max.dim f16[2,3] i:1", "f16: f16[2] i64[2]"},
    {"min.dim bool[2,3] i:-2 b:1", "bool: bool[1,3] i64[1,3]"},
    {"max u8[2,3]", "u8: u8[]"},
    {"max.dim f32[2,0] i:0", "f32: f32[0] i64[0]"},
    {"all f32[0]", "f32: bool[]"},
    {"all.dims u8[2,3] l:0,1", "u8: u8[]"},
    {"all.dims f32[2,3] l:", "f32: bool[2,3]"},
    {"var.correction f16[2,3] - - b:1", "f16: f16[1,1]"},
    {"var.correction f32[2,3] l:1 f:0.5", "f32: f32[2]"},
    {"var.dim f64[2,0] l:1", "f64: f64[2]"},
    {"var_mean.correction bf16[2,3] l:0", "bf16: bf16[3] bf16[3]"},
    {"logsumexp i64[2,3] l:-1 b:1", "f32: f32[2,1] cast 0"},
    {"logsumexp f16[0] l:0", "f16: f16[]"},
    {"cumprod i32[2,3] i:1", "i64: i64[2,3] cast 0"},
};

static const test_infer_row refused[] = {
    {"nonzero c64[2]", "nonzero: argument 'self': dtype c64"},
    {"var.correction i32[3]", "var.correction: argument 'self': dtype i32"},
    {"var.correction f32[3] - c:1", "var.correction: argument 'correction': dtype c64"},
    {"logsumexp f32[3] l:1", "logsumexp: argument 'dim': dimension 1 is outside"},
    {"masked_select f32[2,3] bool[2]", "masked_select: argument 'mask': shapes [2, 3] and [2] do not broadcast"},
    {"masked_select f32[3] u8[3]", "masked_select: argument 'mask': expected bool, got u8"},
    {"masked_select f8e4m3fn[1099511627776,1] bool[1,1099511627776]",
     "argument 'mask': it and 'self' broadcast to more"},
    {"masked_scatter f32[3] bool[3] f16[3]", "masked_scatter: argument 'source': expected f32, the dtype of 'self'"},
    {"masked_scatter f32[3] bool[4] f32[3]", "masked_scatter: argument 'mask': shapes [3] and [4] do not broadcast"},
    {"topk f32[2,5] i:6", "topk: argument 'k': 6 is outside [0, 5], the size of dimension 1"},
    {"topk f32[2,5] i:-1 i:0", "topk: argument 'k': -1 is outside [0, 2], the size of dimension 0"},
    {"topk f32[] i:0", "topk: argument 'k': a tensor of rank 0 has one element"},
    {"topk bool[3] i:1", "topk: argument 'self': dtype bool"},
    {"sort f32[2] i:1", "sort: argument 'dim': dimension 1 is outside"},
    {"max f32[0]", "max: argument 'self': shape [0] has no elements"},
    {"max.dim f32[2,0] i:1", "max.dim: argument 'self': shape [2, 0] has no elements along dimension 1"},
    {"min.dim f32[2] i:1", "min.dim: argument 'dim': dimension 1 is outside"},
};

int main(void) {
  const struct CMUnitTest tests[] = {TEST_INFER_TABLES(accepted, refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
