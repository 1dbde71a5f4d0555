/* SPDX-License-Identifier: Apache-2.0
 *
 * Read-only memory in calls, on cpu:0: an argument like any other, refused by name where the call would write. And that
 * tensors which come in and go out there lie where they lay.
 */
#include "testing/test_fixture.h"

#include <keyway/dlpack.h>
#include <keyway/interop.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define assert_ok(status) assert_int_equal(status, KW_OK)
#define assert_error(text) assert_non_null(strstr(kw_error_message(), text))

static kw_device *cpu;

static kw_tensor *import(float *values, int64_t count, uint64_t flags) {
  const kw_external_memory memory = {.struct_size = sizeof memory,
                                     .kind = KW_HANDLE_HOST,
                                     .flags = flags,
                                     .size = (uint64_t)count * sizeof *values,
                                     .host = values};
  kw_tensor *bytes = NULL, *tensor = NULL;
  assert_ok(kw_tensor_import(cpu, &memory, NULL, NULL, &bytes));
  assert_ok(kw_tensor_reinterpret(bytes, KW_F32, 1, &count, (int64_t[]){1}, 0, &tensor));
  kw_tensor_release(bytes);
  return tensor;
}

static kw_status add(kw_tensor *a, kw_tensor *b, kw_tensor **sum) {
  const kw_value args[] = {kw_arg_tensor(a), kw_arg_tensor(b)};
  return kw_op_call(kw_op_find("add.Tensor"), NULL, args, 2, sum, 1);
}

static void a_result_is_refused_by_name(void **state) {
  (void)state;
  /* All four lie 64 bytes behind a multiple of 128: nothing but the flag tells them apart. */
  _Alignas(128) float rows[4][32] = {{0}}, *a = rows[0] + 16, *b = rows[1] + 16, *c = rows[2] + 16, *d = rows[3] + 16;
  memcpy(a, (float[]){1, 2, 3, 4}, 16);
  memcpy(b, (float[]){10, 20, 30, 40}, 16);
  d[0] = 5;
  kw_tensor *x = import(a, 4, KW_EXTERNAL_READ_ONLY), *y = import(b, 4, 0), *z = import(c, 4, 0),
            *fixed = import(d, 4, KW_EXTERNAL_READ_ONLY);
  for (int i = 0; i < 3; ++i) { /* the plan made, found, and recognised at once: none serves the read-only result */
    assert_ok(add(x, y, &z));
    assert_true(c[0] == 11 && c[3] == 44);
    assert_int_equal(add(x, y, &fixed), KW_ERR_INVALID_ARGUMENT);
    assert_error("add.Tensor: result 0 lies in memory that was imported read-only");
    assert_true(d[0] == 5);
  }
  kw_plan *plan = NULL;
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(y)};
  assert_ok(kw_plan_make(kw_op_find("add.Tensor"), NULL, args, 2, &z, 1, NULL, &plan));
  assert_int_equal(kw_plan_run(plan, NULL, args, 2, &fixed, 1), KW_ERR_INVALID_ARGUMENT);
  kw_plan_destroy(plan);
  kw_tensor_release(x);
  kw_tensor_release(y);
  kw_tensor_release(z);
  kw_tensor_release(fixed);
}

static void a_changed_argument_is_refused_by_name(void **state) {
  (void)state;
  _Alignas(64) float a[4] = {1, 2, 3, 4}, b[4] = {0};
  kw_tensor *fixed = import(a, 4, KW_EXTERNAL_READ_ONLY), *own = import(b, 4, 0);
  const kw_value to_fixed[] = {kw_arg_tensor(fixed), kw_arg_tensor(own)};
  const kw_value to_own[] = {kw_arg_tensor(own), kw_arg_tensor(fixed)};
  for (int i = 0; i < 2; ++i) {
    assert_ok(kw_op_call(kw_op_find("copy_"), NULL, to_own, 2, NULL, 0));
    assert_true(b[2] == 3);
    assert_int_equal(kw_op_call(kw_op_find("copy_"), NULL, to_fixed, 2, NULL, 0), KW_ERR_INVALID_ARGUMENT);
    assert_error("copy_: 'self' is changed in place but lies in memory that was imported read-only");
  }
  kw_tensor_release(fixed);
  kw_tensor_release(own);
}

static void pointers_stay_the_same(void **state) {
  (void)state;
  _Alignas(64) float a[4] = {1, 2, 3, 4};
  kw_tensor *x = import(a, 4, 0), *tail = NULL, *back = NULL, *own = NULL;
  DLManagedTensorVersioned *managed = NULL;
  assert_ptr_equal(kw_tensor_describe(x)->mem, a);
  assert_ok(kw_tensor_slice(x, 0, 1, 4, 2, &tail));
  assert_ok(kw_tensor_to_dlpack(tail, NULL, &managed));
  assert_ptr_equal(managed->dl_tensor.data, a + 1);
  assert_int_equal(managed->dl_tensor.byte_offset, 0);
  assert_int_equal(managed->dl_tensor.device.device_type, kDLCPU);
  assert_ok(kw_tensor_from_dlpack(cpu, managed, &back));
  assert_ptr_equal((char *)kw_tensor_describe(back)->mem + kw_tensor_describe(back)->offset, a + 1);
  kw_tensor_release(back);
  kw_tensor_release(tail);
  kw_tensor_release(x);

  assert_ok(kw_tensor_create(cpu, KW_F32, 1, (int64_t[]){4}, &own)); /* the device's own memory */
  assert_ok(kw_tensor_write(own, a));
  kw_native_handle handle = {.struct_size = sizeof handle};
  assert_ok(kw_tensor_native_handle(own, &handle));
  assert_int_equal(handle.dl_device_type, kDLCPU);
  const float *there = (const float *)(const void *)((char *)handle.handle + kw_tensor_describe(own)->offset);
  assert_true(there[3] == 4);
  assert_ok(kw_tensor_to_dlpack(own, NULL, &managed));
  assert_ptr_equal(managed->dl_tensor.data, there);
  kw_tensor_release(own);
  managed->deleter(managed);
  assert_int_equal(kw_stream_native_handle(kw_stream_default(cpu), &handle), KW_ERR_UNSUPPORTED);
  assert_int_equal(kw_device_native_handle(cpu, &handle), KW_ERR_UNSUPPORTED);
}

/* After its device was closed by everybody else, and after main. */
static DLManagedTensorVersioned *late;

static void delete_late(void) {
  late->deleter(late);
}

static void deleters_run_after_the_close(void **state) {
  (void)state;
  kw_tensor *own = NULL;
  assert_ok(kw_tensor_create(cpu, KW_F32, 1, (int64_t[]){4}, &own));
  assert_ok(kw_tensor_to_dlpack(own, NULL, &late));
  DLManagedTensorVersioned *now = NULL;
  assert_ok(kw_tensor_to_dlpack(own, NULL, &now));
  kw_tensor_release(own);
  assert_ok(kw_device_close(cpu));
  now->deleter(now);
  memset(late->dl_tensor.data, 1, 16); /* still there */
}

int main(void) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  if (kw_init(&options) != KW_OK || kw_plugin_load(CPU_PLUGIN) != KW_OK || kw_device_open("cpu", &cpu) != KW_OK) {
    fprintf(stderr, "%s\n", kw_error_message());
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_result_is_refused_by_name),
      cmocka_unit_test(a_changed_argument_is_refused_by_name),
      cmocka_unit_test(pointers_stay_the_same),
      cmocka_unit_test(deleters_run_after_the_close),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (late != NULL) atexit(delete_late);
  return failed;
}
