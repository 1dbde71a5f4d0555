/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of quantisation: results of those that are accepted, messages of those that are refused.
 */
#include "testing/test_infer.h"

#define Q "quantized_decomposed::"

static const test_infer_row accepted[] = {
    {Q "quantize_per_tensor f32[2,3] f:0.5 i:3 i:-128 i:127 d:i8", "f32: i8[2,3]"},
    {Q "quantize_per_tensor f16[] f:1e-3 i:-70 i:0 i:15 d:u8", "f16: u8[]"},
    {Q "quantize_per_tensor bf16[0,4] f:2 i:0 i:-5 i:-5 d:i32", "bf16: i32[0,4]"},
    {Q "quantize_per_tensor.tensor f32[5] f32[] i64[] i:-8 i:7 d:i16", "f32: i16[5]"},
    {Q "quantize_per_tensor.tensor f32[5] f32[1] i32[1,1] i:-8 i:7 d:i8", "f32: i8[5]"},
    {Q "quantize_per_channel f16[2,3] f32[3] i32[3] i:-1 i:-128 i:127 d:i8", "f16: i8[2,3]"},
    {Q "quantize_per_channel f32[2,3] f32[2] i64[2] i:0 i:0 i:255 d:u8", "f32: u8[2,3]"},
    {Q "dequantize_per_tensor i8[2,3] f:0.5 i:3 i:-128 i:127 d:i8", "i8: f32[2,3]"},
    {Q "dequantize_per_tensor u8[4] f:0.5 i:0 i:0 i:255 d:u8 d:bf16", "u8: bf16[4]"},
    {Q "dequantize_per_tensor.tensor i32[4] f32[1] i64[1] i:0 i:255 d:i32 d:f16", "i32: f16[4]"},
    {Q "dequantize_per_channel i16[2,3] f32[3] - i:1 i:-3 i:3 d:i16", "i16: f32[2,3]"},
};

static const test_infer_row refused[] = {
    {Q "quantize_per_tensor f64[2] f:1 i:0 i:0 i:1 d:i8", "argument 'input': dtype f64 is not"},
    {Q "quantize_per_tensor i8[2] f:1 i:0 i:0 i:1 d:i8", "argument 'input': dtype i8 is not"},
    {Q "quantize_per_tensor f32[2] f:0 i:0 i:0 i:1 d:i8",
     "argument 'scale': 0 is, as f32, not a positive finite number"},
    {Q "quantize_per_tensor f32[2] f:-1 i:0 i:0 i:1 d:i8", "argument 'scale': -1 is"},
    {Q "quantize_per_tensor f32[2] f:1e-60 i:0 i:0 i:1 d:i8", "argument 'scale': 1e-60 is, as f32"},
    {Q "quantize_per_tensor f32[2] f:1e60 i:0 i:0 i:1 d:i8", "argument 'scale': 1e+60 is, as f32"},
    {Q "quantize_per_tensor f32[2] f:nan i:0 i:0 i:1 d:i8", "argument 'scale': nan is"},
    {Q "quantize_per_tensor f32[2] f:1 i:2147483648 i:0 i:1 d:i8",
     "argument 'zero_point': 2147483648 does not fit in 32 bits"},
    {Q "quantize_per_tensor f32[2] f:1 i:-2147483649 i:0 i:1 d:i8", "argument 'zero_point'"},
    {Q "quantize_per_tensor f32[2] f:1 i:0 i:-129 i:1 d:i8", "argument 'quant_min': i8 does not hold -129"},
    {Q "quantize_per_tensor f32[2] f:1 i:0 i:256 i:256 d:u8", "argument 'quant_min': u8 does not hold 256"},
    {Q "quantize_per_tensor f32[2] f:1 i:0 i:3 i:2 d:u8", "argument 'quant_max': 2 is not from 3 (quant_min) to 255"},
    {Q "quantize_per_tensor f32[2] f:1 i:0 i:3 i:256 d:u8", "argument 'quant_max': 256 is not"},
    {Q "quantize_per_tensor f32[2] f:1 i:0 i:0 i:1 d:i64", "argument 'dtype': i64 is none of u8, i8, i16 and i32"},
    {Q "quantize_per_tensor f32[2] f:1 i:0 i:0 i:1 d:f32", "argument 'dtype': f32 is none of"},
    {Q "quantize_per_tensor.tensor f32[5] f32[2] i64[] i:-8 i:7 d:i16",
     "argument 'scale': expected one element, got shape [2]"},
    {Q "quantize_per_tensor.tensor f32[5] f32[] i64[0] i:-8 i:7 d:i16",
     "argument 'zero_point': expected one element, got shape [0]"},
    {Q "quantize_per_tensor.tensor f32[5] f16[] i64[] i:-8 i:7 d:i16",
     "argument 'scale': dtype f16 is not one it may have: f32"},
    {Q "quantize_per_tensor.tensor f32[5] f32[] i8[] i:-8 i:7 d:i16",
     "argument 'zero_point': dtype i8 is not one it may have: i32, i64"},
    {Q "quantize_per_channel f32[] f32[1] i32[1] i:0 i:0 i:1 d:u8",
     "argument 'input': a tensor of rank 0 has no channels"},
    {Q "quantize_per_channel f32[2,3] f32[2] i32[2] i:2 i:0 i:1 d:u8",
     "argument 'axis': dimension 2 is outside [-2, 1]"},
    {Q "quantize_per_channel f32[2,3] f32[2] i32[2] i:1 i:0 i:1 d:u8",
     "argument 'scales': expected shape [3], the size of dimension 1 of 'input', got [2]"},
    {Q "quantize_per_channel f32[2,3] f32[3] i32[1] i:1 i:0 i:1 d:u8", "argument 'zero_points': expected shape [3]"},
    {Q "quantize_per_channel f32[2,3] f32[1,3] i32[3] i:1 i:0 i:1 d:u8", "argument 'scales': expected shape [3]"},
    {Q "dequantize_per_tensor i8[2] f:1 i:0 i:0 i:1 d:u8", "argument 'dtype': it is u8, but 'input' is i8"},
    {Q "dequantize_per_tensor i64[2] f:1 i:0 i:0 i:1 d:i64", "argument 'input': dtype i64 is not"},
    {Q "dequantize_per_tensor i8[2] f:1 i:0 i:0 i:1 d:i8 d:f64",
     "argument 'out_dtype': f64 is none of f16, bf16 and f32"},
    {Q "dequantize_per_channel i8[2,3] f32[3] f32[3] i:1 i:0 i:1 d:i8", "argument 'zero_points': dtype f32 is not"},
};

int main(void) {
  const struct CMUnitTest tests[] = {TEST_INFER_TABLES(accepted, refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
