/* SPDX-License-Identifier: Apache-2.0
 *
 * On the cpu plugin, which has all ops in all dtypes, and on a fixture that lacks products.
 */
#include "op_table.h"
#include "testing/test_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static kw_device *cpu, *fixture;

static int load(void **state) {
  (void)state;
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  if (kw_init(&options) != KW_OK || kw_plugin_load(CPU_PLUGIN) != KW_OK) return -1;
  if (!test_fixture_load(DISPATCH_FIXTURE)) return -1;
  return kw_device_open("cpu:0", &cpu) == KW_OK && kw_device_open("fixture:0", &fixture) == KW_OK ? 0 : -1;
}

static int unload(void **state) {
  (void)state;
  return kw_device_close(cpu) == KW_OK && kw_device_close(fixture) == KW_OK ? 0 : -1;
}

static int turn_off(void **state) {
  (void)state;
  return kw_autocast_set(KW_DTYPE_NONE, NULL) == KW_OK ? 0 : -1;
}

/* [2, 2], with 2049 in it, which f16 rounds to 2048 and f32 holds. */
static kw_tensor *matrix(kw_device *device, kw_dtype dtype) {
  static const float values[] = {1, 2049, 3, 4};
  kw_tensor *f32, *as = NULL;
  assert_int_equal(kw_tensor_create(device, KW_F32, 2, (int64_t[]){2, 2}, &f32), KW_OK);
  assert_int_equal(kw_tensor_write(f32, values), KW_OK);
  if (dtype == KW_F32) return f32;
  const kw_value args[] = {kw_arg_tensor(f32), kw_arg_dtype(dtype)};
  assert_int_equal(kw_op_call(kw_op_find("_to_copy"), NULL, args, 2, &as, 1), KW_OK);
  kw_tensor_release(f32);
  return as;
}

static kw_dtype dtype_of(const kw_tensor *tensor) {
  return kw_tensor_describe(tensor)->dtype;
}

/* Calls an op with two matrices, releases them and returns the result. */
static kw_tensor *call_with(const char *op, kw_tensor *a, kw_tensor *b) {
  kw_tensor *out = NULL;
  const kw_value args[] = {kw_arg_tensor(a), kw_arg_tensor(b)};
  assert_int_equal(kw_op_call(kw_op_find(op), NULL, args, 2, &out, 1), KW_OK);
  kw_tensor_release(a);
  kw_tensor_release(b);
  return out;
}

static kw_dtype product_dtype(kw_dtype a, kw_dtype b) {
  kw_tensor *out = call_with("mm", matrix(cpu, a), matrix(cpu, b));
  kw_dtype dtype = dtype_of(out);
  kw_tensor_release(out);
  return dtype;
}

static void products_are_lowered(void **state) {
  (void)state;
  assert_int_equal(product_dtype(KW_F32, KW_F32), KW_F32);
  assert_int_equal(kw_autocast_set(KW_F16, NULL), KW_OK);
  kw_tensor *out = call_with("mm", matrix(cpu, KW_F32), matrix(cpu, KW_F32));
  assert_int_equal(dtype_of(out), KW_F16);
  uint16_t bits[4];
  assert_int_equal(kw_tensor_read(out, bits), KW_OK);
  assert_int_equal(bits[3], 0x6e04); /* 3 * 2048 + 16; from 2049 it would be 0x6e05: the cast came first */
  kw_tensor_release(out);
  assert_int_equal(product_dtype(KW_BF16, KW_F32), KW_F16);
  assert_int_equal(product_dtype(KW_F64, KW_F64), KW_F64); /* not touched */
  assert_int_equal(product_dtype(KW_I32, KW_I32), KW_I32);
  assert_int_equal(kw_autocast_get(), KW_F16);
}

static void regions_nest(void **state) {
  (void)state;
  kw_dtype outer, inner;
  assert_int_equal(kw_autocast_set(KW_BF16, &outer), KW_OK);
  assert_int_equal(kw_autocast_set(KW_DTYPE_NONE, &inner), KW_OK);
  assert_int_equal(outer, KW_DTYPE_NONE);
  assert_int_equal(inner, KW_BF16);
  assert_int_equal(product_dtype(KW_F32, KW_F32), KW_F32);
  assert_int_equal(kw_autocast_set(inner, NULL), KW_OK);
  assert_int_equal(product_dtype(KW_F32, KW_F32), KW_BF16);
  assert_int_equal(kw_autocast_set(KW_F32, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_autocast_get(), KW_BF16);
}

static void sums_are_raised(void **state) {
  (void)state;
  assert_int_equal(kw_autocast_set(KW_F16, NULL), KW_OK);
  kw_tensor *x = matrix(cpu, KW_F16), *out = NULL;
  const kw_value args[] = {kw_arg_tensor(x)};
  assert_int_equal(kw_op_call(kw_op_find("sum"), NULL, args, 1, &out, 1), KW_OK);
  assert_int_equal(dtype_of(out), KW_F32);
  kw_tensor_release(out);
  out = NULL;
  assert_int_equal(kw_op_call(kw_op_find("neg"), NULL, args, 1, &out, 1), KW_OK); /* has no policy */
  assert_int_equal(dtype_of(out), KW_F16);
  kw_tensor_release(out);
  kw_tensor_release(x);
}

static void the_widest_wins(void **state) {
  (void)state;
  kw_tensor *self = matrix(cpu, KW_F16), *values = matrix(cpu, KW_F32), *index, *out = NULL;
  assert_int_equal(kw_tensor_create(cpu, KW_I64, 1, (int64_t[]){2}, &index), KW_OK);
  assert_int_equal(kw_tensor_write(index, (int64_t[]){1, 0}), KW_OK);
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor_list(&index, 1), kw_arg_tensor(values)};
  const kw_op *op = kw_op_find("index_put");
  assert_int_equal(kw_op_call(op, NULL, args, 3, &out, 1), KW_ERR_INVALID_ARGUMENT); /* dtypes differ */
  assert_int_equal(kw_autocast_set(KW_F16, NULL), KW_OK);
  assert_int_equal(kw_op_call(op, NULL, args, 3, &out, 1), KW_OK);
  assert_int_equal(dtype_of(out), KW_F32);
  kw_tensor_release(out);
  kw_tensor_release(index);
  kw_tensor_release(values);
  kw_tensor_release(self);
}

static void given_results_decide_themselves(void **state) {
  (void)state;
  assert_int_equal(kw_autocast_set(KW_F16, NULL), KW_OK);
  kw_tensor *a = matrix(cpu, KW_F32), *out = matrix(cpu, KW_F32);
  const kw_value args[] = {kw_arg_tensor(a), kw_arg_tensor(a)};
  assert_int_equal(kw_op_call(kw_op_find("mm"), NULL, args, 2, &out, 1), KW_OK);
  float values[4];
  assert_int_equal(kw_tensor_read(out, values), KW_OK);
  assert_true(values[3] == 3 * 2049 + 16);
  kw_tensor_release(out);
  kw_tensor_release(a);
}

/* The call on cpu:0 is the device's, whose result is f32. */
static void fallback_does_as_the_device_would(void **state) {
  (void)state;
  kw_tensor *a = matrix(fixture, KW_F32), *out = matrix(fixture, KW_F32);
  const kw_value args[] = {kw_arg_tensor(a), kw_arg_tensor(a)};
  float values[4];
  assert_int_equal(kw_autocast_set(KW_F16, NULL), KW_OK);
  kw_fallback_set(KW_FALLBACK_ALLOW);
  kw_status status = kw_op_call(kw_op_find("mm"), NULL, args, 2, &out, 1);
  kw_fallback_set(KW_FALLBACK_OFF);
  if (status != KW_OK) fail_msg("%s", kw_error_message());
  assert_int_equal(kw_autocast_get(), KW_F16);
  assert_int_equal(kw_tensor_read(out, values), KW_OK);
  assert_true(values[3] == 3 * 2049 + 16);
  kw_tensor_release(out);
  kw_tensor_release(a);
}

/* The fixture has no mm: what it is asked for is what the application gave. */
static void devices_without_the_dtype_are_left_alone(void **state) {
  (void)state;
  assert_int_equal(kw_autocast_set(KW_F16, NULL), KW_OK);
  kw_tensor *a = matrix(fixture, KW_F32), *out = NULL;
  const kw_value args[] = {kw_arg_tensor(a), kw_arg_tensor(a)};
  assert_int_equal(kw_op_call(kw_op_find("mm"), NULL, args, 2, &out, 1), KW_ERR_NOT_IMPLEMENTED);
  assert_null(strstr(kw_error_message(), "f16"));
  kw_tensor_release(a);
}

static void bad_calls_fail_as_ever(void **state) {
  (void)state;
  assert_int_equal(kw_autocast_set(KW_F16, NULL), KW_OK);
  kw_tensor *out = NULL;
  const kw_op *mm = kw_op_find("mm");
  assert_int_equal(kw_op_call(mm, NULL, NULL, 0, &out, 1), KW_ERR_INVALID_ARGUMENT);
  kw_value args[40] = {{0}};
  assert_int_equal(kw_op_call(mm, NULL, args, 2, &out, 1), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_op_call(mm, NULL, args, 40, &out, 1), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_autocast_get(), KW_F16);
}

static void *get_in_thread(void *out_dtype) {
  *(kw_dtype *)out_dtype = kw_autocast_get();
  return NULL;
}

static void threads_begin_without(void **state) {
  (void)state;
  assert_int_equal(kw_autocast_set(KW_F16, NULL), KW_OK);
  pthread_t thread;
  kw_dtype seen = KW_F16;
  assert_int_equal(pthread_create(&thread, NULL, get_in_thread, &seen), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(seen, KW_DTYPE_NONE);
}

static void rows_name_ops(void **state) {
  (void)state;
#define KW_OP_CAST(op, policy)                                          \
  if (!kw_op_find(op)) fail_msg("op_casts.def: there is no op %s", op); \
  assert_int_equal(kw_op_cast_policy(kw_op_find(op)), KW_CAST_##policy);
#include "op_casts.def"
  assert_int_equal(kw_op_cast_policy(kw_op_find("add.Tensor")), KW_CAST_NONE);
  assert_string_equal(kw_cast_policy_name(KW_CAST_WIDEST), "widest");
  assert_string_equal(kw_cast_policy_name(99), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(products_are_lowered, turn_off),
      cmocka_unit_test_teardown(regions_nest, turn_off),
      cmocka_unit_test_teardown(sums_are_raised, turn_off),
      cmocka_unit_test_teardown(the_widest_wins, turn_off),
      cmocka_unit_test_teardown(given_results_decide_themselves, turn_off),
      cmocka_unit_test_teardown(fallback_does_as_the_device_would, turn_off),
      cmocka_unit_test_teardown(devices_without_the_dtype_are_left_alone, turn_off),
      cmocka_unit_test_teardown(bad_calls_fail_as_ever, turn_off),
      cmocka_unit_test_teardown(threads_begin_without, turn_off),
      cmocka_unit_test(rows_name_ops),
  };
  return cmocka_run_group_tests(tests, load, unload);
}
