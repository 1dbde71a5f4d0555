/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of dispatch on the fixture's device: which kernel is taken, and what happens around it.
 */
#include "testing/test_dispatch.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void takes_the_highest_priority_that_can(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *y = NULL, *z = NULL;
  assert_int_equal(call(add, x, x, &y), KW_OK);
  assert_string_equal(fixture->last_kernel, "fast");
  assert_floats(y, (float[]){2, 4}, 2);
  fixture->fast_refuses = true;
  kw_tensor *w = floats(3, (float[]){1, 2, 3}); /* a new signature: the answer for the old one is cached */
  assert_int_equal(call(add, w, w, &z), KW_OK);
  assert_string_equal(fixture->last_kernel, "plain");
  assert_int_equal(fixture->pure_calls_with_memory, 0);
  kw_tensor_release(x), kw_tensor_release(y), kw_tensor_release(w), kw_tensor_release(z);
}

static void takes_what_is_off_by_name_only(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){5, 7}), *y = floats(2, (float[]){1, 2}), *out = NULL;
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(y)};
  kw_kernel_info info = {.struct_size = sizeof info};
  kw_plan *plan;
  assert_int_equal(kw_op_support(sub, device, KW_F32), KW_SUPPORT_DECOMPOSED);
  assert_int_equal(kw_op_get_kernel(sub, device, 0, &info), KW_OK);
  assert_string_equal(info.name, "off");
  assert_int_equal(call(sub, x, y, &out), KW_OK);
  assert_string_equal(fixture->last_kernel, "plain"); /* of add, with an alpha: it is decomposed */
  assert_int_equal(kw_plan_make(sub, NULL, args, 2, &out, 1, "off", &plan), KW_OK);
  assert_int_equal(kw_plan_run(plan, NULL, args, 2, &out, 1), KW_OK);
  assert_string_equal(fixture->last_kernel, "off");
  kw_plan_destroy(plan);
  kw_tensor_release(x), kw_tensor_release(y), kw_tensor_release(out);
}

static void passes_over_a_kernel_that_does_not_know_an_argument(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *y = NULL;
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x), kw_arg_scalar_i64(3)};
  assert_int_equal(kw_op_call(add, NULL, args, 3, &y, 1), KW_OK);
  assert_string_equal(fixture->last_kernel, "plain"); /* "fast" knows two arguments, and alpha is not its default */
  assert_floats(y, (float[]){4, 8}, 2);
  kw_tensor_release(x), kw_tensor_release(y);
}

/* Also by a plan that is remembered. */
static void computes_into_an_argument_of_a_pointwise_op(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *y = floats(2, (float[]){10, 20}), *out = NULL;
  kw_tensor *room = floats(3, (float[]){1, 2, 3}), *left, *right, *scattered = NULL;
  kw_tensor *where = indices(1, (int64_t[]){2}, (int64_t[]){1, 0});
  assert_int_equal(call(add, x, y, &out), KW_OK);
  for (int i = 0; i < 2; ++i) assert_int_equal(call(add, x, y, &x), KW_OK);
  assert_int_equal(call(add, y, x, &x), KW_OK);
  assert_floats(x, (float[]){31, 62}, 2);
  assert_int_equal(kw_tensor_slice(room, 0, 0, 2, 1, &left), KW_OK);
  assert_int_equal(kw_tensor_slice(room, 0, 1, 3, 1, &right), KW_OK);
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_int(0), kw_arg_tensor(where), kw_arg_tensor(y)};
  assert_int_equal(kw_op_call(kw_op_find("scatter.src"), NULL, args, 4, &scattered, 1), KW_OK);
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(call(add, left, y, &right), KW_ERR_INVALID_ARGUMENT);
    assert_int_equal(kw_op_call(kw_op_find("scatter.src"), NULL, args, 4, &scattered, 1), KW_OK);
    assert_int_equal(kw_op_call(kw_op_find("scatter.src"), NULL, args, 4, &x, 1), KW_ERR_INVALID_ARGUMENT);
  }
  kw_tensor_release(x), kw_tensor_release(y), kw_tensor_release(out), kw_tensor_release(room);
  kw_tensor_release(left), kw_tensor_release(right), kw_tensor_release(where), kw_tensor_release(scattered);
}

static void expands_what_broadcasts(void **state) {
  (void)state;
  kw_tensor *row = tensor_of(KW_F32, 2, (int64_t[]){1, 3}, (float[]){1, 2, 3});
  kw_tensor *column = tensor_of(KW_F32, 2, (int64_t[]){2, 1}, (float[]){10, 20}), *out = NULL;
  assert_int_equal(call(add, row, column, &out), KW_OK);
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(fixture->last_tensors[i].shape[0], 2);
    assert_int_equal(fixture->last_tensors[i].shape[1], 3);
    assert_int_equal(fixture->last_tensors[i].numel, 6);
    assert_int_equal(fixture->last_tensors[i].strides[i], 0);
  }
  assert_floats(out, (float[]){11, 12, 13, 21, 22, 23}, 6);
  kw_tensor_release(row), kw_tensor_release(column), kw_tensor_release(out);
}

static void casts_for_a_kernel_of_one_dtype(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){0.5f, 1.5f}), *out = NULL;
  kw_tensor *whole = tensor_of(KW_I32, 1, (int64_t[]){2}, (int32_t[]){1, -2});
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(call(add, x, whole, &out), KW_OK);
    assert_int_equal(fixture->last_tensors[1].dtype, KW_F32);
    assert_floats(out, (float[]){1.5f, -0.5f}, 2);
  }
  assert_int_equal(counters().launches, 4); /* two casts, two adds */
  kw_tensor_release(x), kw_tensor_release(whole), kw_tensor_release(out);
}

static void refuses_results_over_arguments(void **state) {
  (void)state;
  kw_tensor *x = floats(8, (float[]){0, 1, 2, 3, 4, 5, 6, 7}), *head, *tail, *even, *odd, *twice, *same = x;
  assert_int_equal(kw_tensor_slice(x, 0, 0, 4, 1, &head), KW_OK);
  assert_int_equal(kw_tensor_slice(x, 0, 2, 6, 1, &tail), KW_OK);
  assert_int_equal(kw_tensor_slice(x, 0, 0, 8, 2, &even), KW_OK);
  assert_int_equal(kw_tensor_slice(x, 0, 1, 8, 2, &odd), KW_OK);
  kw_tensor *one = floats(1, (float[]){1});
  assert_int_equal(kw_tensor_expand(one, 1, (int64_t[]){8}, &twice), KW_OK);

  assert_int_equal(call(add, x, x, &same), KW_OK); /* element by element */
  assert_int_equal(call(add, head, head, &tail), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "'self'"));
  assert_int_equal(call(add, x, x, &twice), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "overlaps itself"));
  assert_int_equal(call(add, even, even, &odd), KW_OK); /* interleaved, and proven apart */
  assert_floats(x, (float[]){0, 0, 4, 8, 8, 16, 12, 24}, 8);

  const kw_value copy_self[] = {kw_arg_tensor(x), kw_arg_tensor(x)},
                 copy_part[] = {kw_arg_tensor(head), kw_arg_tensor(tail)};
  const kw_op *copy = kw_op_find("copy_");
  assert_int_equal(kw_op_call(copy, NULL, copy_self, 2, NULL, 0), KW_OK);
  assert_int_equal(kw_op_call(copy, NULL, copy_part, 2, NULL, 0), KW_ERR_INVALID_ARGUMENT);
  kw_tensor_release(x), kw_tensor_release(head), kw_tensor_release(tail), kw_tensor_release(even);
  kw_tensor_release(odd), kw_tensor_release(one), kw_tensor_release(twice);
}

static void prepares_once_a_signature_and_releases(void **state) {
  (void)state;
  fixture->fast_refuses = true;
  fixture->workspace = 1000;
  for (uint32_t size = 1; size <= 2; ++size) {
    for (int i = 0; i < 3; ++i) {
      kw_tensor *x = floats(size, (float[]){1, 2}), *out = NULL;
      assert_int_equal(call(add, x, x, &out), KW_OK);
      assert_non_null(fixture->last_call.prepared);
      assert_non_null(fixture->last_call.workspace);
      assert_int_equal(fixture->last_call.workspace_size, 1000);
      kw_tensor_release(x), kw_tensor_release(out);
    }
    assert_int_equal(fixture->prepares, size);
  }
  assert_int_equal(counters().modules_built, 2); /* as prepare reports */
  assert_int_equal(counters().modules_cached, 0);
  assert_int_equal(counters().build_ns, 2000);
  assert_int_equal(fixture->releases, 0);
  assert_int_equal(kw_device_close(device), KW_OK);
  assert_int_equal(fixture->releases, 2);
  assert_int_equal(kw_device_open("fixture:0", &device), KW_OK);
}

static void leaves_nothing_of_a_kernel_that_gave_up(void **state) {
  (void)state;
  fixture->fast_gives_up = true;
  kw_tensor *x = floats(2, (float[]){1, 2}), *out = NULL;
  assert_int_equal(call(add, x, x, &out), KW_OK);
  assert_string_equal(fixture->last_kernel, "plain");
  assert_int_equal(fixture->last_call.workspace_size, 0);
  assert_ptr_not_equal(fixture->last_call.prepared, fixture);
  kw_tensor_release(x), kw_tensor_release(out);
}

static void refuses_lists_without_entries_and_null(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *out = NULL;
  const kw_value ints[] = {kw_arg_tensor(x), kw_arg_int_list(NULL, 1)}, tensors[] = {kw_arg_tensor_list(NULL, 2)};
  assert_int_equal(kw_op_call(kw_op_find("sum.dim_IntList"), NULL, ints, 2, &out, 1), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "'dim' is a list of 1 entries at NULL"));
  assert_int_equal(call(add, NULL, x, &out), KW_ERR_INVALID_ARGUMENT);
  assert_string_equal(kw_error_message(), "add.Tensor: 'self' is NULL; pass a tensor, as kw_tensor_create gives");
  assert_int_equal(kw_op_call(add, NULL, tensors, 1, &out, 1), KW_ERR_INVALID_ARGUMENT);
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  assert_int_equal(kw_plan_make(add, NULL, args, 2, &out, 1, NULL, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_plan_run(NULL, NULL, args, 2, &out, 1), KW_ERR_INVALID_ARGUMENT);
  assert_string_equal(kw_plan_kernel(NULL), "");
  assert_null(kw_device_name(NULL));
  assert_int_equal(kw_device_native(NULL), 0);
  assert_int_equal(kw_device_synchronize(NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_device_count(NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_plugin_count(NULL), KW_ERR_INVALID_ARGUMENT);
  kw_device_info facts = {.struct_size = sizeof facts};
  assert_int_equal(kw_device_get_info(NULL, &facts), KW_ERR_INVALID_ARGUMENT);
  kw_kernel_info info = {.struct_size = sizeof info};
  assert_int_equal(kw_op_get_kernel(add, NULL, 0, &info), KW_ERR_INVALID_ARGUMENT);
  kw_tensor_release(x);
}

static void says_how_to_allow_fallback(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){5, 7}), *out = NULL;
  const kw_value args[] = {kw_arg_tensor(x)};
  assert_int_equal(kw_op_call(kw_op_find("exp"), NULL, args, 1, &out, 1), KW_ERR_NOT_IMPLEMENTED);
  assert_null(out);
  assert_non_null(strstr(kw_error_message(), "KEYWAY_FALLBACK=warn"));
  assert_non_null(strstr(kw_error_message(), "exp(f32[2]) on fixture:0: the device has no kernel for this call; set"));
  assert_non_null(strstr(kw_error_message(), "'keyway ops exp --device fixture:0'"));
  kw_tensor_release(x);
}

/* What lacks is not the op; with a kernel that is asked for a dtype of its own it is. */
static void names_the_conversion_that_is_missing(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){0.5f, 1.5f}), *out = NULL;
  kw_tensor *whole = indices(1, (int64_t[]){2}, (int64_t[]){1, -2});
  assert_int_equal(call(add, x, whole, &out), KW_ERR_NOT_IMPLEMENTED);
  assert_non_null(strstr(kw_error_message(), "add.Tensor(f32[2], i64[2]) on fixture:0"));
  assert_non_null(strstr(kw_error_message(), "it has add.Tensor in f32, and no copy_ from i64 to f32; set"));
  assert_non_null(strstr(kw_error_message(), "'keyway ops copy_ --device fixture:0'"));
  kw_call_support support = {.struct_size = sizeof support};
  const kw_value args[] = {kw_arg_tensor(whole), kw_arg_tensor(x)};
  assert_int_equal(kw_op_can_run(add, device, args, 2, &support), KW_ERR_NOT_IMPLEMENTED);
  assert_non_null(strstr(kw_error_message(), "no copy_ from i64 to f32"));
  assert_int_equal(call(add, whole, whole, &out), KW_ERR_NOT_IMPLEMENTED);
  assert_null(strstr(kw_error_message(), "it has"));
  kw_tensor_release(x), kw_tensor_release(whole);
}

/* What the device cannot do cpu:0 does, where that is allowed: results in new and in given tensors, strided ones, and
 * in place; also when the plugin itself asks for it. */
static void falls_back_to_cpu_where_allowed(void **state) {
  (void)state;
  assert_int_equal(kw_plugin_load(CPU_PLUGIN), KW_OK);
  kw_tensor *x = floats(4, (float[]){-1, 2, -3, 4}), *out = NULL, *odd;
  kw_tensor *wide = tensor_of(KW_F64, 1, (int64_t[]){4}, (double[]){0.25, -8, 1, 2});
  kw_tensor *room = floats(8, (float[]){9, 9, 9, 9, 9, 9, 9, 9});
  assert_int_equal(kw_tensor_slice(room, 0, 1, 8, 2, &odd), KW_OK);
  const kw_value relu[] = {kw_arg_tensor(x)};
  kw_fallback_set(KW_FALLBACK_ALLOW);
  assert_int_equal(kw_op_call(kw_op_find("relu"), NULL, relu, 1, &out, 1), KW_OK);
  assert_floats(out, (float[]){0, 2, 0, 4}, 4);
  assert_int_equal(kw_op_call(kw_op_find("relu"), NULL, relu, 1, &odd, 1), KW_OK);
  assert_floats(room, (float[]){9, 0, 9, 2, 9, 0, 9, 4}, 8);
  fixture->launch_status = KW_ERR_FALLBACK;
  assert_int_equal(call(add, x, x, &out), KW_OK);
  assert_floats(out, (float[]){-2, 4, -6, 8}, 4);
  const kw_value neg[] = {kw_arg_tensor(wide)}, fill[] = {kw_arg_tensor(wide), kw_arg_scalar_f64(0.5)};
  kw_tensor *negated = NULL;
  assert_int_equal(kw_op_call(kw_op_find("neg"), NULL, neg, 1, &negated, 1), KW_OK);
  assert_int_equal(kw_op_call(kw_op_find("fill_.Scalar"), NULL, fill, 2, NULL, 0), KW_OK);
  double got[4];
  assert_int_equal(kw_tensor_read(negated, got), KW_OK);
  assert_true(got[0] == -0.25 && got[1] == 8);
  assert_int_equal(kw_tensor_read(wide, got), KW_OK);
  assert_true(got[0] == 0.5 && got[3] == 0.5);
  /* lists with entries that are NULL; lists of more entries than a call has arguments */
  kw_tensor *where = indices(1, (int64_t[]){2}, (int64_t[]){1, -1}), *which[] = {NULL, where}, *picked = NULL;
  kw_tensor *square = tensor_of(KW_F32, 2, (int64_t[]){2, 2}, (float[]){1, 2, 3, 4}), *many[20], *joined = NULL;
  const kw_value index[] = {kw_arg_tensor(square), kw_arg_tensor_list(which, 2)};
  assert_int_equal(kw_op_call(kw_op_find("index.Tensor"), NULL, index, 2, &picked, 1), KW_OK);
  assert_floats(picked, (float[]){2, 2, 4, 4}, 4);
  for (int i = 0; i < 20; ++i) many[i] = wide;
  const kw_value cat[] = {kw_arg_tensor_list(many, 20)};
  assert_int_equal(kw_op_call(kw_op_find("cat"), NULL, cat, 1, &joined, 1), KW_OK);
  double all[80];
  assert_int_equal(kw_tensor_read(joined, all), KW_OK);
  for (int i = 0; i < 80; ++i) assert_true(all[i] == 0.5);
  kw_tensor_release(where), kw_tensor_release(square), kw_tensor_release(picked), kw_tensor_release(joined);
  assert_int_equal(counters().fallbacks, 7);
  assert_int_equal(kw_op_fallbacks(kw_op_find("relu"), kw_tensor_device(x)), 2);
  assert_int_equal(kw_op_fallbacks(kw_op_find("cat"), kw_tensor_device(x)), 1);
  assert_int_equal(kw_op_fallbacks(kw_op_find("exp"), kw_tensor_device(x)), 0);
  kw_fallback_set(KW_FALLBACK_OFF);
  kw_tensor *none = NULL; /* a plan that was made while it was allowed */
  assert_int_equal(kw_op_call(kw_op_find("relu"), NULL, relu, 1, &none, 1), KW_ERR_NOT_IMPLEMENTED);
  kw_tensor_release(x), kw_tensor_release(out), kw_tensor_release(wide), kw_tensor_release(room);
  kw_tensor_release(odd), kw_tensor_release(negated);
}

static void makes_unknown_statuses_internal_errors(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){5, 7}), *out = NULL;
  fixture->launch_status = 99;
  assert_int_equal(call(add, x, x, &out), KW_ERR_INTERNAL);
  assert_null(out);
  assert_non_null(strstr(kw_error_message(), "99"));
  assert_non_null(strstr(kw_error_message(), "the knob says so"));
  fixture->launch_status = KW_ERR_FALLBACK; /* off: the same refusal as without a kernel */
  assert_int_equal(call(add, x, x, &out), KW_ERR_NOT_IMPLEMENTED);
  fixture->launch_status = KW_OK;
  assert_int_equal(call(add, x, x, &out), KW_OK);
  kw_tensor_release(x), kw_tensor_release(out);
}

static void loses_only_the_device_that_is_lost(void **state) {
  (void)state;
  kw_device *other;
  assert_int_equal(kw_device_open("fixture:1", &other), KW_OK);
  kw_tensor *x = floats(2, (float[]){5, 7}), *out = NULL, *elsewhere, *sum = NULL;
  assert_int_equal(kw_tensor_create(other, KW_F32, 1, (int64_t[]){2}, &elsewhere), KW_OK);
  assert_int_equal(call(add, x, elsewhere, &out), KW_ERR_INVALID_ARGUMENT); /* two devices in one call */
  fixture->launch_status = KW_ERR_DEVICE_LOST;
  assert_int_equal(call(add, x, x, &out), KW_ERR_DEVICE_LOST);
  fixture->launch_status = KW_OK;
  assert_int_equal(call(add, x, x, &out), KW_ERR_DEVICE_LOST);
  assert_int_equal(call(add, elsewhere, elsewhere, &sum), KW_OK);
  kw_tensor_release(x), kw_tensor_release(elsewhere), kw_tensor_release(sum);
  assert_int_equal(kw_device_close(other), KW_OK);
  assert_int_equal(kw_device_close(device), KW_OK);
  assert_int_equal(kw_device_open("fixture:0", &device), KW_OK); /* reopened, it works */
  kw_tensor *y = floats(2, (float[]){5, 7});
  assert_int_equal(call(add, y, y, &out), KW_OK);
  kw_tensor_release(y), kw_tensor_release(out);
}

static void checks_given_results(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){5, 7}), *longer = floats(3, NULL);
  kw_tensor *whole = tensor_of(KW_I32, 1, (int64_t[]){2}, NULL);
  assert_int_equal(call(add, x, x, &longer), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "f32[3]"));
  assert_int_equal(call(add, x, x, &whole), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(fixture->launches, 0);
  kw_tensor_release(x), kw_tensor_release(longer), kw_tensor_release(whole);
}

static void launches_nothing_for_empty_results(void **state) {
  (void)state;
  kw_tensor *x = floats(0, NULL), *out = NULL;
  assert_int_equal(call(add, x, x, &out), KW_OK);
  assert_int_equal(kw_tensor_describe(out)->numel, 0);
  assert_int_equal(fixture->launches, 0);
  kw_tensor_release(x), kw_tensor_release(out);
}

static void replays_a_plan_of_a_named_kernel(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){5, 7}), *y = floats(2, (float[]){1, 1}), *z = floats(3, NULL), *out = NULL;
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)}, again[] = {kw_arg_tensor(y), kw_arg_tensor(x)};
  const kw_value other[] = {kw_arg_tensor(z), kw_arg_tensor(z)};
  kw_plan *plan;
  assert_int_equal(kw_plan_make(add, NULL, args, 2, &out, 1, "nope", &plan), KW_ERR_NOT_FOUND);
  assert_int_equal(kw_plan_make(add, NULL, args, 2, &out, 1, "plain", &plan), KW_OK);
  assert_string_equal(kw_plan_kernel(plan), "plain");
  assert_int_equal(kw_plan_run(plan, NULL, again, 2, &out, 1), KW_OK);
  assert_string_equal(fixture->last_kernel, "plain");
  assert_floats(out, (float[]){6, 8}, 2);
  kw_tensor *none = NULL;
  assert_int_equal(kw_plan_run(plan, NULL, other, 2, &none, 1), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(fixture->releases, 0);
  kw_plan_destroy(plan);
  assert_int_equal(fixture->releases, 1);
  kw_tensor_release(x), kw_tensor_release(y), kw_tensor_release(z), kw_tensor_release(out);
}

/* Destroying a plan waits for the streams, and what it learns there is for who asks. */
static void keeps_a_late_error_past_the_end_of_its_plan(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){5, 7}), *out = NULL;
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  kw_plan *plan;
  assert_int_equal(kw_plan_make(add, NULL, args, 2, &out, 1, "plain", &plan), KW_OK);
  fixture->late_status = KW_ERR_TIMEOUT;
  assert_int_equal(kw_plan_run(plan, NULL, args, 2, &out, 1), KW_OK);
  fixture->late_status = KW_OK;
  kw_plan_destroy(plan);
  assert_int_equal(fixture->releases, 1);
  assert_int_equal(kw_device_synchronize(device), KW_ERR_TIMEOUT);
  assert_non_null(strstr(kw_error_message(), "add.Tensor failed on fixture:0 after it was enqueued: it is late"));
  assert_int_equal(kw_device_synchronize(device), KW_OK);
  kw_tensor_release(x), kw_tensor_release(out);
}

/* A plugin's own number is acted on by its class, and told: at once, and where it comes late. */
static void tells_a_number_of_the_plugins_own(void **state) {
  (void)state;
  const kw_status own = KW_STATUS_OF_PLUGIN(KW_CLASS_RETRY, 12);
  kw_tensor *x = floats(2, (float[]){5, 7}), *out = NULL;
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  const char *plugin;
  fixture->launch_status = own;
  for (int fast = 0; fast < 2; ++fast) {
    assert_int_equal(kw_op_call(add, NULL, args, 2, &out, 1), KW_ERR_BUSY);
    assert_int_equal(kw_error_detail(&plugin), own);
    assert_string_equal(plugin, "fixture.fixture");
    assert_non_null(strstr(kw_error_message(), "fixture.fixture returned try again later (the plugin's 12)"));
  }
  fixture->launch_status = KW_OK;
  fixture->late_status = own;
  assert_int_equal(kw_op_call(add, NULL, args, 2, &out, 1), KW_OK);
  fixture->late_status = KW_OK;
  kw_error_clear();
  assert_int_equal(kw_stream_synchronize(NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_error_detail(&plugin), KW_OK);
  assert_int_equal(kw_device_synchronize(device), KW_ERR_BUSY);
  assert_int_equal(kw_error_detail(&plugin), own);
  assert_string_equal(plugin, "fixture.fixture");
  assert_int_equal(kw_device_synchronize(device), KW_OK);
  kw_tensor_release(x), kw_tensor_release(out);
}

/* A decomposition names both: the op that was called, and the one whose argument it is. */
static void names_the_op_that_was_called(void **state) {
  (void)state;
  kw_tensor *self = tensor_of(KW_F32, 2, (int64_t[]){3, 2}, NULL), *out = NULL;
  kw_tensor *index = tensor_of(KW_I64, 1, (int64_t[]){2}, (int64_t[]){2, 3});
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(0), kw_arg_tensor(index)};
  assert_int_equal(kw_op_call(kw_op_find("index_select"), NULL, args, 3, &out, 1), KW_OK);
  assert_int_equal(kw_device_synchronize(device), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "index_select, by gather: argument 'index': an index is out of range"));
  kw_tensor_release(self), kw_tensor_release(index), kw_tensor_release(out);
}

/* An index that only the kernel sees: each way of calling tells at the next synchronise, and all goes on. */
static void tells_of_errors_in_the_data_at_the_next_wait(void **state) {
  (void)state;
  const kw_op *pick = kw_op_find("fixture::pick");
  kw_tensor *x = floats(3, (float[]){5, 6, 7}), *good = floats(2, (float[]){2, 0}), *bad = floats(2, (float[]){1, 3});
  kw_tensor *out = floats(2, NULL);
  const kw_value right[] = {kw_arg_tensor(x), kw_arg_tensor(good)}, wrong[] = {kw_arg_tensor(x), kw_arg_tensor(bad)};
  kw_stream *stream = kw_stream_default(device), *other;
  assert_int_equal(kw_stream_create(device, &other), KW_OK);
  kw_plan *plan;
  assert_int_equal(kw_plan_make(pick, NULL, right, 2, &out, 1, NULL, &plan), KW_OK);
  for (int i = 0; i < 3; ++i) { /* the first makes the plan, the others find it */
    assert_int_equal(kw_op_call(pick, NULL, wrong, 2, &out, 1), KW_OK);
    assert_int_equal(kw_op_call(pick, NULL, right, 2, &out, 1), KW_OK);
    assert_int_equal(kw_stream_synchronize(other), KW_OK);
    assert_int_equal(kw_stream_synchronize(stream), KW_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(kw_error_message(),
                           "fixture::pick: argument 'index': an index is out of range (found while "
                           "running on fixture:0)"));
    assert_int_equal(kw_stream_synchronize(stream), KW_OK);
    assert_floats(out, (float[]){7, 5}, 2);
  }
  assert_int_equal(kw_op_call(pick, other, wrong, 2, &out, 1), KW_OK); /* a word for each stream */
  assert_int_equal(kw_stream_synchronize(stream), KW_OK);
  assert_int_equal(kw_device_synchronize(device), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_plan_run(plan, NULL, wrong, 2, &out, 1), KW_OK);
  float got[2];
  assert_int_equal(kw_tensor_read(out, got), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_read(out, got), KW_OK);
  assert_true(got[0] == 6 && got[1] == -1);
  kw_plan_destroy(plan);
  assert_int_equal(call(add, good, good, &out), KW_OK);
  assert_null(fixture->last_call.extra); /* no business of a kernel without the flag */
  assert_int_equal(kw_op_call(pick, other, wrong, 2, &out, 1), KW_OK);
  assert_int_equal(kw_stream_destroy(other), KW_OK); /* nobody asked: it is in the log */
  kw_tensor_release(x), kw_tensor_release(good), kw_tensor_release(bad), kw_tensor_release(out);
}

#define THREADS 4
#define CALLS 500

static void *call_often(void *pointer) {
  kw_tensor *x = pointer, *out;
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  if (kw_tensor_create(device, KW_F32, 1, (int64_t[]){2}, &out) != KW_OK) return "create";
  for (int i = 0; i < CALLS; ++i) {
    if (kw_op_call(add, NULL, args, 2, &out, 1) != KW_OK) return "call";
  }
  kw_tensor_release(out);
  return NULL;
}

static void counts_the_launches_of_all_threads(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){5, 7});
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, call_often, x), 0);
  for (int i = 0; i < THREADS; ++i) {
    void *failure;
    pthread_join(threads[i], &failure);
    assert_null(failure);
  }
  assert_int_equal(counters().launches, THREADS * CALLS);
  kw_tensor_release(x);
}

/* Also calls whose plan the thread has at hand. */
static void launches_nothing_in_a_forked_child(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *y = floats(2, NULL);
  for (int i = 0; i < 2; ++i) assert_int_equal(call(add, x, x, &y), KW_OK);
  pid_t child = fork();
  if (child == 0) _exit(call(add, x, x, &y) == KW_ERR_UNSUPPORTED ? 0 : 1);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(call(add, x, x, &y), KW_OK);
  kw_tensor_release(x), kw_tensor_release(y);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(takes_the_highest_priority_that_can),
      TEST(takes_what_is_off_by_name_only),
      TEST(passes_over_a_kernel_that_does_not_know_an_argument),
      TEST(computes_into_an_argument_of_a_pointwise_op),
      TEST(expands_what_broadcasts),
      TEST(casts_for_a_kernel_of_one_dtype),
      TEST(refuses_results_over_arguments),
      TEST(prepares_once_a_signature_and_releases),
      TEST(leaves_nothing_of_a_kernel_that_gave_up),
      TEST(refuses_lists_without_entries_and_null),
      TEST(says_how_to_allow_fallback),
      TEST(names_the_conversion_that_is_missing),
      TEST(falls_back_to_cpu_where_allowed),
      TEST(makes_unknown_statuses_internal_errors),
      TEST(loses_only_the_device_that_is_lost),
      TEST(checks_given_results),
      TEST(launches_nothing_for_empty_results),
      TEST(replays_a_plan_of_a_named_kernel),
      TEST(keeps_a_late_error_past_the_end_of_its_plan),
      TEST(tells_a_number_of_the_plugins_own),
      TEST(tells_of_errors_in_the_data_at_the_next_wait),
      TEST(names_the_op_that_was_called),
      TEST(counts_the_launches_of_all_threads),
      TEST(launches_nothing_in_a_forked_child),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
