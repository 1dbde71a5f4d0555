/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of a kind and for a use, and its exports: what the plugin is asked for, when memory goes back to it, and the
 * bytes for other processes.
 */
#include "testing/test_device.h"

#include <keyway/interop.h>

#define NATIVE (TEST_NATIVE_ALL | KW_NATIVE_INTEROP)

static kw_tensor *new_in(test_device *test, kw_mem_kind kind, uint64_t flags) {
  const kw_memory_options options = {.struct_size = sizeof options, .kind = kind, .flags = flags};
  kw_tensor *tensor = NULL;
  assert_ok(kw_tensor_create_in(&test->device, &options, KW_F32, 1, (int64_t[]){8}, &tensor));
  return tensor;
}

static void memory_of_a_kind_goes_back_at_once(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  test->mem_kinds = 1u << KW_MEM_MANAGED;
  kw_tensor *tensor = new_in(test, KW_MEM_MANAGED, KW_MEM_PEER);
  assert_int_equal(test->last_alloc.kind, KW_MEM_MANAGED);
  assert_int_equal(test->last_alloc.flags, KW_MEM_PEER);
  assert_int_equal(test->last_alloc.size, 32);
  assert_int_equal(tensor->ref.alignment, 256);
  kw_memory_stats stats = test_stats(test);
  assert_int_equal(stats.live, 1);
  assert_int_equal(stats.held, 32);
  kw_tensor_release(tensor);
  assert_int_equal(test->live_mems, 0); /* no cache keeps it */
  stats = test_stats(test);
  assert_int_equal(stats.live + stats.held + stats.allocated, 0);
  assert_int_equal(stats.plugin_frees, 1);
  test_device_close(test);
}

static void work_in_flight_goes_on(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_tensor *tensor = new_in(test, KW_MEM_DEVICE, KW_MEM_IPC);
  float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  test_gate(test->device.default_stream, true);
  test->open_on_wait = true;
  assert_ok(kw_tensor_write_async(tensor, values, NULL));
  kw_tensor_release(tensor);
  assert_int_equal(test->live_mems, 1);
  assert_ok(kw_memory_trim(&test->device));
  assert_int_equal(test->live_mems, 0);
  test_device_close(test);
}

static void caches_make_room(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_tensor *cached = NULL;
  test->memory_limit = 2 << 20;
  assert_ok(kw_tensor_create(&test->device, KW_U8, 1, (int64_t[]){64}, &cached));
  kw_tensor_release(cached);
  kw_tensor_release(new_in(test, KW_MEM_DEVICE, KW_MEM_EXPORTABLE));
  test_device_close(test);
}

static void kinds_may_be_missing(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_memory_options options = {.struct_size = sizeof options, .kind = KW_MEM_HOST_PINNED};
  kw_tensor *tensor = NULL;
  assert_int_equal(kw_tensor_create_in(&test->device, &options, KW_F32, 0, NULL, &tensor), KW_ERR_UNSUPPORTED);
  assert_error("driver: no such memory");
  assert_int_equal(kw_tensor_create_in(NULL, &options, KW_F32, 0, NULL, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_create_in(&test->device, NULL, KW_F32, 0, NULL, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_create_in(&test->device, &options, KW_F32, 0, NULL, NULL), KW_ERR_INVALID_ARGUMENT);
  options = (kw_memory_options){.struct_size = sizeof options};
  assert_ok(kw_tensor_create_in(&test->device, &options, KW_F32, 1, (int64_t[]){0}, &tensor));
  kw_tensor_release(tensor);
  test_device_close(test);
}

static void want_of_memory_is_counted(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_memory_options options = {.struct_size = sizeof options, .flags = KW_MEM_EXPORTABLE};
  kw_tensor *tensor = NULL;
  const uint64_t before = test_stats(test).plugin_allocs;
  TEST_FAIL_NEXT(test, memory_alloc, KW_ERR_OUT_OF_MEMORY);
  assert_ok(kw_tensor_create_in(&test->device, &options, KW_F32, 1, (int64_t[]){8}, &tensor));
  assert_int_equal(test_stats(test).plugin_allocs, before + 2);
  assert_int_equal(test_stats(test).oom_retries, 1);
  assert_int_equal(test_stats(test).oom_failures, 0);
  kw_tensor_release(tensor);
  test->memory_limit = test->memory_used + 1;
  assert_int_equal(kw_tensor_create_in(&test->device, &options, KW_F32, 1, (int64_t[]){8}, &tensor),
                   KW_ERR_OUT_OF_MEMORY);
  assert_error("kw_tensor_create_in");
  assert_int_equal(test_stats(test).plugin_allocs, before + 4);
  assert_int_equal(test_stats(test).oom_retries, 2);
  assert_int_equal(test_stats(test).oom_failures, 1);
  test_device_close(test);
}

static void exports_what_is_for_that(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE);
  kw_tensor *plain = NULL, *tensor = new_in(test, KW_MEM_DEVICE, KW_MEM_EXPORTABLE), *part = NULL, *back = NULL;
  kw_external_memory memory = {.struct_size = sizeof memory};
  assert_ok(kw_tensor_create(&test->device, KW_F32, 1, (int64_t[]){8}, &plain));
  assert_int_equal(kw_tensor_export(plain, KW_HANDLE_FD, &memory), KW_ERR_INVALID_ARGUMENT);
  assert_error("make it with kw_tensor_create_in and KW_MEM_EXPORTABLE");
  assert_int_equal(kw_tensor_export(tensor, KW_HANDLE_IPC, &memory), KW_ERR_INVALID_ARGUMENT);
  assert_error("KW_MEM_IPC");
  assert_int_equal(kw_tensor_export(tensor, KW_HANDLE_HOST, &memory), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(TEST_CALLS(test, interop_export_memory), 0);
  assert_ok(kw_tensor_write(tensor, (float[]){1, 2, 3, 4, 5, 6, 7, 8}));
  assert_ok(kw_tensor_slice(tensor, 0, 2, 6, 1, &part));
  assert_ok(kw_tensor_export(part, KW_HANDLE_FD, &memory));
  assert_int_equal(memory.size, 16);
  assert_ok(kw_tensor_import(&test->device, &memory, NULL, NULL, &back));
  float seen[4];
  assert_ok(kw_tensor_read(back, seen));
  assert_true(seen[0] == 3 && seen[3] == 6);
  assert_int_equal(kw_tensor_export(back, KW_HANDLE_FD, &memory), KW_ERR_INVALID_ARGUMENT); /* another's */
  kw_tensor_release(back);
  kw_tensor_release(part);
  kw_tensor_release(tensor);
  kw_tensor_release(plain);
  test_device_close(test);
}

/* Each byte of the library's head, changed: the plugin does not even see the bytes. */
static void bytes_are_checked_before_the_plugin_sees_them(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", NATIVE), *other = test_device_open("test:1", NATIVE);
  other->device.info.driver_version[0] = '2';
  kw_tensor *tensor = new_in(test, KW_MEM_DEVICE, KW_MEM_IPC), *back = NULL;
  kw_external_memory memory = {.struct_size = sizeof memory}, changed;
  assert_ok(kw_tensor_export(tensor, KW_HANDLE_IPC, &memory));
  for (size_t i = 0; i < sizeof memory.ipc - KW_IPC_SIZE; i++) {
    for (int bit = 0; bit < 8; bit++) {
      changed = memory;
      changed.ipc[i] ^= (uint8_t)(1 << bit);
      const kw_status status = kw_tensor_import(&test->device, &changed, NULL, NULL, &back);
      assert_true(status == KW_ERR_INVALID_ARGUMENT || status == KW_ERR_UNSUPPORTED);
    }
  }
  for (size_t length = 0; length < sizeof memory.ipc - KW_IPC_SIZE; length++) { /* what came through is short */
    changed = memory;
    memset(changed.ipc + length, 0, sizeof changed.ipc - length);
    if (memcmp(changed.ipc, memory.ipc, sizeof memory.ipc - KW_IPC_SIZE) == 0) continue; /* the head ends in zeros */
    const kw_status status = kw_tensor_import(&test->device, &changed, NULL, NULL, &back);
    assert_true(status == KW_ERR_INVALID_ARGUMENT || status == KW_ERR_UNSUPPORTED);
  }
  assert_int_equal(kw_tensor_import(&other->device, &memory, NULL, NULL, &back), KW_ERR_UNSUPPORTED);
  assert_error("another version of the driver");
  assert_int_equal(TEST_CALLS(test, interop_import_memory) + TEST_CALLS(other, interop_import_memory), 0);
  assert_ok(kw_tensor_import(&test->device, &memory, NULL, NULL, &back));
  kw_tensor_release(back);
  kw_tensor_release(tensor);
  test_device_close(other);
  test_device_close(test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_of_a_kind_goes_back_at_once),
      cmocka_unit_test(work_in_flight_goes_on),
      cmocka_unit_test(caches_make_room),
      cmocka_unit_test(kinds_may_be_missing),
      cmocka_unit_test(want_of_memory_is_counted),
      cmocka_unit_test(exports_what_is_for_that),
      cmocka_unit_test(bytes_are_checked_before_the_plugin_sees_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
