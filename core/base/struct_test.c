/* SPDX-License-Identifier: Apache-2.0
 *
 * Structs between older and newer sides.
 */
#include "base/struct.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* One struct as three versions have it, in memory that shows what was written. */
typedef struct sample {
  uint32_t struct_size;
  uint32_t first;
  uint32_t second;
  uint32_t beyond;
} sample;

enum { OLD = offsetof(sample, second), TODAY = offsetof(sample, beyond), NEWER = sizeof(sample), UNTOUCHED = 77 };

static const sample full = {.struct_size = NEWER, .first = 1, .second = 2, .beyond = 3};

static void taking_an_older_struct_zeroes_the_rest(void **state) {
  (void)state;
  sample from = full, to = {UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED};
  from.struct_size = OLD;
  kw_struct_read(&to, TODAY, &from);
  assert_true(to.struct_size == TODAY && to.first == 1 && to.second == 0 && to.beyond == UNTOUCHED);
}

static void taking_a_newer_struct_leaves_out_its_tail(void **state) {
  (void)state;
  sample to = {UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED};
  kw_struct_read(&to, TODAY, &full);
  assert_true(to.struct_size == TODAY && to.first == 1 && to.second == 2 && to.beyond == UNTOUCHED);
}

static void an_older_caller_is_given_what_fits(void **state) {
  (void)state;
  sample out = {OLD, UNTOUCHED, UNTOUCHED, UNTOUCHED};
  kw_struct_write(&out, &full, TODAY);
  assert_true(out.struct_size == OLD && out.first == 1 && out.second == UNTOUCHED && out.beyond == UNTOUCHED);
}

static void a_newer_caller_is_told_how_much_is_valid(void **state) {
  (void)state;
  sample out = {NEWER, UNTOUCHED, UNTOUCHED, UNTOUCHED};
  kw_struct_write(&out, &full, TODAY);
  assert_true(out.struct_size == TODAY && out.first == 1 && out.second == 2 && out.beyond == UNTOUCHED);
}

static void a_struct_without_its_size_is_refused(void **state) {
  (void)state;
  sample given = {.struct_size = sizeof(uint32_t)};
  assert_int_equal(kw_struct_check_given("f", &given), KW_OK);
  given.struct_size = sizeof(uint32_t) - 1;
  assert_int_equal(kw_struct_check_given("f", &given), KW_ERR_INVALID_ARGUMENT);
  assert_string_equal(kw_error_message(), "f: struct_size is not set: set it to sizeof the struct");
  assert_int_equal(kw_struct_check_given("f", NULL), KW_ERR_INVALID_ARGUMENT);
  assert_string_equal(kw_error_message(), "f: the struct is NULL");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(taking_an_older_struct_zeroes_the_rest),
      cmocka_unit_test(taking_a_newer_struct_leaves_out_its_tail),
      cmocka_unit_test(an_older_caller_is_given_what_fits),
      cmocka_unit_test(a_newer_caller_is_told_how_much_is_valid),
      cmocka_unit_test(a_struct_without_its_size_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
