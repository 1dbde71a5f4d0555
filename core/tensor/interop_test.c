/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors on memory of others: what they refuse, and when the owner gets it back.
 */
#include "testing/test_device.h"

#include "tensor/interop.h"

#include <unistd.h>

static void KW_CALL count_end(void *user) {
  ++*(unsigned *)user;
}

static kw_external_memory host_range(void *bytes, uint64_t size, uint64_t flags) {
  return (kw_external_memory){
      .struct_size = sizeof(kw_external_memory), .kind = KW_HANDLE_HOST, .flags = flags, .size = size, .host = bytes};
}

static void uses_memory_where_it_lies(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL | KW_NATIVE_INTEROP);
  _Alignas(64) float values[4] = {1, 2, 3, 4};
  unsigned ended = 0;
  kw_tensor *bytes = NULL, *view = NULL;
  const kw_external_memory memory = host_range(values, sizeof values, 0);
  assert_ok(kw_tensor_import(&test->device, &memory, count_end, &ended, &bytes));
  assert_int_equal(bytes->ref.dtype, KW_U8);
  assert_int_equal(bytes->ref.numel, 16);
  assert_false(kw_tensor_is_read_only(bytes));
  assert_int_equal(test_stats(test).live, 0); /* none of the device's memory */
  assert_ok(kw_tensor_reinterpret(bytes, KW_F32, 1, (int64_t[]){2}, (int64_t[]){1}, 8, &view));
  assert_int_equal(view->ref.alignment, 8);
  assert_ok(kw_tensor_write(view, (float[]){7, 8}));
  assert_true(values[1] == 2 && values[2] == 7 && values[3] == 8);
  kw_tensor_release(bytes);
  assert_int_equal(ended, 0);
  kw_tensor_release(view);
  assert_int_equal(ended, 1);
  test_device_close(test);
}

static void the_owner_waits_for_streams(uint64_t native, bool trims) {
  test_device *test = test_device_open("test:0", native | KW_NATIVE_INTEROP);
  kw_stream *stream;
  char values[8] = "abcdefg", seen[8] = "";
  unsigned ended = 0;
  kw_tensor *bytes = NULL;
  const kw_external_memory memory = host_range(values, sizeof values, KW_EXTERNAL_READ_ONLY);
  assert_ok(kw_stream_create(&test->device, &stream));
  test_gate(stream, true);
  test_gate(test->device.default_stream, true);
  test->open_on_wait = true;
  assert_ok(kw_tensor_import(&test->device, &memory, count_end, &ended, &bytes));
  assert_ok(kw_tensor_read_async(bytes, seen, trims ? stream : NULL));
  kw_tensor_release(bytes);
  if (native & KW_NATIVE_EVENTS) {
    assert_int_equal(ended, 0);
    if (trims) assert_ok(kw_memory_trim(&test->device));
  }
  if (trims) assert_int_equal(ended, 1);
  if (trims) assert_string_equal(seen, "abcdefg");
  assert_ok(kw_stream_destroy(stream));
  test_device_close(test);
  assert_int_equal(ended, 1);
  assert_string_equal(seen, "abcdefg");
}

static void the_owner_gets_memory_back_after_its_last_use(void **state) {
  (void)state;
  the_owner_waits_for_streams(TEST_NATIVE_ALL, true);
  the_owner_waits_for_streams(TEST_NATIVE_ALL, false);
  the_owner_waits_for_streams(0, true);
}

static void ends_with_the_next_import(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL | KW_NATIVE_INTEROP);
  char values[8] = "", seen[8];
  unsigned ended = 0;
  kw_tensor *first = NULL, *second = NULL;
  const kw_external_memory memory = host_range(values, sizeof values, 0);
  test_gate(test->device.default_stream, true);
  assert_ok(kw_tensor_import(&test->device, &memory, count_end, &ended, &first));
  assert_ok(kw_tensor_read_async(first, seen, NULL));
  kw_tensor_release(first);
  assert_ok(kw_tensor_import(&test->device, &memory, count_end, &ended, &second));
  assert_int_equal(ended, 0);
  test_gate(test->device.default_stream, false);
  kw_tensor_release(second);
  assert_int_equal(ended, 1); /* its own: the first one waits for somebody to look */
  assert_ok(kw_memory_trim(&test->device));
  assert_int_equal(ended, 2);
  test_device_close(test);
}

static void elements_lie_at_multiples_of_their_size(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL | KW_NATIVE_INTEROP);
  _Alignas(64) char values[64];
  kw_tensor *bytes = NULL, *view = NULL;
  const kw_external_memory memory = host_range(values + 2, 32, 0);
  assert_ok(kw_tensor_import(&test->device, &memory, NULL, NULL, &bytes));
  assert_int_equal(bytes->ref.alignment, 2);
  assert_int_equal(kw_tensor_reinterpret(bytes, KW_F32, 1, (int64_t[]){4}, (int64_t[]){1}, 4, &view),
                   KW_ERR_INVALID_ARGUMENT);
  assert_error("start is aligned to 2");
  assert_ok(kw_tensor_reinterpret(bytes, KW_F16, 1, (int64_t[]){4}, (int64_t[]){1}, 4, &view));
  assert_int_equal(view->ref.alignment, 2);
  kw_tensor_release(view);
  assert_ok(kw_tensor_reinterpret(bytes, KW_F32, 1, (int64_t[]){0}, (int64_t[]){1}, 4, &view));
  kw_tensor_release(view);
  kw_tensor_release(bytes);
  test_device_close(test);
}

static void what_is_read_only_is_not_written(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL | KW_NATIVE_INTEROP);
  char values[4] = "abc", seen[4];
  kw_tensor *bytes = NULL, *same = NULL, *writable = NULL;
  kw_external_memory memory = host_range(values, sizeof values, KW_EXTERNAL_READ_ONLY);
  assert_ok(kw_tensor_import(&test->device, &memory, NULL, NULL, &bytes));
  memory.flags = 0;
  assert_ok(kw_tensor_import(&test->device, &memory, NULL, NULL, &writable));
  assert_true(kw_tensor_is_read_only(bytes));
  assert_ok(kw_tensor_alias(bytes, &same));
  assert_true(kw_tensor_is_read_only(same));
  assert_true(kw_fingerprint_equal(bytes->fingerprint, same->fingerprint));
  assert_false(kw_fingerprint_equal(bytes->fingerprint, writable->fingerprint));
  assert_int_equal(kw_tensor_write(bytes, seen), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_tensor_write: the tensor lies in memory that was imported read-only");
  assert_int_equal(kw_tensor_write_async(same, seen, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_copy_async(same, NULL, writable, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_tensor_copy_async: the tensor lies in memory that was imported read-only");
  assert_ok(kw_tensor_read(same, seen));
  assert_string_equal(seen, "abc");
  kw_tensor_release(bytes);
  kw_tensor_release(same);
  kw_tensor_release(writable);
  test_device_close(test);
}

static void refusals(void **state) {
  (void)state;
  test_device *without = test_device_open("test:0", TEST_NATIVE_ALL);
  test_device *test = test_device_open("test:1", TEST_NATIVE_ALL | KW_NATIVE_INTEROP);
  kw_device *device = &test->device;
  char values[4] = "";
  unsigned ended = 0;
  kw_tensor *tensor = NULL;
  kw_external_memory memory = host_range(values, sizeof values, 0);
  assert_int_equal(kw_tensor_import(NULL, &memory, count_end, &ended, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_import(device, NULL, count_end, &ended, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_import(device, &memory, count_end, &ended, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_import(&without->device, &memory, count_end, &ended, &tensor), KW_ERR_UNSUPPORTED);
  assert_error("no keyway.interop/1");
  TEST_FAIL_NEXT(test, interop_import_memory, KW_ERR_UNSUPPORTED);
  assert_int_equal(kw_tensor_import(device, &memory, count_end, &ended, &tensor), KW_ERR_UNSUPPORTED);
  assert_error("interop_import_memory said no");
  memory.size = 0;
  assert_int_equal(kw_tensor_import(device, &memory, count_end, &ended, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_error("the memory's size is 0");
  memory = host_range(NULL, 4, 0);
  assert_int_equal(kw_tensor_import(device, &memory, count_end, &ended, &tensor), KW_ERR_INVALID_ARGUMENT);
  memory = host_range(values, 4, 0);
  memory.offset = 1;
  assert_int_equal(kw_tensor_import(device, &memory, count_end, &ended, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_null(tensor);
  assert_int_equal(ended, 0);
  test_device_close(without);
  test_device_close(test);
}

static void files_are_mapped(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL | KW_NATIVE_INTEROP);
  char path[] = "/tmp/keyway_interop_XXXXXX", seen[8] = "";
  kw_tensor *tensor = NULL;
  const int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(kw_tensor_from_file(&test->device, path, &tensor), KW_ERR_IO);
  assert_error("it is empty");
  assert_int_equal(write(file, "weights", 8), 8);
  assert_int_equal(close(file), 0);
  assert_ok(kw_tensor_from_file(&test->device, path, &tensor));
  assert_int_equal(unlink(path), 0);
  assert_int_equal(tensor->ref.numel, 8);
  assert_int_equal(tensor->ref.alignment, 4096);
  assert_true(kw_tensor_is_read_only(tensor));
  assert_ok(kw_tensor_read(tensor, seen));
  assert_string_equal(seen, "weights");
  kw_tensor_release(tensor);
  tensor = NULL;
  assert_int_equal(kw_tensor_from_file(&test->device, path, &tensor), KW_ERR_NOT_FOUND);
  assert_error(path);
  assert_int_equal(kw_tensor_from_file(&test->device, "/", &tensor), KW_ERR_IO);
  assert_error("no regular file");
  assert_int_equal(kw_tensor_from_file(&test->device, NULL, &tensor), KW_ERR_INVALID_ARGUMENT);
  TEST_FAIL_NEXT(test, interop_import_memory, KW_ERR_UNSUPPORTED);
  assert_int_equal(kw_tensor_from_file(&test->device, "/proc/self/exe", &tensor), KW_ERR_UNSUPPORTED);
  assert_null(tensor);
  test_device_close(test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(uses_memory_where_it_lies),
      cmocka_unit_test(the_owner_gets_memory_back_after_its_last_use),
      cmocka_unit_test(ends_with_the_next_import),
      cmocka_unit_test(elements_lie_at_multiples_of_their_size),
      cmocka_unit_test(what_is_read_only_is_not_written),
      cmocka_unit_test(refusals),
      cmocka_unit_test(files_are_mapped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
