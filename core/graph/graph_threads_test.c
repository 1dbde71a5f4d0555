/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of graphs on cpu:0, whose streams and threads really run.
 */
#include "testing/test_calls.h"

#include <pthread.h>

static int load(void **state) {
  (void)state;
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  return kw_init(&options) == KW_OK && kw_plugin_load(CPU_PLUGIN) == KW_OK ? 0 : -1;
}

static int open_cpu(void **state) {
  (void)state;
  return kw_device_open("cpu:0", &device) == KW_OK ? 0 : -1;
}

static int close_device(void **state) {
  (void)state;
  return kw_device_close(device) == KW_OK ? 0 : -1;
}

#define assert_ok(call) assert_int_equal(call, KW_OK)

#define LAUNCHES 50

static kw_graph *shared;

static void *launch_often(void *own_stream) {
  for (int i = 0; i < LAUNCHES; ++i) {
    if (kw_graph_launch(shared, own_stream) != KW_OK) return "kw_graph_launch";
  }
  return kw_stream_synchronize(own_stream) == KW_OK ? NULL : "kw_stream_synchronize";
}

/* Each launch adds one to every element, by way of memory that they all share. */
static void launches_follow_each_other_across_streams(void **state) {
  (void)state;
  kw_stream *recorder, *streams[2];
  kw_tensor *sum = floats(4096, NULL), *one = floats(1, (float[]){1}), *more = NULL;
  const kw_value zero[] = {kw_arg_tensor(sum), kw_arg_scalar_i64(0)};
  assert_ok(kw_op_call(kw_op_find("fill_.Scalar"), NULL, zero, 2, NULL, 0));
  assert_ok(kw_stream_synchronize(kw_stream_default(device)));
  assert_ok(kw_stream_create(device, &recorder));
  assert_ok(kw_graph_begin(recorder));
  assert_ok(call_on(recorder, kw_op_find("add.Tensor"), sum, one, &more));
  const kw_value back[] = {kw_arg_tensor(sum), kw_arg_tensor(more)};
  assert_ok(kw_op_call(kw_op_find("copy_"), recorder, back, 2, NULL, 0));
  kw_tensor_release(more);
  assert_ok(kw_graph_end(recorder, &shared));
  assert_ok(kw_stream_destroy(recorder));
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) {
    assert_ok(kw_stream_create(device, &streams[i]));
    assert_int_equal(pthread_create(&threads[i], NULL, launch_often, streams[i]), 0);
  }
  for (int i = 0; i < 2; ++i) {
    void *failure;
    pthread_join(threads[i], &failure);
    assert_null(failure);
  }
  static float got[4096];
  assert_ok(kw_tensor_read(sum, got));
  for (int i = 0; i < 4096; ++i) assert_true(got[i] == 2 * LAUNCHES);
  assert_ok(kw_graph_launch(shared, streams[0]));
  assert_ok(kw_graph_destroy(shared)); /* waits */
  for (int i = 0; i < 2; ++i) assert_ok(kw_stream_destroy(streams[i]));
  kw_tensor_release(sum), kw_tensor_release(one);
}

#define ROUNDS 40

/* One round: sum = x + 1 + 2, by a graph whose results are all temporary but the last, or by eager calls. */
static const char *add_three(kw_stream *own, bool by_graph, float first) {
  kw_tensor *x, *one = NULL, *two = NULL, *sum = NULL;
  kw_graph *graph = NULL;
  float got[64], in[64];
  for (int i = 0; i < 64; ++i) in[i] = first + (float)i;
  if (kw_tensor_create_on(own, KW_F32, 1, (int64_t[]){64}, &x) != KW_OK || kw_tensor_write(x, in) != KW_OK) return "x";
  if (by_graph && kw_graph_begin(own) != KW_OK) return "kw_graph_begin";
  const kw_op *add_scalar = kw_op_find("add.Scalar");
  const kw_value by_one[] = {kw_arg_tensor(x), kw_arg_scalar_i64(1)};
  if (kw_op_call(add_scalar, own, by_one, 2, &one, 1) != KW_OK) return "add one";
  const kw_value by_two[] = {kw_arg_tensor(one), kw_arg_scalar_i64(2)};
  if (kw_op_call(add_scalar, own, by_two, 2, &two, 1) != KW_OK) return "add two";
  kw_tensor_release(one);
  const kw_value by_none[] = {kw_arg_tensor(two), kw_arg_scalar_i64(0)};
  if (kw_op_call(add_scalar, own, by_none, 2, &sum, 1) != KW_OK) return "add nothing";
  kw_tensor_release(two);
  kw_tensor_release(x);
  if (by_graph && (kw_graph_end(own, &graph) != KW_OK || kw_graph_launch(graph, own) != KW_OK)) return "launch";
  if (kw_stream_synchronize(own) != KW_OK || kw_tensor_read(sum, got) != KW_OK) return "read";
  for (int i = 0; i < 64; ++i) {
    if (got[i] != in[i] + 3) return "wrong";
  }
  kw_graph_destroy(graph);
  kw_tensor_release(sum);
  return NULL;
}

static void *work(void *by_graph) {
  const char *failure = NULL;
  kw_stream *own;
  if (kw_stream_create(device, &own) != KW_OK) return "kw_stream_create";
  for (int i = 0; i < ROUNDS && !failure; ++i) failure = add_three(own, by_graph != NULL, (float)(100 * i));
  kw_stream_destroy(own);
  return (void *)(uintptr_t)failure;
}

static void several_threads_record_while_others_work(void **state) {
  (void)state;
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    assert_int_equal(pthread_create(&threads[i], NULL, work, i < 2 ? device : NULL), 0);
  }
  for (int i = 0; i < 4; ++i) {
    void *failure;
    pthread_join(threads[i], &failure);
    if (failure) print_error("%s: %s\n", (char *)failure, kw_error_message());
    assert_null(failure);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(launches_follow_each_other_across_streams, open_cpu, close_device),
      cmocka_unit_test_setup_teardown(several_threads_record_while_others_work, open_cpu, close_device),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
