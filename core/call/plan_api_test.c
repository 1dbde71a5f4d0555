/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs of a plan again and again: with the same tensors nothing is checked anew, so whatever makes them others has to
 * reach the plan.
 */
#include "testing/test_dispatch.h"

#include <pthread.h>
#include <stdlib.h>

static kw_status run(const kw_plan *plan, kw_stream *stream, kw_tensor *a, kw_tensor *b, kw_tensor *out) {
  const kw_value args[] = {kw_arg_tensor(a), kw_arg_tensor(b)};
  return kw_plan_run(plan, stream, args, 2, &out, 1);
}

/* Of add.Tensor, for tensors of two numbers. */
static kw_plan *plan_of(kw_tensor *x, kw_tensor *y, kw_tensor *out) {
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(y)};
  kw_plan *plan = NULL;
  assert_int_equal(kw_plan_make(add, NULL, args, 2, &out, 1, "plain", &plan), KW_OK);
  return plan;
}

static void runs_on_the_same_tensors_and_on_others(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *y = floats(2, (float[]){10, 20}), *out = floats(2, NULL);
  kw_plan *plan = plan_of(x, y, out);
  for (int i = 0; i < 3; ++i) {
    const float first = (float)i;
    assert_int_equal(kw_tensor_write(x, (float[]){first, 2}), KW_OK);
    assert_int_equal(run(plan, NULL, x, y, out), KW_OK);
    assert_floats(out, (float[]){first + 10, 22}, 2);
  }
  assert_int_equal(run(plan, NULL, y, x, out), KW_OK);
  assert_ptr_equal(fixture->last_tensors[0].mem, kw_tensor_describe(y)->mem);
  assert_int_equal(run(plan, NULL, x, x, y), KW_OK);
  assert_floats(y, (float[]){4, 4}, 2);
  assert_int_equal(run(plan, NULL, x, y, y), KW_OK); /* in place */
  assert_floats(y, (float[]){6, 6}, 2);
  kw_plan_destroy(plan);
  assert_int_equal(counters().launches, 6);
  kw_tensor_release(x), kw_tensor_release(y), kw_tensor_release(out);
}

/* Handles serve again after a while. */
static void checks_a_tensor_that_lies_where_another_lay(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *out = floats(2, NULL), *longer = NULL, *tried[4096];
  kw_plan *plan = plan_of(x, x, out);
  assert_int_equal(run(plan, NULL, x, x, out), KW_OK);
  kw_tensor_release(x);
  assert_int_equal(run(plan, NULL, x, x, out), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "not a live tensor"));
  uint32_t count = 0;
  while (longer != x && count < 4096) longer = tried[count++] = floats(3, NULL);
  assert_ptr_equal(longer, x);
  assert_int_equal(run(plan, NULL, longer, longer, out), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "differ from those the plan was made for"));
  while (count > 0) kw_tensor_release(tried[--count]);
  kw_plan_destroy(plan);
  kw_tensor_release(out);
}

/* A result, too, and views. */
static void checks_results_and_views_that_ended(void **state) {
  (void)state;
  kw_tensor *x = floats(4, (float[]){1, 2, 3, 4}), *left, *out = floats(2, NULL);
  assert_int_equal(kw_tensor_slice(x, 0, 0, 2, 1, &left), KW_OK);
  kw_plan *plan = plan_of(left, left, out);
  for (int i = 0; i < 2; ++i) assert_int_equal(run(plan, NULL, left, left, out), KW_OK);
  kw_tensor *before = out;
  kw_tensor_release(out);
  assert_int_equal(run(plan, NULL, left, left, before), KW_ERR_INVALID_ARGUMENT);
  out = floats(2, NULL);
  for (int i = 0; i < 2; ++i) assert_int_equal(run(plan, NULL, left, left, out), KW_OK);
  kw_tensor_release(left);
  assert_int_equal(run(plan, NULL, left, left, out), KW_ERR_INVALID_ARGUMENT);
  kw_plan_destroy(plan);
  kw_tensor_release(x), kw_tensor_release(out);
}

static void is_recorded_between_two_runs(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *out = floats(2, NULL);
  kw_stream *stream = kw_stream_default(device);
  kw_plan *plan = plan_of(x, x, out);
  for (int i = 0; i < 2; ++i) {
    kw_graph *graph;
    assert_int_equal(run(plan, NULL, x, x, out), KW_OK);
    const uint32_t launches = fixture->launches;
    assert_int_equal(kw_graph_begin(stream), KW_OK);
    assert_int_equal(run(plan, NULL, x, x, out), KW_OK);
    assert_int_equal(kw_graph_end(stream, &graph), KW_OK);
    assert_int_equal(fixture->launches, launches);
    assert_int_equal(run(plan, NULL, x, x, out), KW_OK);
    assert_int_equal(fixture->launches, launches + 1);
    assert_int_equal(kw_graph_destroy(graph), KW_OK);
  }
  kw_plan_destroy(plan);
  kw_tensor_release(x), kw_tensor_release(out);
}

/* On a stream that ended and on those that come after it. */
static void follows_the_stream_that_is_given(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *out = floats(2, NULL);
  kw_plan *plan = plan_of(x, x, out);
  for (int i = 0; i < 8; ++i) {
    kw_stream *stream;
    kw_tensor *own_x, *own_out;
    assert_int_equal(kw_stream_create(device, &stream), KW_OK);
    assert_int_equal(kw_tensor_create_on(stream, KW_F32, 1, (int64_t[]){2}, &own_x), KW_OK);
    assert_int_equal(kw_tensor_create_on(stream, KW_F32, 1, (int64_t[]){2}, &own_out), KW_OK);
    for (int k = 0; k < 2; ++k) {
      assert_int_equal(run(plan, stream, own_x, own_x, own_out), KW_OK);
      void *on = fixture->last_call.stream;
      assert_int_equal(run(plan, NULL, x, x, out), KW_OK);
      assert_ptr_not_equal(fixture->last_call.stream, on);
      assert_int_equal(run(plan, stream, x, x, out), KW_OK);
      assert_ptr_equal(fixture->last_call.stream, on);
    }
    assert_int_equal(kw_stream_destroy(stream), KW_OK);
    assert_int_equal(run(plan, NULL, own_x, own_x, own_out), KW_OK);
    kw_tensor_release(own_x), kw_tensor_release(own_out);
  }
  kw_plan_destroy(plan);
  kw_tensor_release(x), kw_tensor_release(out);
}

static void counts_the_launches_that_went_well(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *out = floats(2, NULL);
  kw_plan *plan = plan_of(x, x, out);
  for (int i = 0; i < 3; ++i) assert_int_equal(run(plan, NULL, x, x, out), KW_OK);
  fixture->launch_status = KW_ERR_TIMEOUT;
  assert_int_equal(run(plan, NULL, x, x, out), KW_ERR_TIMEOUT);
  assert_non_null(strstr(kw_error_message(), "add.Tensor(f32[2], f32[2]) on fixture:0, kernel 'plain'"));
  assert_non_null(strstr(kw_error_message(), "the knob says so"));
  fixture->launch_status = KW_OK;
  assert_int_equal(run(plan, NULL, x, x, out), KW_OK);
  assert_int_equal(counters().launches, 4);
  kw_plan_destroy(plan);
  assert_int_equal(counters().launches, 4);
  kw_tensor_release(x), kw_tensor_release(out);
}

static void stops_when_the_device_is_lost(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *out = floats(2, NULL);
  kw_plan *plan = plan_of(x, x, out);
  assert_int_equal(run(plan, NULL, x, x, out), KW_OK);
  fixture->launch_status = KW_ERR_DEVICE_LOST;
  assert_int_equal(run(plan, NULL, x, x, out), KW_ERR_DEVICE_LOST);
  fixture->launch_status = KW_OK;
  const uint32_t launches = fixture->launches;
  assert_int_equal(run(plan, NULL, x, x, out), KW_ERR_DEVICE_LOST);
  assert_int_equal(fixture->launches, launches);
  kw_plan_destroy(plan);
  kw_tensor_release(x), kw_tensor_release(out);
}

#define THREADS 3
#define RUNS 300

static const kw_plan *shared;
static kw_tensor *summand;

/* Results of its own, and a tensor that comes and goes. */
static void *run_often(void *unused) {
  (void)unused;
  const int64_t shape[] = {2};
  for (int i = 0; i < RUNS; ++i) {
    kw_tensor *result;
    float sums[2];
    if (kw_tensor_create(device, KW_F32, 1, shape, &result) != KW_OK) return "create";
    for (int k = 0; k < 2; ++k) {
      if (run(shared, NULL, summand, summand, result) != KW_OK) return "run";
    }
    if (kw_tensor_read(result, sums) != KW_OK || sums[0] != 2 || sums[1] != 4) return "sum";
    kw_tensor_release(result);
  }
  return NULL;
}

static void is_run_by_several_threads(void **state) {
  (void)state;
  kw_tensor *out = floats(2, NULL);
  summand = floats(2, (float[]){1, 2});
  kw_plan *plan = plan_of(summand, summand, out);
  shared = plan;
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, run_often, NULL), 0);
  for (int i = 0; i < THREADS; ++i) {
    void *failure;
    pthread_join(threads[i], &failure);
    assert_null(failure);
  }
  assert_int_equal(counters().launches, THREADS * RUNS * 2);
  kw_plan_destroy(plan);
  kw_tensor_release(summand), kw_tensor_release(out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(runs_on_the_same_tensors_and_on_others), TEST(checks_a_tensor_that_lies_where_another_lay),
      TEST(checks_results_and_views_that_ended),    TEST(is_recorded_between_two_runs),
      TEST(follows_the_stream_that_is_given),       TEST(counts_the_launches_that_went_well),
      TEST(stops_when_the_device_is_lost),          TEST(is_run_by_several_threads),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
