/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of bytes, and what is none.
 */
#include "base/byte_count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void numbers_with_and_without_units(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t bytes;
  } good[] = {{"0", 0},
              {"4096", 4096},
              {"64KiB", 64 << 10},
              {"512MiB", UINT64_C(512) << 20},
              {"3GiB", UINT64_C(3) << 30},
              {"18446744073709551615", UINT64_MAX}};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; ++i) {
    uint64_t bytes = 1;
    assert_true(kw_byte_count_parse(good[i].text, &bytes));
    assert_true(bytes == good[i].bytes);
  }
}

static void anything_else_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",      "MiB",           "-1", " 1", "1 ", "1.5GiB", "1gib", "0x10", "18446744073709551616", "1MiBx",
      "1 GiB", "17179869184GiB"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    uint64_t bytes = 7;
    assert_false(kw_byte_count_parse(bad[i], &bytes));
    assert_int_equal(bytes, 7);
  }
}

static void of_the_environment_from_the_least_on(void **state) {
  (void)state;
  unsetenv("SOME_LIMIT");
  assert_int_equal(kw_byte_count_from_environment("SOME_LIMIT", 10, 1000), 1000);
  setenv("SOME_LIMIT", "2KiB", 1);
  assert_int_equal(kw_byte_count_from_environment("SOME_LIMIT", 10, 1000), 2048);
  setenv("SOME_LIMIT", "9", 1);
  assert_int_equal(kw_byte_count_from_environment("SOME_LIMIT", 10, 1000), 1000);
  setenv("SOME_LIMIT", "much", 1);
  assert_int_equal(kw_byte_count_from_environment("SOME_LIMIT", 10, 1000), 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_with_and_without_units),
      cmocka_unit_test(anything_else_is_refused),
      cmocka_unit_test(of_the_environment_from_the_least_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
