/* SPDX-License-Identifier: Apache-2.0
 *
 * Results that output_mask leaves out: no tensor is made, kernels see NULL, on every way a call can take.
 */
#include "testing/test_fixture.h"

#include <keyway/keyway.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define RESULTS 3

static kw_dispatch_fixture *fixture;
static kw_device *device;
static const kw_op *multiples;

static int load(void **state) {
  (void)state;
  fixture = test_fixture_start(DISPATCH_FIXTURE);
  multiples = kw_op_find("fixture::multiples");
  return fixture && multiples && test_fixture_load(DISPATCH_CPU) ? 0 : -1;
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

static kw_tensor *floats(float first, float second) {
  kw_tensor *tensor;
  const float data[] = {first, second};
  assert_int_equal(kw_tensor_create(device, KW_F32, 1, (int64_t[]){2}, &tensor), KW_OK);
  assert_int_equal(kw_tensor_write(tensor, data), KW_OK);
  return tensor;
}

static kw_status call(kw_tensor *self, const int64_t *mask, uint32_t count, kw_tensor **outs) {
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int_list(mask, count)};
  return kw_op_call(multiples, NULL, args, 2, outs, RESULTS);
}

static void assert_refused(kw_status status, const char *text) {
  assert_int_equal(status, KW_ERR_INVALID_ARGUMENT);
  if (!strstr(kw_error_message(), text)) fail_msg("wanted \"%s\": %s", text, kw_error_message());
}

/* Result i is self times i + 1 where the mask has 1, and absent where it has 0. */
static void assert_results(kw_tensor **outs, const int64_t *mask, float first, float second) {
  for (int i = 0; i < RESULTS; ++i) {
    float got[2];
    assert_int_equal(outs[i] != NULL, mask[i]);
    if (!outs[i]) continue;
    assert_int_equal(kw_tensor_read(outs[i], got), KW_OK);
    assert_true(got[0] == first * (float)(i + 1) && got[1] == second * (float)(i + 1));
  }
}

static void release(kw_tensor **outs) {
  for (int i = 0; i < RESULTS; ++i) kw_tensor_release(outs[i]);
}

static void makes_only_what_is_wanted(void **state) {
  (void)state;
  kw_tensor *x = floats(1, -2);
  for (int bits = 0; bits < 8; ++bits) {
    const int64_t mask[] = {bits & 1, bits >> 1 & 1, bits >> 2};
    for (int round = 0; round < 2; ++round) { /* made, then remembered */
      kw_tensor *outs[RESULTS] = {NULL};
      assert_int_equal(call(x, mask, RESULTS, outs), KW_OK);
      assert_results(outs, mask, 1, -2);
      release(outs);
    }
  }
  assert_int_equal(fixture->launches, 14); /* none where nothing is wanted */
  assert_int_equal(fixture->pure_calls_with_memory, 0);
  kw_tensor_release(x);
}

static void writes_to_given_results_beside_absent_ones(void **state) {
  (void)state;
  const int64_t mask[] = {0, 1, 1}, others[] = {1, 0, 1};
  kw_tensor *x = floats(3, 4), *given = floats(0, 0), *outs[RESULTS] = {NULL, given, NULL};
  assert_int_equal(call(x, mask, RESULTS, outs), KW_OK);
  assert_ptr_equal(outs[1], given);
  assert_results(outs, mask, 3, 4);
  kw_tensor_release(outs[2]);
  kw_tensor *twice[RESULTS] = {NULL, given, given};
  assert_refused(call(x, mask, RESULTS, twice), "results 1 and 2 share memory");
  outs[0] = outs[2] = NULL; /* the same results as before, another mask */
  assert_refused(call(x, others, RESULTS, outs), "result 1 is left out by 'output_mask'; give NULL for it");
  assert_null(outs[0]);
  kw_tensor_release(x), kw_tensor_release(given);
}

static void refuses_masks_that_are_none(void **state) {
  (void)state;
  kw_tensor *x = floats(1, 2), *outs[RESULTS] = {NULL};
  const int64_t ones[] = {1, 1, 1, 1}, odd[] = {1, 1, 2};
  assert_refused(call(x, ones, 2, outs), "'output_mask': expected a list of 3 bools, got 2");
  assert_refused(call(x, ones, 4, outs), "'output_mask': expected a list of 3 bools, got 4");
  assert_refused(call(x, odd, 3, outs), "'output_mask': entry 2 is 2");
  const kw_value one[] = {kw_arg_tensor(x), kw_arg_bool(true)};
  assert_refused(kw_op_call(multiples, NULL, one, 2, outs, RESULTS), "'output_mask'");
  kw_tensor_release(x);
}

static void plans_and_graphs_leave_it_out(void **state) {
  (void)state;
  const int64_t mask[] = {1, 0, 1};
  kw_tensor *x = floats(5, 6), *outs[RESULTS] = {floats(0, 0), NULL, floats(0, 0)};
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_int_list(mask, RESULTS)};
  kw_plan *plan;
  assert_int_equal(kw_plan_make(multiples, NULL, args, 2, outs, RESULTS, "multiples", &plan), KW_OK);
  assert_int_equal(kw_plan_run(plan, NULL, args, 2, outs, RESULTS), KW_OK);
  assert_results(outs, mask, 5, 6);
  kw_plan_destroy(plan);

  kw_stream *stream;
  kw_graph *graph;
  assert_int_equal(kw_stream_create(device, &stream), KW_OK);
  assert_int_equal(kw_graph_begin(stream), KW_OK);
  assert_int_equal(kw_op_call(multiples, stream, args, 2, outs, RESULTS), KW_OK);
  assert_int_equal(kw_graph_end(stream, &graph), KW_OK);
  assert_int_equal(kw_tensor_write(x, (float[]){7, 8}), KW_OK);
  assert_int_equal(kw_graph_launch(graph, stream), KW_OK);
  assert_int_equal(kw_stream_synchronize(stream), KW_OK);
  assert_results(outs, mask, 7, 8);
  assert_int_equal(kw_graph_destroy(graph), KW_OK);
  assert_int_equal(kw_stream_destroy(stream), KW_OK);
  release(outs), kw_tensor_release(x);
}

static void falls_back_without_it(void **state) {
  (void)state;
  const int64_t mask[] = {0, 0, 1};
  kw_tensor *x = floats(1, 2), *outs[RESULTS] = {NULL};
  kw_fallback_set(KW_FALLBACK_WARN);
  fixture->launch_status = KW_ERR_FALLBACK;
  kw_status status = call(x, mask, RESULTS, outs);
  kw_fallback_set(KW_FALLBACK_OFF);
  if (status != KW_OK) fail_msg("%s", kw_error_message());
  assert_results(outs, mask, 1, 2);
  release(outs), kw_tensor_release(x);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_device, close_device)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(makes_only_what_is_wanted),   TEST(writes_to_given_results_beside_absent_ones),
      TEST(refuses_masks_that_are_none), TEST(plans_and_graphs_leave_it_out),
      TEST(falls_back_without_it),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
