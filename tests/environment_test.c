/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program is told of variables of the environment that say nothing: values that are none, names that nothing
 * has.
 */
#include "child.h"

#include <keyway/keyway.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The variables of the running case, from the first on that has a name. */
static const char *variables[2][2];

static void start_quietly(void) {
  for (size_t i = 0; variables[i][0] != NULL; i++) setenv(variables[i][0], variables[i][1], 1);
  const kw_init_options start = {.struct_size = sizeof start, .flags = KW_INIT_NO_DISCOVERY};
  CHECK_OK(kw_init(&start));
}

/* A program that computes nothing. */
static void use_plugin(void) {
  start_quietly();
  CHECK_OK(kw_plugin_load(fixture_path("plain")));
  kw_device *device;
  CHECK_OK(kw_device_open("plain", &device));
  CHECK_OK(kw_device_close(device));
}

/* How often the words stand in what the last child wrote to stderr. */
static int count_in_log(const char *words) {
  int count = 0;
  for (const char *at = read_text(scratch_path("stderr")); (at = strstr(at, words)) != NULL; at += strlen(words))
    ++count;
  return count;
}

static void run_with(const char *name, const char *value) {
  memset(variables, 0, sizeof variables);
  variables[0][0] = name;
  variables[0][1] = value;
  run_child(use_plugin);
}

static void values_that_are_none_are_told(void **state) {
  (void)state;
  static const struct {
    const char *name, *value, *words;
  } wrong[] = {
      /* first: it is read where a plugin is looked at that is not in the cache */
      {"KEYWAY_PROBE_TIMEOUT_MS", "long", "KEYWAY_PROBE_TIMEOUT_MS is 'long'; it stays what it is by default"},
      {"KEYWAY_LOG", "verbose", "KEYWAY_LOG is 'verbose'; it stays warn. Use error, warn, info or debug"},
      {"KEYWAY_THREADS", "many", "KEYWAY_THREADS is 'many'; it stays the number of CPUs"},
      {"KEYWAY_TOP", "yes", "KEYWAY_TOP is 'yes'; it stays 0. Use 0 or 1"},
      {"KEYWAY_MATH", "best", "KEYWAY_MATH is 'best'; it stays highest. Use highest, tf32 or fast"},
      {"KEYWAY_KERNELS", "relu", "KEYWAY_KERNELS: 'relu' is ignored: op=name is expected"},
      {"KEYWAY_KERNELS", "relu=a,reluu=nope", "'reluu=nope' is ignored: there is no op 'reluu'; did you mean 'relu'?"},
      {"KEYWAY_ISOLATE", "nosuch", "KEYWAY_ISOLATE: 'nosuch' means no plugin that was found"},
      {"KEYWAY_OPTIONS", "acme.npu.depth=1",
       "KEYWAY_OPTIONS: 'acme.npu.depth' is no option of a plugin that was found"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    run_with(wrong[i].name, wrong[i].value);
    if (count_in_log(wrong[i].words) != 1)
      fail_msg("'%s' is not once in: %s", wrong[i].words, read_text(scratch_path("stderr")));
  }
}

static void look_in_places(void) {
  char places[1024];
  snprintf(places, sizeof places, "%s:relative:%s", fixture_path("plain"), scratch_path("not_there"));
  setenv("KEYWAY_PLUGIN_PATH", places, 1);
  kw_plugin_directory place = {.struct_size = sizeof place};
  CHECK_OK(kw_plugin_get_directory(0, &place));
  CHECK(place.state == KW_DIRECTORY_REFUSED);
  CHECK_CONTAINS(place.reason, "is a file: name its folder, or load it with --plugin");
}

/* Also of a file, which can be meant for one; not of a folder that is not there, as a part of an installation may be.
 */
static void places_that_cannot_be_searched_are_told(void **state) {
  (void)state;
  run_child(look_in_places);
  assert_int_equal(count_in_log("keyway_fixture_plain.so: is a file: name its folder, or load it with --plugin"), 1);
  assert_int_equal(count_in_log("KEYWAY_PLUGIN_PATH: relative: a relative element of KEYWAY_PLUGIN_PATH is not"), 1);
  assert_int_equal(count_in_log("not_there"), 0);
}

static void use_isolated_plugin(void) {
  setenv("KEYWAY_ISOLATE_TIMEOUT_MS", "x", 1);
  setenv("KEYWAY_ISOLATE", "plain", 1);
  use_plugin();
}

static void the_limit_of_isolated_plugins_is_told(void **state) {
  (void)state;
  memset(variables, 0, sizeof variables);
  run_child(use_isolated_plugin);
  assert_int_equal(count_in_log("KEYWAY_ISOLATE_TIMEOUT_MS is 'x'; it stays what it is by default"), 1);
}

static void what_means_something_is_not_told(void **state) {
  (void)state;
  static const char *const right[][2] = {{"KEYWAY_LOG", ""},
                                         {"KEYWAY_LOG", "warn"},
                                         {"KEYWAY_THREADS", "3"},
                                         {"KEYWAY_TOP", "0"},
                                         {"KEYWAY_KERNELS", "div.Tensor=off,rel*=x,acme::op=y"},
                                         {"KEYWAY_PLUGINS", "-nosuch"},
                                         {"KEYWAY_ISOLATE", "*"},
                                         {"KEYWAY_ISOLATE", "keyway_fixture_plain"},
                                         {"KEYWAY_ISOLATE", "fixture.plain"}};
  for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
    run_with(right[i][0], right[i][1]);
    if (count_in_log("KEYWAY_") != 0) fail_msg("%s is told: %s", right[i][0], read_text(scratch_path("stderr")));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_that_are_none_are_told),
      cmocka_unit_test(places_that_cannot_be_searched_are_told),
      cmocka_unit_test(the_limit_of_isolated_plugins_is_told),
      cmocka_unit_test(what_means_something_is_not_told),
  };
  int failures = cmocka_run_group_tests(tests, NULL, NULL);
  remove_scratch();
  return failures;
}
