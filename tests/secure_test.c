/* SPDX-License-Identifier: Apache-2.0
 *
 * A program whose privileges were raised takes nothing of Keyway's from its environment. Raising them takes a
 * set-user-ID file, so this program stands in for libc's secure_getenv: the library finds the program's own first.
 */
#include "child.h"

#include <keyway/keyway.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static bool raised;

__attribute__((visibility("default"))) char *secure_getenv(const char *name) {
  return raised ? NULL : getenv(name);
}

static bool directory_of(const char *origin) {
  kw_plugin_directory directory = {.struct_size = sizeof directory};
  for (uint32_t i = 0; kw_plugin_get_directory(i, &directory) == KW_OK; i++) {
    if (strcmp(directory.origin, origin) == 0) return true;
  }
  return false;
}

static bool exists(const char *name) {
  return access(scratch_path(name), F_OK) == 0;
}

/* Each variable says something that shows. */
static void start_in_full_environment(void) {
  setenv("KEYWAY_PLUGIN_PATH", scratch_directory(), 1);
  setenv("KEYWAY_VISIBLE_DEVICES", "cpu:0", 1);
  setenv("KEYWAY_FALLBACK", "allow", 1);
  setenv("KEYWAY_TRACE", scratch_path("trace"), 1);
  setenv("KEYWAY_LOG", "info", 1);
  setenv("KEYWAY_KERNELS", "as one likes", 1);
  setenv("KEYWAY_MATH", "tf32", 1);
  setenv("KEYWAY_DETERMINISTIC", "1", 1);
  setenv("KEYWAY_OPTIONS", "keyway.cpu.memory_limit=1000000", 1);
  setenv("KEYWAY_PROBE_TIMEOUT_MS", "10000", 1);
  if (raised) setenv("KEYWAY_TRUST", "/no/list", 1); /* no plugin could be opened */
  CHECK_OK(kw_plugin_load(fixture_path("plain")));
  kw_device *device;
  kw_tensor *x, *sum = NULL;
  CHECK_OK(kw_device_open("cpu:0", &device));
  CHECK_OK(kw_tensor_create(device, KW_F32, 1, (const int64_t[]){1}, &x));
  CHECK_OK(kw_tensor_write(x, (const float[]){1}));
  const kw_value arguments[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  CHECK_OK(kw_op_call(kw_op_find("add.Tensor"), NULL, arguments, 2, &sum, 1));
  kw_tensor_release(x);
  kw_tensor_release(sum);
  uint64_t unused, total;
  CHECK_OK(kw_memory_get_usage(device, &unused, &total));
  CHECK_OK(kw_device_close(device));

  const bool heard = !raised;
  uint32_t visible;
  CHECK_OK(kw_device_count(&visible));
  CHECK((visible == 1) == heard);
  CHECK((total == 1000000) == heard);
  CHECK(directory_of("KEYWAY_PLUGIN_PATH") == heard);
  CHECK(directory_of("this user's") == heard);
  CHECK(kw_fallback_get() == (heard ? KW_FALLBACK_ALLOW : KW_FALLBACK_OFF));
  CHECK(kw_math_mode_get() == (heard ? KW_MATH_TF32 : KW_MATH_HIGHEST));
  CHECK(kw_deterministic_get() == heard);
  CHECK(exists("trace") == heard);
}

static void logs(const char *words, bool expected) {
  if ((strstr(read_text(scratch_path("stderr")), words) != NULL) != expected) {
    fail_msg("'%s' is %s the log: %s", words, expected ? "not in" : "in", read_text(scratch_path("stderr")));
  }
}

static void start_in(bool with_privileges) {
  raised = with_privileges;
  run_child(start_in_full_environment);
  raised = false;
  logs("keyway_fixture_plain.so: reached init", !with_privileges);
  logs("KEYWAY_KERNELS", !with_privileges);
  assert_int_equal(find_file_with(scratch_path("cache/keyway/probe"), "keyway_fixture_plain.so") != NULL,
                   !with_privileges);
}

static void privileges_shut_the_environment_out(void **state) {
  (void)state;
  start_in(true);
}

/* All that the test above did not see is there to be seen. */
static void without_them_it_counts(void **state) {
  (void)state;
  start_in(false);
}

static int clean_up(void **state) {
  (void)state;
  remove_scratch();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(privileges_shut_the_environment_out),
      cmocka_unit_test(without_them_it_counts),
  };
  return cmocka_run_group_tests(tests, NULL, clean_up);
}
