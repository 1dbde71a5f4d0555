/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows over the counter of a fixture, whose value the test sets.
 */
#include "testing/test_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static kw_dispatch_fixture *fixture;
static kw_device *device;

static int load(void **state) {
  (void)state;
  fixture = test_fixture_start(DISPATCH_FIXTURE);
  return fixture ? 0 : -1;
}

static int open_device(void **state) {
  (void)state;
  memset(fixture, 0, sizeof *fixture);
  return kw_device_open("fixture:0", &device) == KW_OK ? 0 : -1;
}

static int close_device(void **state) {
  (void)state;
  return kw_device_close(device) == KW_OK ? 0 : -1;
}

static kw_energy_window *begin_at(uint64_t microjoules) {
  kw_energy_window *window = NULL;
  fixture->microjoules = microjoules;
  assert_int_equal(kw_energy_begin(device, &window), KW_OK);
  assert_non_null(window);
  return window;
}

static kw_energy end_at(kw_energy_window *window, uint64_t microjoules) {
  kw_energy energy = {.struct_size = sizeof energy};
  fixture->microjoules = microjoules;
  assert_int_equal(kw_energy_end(window, &energy), KW_OK);
  assert_string_equal(energy.source, KW_GROUP_ENERGY);
  return energy;
}

static void windows_nest_and_overlap(void **state) {
  (void)state;
  kw_energy_window *outer = begin_at(1000000), *inner = begin_at(3000000);
  assert_true(end_at(inner, 3500000).joules == 0.5);
  kw_energy_window *late = begin_at(4000000);
  kw_energy all = end_at(outer, 6000000);
  assert_true(all.joules == 5);
  kw_energy rest = end_at(late, 6250000);
  assert_true(rest.joules == 2.25);
  assert_true(all.ns > 0 && rest.ns > 0);
}

static void failures_are_told_and_free_the_window(void **state) {
  (void)state;
  kw_energy_window *window = begin_at(10);
  kw_energy energy = {.struct_size = sizeof energy};
  fixture->energy_status = KW_ERR_UNSUPPORTED;
  assert_int_equal(kw_energy_end(window, &energy), KW_ERR_UNSUPPORTED);
  assert_non_null(strstr(kw_error_message(), "energy counter of fixture:0"));
  assert_int_equal(kw_energy_begin(device, &window), KW_ERR_UNSUPPORTED);
  fixture->energy_status = KW_OK;
  window = begin_at(10);
  fixture->microjoules = 9;
  assert_int_equal(kw_energy_end(window, &energy), KW_ERR_INTERNAL);
  assert_non_null(strstr(kw_error_message(), "went back"));
  window = begin_at(10);
  assert_int_equal(kw_energy_end(window, NULL), KW_ERR_INVALID_ARGUMENT);
}

static void bad_arguments_are_refused(void **state) {
  (void)state;
  kw_energy energy = {.struct_size = sizeof energy};
  kw_energy_window *window;
  assert_int_equal(kw_energy_begin(NULL, &window), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_energy_begin(device, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_energy_end(NULL, &energy), KW_ERR_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(windows_nest_and_overlap, open_device, close_device),
      cmocka_unit_test_setup_teardown(failures_are_told_and_free_the_window, open_device, close_device),
      cmocka_unit_test_setup_teardown(bad_arguments_are_refused, open_device, close_device),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
