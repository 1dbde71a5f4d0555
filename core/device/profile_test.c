/* SPDX-License-Identifier: Apache-2.0
 *
 * Profile ranges as the plugin and the trace hear of them.
 */
#include "testing/test_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static kw_dispatch_fixture *fixture;

static int load(void **state) {
  (void)state;
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  if (kw_profile_push("before the library starts") != KW_OK || kw_init(&options) != KW_OK) return -1;
  fixture = test_fixture_load(DISPATCH_FIXTURE);
  return fixture ? 0 : -1;
}

static int clear(void **state) {
  (void)state;
  memset(fixture, 0, sizeof *fixture);
  return 0;
}

/* The range that load opened: the plugin was not there yet and hears nothing of its end. */
static void a_late_plugin_gets_no_stray_pop(void **state) {
  (void)state;
  assert_int_equal(kw_profile_pop(), KW_OK);
  assert_string_equal(fixture->ranges, "");
}

static void ranges_nest(void **state) {
  (void)state;
  assert_int_equal(kw_profile_push("epoch"), KW_OK);
  assert_int_equal(kw_profile_push("step"), KW_OK);
  assert_int_equal(kw_profile_pop(), KW_OK);
  assert_int_equal(kw_profile_pop(), KW_OK);
  assert_string_equal(fixture->ranges, "+epoch+step--");
  assert_int_equal(kw_profile_pop(), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "no range is open"));
  assert_string_equal(fixture->ranges, "+epoch+step--");
  assert_int_equal(kw_profile_push(NULL), KW_ERR_INVALID_ARGUMENT);
}

static void too_many_are_refused(void **state) {
  (void)state;
  int depth = 0;
  while (depth < 1000 && kw_profile_push("r") == KW_OK) depth++;
  assert_int_equal(depth, 64);
  assert_non_null(strstr(kw_error_message(), "kw_profile_pop missing"));
  while (depth-- > 0) assert_int_equal(kw_profile_pop(), KW_OK);
  assert_int_equal(kw_profile_pop(), KW_ERR_INVALID_ARGUMENT);
}

static void *pop_another_threads(void *out_status) {
  *(kw_status *)out_status = kw_profile_pop();
  kw_profile_push("left open");
  return NULL;
}

static void ranges_belong_to_threads(void **state) {
  (void)state;
  pthread_t thread;
  kw_status status = KW_OK;
  assert_int_equal(kw_profile_push("mine"), KW_OK);
  assert_int_equal(pthread_create(&thread, NULL, pop_another_threads, &status), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(status, KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_profile_pop(), KW_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_late_plugin_gets_no_stray_pop, clear),
      cmocka_unit_test_setup(ranges_nest, clear),
      cmocka_unit_test_setup(too_many_are_refused, clear),
      cmocka_unit_test_setup(ranges_belong_to_threads, clear),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
