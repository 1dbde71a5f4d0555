/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin in a process of its own, as an application sees it: that it works, and what is left when it does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "testing/test_processes.h"

#include <keyway/keyway.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEVICE "unsteady:0"
#define NUMBERS 1000

static kw_device *open_device(const char *end) {
  const kw_option option = {"end", end};
  kw_device *device = NULL;
  const kw_status status = kw_device_open_with(DEVICE, &option, end != NULL ? 1 : 0, &device);
  if (status != KW_OK) print_error("%s\n", kw_error_message());
  assert_int_equal(status, KW_OK);
  return device;
}

static kw_tensor *numbers(kw_device *device, const float *values) {
  const int64_t shape[] = {NUMBERS};
  kw_tensor *tensor = NULL;
  assert_int_equal(kw_tensor_create(device, KW_F32, 1, shape, &tensor), KW_OK);
  if (values != NULL) assert_int_equal(kw_tensor_write(tensor, values), KW_OK);
  return tensor;
}

static void expect_sum(kw_device *device) {
  float a[NUMBERS], b[NUMBERS], sum[NUMBERS];
  for (int i = 0; i < NUMBERS; i++) a[i] = (float)i, b[i] = (float)(2 * i);
  kw_tensor *x = numbers(device, a), *y = numbers(device, b), *out = numbers(device, NULL);
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(y)};
  assert_int_equal(kw_op_call(kw_op_find("add.Tensor"), NULL, args, 2, &out, 1), KW_OK);
  assert_int_equal(kw_tensor_read(out, sum), KW_OK);
  for (int i = 0; i < NUMBERS; i++) assert_true(sum[i] == (float)(3 * i));
  kw_tensor_release(x), kw_tensor_release(y), kw_tensor_release(out);
}

/* ---- It works ---------------------------------------------------------------------------------------------------- */

static void computes_in_another_process(void **state) {
  (void)state;
  kw_device *device = open_device(NULL);
  assert_int_not_equal(kw_test_child(), 0);
  expect_sum(device);
  assert_int_equal(kw_device_close(device), KW_OK);
}

static void run_function(void *user) {
  atomic_fetch_add((atomic_int *)user, 1);
}

/* What one copy of a stream stores to the application's memory the next one finds there, and so does a function. */
static void copies_through_memory_that_only_the_application_has(void **state) {
  (void)state;
  kw_device *device = open_device(NULL);
  kw_stream *stream = NULL;
  atomic_int runs = 0;
  float from[NUMBERS], through[NUMBERS] = {0}, back[NUMBERS] = {0};
  for (int i = 0; i < NUMBERS; i++) from[i] = (float)(i + 1);
  assert_int_equal(kw_stream_create(device, &stream), KW_OK);
  kw_tensor *first = numbers(device, NULL), *second = numbers(device, NULL);
  assert_int_equal(kw_tensor_write_async(first, from, stream), KW_OK);
  assert_int_equal(kw_tensor_read_async(first, through, stream), KW_OK);
  assert_int_equal(kw_tensor_write_async(second, through, stream), KW_OK);
  assert_int_equal(kw_tensor_read_async(second, back, stream), KW_OK);
  assert_int_equal(kw_stream_call_host(stream, run_function, &runs), KW_OK);
  assert_int_equal(kw_stream_synchronize(stream), KW_OK);
  assert_memory_equal(back, from, sizeof back);
  assert_int_equal(atomic_load(&runs), 1);
  kw_tensor_release(first), kw_tensor_release(second);
  assert_int_equal(kw_stream_destroy(stream), KW_OK);
  assert_int_equal(kw_device_close(device), KW_OK);
}

static void hold(void *gate) {
  while (atomic_load((atomic_bool *)gate)) sched_yield();
}

/* Each copy that waits has a piece of shared memory of its own; few stay when all have passed. */
static void a_burst_of_copies_leaves_few_mappings(void **state) {
  (void)state;
  enum { BURST = 200, STAYS = 64 };
  static const float from[NUMBERS] = {0};
  kw_device *device = open_device(NULL);
  kw_stream *stream = NULL;
  atomic_bool gate = true;
  assert_int_equal(kw_stream_create(device, &stream), KW_OK);
  kw_tensor *tensor = numbers(device, NULL);
  assert_int_equal(kw_stream_call_host(stream, hold, &gate), KW_OK);
  for (int i = 0; i < BURST; i++) assert_int_equal(kw_tensor_write_async(tensor, from, stream), KW_OK);
  assert_true(kw_test_shared_mappings() >= BURST);
  atomic_store(&gate, false);
  assert_int_equal(kw_stream_synchronize(stream), KW_OK);
  assert_true(kw_test_shared_mappings() <= STAYS);
  kw_tensor_release(tensor);
  assert_int_equal(kw_stream_destroy(stream), KW_OK);
  assert_int_equal(kw_device_close(device), KW_OK);
}

/* ---- It ends ----------------------------------------------------------------------------------------------------- */

static void expect_lost(const char *end, const char *said) {
  kw_device *device = open_device(end);
  kw_tensor *tensor = NULL;
  const int64_t shape[] = {NUMBERS};
  float values[NUMBERS] = {0};
  kw_status status = kw_tensor_create(device, KW_F32, 1, shape, &tensor);
  while (status == KW_OK) status = kw_tensor_write(tensor, values); /* it comes, or the test does not end */
  assert_int_equal(status, KW_ERR_DEVICE_LOST);
  if (strstr(kw_error_message(), said) == NULL && strstr(kw_error_message(), "was lost") == NULL) {
    fail_msg("'%s' does not say '%s'", kw_error_message(), said);
  }
  assert_int_equal(kw_device_synchronize(device), KW_ERR_DEVICE_LOST);
  if (strstr(kw_error_message(), said) == NULL) fail_msg("'%s' does not say '%s'", kw_error_message(), said);
  kw_tensor_release(tensor);
  assert_int_equal(kw_device_close(device), KW_OK);
  device = open_device(NULL);
  expect_sum(device);
  assert_int_equal(kw_device_close(device), KW_OK);
}

static void a_crash_is_a_lost_device(void **state) {
  (void)state;
  expect_lost("crash@20", "crashed (SIGSEGV)");
  expect_lost("wild@30", "crashed (SIGSEGV)");
  expect_lost("thread@25", "crashed (SIGSEGV)");
}

static void an_exit_is_a_lost_device(void **state) {
  (void)state;
  expect_lost("exit@20", "ended itself with code 7");
}

static void a_hang_is_a_lost_device(void **state) {
  (void)state;
  expect_lost("hang@20", "hung in memory.copy for over 5 s (ten times KEYWAY_ISOLATE_TIMEOUT_MS)");
}

static void a_kill_is_a_lost_device(void **state) {
  (void)state;
  kw_device *device = open_device(NULL);
  kw_tensor *tensor = numbers(device, NULL);
  assert_int_equal(kill(kw_test_child(), SIGKILL), 0);
  while (kw_device_synchronize(device) == KW_OK) continue;
  assert_int_equal(kw_device_synchronize(device), KW_ERR_DEVICE_LOST);
  assert_non_null(strstr(kw_error_message(), "was killed (SIGKILL)"));
  kw_tensor_release(tensor);
  assert_int_equal(kw_device_close(device), KW_OK);
  device = open_device(NULL);
  expect_sum(device);
  assert_int_equal(kw_device_close(device), KW_OK);
}

/* ---- It is fenced ------------------------------------------------------------------------------------------------ */

/* As far as this kernel and this build can. */
static void may_do_little_but_work(void **state) {
  (void)state;
  const kw_option option = {"end", "fences"};
  const long landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, 1); /* its version */
  kw_device *device = NULL;
  char expected[200] = "possible:";
  if (!SECCOMP) strcat(expected, " socket execute");
  if (!SECCOMP && landlock < 1) strcat(expected, " trace");
  if (landlock < 6) strcat(expected, " signal");
  if (landlock < 1) strcat(expected, " memory file");
  strcat(expected, " temporary");
  assert_int_equal(kw_device_open_with(DEVICE, &option, 1, &device), KW_ERR_BUSY);
  const char *found = strstr(kw_error_message(), "possible:");
  if (found == NULL || strcmp(found, expected) != 0) fail_msg("'%s' is not '%s'", kw_error_message(), expected);
}

int main(void) {
  setenv("KEYWAY_ISOLATE", "keyway_unsteady,unsteady", 1);
  setenv("KEYWAY_ISOLATE_TIMEOUT_MS", "500", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(computes_in_another_process),
      cmocka_unit_test(copies_through_memory_that_only_the_application_has),
      cmocka_unit_test(a_burst_of_copies_leaves_few_mappings),
      cmocka_unit_test(a_crash_is_a_lost_device),
      cmocka_unit_test(an_exit_is_a_lost_device),
      cmocka_unit_test(a_hang_is_a_lost_device),
      cmocka_unit_test(a_kill_is_a_lost_device),
      cmocka_unit_test(may_do_little_but_work),
  };
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  if (kw_init(&options) != KW_OK || kw_plugin_load(UNSTEADY_PLUGIN) != KW_OK) {
    print_error("%s\n", kw_error_message());
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
