/* SPDX-License-Identifier: Apache-2.0 */
#include "test_infer.h"

static const test_infer_row accepted[] = {
    {"nonzero f32[2,3]", "f32: i64[6,2] i64[]"},
    {"nonzero bool[]", "bool: i64[1,0] i64[]"},
    {"nonzero u8[0,5]", "u8: i64[0,2] i64[]"},
    {"max.dim f16[2,3] i:1", "f16: f16[2] i64[2]"},
    {"min.dim bool[2,3] i:-2 b:1", "bool: bool[1,3] i64[1,3]"},
    {"max u8[2,3]", "u8: u8[]"},
    {"max.dim f32[2,0] i:0", "f32: f32[0] i64[0]"},
    {"all f32[0]", "f32: bool[]"},
    {"all.dims u8[2,3] l:0,1", "u8: u8[]"},
    {"all.dims f32[2,3] l:", "f32: bool[2,3]"},
    {"cumprod i32[2,3] i:1", "i64: i64[2,3] cast 0"},
};

static const test_infer_row refused[] = {
    {"nonzero c64[2]", "nonzero: argument 'self': dtype c64"},
    {"max f32[0]", "max: argument 'self': shape [0] has no elements"},
    {"max.dim f32[2,0] i:1", "max.dim: argument 'self': shape [2, 0] has no elements along dimension 1"},
    {"min.dim f32[2] i:1", "min.dim: argument 'dim': dimension 1 is outside"},
};

#define ROWS(rows) rows, sizeof(rows) / sizeof((rows)[0])

static void accepted_calls_infer(void **state) {
  (void)state;
  test_infer_check(ROWS(accepted), KW_OK);
}

static void refused_calls_say_why(void **state) {
  (void)state;
  test_infer_check(ROWS(refused), KW_ERR_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accepted_calls_infer),
      cmocka_unit_test(refused_calls_say_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
