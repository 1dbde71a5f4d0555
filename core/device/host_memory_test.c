/* SPDX-License-Identifier: Apache-2.0
 *
 * Host memory: of the plugin or plain, and the piece that a device keeps.
 */
#include "testing/test_device.h"

static void of_the_plugin_or_plain(void **state) {
  (void)state;
  for (int native = 0; native < 2; ++native) {
    test_device *test = test_device_open("test:0", native ? KW_NATIVE_HOST_MEMORY : 0);
    void *first = NULL, *second = NULL;
    assert_ok(kw_host_alloc(&test->device, 1, &first));
    assert_ok(kw_host_alloc(&test->device, 100000, &second));
    assert_int_equal((uintptr_t)first % 64, 0);
    assert_int_equal((uintptr_t)second % 64, 0);
    memset(second, 1, 100000);
    assert_int_equal(test->live_host, native ? 2 : 0);
    assert_int_equal(atomic_load(&test->device.refs), 3); /* they keep the device */
    assert_ok(kw_host_free(&test->device, first));
    assert_ok(kw_host_free(&test->device, second));
    assert_ok(kw_host_free(&test->device, NULL));
    assert_int_equal(TEST_CALLS(test, memory_free_host), native ? 2 : 0);
    test_device_close(test);
  }
}

static void refusals(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", KW_NATIVE_HOST_MEMORY), *plain = test_device_open("test:1", 0);
  void *memory = NULL;
  assert_int_equal(kw_host_alloc(NULL, 1, &memory), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_host_alloc(&test->device, 1, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_host_alloc(&test->device, 0, &memory), KW_ERR_INVALID_ARGUMENT);
  assert_error("ask for 1 byte");
  assert_int_equal(kw_host_alloc(&plain->device, UINT64_MAX, &memory), KW_ERR_OUT_OF_MEMORY);
  TEST_FAIL_NEXT(test, memory_alloc_host, KW_ERR_OUT_OF_MEMORY);
  assert_int_equal(kw_host_alloc(&test->device, 16, &memory), KW_ERR_OUT_OF_MEMORY);
  assert_error("allocating 16 bytes of host memory for test:0");
  assert_error("memory_alloc_host said no");
  assert_null(memory);
  assert_ok(kw_host_alloc(&test->device, 16, &memory));
  assert_int_equal(kw_host_free(NULL, memory), KW_ERR_INVALID_ARGUMENT);
  kw_device_mark_if_lost(&test->device, KW_ERR_DEVICE_LOST);
  void *more = NULL;
  assert_int_equal(kw_host_alloc(&test->device, 16, &more), KW_ERR_DEVICE_LOST);
  assert_ok(kw_host_free(&test->device, memory)); /* what there is can be given back */
  test_device_close(test);
  test_device_close(plain);
}

static void staging_is_kept(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", KW_NATIVE_HOST_MEMORY);
  kw_stream *stream = test->device.default_stream;
  kw_host_memory *first = kw_staging_take(&test->device);
  assert_non_null(first);
  memset(first->bytes, 1, KW_STAGING_SIZE);
  kw_host_memory *second = kw_staging_take(&test->device); /* the first is in use */
  assert_non_null(second);
  assert_ptr_not_equal(first, second);
  kw_host_memory_give(stream, first, true);
  kw_host_memory_give(stream, second, true); /* one is enough */
  assert_int_equal(test->live_host, 1);
  assert_ptr_equal(kw_staging_take(&test->device), first);
  kw_host_memory_give(stream, first, true);
  TEST_FAIL_NEXT(test, memory_alloc_host, KW_ERR_OUT_OF_MEMORY);
  assert_ptr_equal(kw_staging_take(&test->device), first);
  assert_null(kw_staging_take(&test->device));
  kw_host_memory_give(stream, first, true);
  test_device_close(test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(of_the_plugin_or_plain),
      cmocka_unit_test(refusals),
      cmocka_unit_test(staging_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
