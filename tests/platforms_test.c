/* SPDX-License-Identifier: Apache-2.0
 *
 * Several OpenCL platforms, and several devices of one, in one process: PoCL as two devices and, where it is
 * installed, the simulator oclgrind. The build makes the directory of drivers and sets the environment.
 */
#include <keyway/keyway.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LIMIT 8
#define ROUNDS 20

static kw_device *devices[LIMIT];
static uint32_t device_count;

#define OK(call) assert_string_equal(kw_status_name(call), "ok")

static int open_all(void **state) {
  (void)state;
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  if (kw_init(&options) != KW_OK || kw_plugin_load(KEYWAY_OPENCL_PLUGIN) != KW_OK) return -1;
  if (kw_device_count(&device_count) != KW_OK || device_count > LIMIT) return -1;
  for (uint32_t i = 0; i < device_count; i++) {
    char name[24];
    snprintf(name, sizeof name, "opencl:%u", i);
    if (kw_device_open(name, &devices[i]) != KW_OK) return -1;
  }
  return 0;
}

static int close_all(void **state) {
  (void)state;
  for (uint32_t i = 0; i < device_count; i++) {
    if (kw_device_close(devices[i]) != KW_OK) return -1;
  }
  return 0;
}

static void test_each_device_is_listed_once(void **state) {
  (void)state;
  kw_device_info info[LIMIT];
  assert_int_equal(device_count, OPENCL_DEVICES);
  for (uint32_t i = 0; i < device_count; i++) {
    info[i] = (kw_device_info){.struct_size = sizeof info[i]};
    OK(kw_device_get_info(devices[i], &info[i]));
    for (uint32_t k = 0; k < i; k++) assert_string_not_equal(info[i].name, info[k].name);
  }
}

/* A product of small integers, which every device gives exactly; says how often the answer was right. */
static void *multiply(void *argument) {
  const uintptr_t index = (uintptr_t)argument;
  const float a[4] = {1, 2, 3, (float)index}, b[4] = {5, 6, 7, 8};
  const float expected[4] = {19, 22, 15 + 7 * (float)index, 18 + 8 * (float)index};
  uintptr_t right = 0;
  for (int round = 0; round < ROUNDS; round++) {
    kw_tensor *x = NULL, *y = NULL, *product = NULL;
    float got[4] = {0};
    if (kw_tensor_create(devices[index], KW_F32, 2, (const int64_t[]){2, 2}, &x) == KW_OK &&
        kw_tensor_create(devices[index], KW_F32, 2, (const int64_t[]){2, 2}, &y) == KW_OK &&
        kw_tensor_write(x, a) == KW_OK && kw_tensor_write(y, b) == KW_OK) {
      const kw_value arguments[] = {kw_arg_tensor(x), kw_arg_tensor(y)};
      if (kw_op_call(kw_op_find("mm"), NULL, arguments, 2, &product, 1) == KW_OK &&
          kw_tensor_read(product, got) == KW_OK)
        right += memcmp(got, expected, sizeof got) == 0;
    }
    kw_tensor_release(x);
    kw_tensor_release(y);
    kw_tensor_release(product);
  }
  return (void *)right;
}

static void test_all_compute_at_once(void **state) {
  (void)state;
  pthread_t threads[LIMIT];
  for (uintptr_t i = 0; i < device_count; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, multiply, (void *)i), 0);
  for (uint32_t i = 0; i < device_count; i++) {
    void *right;
    pthread_join(threads[i], &right);
    assert_int_equal((uintptr_t)right, ROUNDS);
  }
}

static void test_tensors_travel_between_any_two(void **state) {
  (void)state;
  const float values[3] = {1.5f, -2, 3};
  for (uint32_t from = 0; from < device_count; from++) {
    for (uint32_t to = 0; to < device_count; to++) {
      kw_tensor *there, *here;
      float got[3] = {0};
      OK(kw_tensor_create(devices[from], KW_F32, 1, (const int64_t[]){3}, &there));
      OK(kw_tensor_write(there, values));
      OK(kw_tensor_to(there, devices[to], &here));
      assert_ptr_equal(kw_tensor_device(here), devices[to]);
      OK(kw_tensor_read(here, got));
      assert_memory_equal(got, values, sizeof values);
      kw_tensor_release(there);
      kw_tensor_release(here);
    }
  }
}

static void test_operands_of_two_devices_are_refused(void **state) {
  (void)state;
  kw_tensor *a, *b, *sum = NULL;
  OK(kw_tensor_create(devices[0], KW_F32, 1, (const int64_t[]){3}, &a));
  OK(kw_tensor_create(devices[1], KW_F32, 1, (const int64_t[]){3}, &b));
  const kw_value arguments[] = {kw_arg_tensor(a), kw_arg_tensor(b)};
  assert_int_not_equal(kw_op_call(kw_op_find("add.Tensor"), NULL, arguments, 2, &sum, 1), KW_OK);
  assert_non_null(strstr(kw_error_message(), kw_device_name(devices[0])));
  assert_non_null(strstr(kw_error_message(), kw_device_name(devices[1])));
  assert_null(sum);
  kw_tensor_release(a);
  kw_tensor_release(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_device_is_listed_once),
      cmocka_unit_test(test_all_compute_at_once),
      cmocka_unit_test(test_tensors_travel_between_any_two),
      cmocka_unit_test(test_operands_of_two_devices_are_refused),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
