/* SPDX-License-Identifier: Apache-2.0 */
#include "test_infer.h"

static const test_infer_row accepted[] = {
    {"nonzero f32[2,3]", "f32: i64[6,2] i64[]"},
    {"nonzero bool[]", "bool: i64[1,0] i64[]"},
    {"nonzero u8[0,5]", "u8: i64[0,2] i64[]"},
};

static const test_infer_row refused[] = {
    {"nonzero c64[2]", "nonzero: argument 'self': dtype c64"},
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
