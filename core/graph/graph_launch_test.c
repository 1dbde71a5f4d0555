/* SPDX-License-Identifier: Apache-2.0
 *
 * When the work of a graph runs: on a device whose streams the test holds. The graphs have fills only.
 */
#include "graph/graph.h"
#include "testing/test_device.h"

static test_device *test;
static kw_stream *stream, *side;
static kw_tensor *x;

static void open_with(uint64_t native) {
  test = test_device_open("npu:0", native);
  stream = test->device.default_stream;
  assert_ok(kw_stream_create(&test->device, &side));
  assert_ok(kw_tensor_create(&test->device, KW_U8, 1, (int64_t[]){4}, &x));
}

static int open_device(void **state) {
  (void)state;
  open_with(TEST_NATIVE_ALL);
  return 0;
}

static int open_without_events(void **state) {
  (void)state;
  open_with(TEST_NATIVE_ALL & ~KW_NATIVE_EVENTS);
  return 0;
}

static int open_without_fill(void **state) {
  (void)state;
  open_with(TEST_NATIVE_ALL & ~KW_NATIVE_FILL);
  return 0;
}

static int close_device(void **state) {
  (void)state;
  kw_tensor_release(x);
  assert_ok(kw_stream_destroy(side));
  test_device_close(test);
  return 0;
}

static kw_graph *record_fill(kw_stream *on, unsigned char value) {
  kw_graph *graph;
  assert_ok(kw_graph_begin(on));
  assert_ok(kw_record_or_fill(x->buffer, on, 0, 4, &value, 1));
  assert_ok(kw_graph_end(on, &graph));
  return graph;
}

static unsigned char now(void) {
  const test_mem *mem = x->ref.mem;
  return mem->data[x->ref.offset];
}

static bool is_idle(kw_stream *which) {
  return kw_stream_query(which) == KW_OK;
}

static void recording_enqueues_nothing(void **state) {
  (void)state;
  kw_graph *graph = record_fill(stream, 5);
  assert_int_equal(now(), 0xdd);
  assert_int_equal(TEST_CALLS(test, memory_fill), 0);
  assert_ok(kw_graph_launch(graph, stream));
  assert_int_equal(now(), 5);
  assert_int_equal(TEST_CALLS(test, stream_synchronize), 0);
  assert_ok(kw_graph_destroy(graph));
}

static void waits_on_the_device_for_the_launch_before(void **state) {
  (void)state;
  kw_graph *graph = record_fill(stream, 5);
  test_gate(stream, true);
  assert_ok(kw_graph_launch(graph, stream));
  assert_ok(kw_graph_launch(graph, stream)); /* the same stream: no event */
  assert_int_equal(TEST_CALLS(test, event_record), 0);
  assert_ok(kw_graph_launch(graph, side));
  assert_int_equal(TEST_CALLS(test, event_record), 1);
  assert_false(is_idle(side));
  assert_int_equal(now(), 0xdd);
  test_gate(stream, false);
  assert_true(is_idle(side));
  assert_ok(kw_graph_destroy(graph));
}

/* Also the first launch, when it is not on the stream that recorded. */
static void waits_on_the_host_without_events(void **state) {
  (void)state;
  kw_graph *graph = record_fill(stream, 5);
  test->open_on_wait = true;
  test_gate(stream, true);
  assert_ok(kw_graph_launch(graph, stream));
  assert_int_equal(now(), 0xdd);
  assert_ok(kw_graph_launch(graph, side));
  assert_int_equal(TEST_CALLS(test, stream_synchronize), 1);
  assert_int_equal(now(), 5);
  assert_ok(kw_graph_destroy(graph));
}

static void ends_after_its_last_launch(void **state) {
  (void)state;
  kw_graph *graph = record_fill(stream, 5);
  test->open_on_wait = true;
  test_gate(side, true);
  assert_ok(kw_graph_launch(graph, side));
  kw_tensor_release(x); /* the graph has it still */
  assert_ok(kw_graph_destroy(graph));
  assert_true(is_idle(side));
  assert_int_equal(test->freed_in_use, 0);
  assert_ok(kw_tensor_create(&test->device, KW_U8, 1, (int64_t[]){4}, &x));
  assert_int_equal(now(), 5); /* it came back to the cache */
}

static void fills_without_the_plugins_fill(void **state) {
  (void)state;
  kw_graph *graph = record_fill(stream, 5);
  assert_int_equal(TEST_CALLS(test, memory_copy), 0);
  assert_ok(kw_graph_launch(graph, stream));
  assert_ok(kw_graph_launch(graph, stream));
  assert_int_equal(now(), 5);
  assert_int_equal(TEST_CALLS(test, memory_copy), 2);
  assert_ok(kw_graph_destroy(graph));
}

static void says_that_an_event_failed(void **state) {
  (void)state;
  kw_graph *graph = record_fill(stream, 5);
  TEST_FAIL_NEXT(test, event_wait, KW_ERR_TIMEOUT);
  assert_int_equal(kw_graph_launch(graph, side), KW_ERR_TIMEOUT);
  assert_error("launching a graph on npu:0");
  assert_int_equal(now(), 0xdd);
  assert_ok(kw_graph_launch(graph, side));
  assert_int_equal(now(), 5);
  assert_ok(kw_graph_destroy(graph));
}

/* A stream that is gone has done its work. */
static void outlives_the_streams_it_ran_on(void **state) {
  (void)state;
  kw_stream *gone;
  assert_ok(kw_stream_create(&test->device, &gone));
  kw_graph *graph = record_fill(gone, 5);
  assert_ok(kw_graph_launch(graph, gone));
  assert_ok(kw_stream_destroy(gone));
  assert_ok(kw_graph_launch(graph, side));
  assert_ok(kw_graph_destroy(graph));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(recording_enqueues_nothing, open_device, close_device),
      cmocka_unit_test_setup_teardown(waits_on_the_device_for_the_launch_before, open_device, close_device),
      cmocka_unit_test_setup_teardown(waits_on_the_host_without_events, open_without_events, close_device),
      cmocka_unit_test_setup_teardown(ends_after_its_last_launch, open_device, close_device),
      cmocka_unit_test_setup_teardown(fills_without_the_plugins_fill, open_without_fill, close_device),
      cmocka_unit_test_setup_teardown(says_that_an_event_failed, open_device, close_device),
      cmocka_unit_test_setup_teardown(outlives_the_streams_it_ran_on, open_device, close_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
