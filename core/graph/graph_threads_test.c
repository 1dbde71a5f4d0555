/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of graphs on cpu:0, whose streams and threads really run.
 */
#include "testing/test_calls.h"

#include <malloc.h>
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

/* ---- Training ---------------------------------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define STEPS 2000 /* each takes many times as long */
#else
#define STEPS 1000000
#endif
enum { SAMPLES = 8, INPUTS = 4 };

/* One step towards the weights that make y = x w + b of the samples: a product, its gradients, and the update. */
static void take_step(kw_stream *own, kw_tensor *x, kw_tensor *targets, kw_tensor *w, kw_tensor *b) {
  static const int64_t first = 0;
  kw_tensor *y = NULL, *error = NULL, *scaled = NULL, *exchanged = NULL, *dw = NULL, *db = NULL;
  const kw_value linear[] = {kw_arg_tensor(b), kw_arg_tensor(x), kw_arg_tensor(w)};
  assert_ok(kw_op_call(kw_op_find("addmm"), own, linear, 3, &y, 1));
  assert_ok(call_on(own, kw_op_find("sub.Tensor"), y, targets, &error));
  const kw_value scale[] = {kw_arg_tensor(error), kw_arg_float(0.25)};
  assert_ok(kw_op_call(kw_op_find("mul.Scalar"), own, scale, 2, &scaled, 1));
  assert_ok(kw_tensor_transpose(x, 0, 1, &exchanged));
  assert_ok(call_on(own, kw_op_find("mm"), exchanged, scaled, &dw));
  const kw_value sum[] = {kw_arg_tensor(scaled), kw_arg_int_list(&first, 1)};
  assert_ok(kw_op_call(kw_op_find("sum.dim_IntList"), own, sum, 2, &db, 1));
  assert_ok(call_on(own, kw_op_find("sub.Tensor"), w, dw, &w));
  assert_ok(call_on(own, kw_op_find("sub.Tensor"), b, db, &b));
  kw_tensor *const made[] = {y, error, scaled, exchanged, dw, db};
  for (size_t i = 0; i < sizeof made / sizeof *made; ++i) kw_tensor_release(made[i]);
}

/* Memory that the process and the device hold stays what it was after the first steps, and training gets there. */
static void training_takes_no_more_memory_with_each_step(void **state) {
  float inputs[SAMPLES * INPUTS], wanted[SAMPLES], got[INPUTS], zeros[INPUTS] = {0};
  static const float weights[INPUTS] = {1, -2, 3, 0.5F};
  (void)state;
  for (int i = 0; i < SAMPLES; ++i) {
    wanted[i] = 0.25F;
    for (int k = 0; k < INPUTS; ++k) {
      inputs[i * INPUTS + k] = (float)((i * 5 + k * k * 3) % 7 - 3) / 3;
      wanted[i] += inputs[i * INPUTS + k] * weights[k];
    }
  }
  kw_stream *own;
  kw_graph *graph;
  kw_tensor *x = tensor_of(KW_F32, 2, (int64_t[]){SAMPLES, INPUTS}, inputs);
  kw_tensor *targets = tensor_of(KW_F32, 2, (int64_t[]){SAMPLES, 1}, wanted);
  kw_tensor *w = tensor_of(KW_F32, 2, (int64_t[]){INPUTS, 1}, zeros), *b = floats(1, zeros);
  assert_ok(kw_stream_create(device, &own));
  assert_ok(kw_graph_begin(own));
  take_step(own, x, targets, w, b);
  assert_ok(kw_graph_end(own, &graph));
  size_t held = 0;
  for (int i = 0; i < STEPS; ++i) {
    assert_ok(kw_graph_launch(graph, own));
    if (i % 1000 != 999) continue; /* the queue of a stream has no end of its own */
    assert_ok(kw_stream_synchronize(own));
    const size_t now = mallinfo2().uordblks;
    if (i == 999) held = now;
    assert_in_range(now, 0, held);
  }
  assert_ok(kw_tensor_read(w, got));
  for (int k = 0; k < INPUTS; ++k) assert_float_equal(got[k], weights[k], 1e-3F);
  assert_ok(kw_graph_destroy(graph));
  kw_tensor *const all[] = {x, targets, w, b};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) kw_tensor_release(all[i]);
  assert_ok(kw_stream_destroy(own));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(launches_follow_each_other_across_streams, open_cpu, close_device),
      cmocka_unit_test_setup_teardown(several_threads_record_while_others_work, open_cpu, close_device),
      cmocka_unit_test_setup_teardown(training_takes_no_more_memory_with_each_step, open_cpu, close_device),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
