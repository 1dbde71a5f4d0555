/* SPDX-License-Identifier: Apache-2.0
 *
 * Counted ops: results narrowed to their count, or in full with it.
 */
#include <keyway/keyway.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static kw_device *device;
static const kw_op *nonzero;

static int open_device(void **state) {
  (void)state;
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  if (kw_init(&options) != KW_OK || kw_plugin_load(CPU_PLUGIN) != KW_OK) return -1;
  nonzero = kw_op_find("nonzero");
  return nonzero ? kw_device_open("cpu:0", &device) : -1;
}

static int close_device(void **state) {
  (void)state;
  return kw_device_close(device);
}

/* 0 5 0 / 7 0 9 */
static kw_tensor *make_input(void) {
  const float values[] = {0, 5, 0, 7, 0, 9};
  kw_tensor *self;
  assert_int_equal(kw_tensor_create(device, KW_F32, 2, (int64_t[]){2, 3}, &self), KW_OK);
  assert_int_equal(kw_tensor_write(self, values), KW_OK);
  return self;
}

static kw_status call(kw_stream *stream, kw_tensor *self, kw_tensor **outs, uint32_t out_count) {
  const kw_value arg = kw_arg_tensor(self);
  return kw_op_call(nonzero, stream, &arg, 1, outs, out_count);
}

static void expect_rows(const kw_tensor *result, int64_t rows) {
  static const int64_t want[] = {0, 1, 1, 0, 1, 2};
  int64_t got[12];
  assert_int_equal(kw_tensor_describe(result)->shape[0], rows);
  assert_int_equal(kw_tensor_describe(result)->shape[1], 2);
  assert_int_equal(kw_tensor_read(result, got), KW_OK);
  assert_memory_equal(got, want, sizeof want);
}

static void one_result_is_narrowed(void **state) {
  (void)state;
  kw_tensor *self = make_input(), *out = NULL;
  kw_stream *stream;
  assert_int_equal(kw_stream_create(device, &stream), KW_OK);
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(call(i ? stream : NULL, self, &out, 1), KW_OK);
    expect_rows(out, 3);
    kw_tensor_release(out);
    out = NULL;
  }
  assert_int_equal(kw_stream_destroy(stream), KW_OK);
  kw_tensor_release(self);
}

static void two_results_are_bound_and_count(void **state) {
  (void)state;
  kw_tensor *self = make_input(), *outs[2] = {NULL, NULL};
  int64_t count = 0;
  for (int i = 0; i < 2; ++i) { /* made, then given */
    assert_int_equal(call(NULL, self, outs, 2), KW_OK);
    assert_int_equal(kw_tensor_describe(outs[1])->rank, 0);
    assert_int_equal(kw_tensor_read(outs[1], &count), KW_OK);
    assert_int_equal(count, 3);
    expect_rows(outs[0], 6);
  }
  kw_tensor_release(outs[0]), kw_tensor_release(outs[1]), kw_tensor_release(self);
}

static void of_nothing_there_are_none(void **state) {
  (void)state;
  kw_tensor *self, *out = NULL;
  assert_int_equal(kw_tensor_create(device, KW_F32, 2, (int64_t[]){0, 3}, &self), KW_OK);
  assert_int_equal(call(NULL, self, &out, 1), KW_OK);
  assert_int_equal(kw_tensor_describe(out)->numel, 0);
  kw_tensor_release(out), kw_tensor_release(self);
}

static void memory_comes_with_the_count(void **state) {
  (void)state;
  kw_tensor *self = make_input(), *out;
  assert_int_equal(kw_tensor_create(device, KW_I64, 2, (int64_t[]){6, 2}, &out), KW_OK);
  assert_int_equal(call(NULL, self, &out, 1), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "ask for the count as result 1 too and give i64[6, 2]"));
  kw_tensor_release(out), kw_tensor_release(self);
}

static void a_graph_takes_the_bound(void **state) {
  (void)state;
  kw_tensor *self = make_input(), *outs[2] = {NULL, NULL}, *narrow = NULL;
  kw_stream *stream;
  kw_graph *graph;
  assert_int_equal(kw_stream_create(device, &stream), KW_OK);
  assert_int_equal(kw_graph_begin(stream), KW_OK);
  assert_int_equal(call(stream, self, &narrow, 1), KW_ERR_BUSY);
  assert_non_null(strstr(kw_error_message(), "ask for the count as result 1 too"));
  assert_int_equal(call(stream, self, outs, 2), KW_OK);
  assert_int_equal(kw_graph_end(stream, &graph), KW_OK);
  assert_int_equal(kw_graph_launch(graph, stream), KW_OK);
  assert_int_equal(kw_stream_synchronize(stream), KW_OK);
  expect_rows(outs[0], 6);
  kw_tensor_release(outs[0]), kw_tensor_release(outs[1]), kw_tensor_release(self);
  assert_int_equal(kw_graph_destroy(graph), KW_OK);
  assert_int_equal(kw_stream_destroy(stream), KW_OK);
}

static kw_status in_callback;
static void call_in_callback(void *user) {
  kw_tensor *out = NULL;
  in_callback = call(NULL, user, &out, 1);
}

static void a_host_callback_does_not_wait(void **state) {
  (void)state;
  kw_tensor *self = make_input();
  kw_stream *stream;
  assert_int_equal(kw_stream_create(device, &stream), KW_OK);
  assert_int_equal(kw_stream_call_host(stream, call_in_callback, self), KW_OK);
  assert_int_equal(kw_stream_synchronize(stream), KW_OK);
  assert_int_equal(in_callback, KW_ERR_BUSY);
  assert_int_equal(kw_stream_destroy(stream), KW_OK);
  kw_tensor_release(self);
}

static void says_so(void **state) {
  (void)state;
  kw_op_info info = {.struct_size = sizeof info};
  assert_int_equal(kw_op_get_info(nonzero, &info), KW_OK);
  assert_true(info.counted);
  assert_int_equal(info.result_count, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_result_is_narrowed),
      cmocka_unit_test(two_results_are_bound_and_count),
      cmocka_unit_test(of_nothing_there_are_none),
      cmocka_unit_test(memory_comes_with_the_count),
      cmocka_unit_test(a_graph_takes_the_bound),
      cmocka_unit_test(a_host_callback_does_not_wait),
      cmocka_unit_test(says_so),
  };
  return cmocka_run_group_tests(tests, open_device, close_device);
}
