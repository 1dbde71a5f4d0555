/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps: by the plugin and by a copy, what they wait for, which of them may be there at once, and what they refuse.
 */
#include "testing/test_device.h"

#define NATIVE (TEST_NATIVE_ALL | KW_NATIVE_MAP)
#define BOTH (KW_MAP_READ | KW_MAP_WRITE)

static kw_tensor *new_bytes(test_device *test, int64_t size, const void *contents) {
  kw_tensor *tensor = NULL;
  assert_ok(kw_tensor_create(&test->device, KW_U8, 1, &size, &tensor));
  if (contents != NULL) assert_ok(kw_tensor_write(tensor, contents));
  return tensor;
}

static void reads_and_writes(test_device *test, bool by_copy) {
  char seen[8] = "";
  void *pointer = NULL;
  kw_tensor *tensor = new_bytes(test, 8, "abcdefg"), *part = NULL;
  assert_ok(kw_tensor_map(tensor, NULL, KW_MAP_READ, &pointer));
  assert_string_equal(pointer, "abcdefg");
  assert_ok(kw_tensor_unmap(tensor, pointer));
  assert_ok(kw_tensor_slice(tensor, 0, 2, 5, 1, &part));
  assert_ok(kw_tensor_map(part, NULL, BOTH, &pointer));
  assert_memory_equal(pointer, "cde", 3);
  memcpy(pointer, "CDE", 3);
  assert_ok(kw_tensor_unmap(part, pointer));
  assert_ok(kw_tensor_read(tensor, seen));
  assert_string_equal(seen, "abCDEfg");
  const unsigned copies = TEST_CALLS(test, memory_copy);
  assert_ok(kw_tensor_map(part, NULL, KW_MAP_WRITE, &pointer));
  assert_int_equal(TEST_CALLS(test, memory_copy), copies); /* nothing to bring */
  memcpy(pointer, "xyz", 3);
  assert_ok(kw_tensor_unmap(part, pointer));
  assert_int_equal(TEST_CALLS(test, memory_copy), copies + by_copy);
  assert_ok(kw_tensor_read(tensor, seen));
  assert_string_equal(seen, "abxyzfg");
  kw_tensor_release(part);
  kw_tensor_release(tensor);
  assert_int_equal(TEST_CALLS(test, memory_map) == 0, by_copy);
}

static void by_the_plugin(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  reads_and_writes(test, false);
  test_device_close(test);
}

static void by_a_copy(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  reads_and_writes(test, true);
  test_device_close(test);
}

static void by_a_copy_where_the_plugin_cannot(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_tensor *tensor = new_bytes(test, 4, "abc");
  void *pointer = NULL;
  TEST_FAIL_NEXT(test, memory_map, KW_ERR_UNSUPPORTED);
  assert_ok(kw_tensor_map(tensor, NULL, BOTH, &pointer));
  assert_string_equal(pointer, "abc");
  assert_int_equal(test->live_maps, 0);
  assert_ok(kw_tensor_unmap(tensor, pointer));
  assert_int_equal(TEST_CALLS(test, memory_unmap), 0);
  kw_tensor_release(tensor);
  test_device_close(test);
}

static void waits_for_the_stream(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_stream *stream;
  void *pointer = NULL;
  assert_ok(kw_stream_create(&test->device, &stream));
  kw_tensor *tensor = new_bytes(test, 4, "old");
  test_gate(stream, true);
  assert_ok(kw_tensor_write_async(tensor, "new", stream));
  assert_ok(kw_device_set_wait_limit(&test->device, 1000000));
  assert_int_equal(kw_tensor_map(tensor, stream, KW_MAP_READ, &pointer), KW_ERR_TIMEOUT);
  assert_error("kw_tensor_map");
  assert_null(pointer);
  assert_int_equal(TEST_CALLS(test, memory_map), 0);
  test->open_on_wait = true;
  assert_ok(kw_tensor_map(tensor, stream, KW_MAP_READ, &pointer));
  assert_string_equal(pointer, "new");
  assert_ok(kw_stream_destroy(stream)); /* the map does not need it */
  assert_ok(kw_tensor_unmap(tensor, pointer));
  kw_tensor_release(tensor);
  test_device_close(test);
}

static void late_errors_are_told(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_tensor *tensor = new_bytes(test, 4, NULL);
  kw_stream *stream = test->device.default_stream;
  void *pointer = NULL;
  kw_late_error_keep(stream, KW_ERR_INTERNAL, "the device burns");
  assert_int_equal(kw_tensor_map(tensor, NULL, KW_MAP_READ, &pointer), KW_ERR_INTERNAL);
  assert_error("the device burns");
  assert_ok(kw_tensor_map(tensor, NULL, KW_MAP_WRITE, &pointer)); /* nothing was left mapped */
  assert_ok(kw_tensor_unmap(tensor, pointer));
  kw_tensor_release(tensor);
  test_device_close(test);
}

static void only_readers_overlap(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_tensor *tensor = new_bytes(test, 8, "abcdefg"), *head = NULL, *tail = NULL;
  void *all = NULL, *again = NULL, *first = NULL, *second = NULL;
  assert_ok(kw_tensor_slice(tensor, 0, 0, 4, 1, &head));
  assert_ok(kw_tensor_slice(tensor, 0, 4, 8, 1, &tail));
  assert_ok(kw_tensor_map(tensor, NULL, KW_MAP_READ, &all));
  assert_ok(kw_tensor_map(tensor, NULL, KW_MAP_READ, &again));
  assert_int_equal(kw_tensor_map(head, NULL, KW_MAP_WRITE, &first), KW_ERR_BUSY);
  assert_error("8 bytes of the memory are mapped already");
  assert_ok(kw_tensor_unmap(tensor, all));
  assert_int_equal(kw_tensor_map(head, NULL, KW_MAP_WRITE, &first), KW_ERR_BUSY);
  assert_ok(kw_tensor_unmap(tensor, again));
  assert_ok(kw_tensor_map(head, NULL, KW_MAP_WRITE, &first));
  assert_ok(kw_tensor_map(tail, NULL, KW_MAP_WRITE, &second)); /* beside it */
  assert_int_equal(kw_tensor_map(tensor, NULL, KW_MAP_READ, &all), KW_ERR_BUSY);
  assert_int_equal(kw_tensor_unmap(head, second), KW_ERR_INVALID_ARGUMENT); /* another tensor's */
  assert_error("no map of this tensor has given");
  assert_ok(kw_tensor_unmap(head, first));
  assert_int_equal(kw_tensor_unmap(head, first), KW_ERR_INVALID_ARGUMENT);
  assert_ok(kw_tensor_unmap(tail, second));
  kw_tensor_release(head);
  kw_tensor_release(tail);
  kw_tensor_release(tensor);
  test_device_close(test);
}

static void what_is_mapped_is_not_freed(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_tensor *tensor = new_bytes(test, 4, "abc");
  void *pointer = NULL;
  assert_ok(kw_tensor_map(tensor, NULL, KW_MAP_READ, &pointer));
  kw_tensor_retain(tensor);
  kw_tensor_release(tensor); /* not the last one */
  kw_tensor_release(tensor);
  assert_error("kw_tensor_release: the tensor is mapped");
  assert_string_equal(pointer, "abc");
  assert_ok(kw_tensor_unmap(tensor, pointer));
  kw_tensor_release(tensor);
  assert_int_equal(test_stats(test).live, 0);
  test_device_close(test);
}

static void failures_leave_nothing_mapped(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_tensor *tensor = new_bytes(test, 4, "abc");
  void *pointer = NULL;
  TEST_FAIL_NEXT(test, memory_map, KW_ERR_OUT_OF_MEMORY);
  assert_int_equal(kw_tensor_map(tensor, NULL, BOTH, &pointer), KW_ERR_OUT_OF_MEMORY);
  assert_error("mapping 4 bytes of test:0");
  assert_ok(kw_tensor_map(tensor, NULL, BOTH, &pointer));
  TEST_FAIL_NEXT(test, memory_unmap, KW_ERR_INTERNAL);
  assert_int_equal(kw_tensor_unmap(tensor, pointer), KW_ERR_INTERNAL);
  assert_int_equal(kw_tensor_unmap(tensor, pointer), KW_ERR_INVALID_ARGUMENT);
  --test->live_maps;
  test->plugin.native = TEST_NATIVE_ALL;
  TEST_FAIL_NEXT(test, memory_copy, KW_ERR_INTERNAL);
  assert_int_equal(kw_tensor_map(tensor, NULL, BOTH, &pointer), KW_ERR_INTERNAL);
  assert_ok(kw_tensor_map(tensor, NULL, BOTH, &pointer));
  TEST_FAIL_NEXT(test, memory_copy, KW_ERR_INTERNAL);
  assert_int_equal(kw_tensor_unmap(tensor, pointer), KW_ERR_INTERNAL);
  assert_ok(kw_tensor_map(tensor, NULL, BOTH, &pointer));
  assert_ok(kw_tensor_unmap(tensor, pointer));
  kw_tensor_release(tensor);
  test_device_close(test);
}

static void refusals(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_tensor *tensor = NULL, *across = NULL, *none = NULL;
  void *pointer = NULL;
  assert_ok(kw_tensor_create(&test->device, KW_F32, 2, (int64_t[]){2, 3}, &tensor));
  assert_ok(kw_tensor_transpose(tensor, 0, 1, &across));
  assert_int_equal(kw_tensor_map(NULL, NULL, BOTH, &pointer), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_map(tensor, NULL, BOTH, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_map(tensor, NULL, 0, &pointer), KW_ERR_INVALID_ARGUMENT);
  assert_error("flags is 0");
  assert_int_equal(kw_tensor_map(tensor, NULL, BOTH | UINT64_C(1) << 40, &pointer), KW_ERR_UNSUPPORTED);
  assert_int_equal(kw_tensor_map(across, NULL, BOTH, &pointer), KW_ERR_INVALID_ARGUMENT);
  assert_error("is not contiguous");
  assert_int_equal(kw_tensor_unmap(tensor, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_unmap(NULL, &pointer), KW_ERR_INVALID_ARGUMENT);
  assert_ok(kw_tensor_create(&test->device, KW_F32, 1, (int64_t[]){0}, &none));
  assert_ok(kw_tensor_map(none, NULL, BOTH, &pointer)); /* so that nobody has to ask first */
  assert_non_null(pointer);
  assert_ok(kw_tensor_unmap(none, pointer));
  kw_stream_enter_callback();
  assert_int_equal(kw_tensor_map(tensor, NULL, BOTH, &pointer), KW_ERR_BUSY);
  kw_stream_leave_callback();
  assert_int_equal(TEST_CALLS(test, memory_map), 0);
  kw_tensor_release(none);
  kw_tensor_release(across);
  kw_tensor_release(tensor);
  test_device_close(test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_the_plugin),
      cmocka_unit_test(by_a_copy),
      cmocka_unit_test(by_a_copy_where_the_plugin_cannot),
      cmocka_unit_test(waits_for_the_stream),
      cmocka_unit_test(late_errors_are_told),
      cmocka_unit_test(only_readers_overlap),
      cmocka_unit_test(what_is_mapped_is_not_freed),
      cmocka_unit_test(failures_leave_nothing_mapped),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
