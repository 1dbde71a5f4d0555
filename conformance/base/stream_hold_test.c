/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds that nobody opens: the process goes on all the same.
 */
#include "base/stream_hold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>

static kw_stream *stream;

static int open_device(void **state) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  kw_device *device;
  (void)state;
  assert_int_equal(kw_init(&options), KW_OK);
  assert_int_equal(kw_plugin_load(CPU_PLUGIN), KW_OK);
  assert_int_equal(kw_device_open("cpu:0", &device), KW_OK);
  assert_int_equal(kw_stream_create(device, &stream), KW_OK);
  return 0;
}

static int close_device(void **state) {
  (void)state;
  kw_device *device = kw_stream_device(stream);
  assert_int_equal(kw_stream_destroy(stream), KW_OK);
  assert_int_equal(kw_device_close(device), KW_OK);
  return 0;
}

static void wait_while_held(void) {
  kw_hold *hold = NULL;
  assert_int_equal(kw_hold_close(stream, &hold), KW_OK);
  assert_non_null(hold);
  assert_int_equal(kw_stream_synchronize(stream), KW_OK);
  assert_false(kw_hold_is_shut(hold));
  kw_hold_open(hold);
}

static void opens_in_a_process_that_sleeps(void **state) {
  (void)state;
  wait_while_held();
}

static void *work_until_told(void *told) {
  while (!atomic_load((atomic_bool *)told)) continue;
  return NULL;
}

/* As with a driver that polls its device. */
static void opens_beside_a_thread_that_works(void **state) {
  (void)state;
  atomic_bool told = false;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, work_until_told, &told), 0);
  wait_while_held();
  atomic_store(&told, true);
  assert_int_equal(pthread_join(thread, NULL), 0);
}

/* One that opens of itself says nothing of the next: that a graph follows its launch on another stream is no reason. */
static void stays_shut_while_there_are_steps(void **state) {
  (void)state;
  kw_hold *hold = NULL;
  assert_int_equal(kw_hold_close(stream, &hold), KW_OK);
  assert_non_null(hold);
  assert_true(kw_hold_is_shut(hold));
  assert_int_equal(kw_stream_synchronize_for(stream, 0), KW_ERR_TIMEOUT);
  kw_hold_step();
  assert_true(kw_hold_is_shut(hold));
  kw_hold_open(hold);
  assert_int_equal(kw_stream_synchronize(stream), KW_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(opens_in_a_process_that_sleeps),
      cmocka_unit_test(opens_beside_a_thread_that_works),
      cmocka_unit_test(stays_shut_while_there_are_steps),
  };
  return cmocka_run_group_tests(tests, open_device, close_device);
}
