/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: waiting, late errors, host functions and their end.
 */
#include "op/op.h"
#include "device/stream.h"
#include "testing/test_buffers.h"

/* Work that a closed gate holds back. */
static void enqueue_copy(kw_stream *stream, kw_buffer *buffer, const void *byte) {
  kw_copy_info copy = {.struct_size = sizeof copy,
                       .kind = KW_COPY_HOST_TO_DEVICE,
                       .dst_mem = buffer->mem,
                       .dst_offset = buffer->offset,
                       .src_host = byte,
                       .size = 1};
  assert_ok(test_memory_copy(stream->device->handle, stream->handle, &copy));
}

static uint64_t call_id_of(const char *op) {
  const kw_op *found = kw_op_find(op);
  assert_non_null(found);
  return (uint64_t)found->id << KW_CALL_ID_BITS | 123;
}

/* ---- Life ------------------------------------------------------------------------------------------------------- */

static void bad_arguments(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *stream = NULL;
  assert_int_equal(kw_stream_create(NULL, &stream), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_stream_create: argument device");
  assert_int_equal(kw_stream_create(&test->device, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_error("argument out_stream");
  assert_int_equal(kw_stream_synchronize(NULL), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_stream_synchronize: argument stream");
  assert_int_equal(kw_stream_query(NULL), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_stream_query: argument stream");
  assert_int_equal(kw_stream_call_host(NULL, NULL, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_stream_call_host: argument stream");
  assert_int_equal(kw_stream_call_host(test->device.default_stream, NULL, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_stream_call_host: argument fn");
  assert_ok(kw_stream_destroy(NULL));
  assert_int_equal(kw_stream_destroy(test->device.default_stream), KW_ERR_INVALID_ARGUMENT);
  assert_error("default stream");
  assert_null(kw_stream_default(NULL));
  assert_null(kw_stream_device(NULL));
  test_device_close(test);
}

static void creation(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *a = stream_of(test), *b = stream_of(test), *fails = NULL;
  assert_ptr_not_equal(a, b);
  assert_true(a->token != 0 && a->token != b->token && a->token != test->device.default_stream->token);
  assert_ptr_equal(kw_stream_device(a), &test->device);
  assert_ptr_equal(kw_stream_default(&test->device), test->device.default_stream);
  assert_true(test->device.default_stream->is_default);
  assert_false(a->is_default);
  assert_int_equal(atomic_load(&test->device.refs), 3);
  TEST_FAIL_NEXT(test, stream_create, KW_ERR_BUSY);
  assert_int_equal(kw_stream_create(&test->device, &fails), KW_ERR_BUSY);
  assert_error("test:0");
  assert_error("stream_create said no");
  assert_null(fails);
  assert_ok(kw_stream_destroy(a));
  assert_ok(kw_stream_destroy(b));
  test_device_close(test);
}

static void destroy_lets_work_finish(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *stream = stream_of(test);
  kw_buffer *buffer = NULL;
  assert_ok(kw_buffer_create(test->device.default_stream, 4, &buffer));
  unsigned char byte = 42;
  test_gate(stream, true);
  enqueue_copy(stream, buffer, &byte);
  test->open_on_wait = true;
  assert_ok(kw_stream_destroy(stream));
  assert_int_equal(((test_mem *)buffer->mem)->data[buffer->offset], 42);
  kw_buffer_release(buffer);
  test_device_close(test);
}

static void query(void **state) {
  (void)state;
  for (int native = 0; native < 2; ++native) {
    test_device *test = test_device_open("test:0", native ? TEST_NATIVE_ALL : 0);
    kw_stream *stream = stream_of(test);
    kw_buffer *buffer = NULL;
    assert_ok(kw_buffer_create(stream, 4, &buffer));
    assert_ok(kw_stream_query(stream));
    test_gate(stream, true);
    enqueue_copy(stream, buffer, "x");
    if (native) {
      assert_int_equal(kw_stream_query(stream), KW_ERR_NOT_READY);
      test_gate(stream, false);
      assert_ok(kw_stream_query(stream));
      TEST_FAIL_NEXT(test, stream_query, KW_ERR_TIMEOUT);
      assert_int_equal(kw_stream_query(stream), KW_ERR_TIMEOUT);
      assert_error("stream_query said no");
    } else {
      test->open_on_wait = true;
      assert_ok(kw_stream_query(stream)); /* waits */
      assert_int_equal(TEST_CALLS(test, stream_query), 0);
    }
    kw_buffer_release(buffer);
    assert_ok(kw_stream_destroy(stream));
    test_device_close(test);
  }
}

/* ---- Late errors ------------------------------------------------------------------------------------------------ */

static void a_late_error_surfaces_once(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *stream = stream_of(test), *other = stream_of(test);
  assert_ok(kw_late_error_report(stream->token, call_id_of("add.Tensor"), KW_ERR_TIMEOUT, "the queue stalled"));
  assert_ok(kw_late_error_report(stream->token, call_id_of("mm"), KW_ERR_INTERNAL, "a consequence"));
  assert_ok(kw_stream_query(stream)); /* does not take it */
  assert_ok(kw_stream_synchronize(other));
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_TIMEOUT);
  assert_error("add.Tensor");
  assert_error("test:0");
  assert_error("the queue stalled");
  assert_ok(kw_stream_synchronize(stream));
  assert_ok(kw_stream_destroy(stream));
  assert_ok(kw_stream_destroy(other));
  test_device_close(test);
}

static void odd_reports(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *stream = stream_of(test);
  assert_ok(kw_late_error_report(stream->token, 0, 77, NULL));
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_INTERNAL);
  assert_error("unknown operation");
  assert_error("77");
  assert_int_equal(kw_late_error_report(stream->token, 0, KW_OK, "fine"), KW_ERR_INVALID_ARGUMENT);
  assert_ok(kw_stream_synchronize(stream));
  assert_ok(kw_late_error_report(stream->token, UINT64_MAX, KW_ERR_TIMEOUT, "")); /* no such op */
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_TIMEOUT);
  assert_error("timeout");
  char message[2000];
  memset(message, 'm', sizeof message);
  message[sizeof message - 1] = 0;
  assert_ok(kw_late_error_report(stream->token, 0, KW_ERR_TIMEOUT, message));
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_TIMEOUT);
  assert_error("usable again");
  uint64_t token = stream->token;
  assert_ok(kw_stream_destroy(stream));
  assert_ok(kw_late_error_report(token, 0, KW_ERR_TIMEOUT, "too late"));
  assert_ok(kw_stream_synchronize(test->device.default_stream));
  test_device_close(test);
}

static void a_failing_synchronize_slot(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *stream = test->device.default_stream;
  TEST_FAIL_NEXT(test, stream_synchronize, KW_ERR_INTERNAL);
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_INTERNAL);
  assert_error("stream_synchronize said no");
  assert_ok(kw_stream_synchronize(stream));
  /* A failure while the stream is drained stays for the next synchronize. */
  TEST_FAIL_NEXT(test, stream_synchronize, KW_ERR_INTERNAL);
  kw_stream_drain(stream);
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_INTERNAL);
  assert_error("stream_synchronize said no");
  test_device_close(test);
}

static void a_lost_device_fails_on_every_stream(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL),
              *healthy = test_device_open("test:1", TEST_NATIVE_ALL);
  kw_stream *stream = stream_of(test), *other = stream_of(test), *fails = NULL;
  assert_ok(kw_late_error_report(stream->token, call_id_of("mm"), KW_ERR_DEVICE_LOST, "illegal access"));
  unsigned calls = TEST_CALLS(test, stream_synchronize);
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(kw_stream_synchronize(stream), KW_ERR_DEVICE_LOST);
    assert_error("mm");
    assert_error("illegal access");
    assert_int_equal(kw_stream_synchronize(other), KW_ERR_DEVICE_LOST);
    assert_error("open it again");
  }
  assert_int_equal(kw_stream_query(other), KW_ERR_DEVICE_LOST);
  assert_int_equal(kw_device_synchronize(&test->device), KW_ERR_DEVICE_LOST);
  assert_int_equal(kw_stream_create(&test->device, &fails), KW_ERR_DEVICE_LOST);
  assert_int_equal(TEST_CALLS(test, stream_synchronize), calls); /* a dead queue may never answer */
  assert_ok(kw_stream_synchronize(healthy->device.default_stream));
  assert_ok(kw_stream_destroy(stream));
  assert_ok(kw_stream_destroy(other));
  test_device_close(test);
  test_device_close(healthy);
}

static void waits_for_the_device_leave_streams_their_errors(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL), *apart = test_device_open("test:1", TEST_NATIVE_ALL);
  kw_stream *a = stream_of(test), *b = stream_of(test);
  assert_ok(kw_late_error_report(apart->device.default_stream->token, 0, KW_ERR_TIMEOUT, "elsewhere"));
  assert_ok(kw_late_error_report(a->token, 0, KW_ERR_TIMEOUT, "in a"));
  assert_ok(kw_late_error_report(b->token, 0, KW_ERR_TIMEOUT, "in b"));
  assert_int_equal(kw_device_synchronize(&test->device), KW_ERR_TIMEOUT);
  assert_int_equal(TEST_CALLS(test, stream_synchronize), 3);
  assert_int_equal(TEST_CALLS(apart, stream_synchronize), 0);
  assert_int_equal(kw_device_synchronize(&test->device), KW_ERR_TIMEOUT);
  assert_ok(kw_device_synchronize(&test->device));
  /* An application that only ever waits for the device is told of the next error, too. */
  assert_ok(kw_late_error_report(a->token, 0, KW_ERR_IO, "later in a"));
  assert_int_equal(kw_device_synchronize(&test->device), KW_ERR_IO);
  assert_error("later in a");
  assert_ok(kw_device_synchronize(&test->device));
  /* Each stream has its own error still: its owner must not take what it wrote for right. */
  assert_int_equal(kw_stream_synchronize(a), KW_ERR_TIMEOUT);
  assert_error("in a");
  assert_ok(kw_stream_synchronize(a));
  assert_int_equal(kw_stream_synchronize(b), KW_ERR_TIMEOUT);
  assert_error("in b");
  assert_int_equal(kw_stream_synchronize(apart->device.default_stream), KW_ERR_TIMEOUT);
  assert_ok(kw_stream_destroy(a));
  assert_ok(kw_stream_destroy(b));
  test_device_close(test);
  test_device_close(apart);
}

/* ---- Host functions --------------------------------------------------------------------------------------------- */

typedef struct record {
  int order[4], count;
} record;

static record calls;

static void note(void *user) {
  calls.order[calls.count++] = *(int *)user;
}

static void call_host_runs_in_order_once(void **state) {
  (void)state;
  for (int native = 0; native < 2; ++native) {
    test_device *test = test_device_open("test:0", native ? TEST_NATIVE_ALL : 0);
    kw_stream *stream = stream_of(test);
    kw_buffer *buffer = NULL;
    assert_ok(kw_buffer_create(stream, 4, &buffer));
    static int numbers[] = {1, 2, 3};
    calls.count = 0;
    test_gate(stream, true);
    enqueue_copy(stream, buffer, "x");
    test->open_on_wait = !native;
    for (int i = 0; i < 3; ++i) {
      assert_ok(kw_stream_call_host(stream, note, &numbers[i]));
      assert_int_equal(calls.count, native ? 0 : i + 1); /* derived: waits and runs it here */
    }
    test_gate(stream, false);
    assert_int_equal(calls.count, 3);
    for (int i = 0; i < 3; ++i) assert_int_equal(calls.order[i], i + 1);
    assert_int_equal(kw_host_call_run(0), KW_ERR_NOT_FOUND);
    kw_buffer_release(buffer);
    assert_ok(kw_stream_destroy(stream));
    test_device_close(test);
  }
}

static uint64_t seen_token;

static kw_status keep_token(void *device, void *stream, uint64_t token) {
  (void)device;
  (void)stream;
  seen_token = token;
  return KW_OK;
}

static void a_token_runs_once(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  test->plugin.stream.call_host = keep_token;
  int number = 9;
  calls.count = 0;
  assert_ok(kw_stream_call_host(test->device.default_stream, note, &number));
  assert_ok(kw_host_call_run(seen_token));
  assert_int_equal(kw_host_call_run(seen_token), KW_ERR_NOT_FOUND);
  assert_error("has run already");
  assert_int_equal(calls.count, 1);
  test_device_close(test);
}

static kw_status run_and_fail(void *device, void *stream, uint64_t token) {
  (void)device;
  (void)stream;
  assert_ok(kw_host_call_run(token));
  return KW_ERR_DEVICE_LOST;
}

/* As it happens where a plugin's process ends right after it has run the function. */
static void what_has_run_was_enqueued(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  test->plugin.stream.call_host = run_and_fail;
  int number = 9;
  calls.count = 0;
  assert_ok(kw_stream_call_host(test->device.default_stream, note, &number));
  assert_int_equal(calls.count, 1);
  test_device_close(test);
}

typedef struct slow_call {
  atomic_bool begun, over;
} slow_call;

static void take_long(void *user) {
  slow_call *call = user;
  atomic_store(&call->begun, true);
  for (int i = 0; i < 2000; i++) sched_yield();
  atomic_store(&call->over, true);
}

static void *run_seen(void *unused) {
  assert_ok(kw_host_call_run(seen_token));
  return unused;
}

/* The plugin has nothing left to wait for, as that of a lost device. */
static void no_function_runs_when_its_stream_is_gone(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *stream = stream_of(test);
  slow_call call = {0};
  pthread_t thread;
  test->plugin.stream.call_host = keep_token;
  assert_ok(kw_stream_call_host(stream, take_long, &call));
  assert_int_equal(pthread_create(&thread, NULL, run_seen, NULL), 0);
  while (!atomic_load(&call.begun)) sched_yield();
  assert_ok(kw_stream_destroy(stream));
  assert_true(atomic_load(&call.over));
  pthread_join(thread, NULL);
  test_device_close(test);
}

static void a_refused_call_host_never_runs(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  int number = 9;
  calls.count = 0;
  TEST_FAIL_NEXT(test, stream_call_host, KW_ERR_BUSY);
  assert_int_equal(kw_stream_call_host(test->device.default_stream, note, &number), KW_ERR_BUSY);
  assert_error("stream_call_host said no");
  test_device_close(test);
  assert_int_equal(calls.count, 0);
}

static void a_lost_device_still_runs_each_function(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *stream = stream_of(test);
  int number = 9;
  calls.count = 0;
  test_gate(stream, true);
  assert_ok(kw_stream_call_host(stream, note, &number));
  kw_device_mark_if_lost(&test->device, KW_ERR_DEVICE_LOST);
  assert_ok(kw_stream_destroy(stream)); /* drops its work */
  assert_int_equal(calls.count, 1);
  test_device_close(test);
}

typedef struct inside {
  test_device *test;
  kw_stream *stream;
  kw_tensor *tensor;
  kw_event *event;
  bool ran;
} inside;

static void waiting_is_refused(void *user) {
  inside *in = user;
  char room[16];
  kw_tensor *copy = NULL, *made = NULL;
  assert_true(kw_stream_in_callback());
  assert_int_equal(kw_stream_synchronize(in->stream), KW_ERR_BUSY);
  assert_error("kw_stream_synchronize");
  assert_int_equal(kw_device_synchronize(&in->test->device), KW_ERR_BUSY);
  assert_int_equal(kw_stream_destroy(in->stream), KW_ERR_BUSY);
  assert_int_equal(kw_event_synchronize(in->event), KW_ERR_BUSY);
  assert_int_equal(kw_tensor_write(in->tensor, room), KW_ERR_BUSY);
  assert_int_equal(kw_tensor_read(in->tensor, room), KW_ERR_BUSY);
  assert_int_equal(kw_tensor_to(in->tensor, &in->test->device, &copy), KW_ERR_BUSY);
  assert_int_equal(kw_tensor_format(in->tensor, room, sizeof room), KW_ERR_BUSY);
  assert_int_equal(kw_memory_trim(&in->test->device), KW_ERR_BUSY);
  /* What does not wait works. */
  assert_ok(kw_tensor_create_on(in->stream, KW_I8, 0, NULL, &made));
  kw_tensor_release(made);
  assert_ok(kw_event_record(in->event, in->test->device.default_stream));
  in->ran = true;
}

static void inside_a_callback(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  inside in = {.test = test, .stream = stream_of(test)};
  assert_ok(kw_tensor_create(&test->device, KW_I8, 1, (int64_t[]){4}, &in.tensor));
  assert_ok(kw_event_create(&test->device, &in.event));
  assert_ok(kw_stream_call_host(in.stream, waiting_is_refused, &in));
  assert_true(in.ran);
  assert_false(kw_stream_in_callback());
  kw_tensor_release(in.tensor);
  assert_ok(kw_event_destroy(in.event));
  assert_ok(kw_stream_destroy(in.stream));
  test_device_close(test);
}

/* ---- Many threads ------------------------------------------------------------------------------------------------ */

typedef struct crowd {
  test_device *test;
  kw_stream *shared;
  atomic_int errors, ran;
} crowd;

static void count_run(void *user) {
  atomic_fetch_add((atomic_int *)user, 1);
}

static void *use_streams(void *user) {
  crowd *c = user;
  for (int i = 0; i < 100; ++i) {
    kw_stream *stream = NULL;
    bool bad = kw_stream_create(&c->test->device, &stream) != KW_OK;
    bad |= kw_stream_call_host(stream, count_run, &c->ran) != KW_OK;
    bad |= kw_stream_call_host(c->shared, count_run, &c->ran) != KW_OK;
    bad |= kw_late_error_report(stream->token, 0, KW_ERR_TIMEOUT, "late") != KW_OK;
    bad |= kw_device_synchronize(&c->test->device) == KW_ERR_BUSY;
    bad |= kw_stream_synchronize(c->shared) != KW_OK;
    bad |= kw_stream_synchronize(stream) != KW_ERR_TIMEOUT; /* also when others' waits for the device tell of it */
    bad |= kw_stream_destroy(stream) != KW_OK;
    if (bad) atomic_fetch_add(&c->errors, 1);
  }
  return NULL;
}

static void many_threads(void **state) {
  (void)state;
  enum { THREADS = 4 };
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  crowd c = {.test = test, .shared = stream_of(test)};
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, use_streams, &c), 0);
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
  assert_int_equal(atomic_load(&c.errors), 0);
  assert_int_equal(atomic_load(&c.ran), THREADS * 100 * 2);
  assert_ok(kw_stream_destroy(c.shared));
  test_device_close(test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_arguments),
      cmocka_unit_test(creation),
      cmocka_unit_test(destroy_lets_work_finish),
      cmocka_unit_test(query),
      cmocka_unit_test(a_late_error_surfaces_once),
      cmocka_unit_test(odd_reports),
      cmocka_unit_test(a_failing_synchronize_slot),
      cmocka_unit_test(a_lost_device_fails_on_every_stream),
      cmocka_unit_test(waits_for_the_device_leave_streams_their_errors),
      cmocka_unit_test(call_host_runs_in_order_once),
      cmocka_unit_test(a_token_runs_once),
      cmocka_unit_test(what_has_run_was_enqueued),
      cmocka_unit_test(no_function_runs_when_its_stream_is_gone),
      cmocka_unit_test(a_refused_call_host_never_runs),
      cmocka_unit_test(a_lost_device_still_runs_each_function),
      cmocka_unit_test(inside_a_callback),
      cmocka_unit_test(many_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
