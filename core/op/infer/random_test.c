/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of random ops: results of those that are accepted, messages of those that are refused.
 */
#include "testing/test_infer.h"

static const test_infer_row accepted[] = {
    {"rand l:2,3", "f32: f32[2,3]"},
    {"rand l: d:f16", "f16: f16[]"},
    {"randn l:0 d:f64", "f64: f64[0]"},
    {"randint i:10 l:4", "i64: i64[4]"},
    {"randint i:256 l:4 d:u8", "u8: u8[4]"},
    {"randint i:257 l:4 d:bf16", "bf16: bf16[4]"},
    {"randint.low i:-128 i:128 l:4 d:i8", "i8: i8[4]"},
    {"randint.low i:-9223372036854775808 i:9223372036854775807 l:1", "i64: i64[1]"},
    {"randint.low i:0 i:2 l:1 d:bool", "bool: bool[1]"},
    {"uniform_ f32[2,3]", "f32: f32[2,3]"},
    {"uniform_ f16[2] f:-32752 f:32752", "f16: f16[2]"},
    {"uniform_ f64[2] f:5 f:5", "f64: f64[2]"},
    {"normal_ bf16[2] f:-3 f:0", "bf16: bf16[2]"},
    {"bernoulli f16[2,3]", "f16: f16[2,3]"},
    {"bernoulli_.float bool[2] f:1", "bool: bool[2]"},
    {"bernoulli_.float i64[2] f:0", "i64: i64[2]"},
    {"random_.from f32[2] i:-16777216 i:16777217", "f32: f32[2]"},
    {"random_.from i64[2] i:9223372036854775807 -", "i64: i64[2]"},
    {"random_.from bool[2] i:1 -", "bool: bool[2]"},
    {"random_.from u8[2] i:0 i:256", "u8: u8[2]"},
};

static const test_infer_row refused[] = {
    {"rand l:2 d:i32", "rand: argument 'dtype': dtype i32 is not"},
    {"rand l:2,-1", "rand: argument 'size': size -1 of dimension 1 is negative"},
    {"randint i:0 l:2", "randint: argument 'high': it is 0, and the first integer is 0"},
    {"randint i:-3 l:2", "argument 'high': it is -3, and the first integer is 0"},
    {"randint i:257 l:2 d:u8",
     "argument 'high': the last integer, 256, is outside [0, 255], whose integers u8 holds exactly"},
    {"randint i:3 l:2 d:bool", "argument 'high': the last integer, 2, is outside [0, 1]"},
    {"randint.low i:5 i:3 l:2", "randint.low: argument 'high': it is 3, and the first integer is 5"},
    {"randint.low i:-1 i:3 l:2 d:u8", "argument 'low': -1 is outside [0, 255], whose integers u8 holds exactly"},
    {"random_.from i8[2] i:0 i:129", "random_.from: argument 'to': the last integer, 128, is outside [-128, 127]"},
    {"random_.from i8[2] i:-129 i:0", "argument 'from': -129 is outside [-128, 127]"},
    {"random_.from i8[2] i:128 -", "argument 'from': 128 is outside [-128, 127]"},
    {"random_.from f16[2] i:0 i:2050", "argument 'to': the last integer, 2049, is outside [-2048, 2048]"},
    {"random_.from i64[2] i:5 i:-9223372036854775808", "argument 'to': it is -9223372036854775808"},
    {"random_.from i32[2] i:4 i:4", "argument 'to': it is 4, and the first integer is 4; give a larger one"},
    {"uniform_ i32[2]", "uniform_: argument 'self': dtype i32 is not"},
    {"uniform_ f32[2] f:2 f:1", "uniform_: argument 'to': it is 1, less than 'from', 2"},
    {"uniform_ f32[2] f:nan f:1", "argument 'from': nan is not a number between"},
    {"uniform_ f32[2] f:0 f:inf", "argument 'to': inf is not a number between"},
    {"uniform_ f16[2] f:0 f:70000", "argument 'to': 70000 is not a number between -65504 and 65504, as f16 has them"},
    {"uniform_ f16[2] f:-60000 f:60000", "argument 'to': 60000 is farther from 'from', -60000, than any f16"},
    {"uniform_ f64[2] f:-1.7e308 f:1.7e308", "argument 'to': 1.7e+308 is farther from 'from'"},
    {"normal_ f32[2] f:0 f:-1", "normal_: argument 'std': -1 is no standard deviation; it is 0 or more"},
    {"normal_ f32[2] f:0 f:nan", "argument 'std': nan is no"},
    {"bernoulli i32[2]", "bernoulli: argument 'self': dtype i32 is not"},
    {"bernoulli_.float f32[2] f:1.5", "bernoulli_.float: argument 'p': 1.5 is no probability; it is between 0 and 1"},
    {"bernoulli_.float f32[2] f:-0.1", "argument 'p': -0.1 is no probability"},
    {"bernoulli_.float f32[2] f:nan", "argument 'p': nan is no probability"},
};

int main(void) {
  const struct CMUnitTest tests[] = {TEST_INFER_TABLES(accepted, refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
