/* SPDX-License-Identifier: Apache-2.0
 *
 * Which kernels the math mode and determinism let in.
 */
#include "testing/test_fixture.h"

#include <keyway/keyway.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static kw_dispatch_fixture *fixture;
static kw_device *device;
static const kw_op *add, *sub;
static kw_tensor *x, *sum; /* f32 [2] */

static int load(void **state) {
  (void)state;
  fixture = test_fixture_start(DISPATCH_FIXTURE);
  add = kw_op_find("add.Tensor");
  sub = kw_op_find("sub.Tensor");
  return fixture && add && sub ? 0 : -1;
}

static int open_device(void **state) {
  (void)state;
  memset(fixture, 0, sizeof *fixture);
  if (kw_device_open("fixture:0", &device) != KW_OK) return -1;
  if (kw_tensor_create(device, KW_F32, 1, (const int64_t[]){2}, &x) != KW_OK) return -1;
  if (kw_tensor_create(device, KW_F32, 1, (const int64_t[]){2}, &sum) != KW_OK) return -1;
  return kw_tensor_write(x, (const float[]){1, 2}) == KW_OK ? 0 : -1;
}

static int close_device(void **state) {
  (void)state;
  kw_math_mode_set(KW_MATH_HIGHEST);
  kw_deterministic_set(false);
  kw_tensor_release(x), kw_tensor_release(sum);
  return kw_device_close(device) == KW_OK ? 0 : -1;
}

/* x op x, into `sum` where `given`, otherwise into a new tensor. */
static kw_status call(const kw_op *op, bool given) {
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  kw_tensor *out = given ? sum : NULL;
  kw_status status = kw_op_call(op, NULL, args, 2, &out, 1);
  if (!given) kw_tensor_release(out);
  return status;
}

static kw_plan *plan_of(const kw_op *op, const char *kernel) {
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  kw_plan *plan = NULL;
  assert_int_equal(kw_plan_make(op, NULL, args, 2, &sum, 1, kernel, &plan), KW_OK);
  return plan;
}

static void run(const kw_plan *plan) {
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  assert_int_equal(kw_plan_run(plan, NULL, args, 2, &sum, 1), KW_OK);
}

static void assert_ran(const char *kernel, kw_math_mode mode) {
  assert_string_equal(fixture->last_kernel, kernel);
  assert_int_equal(fixture->last_call.math_mode, mode);
}

/* By a thread's own cache, by the device's table, and by a new plan: the mode is part of what they look for. */
static void kernels_are_chosen_by_the_mode_of_the_call(void **state) {
  (void)state;
  static const kw_math_mode modes[] = {KW_MATH_HIGHEST, KW_MATH_TF32, KW_MATH_FAST};
  static const char *const kernels[] = {"fast", "tf32", "bf16"}; /* "fast" is the name of an exact one */
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; ++i) {
      const kw_math_mode mode = modes[i];
      assert_int_equal(kw_math_mode_set(mode), KW_OK);
      assert_int_equal(kw_math_mode_get(), mode);
      for (int again = 0; again < 3; ++again) {
        assert_int_equal(call(add, again != 1), KW_OK);
        assert_ran(kernels[i], mode);
      }
    }
  }
  assert_int_equal(kw_math_mode_set(KW_MATH_FAST + 1), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_math_mode_set(KW_MATH_FAST & ~KW_MATH_TF32), KW_ERR_INVALID_ARGUMENT); /* less without more */
  assert_int_equal(kw_math_mode_get(), KW_MATH_FAST);
}

static void no_name_gets_round_the_mode(void **state) {
  (void)state;
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  kw_plan *plan = NULL;
  assert_int_equal(kw_plan_make(add, NULL, args, 2, &sum, 1, "tf32", &plan), KW_ERR_NOT_IMPLEMENTED);
  assert_non_null(strstr(kw_error_message(), "kernel 'tf32' needs the math mode tf32, and it is highest"));
  assert_non_null(strstr(kw_error_message(), "KEYWAY_MATH=tf32"));
  kw_math_mode_set(KW_MATH_FAST); /* which allows it as well */
  plan = plan_of(add, "tf32");
  run(plan);
  assert_ran("tf32", KW_MATH_FAST);
  kw_plan_destroy(plan);
}

static void a_plan_keeps_its_mode(void **state) {
  (void)state;
  kw_math_mode_set(KW_MATH_TF32);
  kw_plan *direct = plan_of(add, NULL), *decomposed = plan_of(sub, NULL);
  kw_math_mode_set(KW_MATH_HIGHEST);
  run(direct);
  assert_ran("tf32", KW_MATH_TF32);
  run(decomposed); /* into add with an alpha */
  assert_ran("tf32", KW_MATH_TF32);
  assert_int_equal(call(sub, true), KW_OK);
  assert_ran("plain", KW_MATH_HIGHEST);
  kw_plan_destroy(direct), kw_plan_destroy(decomposed);
}

static void a_graph_keeps_the_mode_of_its_recording(void **state) {
  (void)state;
  kw_stream *stream = kw_stream_default(device);
  kw_graph *graph;
  kw_math_mode_set(KW_MATH_TF32);
  assert_int_equal(kw_graph_begin(stream), KW_OK);
  assert_int_equal(call(add, true), KW_OK);
  assert_int_equal(kw_graph_end(stream, &graph), KW_OK);
  kw_math_mode_set(KW_MATH_HIGHEST);
  assert_int_equal(kw_graph_launch(graph, stream), KW_OK);
  assert_int_equal(kw_stream_synchronize(stream), KW_OK);
  assert_ran("tf32", KW_MATH_TF32);
  assert_int_equal(kw_graph_destroy(graph), KW_OK);
}

static void only_deterministic_kernels_where_these_are_wanted(void **state) {
  (void)state;
  assert_int_equal(call(add, true), KW_OK);
  assert_true(fixture->last_call.flags == 0);
  kw_deterministic_set(true);
  assert_true(kw_deterministic_get());
  assert_int_equal(call(add, true), KW_ERR_NOT_IMPLEMENTED);
  assert_non_null(strstr(kw_error_message(), "kernel 'plain' is not deterministic"));
  kw_math_mode_set(KW_MATH_FAST);
  assert_true(kw_deterministic_get()); /* neither setting touches the other */
  assert_int_equal(call(add, true), KW_OK);
  assert_ran("bf16", KW_MATH_FAST);
  assert_true(fixture->last_call.flags == KW_CALL_DETERMINISTIC);
  kw_deterministic_set(false);
  assert_int_equal(kw_math_mode_set(KW_MATH_FAST & ~KW_MATH_TF32), KW_ERR_INVALID_ARGUMENT); /* less without more */
  assert_int_equal(kw_math_mode_get(), KW_MATH_FAST);
}

static void support_counts_what_is_allowed(void **state) {
  (void)state;
  assert_int_equal(kw_op_support(add, device, KW_F32), KW_SUPPORT_KERNEL);
  assert_int_equal(kw_op_support(sub, device, KW_F32), KW_SUPPORT_DECOMPOSED);
  kw_deterministic_set(true);
  assert_int_equal(kw_op_support(add, device, KW_F32), KW_SUPPORT_NONE);
  assert_int_equal(kw_op_support(sub, device, KW_F32), KW_SUPPORT_NONE);
  kw_math_mode_set(KW_MATH_FAST);
  assert_int_equal(kw_op_support(add, device, KW_F32), KW_SUPPORT_KERNEL);
  assert_int_equal(kw_op_support(sub, device, KW_F32), KW_SUPPORT_DECOMPOSED);
}

static void the_list_has_all_and_says_what_they_need(void **state) {
  (void)state;
  static const struct {
    const char *name;
    kw_math_mode needs;
  } listed[] = {{"bf16", KW_MATH_FAST}, {"tf32", KW_MATH_TF32}, {"fast", KW_MATH_HIGHEST}, {"plain", KW_MATH_HIGHEST}};
  for (uint32_t i = 0; i < 4; ++i) {
    kw_kernel_info info = {.struct_size = sizeof info};
    assert_int_equal(kw_op_get_kernel(add, device, i, &info), KW_OK);
    assert_string_equal(info.name, listed[i].name);
    assert_int_equal(info.math_mode, listed[i].needs);
  }
  assert_string_equal(kw_math_mode_name(KW_MATH_TF32), "tf32");
  assert_string_equal(kw_math_mode_name(KW_MATH_FAST + 1), "");
}

static void only_deterministic(void) {
  kw_deterministic_set(true);
}

/* As another thread may, in the middle of a call: the plan is that of the mode which the call began with, and so are
 * the calls that it leads to. */
static void a_call_keeps_its_mode_while_it_changes(void **state) {
  (void)state;
  const kw_tensor_ref *const both[] = {kw_tensor_describe(x), kw_tensor_describe(x)};
  const kw_value list = {.tag = KW_TAG_TENSOR_LIST, .count = 2, .u.tensors = both};
  kw_tensor *whole = NULL, *wide = NULL;
  fixture->on_can = only_deterministic;
  fixture->cat_refuses = fixture->fast_refuses = true;
  const kw_status joined = kw_op_call(kw_op_find("cat"), NULL, &list, 1, &whole, 1); /* by copy_, not deterministic */
  kw_deterministic_set(false);
  kw_tensor *ints;
  assert_int_equal(kw_tensor_create(device, KW_I32, 1, kw_tensor_describe(x)->shape, &ints), KW_OK);
  const kw_value mixed[] = {kw_arg_tensor(x), kw_arg_tensor(ints)};
  const kw_status cast = kw_op_call(add, NULL, mixed, 2, &wide, 1); /* "plain", after a cast by copy_ */
  kw_deterministic_set(false);
  fixture->on_can = NULL;
  fixture->cat_refuses = fixture->fast_refuses = false;
  assert_int_equal(joined, KW_OK);
  assert_int_equal(cast, KW_OK);
  kw_tensor_release(whole), kw_tensor_release(wide), kw_tensor_release(ints);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(kernels_are_chosen_by_the_mode_of_the_call, open_device, close_device),
      cmocka_unit_test_setup_teardown(no_name_gets_round_the_mode, open_device, close_device),
      cmocka_unit_test_setup_teardown(a_call_keeps_its_mode_while_it_changes, open_device, close_device),
      cmocka_unit_test_setup_teardown(a_plan_keeps_its_mode, open_device, close_device),
      cmocka_unit_test_setup_teardown(a_graph_keeps_the_mode_of_its_recording, open_device, close_device),
      cmocka_unit_test_setup_teardown(only_deterministic_kernels_where_these_are_wanted, open_device, close_device),
      cmocka_unit_test_setup_teardown(support_counts_what_is_allowed, open_device, close_device),
      cmocka_unit_test_setup_teardown(the_list_has_all_and_says_what_they_need, open_device, close_device),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
