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
    {"searchsorted.Tensor f32[5] f32[2,3]", "f32: i64[2,3]"},
    {"searchsorted.Tensor f16[5] f16[] b:1", "f16: i32[]"},
    {"searchsorted.Tensor i8[2,0] i8[2,3] b:0 b:1", "i8: i64[2,3]"},
    {"searchsorted.Tensor i64[3] i64[4] b:1 b:1 s:right i64[3]", "i64: i32[4]"},
    {"searchsorted.Tensor f64[2,3,5] f64[2,3,1] b:0 b:0 s:right i64[2,3,5]", "f64: i64[2,3,1]"},
    {"searchsorted.Tensor u8[3] u8[0] b:0 b:0 s:left", "u8: i64[0]"},
    {"searchsorted.Tensor u8[2147483647] u8[1] b:1", "u8: i32[1]"},
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
    {"searchsorted.Tensor bool[3] bool[3]", "searchsorted.Tensor: argument 'sorted_sequence': dtype bool"},
    {"searchsorted.Tensor f32[3] f64[3]", "argument 'self': expected f32, the dtype of 'sorted_sequence', got f64"},
    {"searchsorted.Tensor f32[] f32[3]", "argument 'sorted_sequence': expected one dimension at least, got []"},
    {"searchsorted.Tensor f32[2,3] f32[3]", "argument 'self': shape [3] and shape [2, 3] of 'sorted_sequence' differ"},
    {"searchsorted.Tensor f32[2,3] f32[3,3]", "argument 'self': shape [3, 3] and shape [2, 3] of"},
    {"searchsorted.Tensor f32[1,3] f32[]", "argument 'self': shape [] and shape [1, 3] of 'sorted_sequence' differ"},
    {"searchsorted.Tensor u8[2147483648] u8[1] b:1", "argument 'out_int32': places among 2147483648 elements"},
    {"searchsorted.Tensor f32[3] f32[3] b:0 b:0 s:mid", "argument 'side': 'mid' is not known; it is 'left' or"},
    {"searchsorted.Tensor f32[3] f32[3] b:0 b:1 s:left", "argument 'side': 'left' contradicts 'right', which is true"},
    {"searchsorted.Tensor f32[3] f32[3] b:0 b:0 - i32[3]", "argument 'sorter': expected i64, got i32"},
    {"searchsorted.Tensor f32[3] f32[3] b:0 b:0 - i64[4]",
     "argument 'sorter': expected [3], the shape of 'sorted_sequence', got [4]"},
    {"searchsorted.Tensor f32[3] f32[3] b:0 b:0 - i64[1,3]", "argument 'sorter': expected [3], the shape of"},
};

int main(void) {
  const struct CMUnitTest tests[] = {TEST_INFER_TABLES(accepted, refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
