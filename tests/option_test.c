/* SPDX-License-Identifier: Apache-2.0
 *
 * Options on their way from names, structs and the environment to a plugin, which tells what it was handed.
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

/* Starts the library with these options; it loads what it is told to. */
static void start_with(const kw_option *options, uint32_t count) {
  const kw_init_options start = {
      .struct_size = sizeof start, .flags = KW_INIT_NO_DISCOVERY, .options = options, .option_count = count};
  CHECK_OK(kw_init(&start));
}

/* The same, and loads the fixture. */
static void load_with(const kw_option *options, uint32_t count) {
  start_with(options, count);
  CHECK_OK(kw_plugin_load(fixture_path("options")));
}

/* What the plugin was handed at "init" or "open". */
static void check_handed(const char *where, const char *options) {
  kw_attribute value = {.struct_size = sizeof value};
  CHECK_OK(kw_device_get_entry_attribute(0, where, &value));
  CHECK(value.type == KW_ATTRIBUTE_STRING);
  CHECK_CONTAINS(value.u.s, options);
  CHECK(strlen(value.u.s) == strlen(options));
}

static void check_opened_with(const char *name, const char *options) {
  kw_device *device;
  CHECK_OK(kw_device_open(name, &device));
  check_handed("open", options);
  CHECK_OK(kw_device_close(device));
}

static void check_refused(const char *name, kw_status status, const char *text) {
  kw_device *device = NULL;
  CHECK(kw_device_open(name, &device) == status);
  CHECK_CONTAINS(kw_error_message(), text);
  CHECK(device == NULL);
}

/* ---- One device -------------------------------------------------------------------------------------------------- */

static void name_options(void) {
  load_with(NULL, 0);
  check_opened_with("options:0", "");
  check_opened_with("options:0/width=16", "width=16;");
  check_opened_with("options/fixture.options.width=16;colour=a=b c/d", "width=16;colour=a=b c/d;");
  check_opened_with("fixture.options:0/colour=", "colour=;");
  check_opened_with("options@slot:fixture-0/width=1", "width=1;");
  check_opened_with("auto/width=2;keyway.opencl.module_cache=0", "width=2;"); /* another plugin's is ignored */
  check_handed("init", "");
  CHECK_OK(kw_device_rename("options", "mine"));
  check_opened_with("mine/width=3", "width=3;");
}

static void names_carry_options(void **state) {
  (void)state;
  run_child(name_options);
  CHECK_CONTAINS(read_text(scratch_path("stderr")), "'keyway.opencl.module_cache' is ignored: it is none of");
}

static void refuse_options(void) {
  load_with(NULL, 0);
  check_refused("options/widht=1", KW_ERR_INVALID_ARGUMENT,
                "options:0: 'widht' is no option of fixture.options, which has width, colour, mode");
  check_refused("options/fixture.options.widht=1", KW_ERR_INVALID_ARGUMENT, "is no option of fixture.options");
  check_refused("options/later=1", KW_ERR_INVALID_ARGUMENT, "is no option of fixture.options");
  check_refused("options/mode=fast", KW_ERR_INVALID_ARGUMENT, "by its whole key fixture.options.mode");
  check_refused("options/width=65", KW_ERR_INVALID_ARGUMENT, "the option width is 1 to 64");
  check_refused("options/width=", KW_ERR_INVALID_ARGUMENT, "the option width is 1 to 64");
  check_refused("options/width= 1", KW_ERR_INVALID_ARGUMENT, "the option width is 1 to 64");
  check_refused("options/width=18446744073709551617", KW_ERR_INVALID_ARGUMENT, "the option width is 1 to 64");
  check_refused("options/width=1;width=1", KW_ERR_INVALID_ARGUMENT, "'width' is given twice");
  check_refused("options/width=1;fixture.options.width=1", KW_ERR_INVALID_ARGUMENT, "'width' is given twice");
  check_refused("options/width", KW_ERR_INVALID_ARGUMENT, "KEY=VALUE[;KEY=VALUE] is expected");
  check_refused("options/", KW_ERR_INVALID_ARGUMENT, "KEY=VALUE[;KEY=VALUE] is expected");
  check_refused("options/width=1;", KW_ERR_INVALID_ARGUMENT, "KEY=VALUE[;KEY=VALUE] is expected");
  check_refused("options/=1", KW_ERR_INVALID_ARGUMENT, "keys have 1 to");
  check_refused("options/Width=1", KW_ERR_INVALID_ARGUMENT, "keys are words of a-z 0-9 _");
  check_refused("options/colour=\xff", KW_ERR_INVALID_ARGUMENT, "no UTF-8");
  check_refused("nope/width=1", KW_ERR_NOT_FOUND, "there is no device 'nope'");
  check_opened_with("options:0", ""); /* none of that left anything behind */
  kw_device *device;
  const kw_option keyless = {NULL, "1"}, valueless = {"width", NULL};
  CHECK(kw_device_open_with("options", &keyless, 1, &device) == KW_ERR_INVALID_ARGUMENT);
  CHECK(kw_device_open_with("options", &valueless, 1, &device) == KW_ERR_INVALID_ARGUMENT);
  CHECK(kw_device_open_with("options", NULL, 1, &device) == KW_ERR_INVALID_ARGUMENT);
  char longest[1100] = "";
  memset(longest, 'x', KW_OPTION_VALUE_LIMIT + 1);
  const kw_option too_long = {"colour", longest};
  CHECK(kw_device_open_with("options", &too_long, 1, &device) == KW_ERR_INVALID_ARGUMENT);
  longest[KW_OPTION_VALUE_LIMIT] = '\0';
  CHECK_OK(kw_device_open_with("options", &too_long, 1, &device));
  CHECK_OK(kw_device_close(device));
}

static void wrong_options_are_refused(void **state) {
  (void)state;
  run_child(refuse_options);
}

static void open_again(void) {
  load_with(NULL, 0);
  kw_device *device, *again;
  const kw_option width = {"width", "16"};
  CHECK_OK(kw_device_open_with("options/colour=red", &width, 1, &device));
  check_handed("open", "width=16;colour=red;");
  CHECK_OK(kw_device_open("options", &again)); /* without: whatever it has */
  CHECK(again == device);
  CHECK_OK(kw_device_close(again));
  CHECK_OK(kw_device_open("options/fixture.options.width=16", &again));
  CHECK(again == device);
  CHECK_OK(kw_device_close(again));
  check_refused("options/width=8", KW_ERR_BUSY, "it is open already, with width=16");
  check_refused("options/colour=", KW_ERR_BUSY, "it is open already, with colour=red");
  CHECK_OK(kw_device_close(device));
  CHECK_OK(kw_device_open("options", &device));
  CHECK_OK(kw_device_open("options/width=8", &again)); /* what it is by itself */
  CHECK(again == device);
  CHECK_OK(kw_device_close(again));
  CHECK_OK(kw_device_close(device));
  check_opened_with("options/width=9", "width=9;");
}

static void an_open_device_keeps_its_options(void **state) {
  (void)state;
  run_child(open_again);
}

/* ---- All devices ------------------------------------------------------------------------------------------------- */

static void start_with_options(void) {
  setenv("KEYWAY_OPTIONS", "fixture.options.mode=fast;fixture.options.width=5;fixture.options.colour=green", 1);
  char key[] = "fixture.options.colour", value[] = "blue";
  const kw_option options[] = {{key, value}, {"acme.npu.queue_depth", "1"}};
  load_with(options, 2);
  memset(key, 'x', sizeof key - 1); /* they are copied */
  memset(value, 'x', sizeof value - 1);
  check_handed("init", "mode=fast;");
  check_opened_with("options", "width=5;colour=blue;");
  check_opened_with("options/width=6;colour=", "width=6;colour=;");
}

static void what_is_nearest_comes_first(void **state) {
  (void)state;
  run_child(start_with_options);
}

static void start_with_wrong_options(void) {
  setenv("KEYWAY_OPTIONS", "fixture.options.moode=fast", 1);
  start_with(NULL, 0);
  CHECK(kw_plugin_load(fixture_path("options")) == KW_ERR_INVALID_ARGUMENT);
  CHECK_CONTAINS(kw_error_message(), "KEYWAY_OPTIONS: 'fixture.options.moode' is no option of fixture.options");
  CHECK_OK(kw_plugin_load(fixture_path("plain"))); /* not concerned */
}

static void start_with_wrong_value(void) {
  setenv("KEYWAY_OPTIONS", "fixture.options.mode=slow", 1);
  start_with(NULL, 0);
  CHECK(kw_plugin_load(fixture_path("options")) == KW_ERR_INVALID_ARGUMENT);
  CHECK_CONTAINS(kw_error_message(), "the option mode is plain or fast");
}

static void start_with_nonsense(void) {
  setenv("KEYWAY_OPTIONS", "fixture.options.mode=fast;what?", 1);
  load_with(NULL, 0);
  check_handed("init", "mode=fast;");
}

static void start_with_wrong_struct(void) {
  const kw_option twice[] = {{"a.b.c", "1"}, {"a.b.c", "1"}};
  kw_init_options start = {
      .struct_size = sizeof start, .flags = KW_INIT_NO_DISCOVERY, .options = twice, .option_count = 2};
  CHECK(kw_init(&start) == KW_ERR_INVALID_ARGUMENT);
  CHECK_CONTAINS(kw_error_message(), "kw_init: 'a.b.c' is given twice");
  start.option_count = 1;
  CHECK_OK(kw_init(&start));
}

static void a_plugin_with_wrong_options_is_not_loaded(void **state) {
  (void)state;
  run_child(start_with_wrong_options);
  run_child(start_with_wrong_value);
  run_child(start_with_nonsense);
  CHECK_CONTAINS(read_text(scratch_path("stderr")), "KEYWAY_OPTIONS: 'what?' cannot be an option");
  run_child(start_with_wrong_struct);
}

static void read_report(void) {
  load_with(NULL, 0);
  kw_plugin_report report = {.struct_size = sizeof report};
  CHECK_OK(kw_plugin_get_report(0, &report));
  CHECK(report.option_count == 4);
  CHECK(strcmp(report.options[0]->key, "width") == 0 && strcmp(report.options[0]->value, "8") == 0);
  CHECK(strcmp(report.options[0]->text, "how wide: 1 to 64") == 0);
  CHECK(report.options[2]->place == KW_OPTION_INIT);
}

static void reports_tell_the_options(void **state) {
  (void)state;
  run_child(read_report);
}

/* ---- The cpu's --------------------------------------------------------------------------------------------------- */

static void limit_memory(void) {
  start_with(NULL, 0);
  CHECK_OK(kw_plugin_load(CPU_PLUGIN));
  kw_device *device;
  uint64_t unused, total, less;
  CHECK_OK(kw_device_open("cpu:0/memory_limit=100000000", &device));
  CHECK_OK(kw_memory_get_usage(device, &unused, &total));
  CHECK(total == 100000000 && unused == total);
  kw_tensor *tensor;
  CHECK_OK(kw_tensor_create(device, KW_U8, 1, (const int64_t[]){60000000}, &tensor));
  CHECK_OK(kw_memory_get_usage(device, &less, &total));
  CHECK(less <= unused - 60000000);
  kw_tensor *more = NULL;
  CHECK(kw_tensor_create(device, KW_U8, 1, (const int64_t[]){60000000}, &more) == KW_ERR_OUT_OF_MEMORY);
  CHECK_CONTAINS(kw_error_message(), "of the 100000000 bytes that this device may take");
  kw_tensor_release(tensor);
  CHECK(kw_memory_get_usage(NULL, &unused, &total) == KW_ERR_INVALID_ARGUMENT);
  CHECK(kw_memory_get_usage(device, NULL, &total) == KW_ERR_INVALID_ARGUMENT);
  CHECK_OK(kw_device_close(device));
  check_refused("cpu:0/memory_limit=much", KW_ERR_INVALID_ARGUMENT, "the option memory_limit is 'much'");
}

static void the_cpu_can_be_limited(void **state) {
  (void)state;
  run_child(limit_memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_carry_options),
      cmocka_unit_test(wrong_options_are_refused),
      cmocka_unit_test(an_open_device_keeps_its_options),
      cmocka_unit_test(what_is_nearest_comes_first),
      cmocka_unit_test(a_plugin_with_wrong_options_is_not_loaded),
      cmocka_unit_test(reports_tell_the_options),
      cmocka_unit_test(the_cpu_can_be_limited),
  };
  int failures = cmocka_run_group_tests(tests, NULL, NULL);
  remove_scratch();
  return failures;
}
