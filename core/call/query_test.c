/* SPDX-License-Identifier: Apache-2.0
 *
 * Asking about calls: what they would give, and whether a device can run them, with descriptors in place of tensors.
 */
#include "testing/test_calls.h"

#include <stdio.h>

static kw_dispatch_fixture *fixture;
static const kw_op *add, *div_op, *split, *cat, *nonzero, *layer_norm_backward;

static int load(void **state) {
  (void)state;
  fixture = test_fixture_start(DISPATCH_FIXTURE);
  if (!fixture || kw_plugin_load(CPU_PLUGIN) != KW_OK) return -1;
  add = kw_op_find("add.Tensor");
  div_op = kw_op_find("div.Tensor");
  split = kw_op_find("topk");
  cat = kw_op_find("cat");
  nonzero = kw_op_find("nonzero");
  layer_norm_backward = kw_op_find("native_layer_norm_backward");
  return add && div_op && split && cat && nonzero && layer_norm_backward ? 0 : -1;
}

static int open_device(void **state) {
  (void)state;
  memset(fixture, 0, sizeof *fixture);
  return kw_device_open("fixture:0", &device) == KW_OK ? 0 : -1;
}

static int close_device(void **state) {
  (void)state;
  return kw_device_close(device) == KW_OK ? 0 : -1;
}

static kw_tensor_ref result_of(const kw_op *op, const kw_value *args, uint32_t count) {
  kw_tensor_ref result = {.struct_size = sizeof result};
  assert_int_equal(kw_op_infer(op, args, count, (kw_tensor_ref *[]){&result}, 1), KW_OK);
  return result;
}

static void assert_shape(const kw_tensor_ref *ref, kw_dtype dtype, uint32_t rank, const int64_t *shape) {
  assert_int_equal(ref->dtype, dtype);
  assert_int_equal(ref->rank, rank);
  assert_memory_equal(ref->shape, shape, rank * sizeof *shape);
  assert_null(ref->mem);
}

/* ---- What a call would give -------------------------------------------------------------------------------------- */

static void descriptors_broadcast_and_promote(void **state) {
  (void)state;
  const kw_tensor_ref x = kw_meta(KW_F16, 2, (int64_t[]){4, 1}), y = kw_meta(KW_F32, 1, (int64_t[]){3});
  const kw_value args[] = {kw_arg_meta(&x), kw_arg_meta(&y)};
  const kw_tensor_ref sum = result_of(add, args, 2);
  assert_shape(&sum, KW_F32, 2, (int64_t[]){4, 3});
  assert_int_equal(sum.numel, 12);
  assert_memory_equal(sum.strides, ((int64_t[]){3, 1}), 2 * sizeof(int64_t));
}

static void tensors_and_descriptors_mix(void **state) {
  (void)state;
  kw_tensor *x = floats(3, (float[]){1, 2, 3});
  const kw_tensor_ref y = kw_meta(KW_F32, 2, (int64_t[]){2, 3});
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_meta(&y)};
  const kw_tensor_ref sum = result_of(add, args, 2);
  assert_shape(&sum, KW_F32, 2, (int64_t[]){2, 3});
  kw_tensor_release(x);
}

static void lists_and_several_results(void **state) {
  (void)state;
  const kw_tensor_ref x = kw_meta(KW_I32, 2, (int64_t[]){2, 5}), y = kw_meta(KW_I32, 2, (int64_t[]){2, 7});
  const kw_value list[] = {kw_arg_meta_list((const kw_tensor_ref *[]){&x, &y}, 2), kw_arg_int(1)};
  const kw_tensor_ref joined = result_of(cat, list, 2);
  assert_shape(&joined, KW_I32, 2, (int64_t[]){2, 12});

  const kw_value top[] = {kw_arg_meta(&x), kw_arg_int(3)};
  kw_tensor_ref values = {.struct_size = sizeof values}, places = {.struct_size = sizeof places};
  assert_int_equal(kw_op_infer(split, top, 2, (kw_tensor_ref *[]){&values, &places}, 2), KW_OK);
  assert_shape(&values, KW_I32, 2, (int64_t[]){2, 3});
  assert_shape(&places, KW_I64, 2, (int64_t[]){2, 3});
}

static void counted_results_have_their_largest_size(void **state) {
  (void)state;
  const kw_tensor_ref x = kw_meta(KW_F32, 2, (int64_t[]){4, 5});
  kw_tensor_ref found = {.struct_size = sizeof found}, count = {.struct_size = sizeof count};
  const kw_value args[] = {kw_arg_meta(&x)};
  assert_int_equal(kw_op_infer(nonzero, args, 1, (kw_tensor_ref *[]){&found, &count}, 2), KW_OK);
  assert_shape(&found, KW_I64, 2, (int64_t[]){20, 2});
  assert_shape(&count, KW_I64, 0, NULL);
}

static void results_left_out_have_no_dtype(void **state) {
  (void)state;
  const kw_tensor_ref x = kw_meta(KW_F32, 2, (int64_t[]){4, 5}), mean = kw_meta(KW_F32, 2, (int64_t[]){4, 1});
  const kw_value args[] = {
      kw_arg_meta(&x), kw_arg_meta(&x), kw_arg_int_list((int64_t[]){5}, 1),      kw_arg_meta(&mean), kw_arg_meta(&mean),
      kw_arg_none(),   kw_arg_none(),   kw_arg_int_list((int64_t[]){1, 0, 0}, 3)};
  kw_tensor_ref r[3] = {{.struct_size = sizeof *r}, {.struct_size = sizeof *r}, {.struct_size = sizeof *r}};
  assert_int_equal(kw_op_infer(layer_norm_backward, args, 8, (kw_tensor_ref *[]){&r[0], &r[1], &r[2]}, 3), KW_OK);
  assert_shape(&r[0], KW_F32, 2, (int64_t[]){4, 5});
  assert_int_equal(r[1].dtype, KW_DTYPE_NONE);
  assert_int_equal(r[2].dtype, KW_DTYPE_NONE);
}

static void assert_refused(const kw_value *args, uint32_t count, const char *reason) {
  kw_tensor_ref result = {.struct_size = sizeof result, .dtype = KW_BOOL, .rank = 9};
  assert_int_equal(kw_op_infer(add, args, count, (kw_tensor_ref *[]){&result}, 1), KW_ERR_INVALID_ARGUMENT);
  if (!strstr(kw_error_message(), reason)) fail_msg("'%s' does not say '%s'", kw_error_message(), reason);
  assert_int_equal(result.rank, 9); /* untouched */
}

static void wrong_descriptors_are_refused(void **state) {
  (void)state;
  const kw_tensor_ref x = kw_meta(KW_F32, 1, (int64_t[]){3});
  kw_tensor_ref wrong = kw_meta(KW_F32, 1, (int64_t[]){4});
  assert_refused((kw_value[]){kw_arg_meta(&x), kw_arg_meta(&wrong)}, 2, "add.Tensor");
  wrong = kw_meta(KW_F32, 1, (int64_t[]){-1});
  assert_refused((kw_value[]){kw_arg_meta(&x), kw_arg_meta(&wrong)}, 2, "other");
  wrong = kw_meta(KW_F32, 40, (int64_t[40]){0});
  assert_refused((kw_value[]){kw_arg_meta(&x), kw_arg_meta(&wrong)}, 2, "rank");
  wrong = kw_meta(99, 1, (int64_t[]){3});
  assert_refused((kw_value[]){kw_arg_meta(&x), kw_arg_meta(&wrong)}, 2, "dtype");
  wrong = kw_meta(KW_F32, 3, (int64_t[]){INT64_MAX, INT64_MAX, 2});
  assert_refused((kw_value[]){kw_arg_meta(&x), kw_arg_meta(&wrong)}, 2, "other");
  wrong = x;
  wrong.strides[0] = -1;
  assert_refused((kw_value[]){kw_arg_meta(&x), kw_arg_meta(&wrong)}, 2, "stride");
  wrong = x;
  wrong.struct_size = 0;
  assert_refused((kw_value[]){kw_arg_meta(&x), kw_arg_meta(&wrong)}, 2, "kw_meta");
  assert_refused((kw_value[]){kw_arg_meta(&x), kw_arg_meta(NULL)}, 2, "kw_meta");
  assert_refused((kw_value[]){kw_arg_meta(&x)}, 1, "missing");
  const kw_value list = kw_arg_meta_list(NULL, 2);
  kw_tensor_ref joined = {.struct_size = sizeof joined};
  assert_int_equal(kw_op_infer(cat, &list, 1, (kw_tensor_ref *[]){&joined}, 1), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_op_infer(NULL, &list, 1, NULL, 0), KW_ERR_INVALID_ARGUMENT);
}

static void assert_not_implemented(kw_status status, const char *reason) {
  assert_int_equal(status, KW_ERR_NOT_IMPLEMENTED);
  if (!strstr(kw_error_message(), reason)) fail_msg("'%s' does not say '%s'", kw_error_message(), reason);
}

/* Asked about, called, and as an argument that is a dtype. */
static void some_dtypes_only_travel(void **state) {
  (void)state;
  kw_call_support support = {.struct_size = sizeof support};
  kw_tensor *one = floats(3, (float[]){1, 2, 3}), *out = NULL;
  for (kw_dtype dtype = KW_U16; kw_dtype_name(dtype) != NULL; ++dtype) {
    const kw_tensor_ref x = kw_meta(dtype, 1, (int64_t[]){3});
    kw_tensor *tensor = tensor_of(dtype, 1, (int64_t[]){3}, NULL);
    char reason[64];
    snprintf(reason, sizeof reason, "argument 'other': no op computes on %s yet", kw_dtype_name(dtype));
    assert_not_implemented(kw_op_can_run(add, device, (kw_value[]){kw_arg_tensor(one), kw_arg_meta(&x)}, 2, &support),
                           reason);
    assert_not_implemented(call(add, one, tensor, &out), reason);

    assert_not_implemented(call(kw_op_find("copy_"), tensor, one, &tensor), "argument 'self'");
    assert_not_implemented(
        kw_op_call(kw_op_find("_to_copy"), NULL, (kw_value[]){kw_arg_tensor(one), kw_arg_dtype(dtype)}, 2, &out, 1),
        "argument 'dtype'");
    assert_int_equal(kw_op_support(add, device, dtype), KW_SUPPORT_NONE);
    kw_tensor_release(tensor);
  }
  assert_int_equal(kw_op_support(add, device, 0x7ff0), KW_SUPPORT_NONE);
  assert_int_equal(kw_op_support(add, device, 64 + KW_F32), KW_SUPPORT_NONE);
  kw_tensor_release(one);
}

/* Nothing makes such a tensor in this version: here a test does. */
static void set_layout(kw_tensor *tensor, uint32_t layout) {
  ((kw_tensor_ref *)(uintptr_t)kw_tensor_describe(tensor))->layout = layout;
}

static void no_kernel_sees_a_layout(void **state) {
  (void)state;
  kw_tensor_ref laid = kw_meta(KW_F32, 1, (int64_t[]){5}), result = {.struct_size = sizeof result};
  laid.layout = 7;
  const kw_value metas[] = {kw_arg_meta(&laid), kw_arg_meta(&laid)};
  const kw_value list[] = {kw_arg_meta_list((const kw_tensor_ref *[]){&laid, &laid}, 2)};
  assert_not_implemented(kw_op_infer(add, metas, 2, (kw_tensor_ref *[]){&result}, 1), "'self' has layout 7");
  assert_not_implemented(kw_op_infer(cat, list, 1, (kw_tensor_ref *[]){&result}, 1), "'tensors' has layout 7");
  kw_tensor *x = floats(5, (float[]){1, 2, 3, 4, 5}), *y = floats(5, NULL), *sum = NULL;
  set_layout(y, 3);
  assert_not_implemented(call(add, x, y, &sum), "'other' has layout 3");
  assert_null(sum);
  assert_not_implemented(call(add, x, x, &y), "result 0 has layout 3");
  assert_int_equal(counters().launches, 0);
  set_layout(y, 0);
  assert_int_equal(call(add, x, x, &y), KW_OK);
  kw_tensor_release(x);
  kw_tensor_release(y);
}

/* A call would read memory that a descriptor has not. */
static void a_call_refuses_descriptors(void **state) {
  (void)state;
  const kw_tensor_ref x = kw_meta(KW_F32, 1, (int64_t[]){3});
  kw_tensor *one = floats(3, (float[]){1, 2, 3}), *sum = NULL;
  const kw_value args[] = {kw_arg_tensor(one), kw_arg_meta(&x)};
  assert_int_equal(kw_op_call(add, NULL, args, 2, &sum, 1), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "kw_arg_meta"));
  kw_tensor_release(one);
}

/* ---- Whether a device can run it --------------------------------------------------------------------------------- */

static kw_status ask(const kw_op *op, const kw_tensor_ref *x, const kw_tensor_ref *y, kw_call_support *support) {
  const kw_value args[] = {kw_arg_meta(x), kw_arg_meta(y)};
  *support = (kw_call_support){.struct_size = sizeof *support};
  return kw_op_can_run(op, device, args, 2, support);
}

static void kernels_are_asked_and_nothing_is_run(void **state) {
  (void)state;
  const kw_tensor_ref x = kw_meta(KW_F32, 1, (int64_t[]){3});
  kw_call_support support;
  assert_int_equal(ask(add, &x, &x, &support), KW_OK);
  assert_int_equal(support.support, KW_SUPPORT_KERNEL);
  assert_string_equal(support.kernel, "fast");
  assert_int_equal(fixture->prepares, 0);
  assert_int_equal(counters().launches, 0);
  fixture->fast_refuses = true; /* in can_implement */
  const kw_tensor_ref longer = kw_meta(KW_F32, 1, (int64_t[]){4});
  assert_int_equal(ask(add, &longer, &longer, &support), KW_OK);
  assert_string_equal(support.kernel, "plain");
}

static void what_no_kernel_takes_cannot_run(void **state) {
  (void)state;
  const kw_tensor_ref x = kw_meta(KW_I32, 1, (int64_t[]){3});
  kw_call_support support;
  const kw_fallback before = kw_fallback_get();
  kw_fallback_set(KW_FALLBACK_ALLOW);
  assert_int_equal(ask(add, &x, &x, &support), KW_ERR_NOT_IMPLEMENTED);
  kw_fallback_set(KW_FALLBACK_OFF);
  assert_int_equal(ask(add, &x, &x, &support), KW_ERR_NOT_IMPLEMENTED);
  kw_fallback_set(before);
  assert_int_equal(support.support, KW_SUPPORT_NONE);
  assert_int_equal(kw_op_can_run(add, NULL, NULL, 0, NULL), KW_ERR_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(descriptors_broadcast_and_promote, open_device, close_device),
      cmocka_unit_test_setup_teardown(tensors_and_descriptors_mix, open_device, close_device),
      cmocka_unit_test_setup_teardown(lists_and_several_results, open_device, close_device),
      cmocka_unit_test_setup_teardown(counted_results_have_their_largest_size, open_device, close_device),
      cmocka_unit_test_setup_teardown(results_left_out_have_no_dtype, open_device, close_device),
      cmocka_unit_test_setup_teardown(wrong_descriptors_are_refused, open_device, close_device),
      cmocka_unit_test_setup_teardown(some_dtypes_only_travel, open_device, close_device),
      cmocka_unit_test_setup_teardown(no_kernel_sees_a_layout, open_device, close_device),
      cmocka_unit_test_setup_teardown(a_call_refuses_descriptors, open_device, close_device),
      cmocka_unit_test_setup_teardown(kernels_are_asked_and_nothing_is_run, open_device, close_device),
      cmocka_unit_test_setup_teardown(what_no_kernel_takes_cannot_run, open_device, close_device),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
