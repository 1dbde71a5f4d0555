/* SPDX-License-Identifier: Apache-2.0
 *
 * What the plugin's threads may do while its device is being opened.
 */
#include "device/open.h"
#include "testing/test_device.h"

static test_device *test;
static kw_status during_open;

static kw_status give_info(void *plugin, uint32_t index, kw_device_info *out_info) {
  (void)plugin, (void)index;
  out_info->total_memory = 1 << 20;
  return KW_OK;
}

static void *report(void *unused) {
  during_open = kw_device_count_build(&test->plugin, test, 1, false);
  return unused;
}

/* Another thread reports a build for a device that the library does not have yet. */
static kw_status open_slowly(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  (void)plugin, (void)index, (void)info;
  *out_device = test;
  pthread_t thread;
  if (pthread_create(&thread, NULL, report, NULL) != 0) return KW_ERR_INTERNAL;
  pthread_join(thread, NULL);
  return KW_OK;
}

static void handles_are_known_once_open_has_returned(void **state) {
  (void)state;
  test = test_device_open("test:0", 0);
  test->plugin.device.info = give_info;
  test->plugin.device.open = open_slowly;
  kw_device *device;
  bool first;
  assert_ok(kw_device_open_at(&test->plugin, 0, "test:1", &(kw_options){0}, &first, &device));
  assert_true(first);
  assert_int_equal(during_open, KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(atomic_load(&device->modules_built), 0);
  assert_ok(kw_device_count_build(&test->plugin, test, 5, false));
  assert_ok(kw_device_count_build(&test->plugin, test, 2, true));
  assert_int_equal(kw_device_count_build(&test->plugin, NULL, 1, true), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(atomic_load(&device->modules_built), 1);
  assert_int_equal(atomic_load(&device->modules_cached), 1);
  assert_int_equal(atomic_load(&device->build_ns), 7);
  assert_ok(kw_device_close(device));
  assert_int_equal(kw_device_close(device), KW_ERR_INVALID_ARGUMENT);
  test_device_close(test);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(handles_are_known_once_open_has_returned)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
