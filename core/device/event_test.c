/* SPDX-License-Identifier: Apache-2.0
 *
 * Events, native and derived, and what waits for them.
 */
#include "testing/test_device.h"

typedef struct fixture {
  test_device *test;
  kw_stream *stream, *other;
  kw_event *event;
  kw_tensor *tensor; /* one byte */
} fixture;

static fixture open_fixture(uint64_t native) {
  fixture f = {.test = test_device_open("test:0", native)};
  assert_ok(kw_stream_create(&f.test->device, &f.stream));
  assert_ok(kw_stream_create(&f.test->device, &f.other));
  assert_ok(kw_event_create(&f.test->device, &f.event));
  assert_ok(kw_tensor_create_on(f.stream, KW_U8, 0, NULL, &f.tensor));
  return f;
}

static void close_fixture(fixture *f) {
  kw_tensor_release(f->tensor);
  assert_ok(kw_event_destroy(f->event));
  assert_ok(kw_stream_destroy(f->stream));
  assert_ok(kw_stream_destroy(f->other));
  test_device_close(f->test);
}

static void bad_arguments(void **state) {
  (void)state;
  fixture f = open_fixture(TEST_NATIVE_ALL);
  test_device *apart = test_device_open("test:1", TEST_NATIVE_ALL);
  kw_event *event = NULL;
  uint64_t ns;
  assert_int_equal(kw_event_create(NULL, &event), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_event_create: argument device");
  assert_int_equal(kw_event_create(&f.test->device, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_error("argument out_event");
  assert_ok(kw_event_destroy(NULL));
  assert_int_equal(kw_event_record(NULL, f.stream), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_event_record: argument event");
  assert_int_equal(kw_event_record(f.event, apart->device.default_stream), KW_ERR_INVALID_ARGUMENT);
  assert_error("belongs to test:1, not to test:0");
  assert_int_equal(kw_event_query(NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_event_synchronize(NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_stream_wait_event(f.stream, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_event_elapsed(f.event, NULL, &ns), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_event_elapsed(f.event, f.event, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_ok(kw_event_create(&apart->device, &event));
  assert_int_equal(kw_event_elapsed(f.event, event, &ns), KW_ERR_INVALID_ARGUMENT);
  assert_error("test:1");
  assert_ok(kw_event_destroy(event));
  event = NULL;
  TEST_FAIL_NEXT(f.test, event_create, KW_ERR_OUT_OF_MEMORY);
  assert_int_equal(kw_event_create(&f.test->device, &event), KW_ERR_OUT_OF_MEMORY);
  assert_error("event_create said no");
  assert_null(event);
  TEST_FAIL_NEXT(f.test, event_record, KW_ERR_DEVICE_LOST);
  assert_int_equal(kw_event_record(f.event, NULL), KW_ERR_DEVICE_LOST);
  assert_int_equal(kw_event_query(f.event), KW_ERR_DEVICE_LOST);
  assert_error("open it again");
  test_device_close(apart);
  close_fixture(&f);
}

static void native_markers(void **state) {
  (void)state;
  fixture f = open_fixture(TEST_NATIVE_ALL);
  assert_ok(kw_event_query(f.event)); /* fresh */
  assert_ok(kw_event_synchronize(f.event));
  test_gate(f.stream, true);
  assert_ok(kw_tensor_write_async(f.tensor, "a", f.stream));
  assert_ok(kw_event_record(f.event, f.stream));
  assert_int_equal(kw_event_query(f.event), KW_ERR_NOT_READY);
  f.test->open_on_wait = true;
  assert_ok(kw_event_synchronize(f.event));
  assert_ok(kw_event_query(f.event));
  assert_int_equal(TEST_CALLS(f.test, stream_synchronize), 0);
  close_fixture(&f);
}

static void native_wait_orders_streams(void **state) {
  (void)state;
  fixture f = open_fixture(TEST_NATIVE_ALL);
  unsigned char got = 0;
  test_gate(f.stream, true);
  assert_ok(kw_tensor_write_async(f.tensor, "a", f.stream));
  assert_ok(kw_event_record(f.event, f.stream));
  assert_ok(kw_stream_wait_event(f.other, f.event));
  assert_ok(kw_tensor_read_async(f.tensor, &got, f.other));
  assert_int_equal(kw_stream_query(f.other), KW_ERR_NOT_READY);
  assert_ok(kw_event_destroy(f.event)); /* the wait holds all the same */
  assert_int_equal(got, 0);
  test_gate(f.stream, false);
  assert_int_equal(got, 'a');
  f.event = NULL;
  close_fixture(&f);
}

static void derived_markers(void **state) {
  (void)state;
  fixture f = open_fixture(0);
  assert_ok(kw_event_query(f.event)); /* fresh */
  test_gate(f.stream, true);
  f.test->open_on_wait = true;
  assert_ok(kw_tensor_write_async(f.tensor, "b", f.stream));
  assert_ok(kw_event_record(f.event, f.stream)); /* waits for the stream */
  assert_int_equal(TEST_CALLS(f.test, stream_synchronize), 1);
  assert_ok(kw_event_query(f.event));
  assert_ok(kw_event_synchronize(f.event));
  unsigned char got = 0;
  assert_ok(kw_stream_wait_event(f.other, f.event));
  assert_ok(kw_tensor_read_async(f.tensor, &got, f.other));
  assert_int_equal(got, 'b');
  assert_int_equal(TEST_CALLS(f.test, event_record), 0);
  /* A late error does not vanish in a record. */
  assert_ok(kw_late_error_report(f.stream->token, 0, KW_ERR_TIMEOUT, "late"));
  assert_ok(kw_event_record(f.event, f.stream));
  assert_int_equal(kw_stream_synchronize(f.stream), KW_ERR_TIMEOUT);
  close_fixture(&f);
}

static void elapsed(void **state) {
  (void)state;
  for (int native = 0; native < 2; ++native) {
    fixture f = open_fixture(native ? TEST_NATIVE_ALL : 0);
    kw_event *end = NULL;
    uint64_t ns = UINT64_MAX;
    assert_ok(kw_event_create(&f.test->device, &end));
    if (!native) {
      assert_int_equal(kw_event_elapsed(f.event, end, &ns), KW_ERR_INVALID_ARGUMENT);
      assert_error("argument start was never recorded");
    }
    assert_ok(kw_event_record(f.event, f.stream));
    assert_ok(kw_event_record(end, NULL));
    assert_ok(kw_event_elapsed(f.event, end, &ns));
    if (native) assert_int_equal(ns, 1000);
    assert_true(ns < UINT64_C(60000000000));
    if (native) {
      test_gate(f.stream, true);
      assert_ok(kw_event_record(end, f.stream));
      assert_int_equal(kw_event_elapsed(f.event, end, &ns), KW_ERR_NOT_READY);
      test_gate(f.stream, false);
    } else {
      assert_ok(kw_event_record(f.event, NULL));
      kw_status status = kw_event_elapsed(f.event, end, &ns); /* a coarse clock may show the same time */
      assert_true(status == KW_ERR_INVALID_ARGUMENT || ns == 0);
    }
    assert_ok(kw_event_destroy(end));
    close_fixture(&f);
  }
}

static void waiting_across_devices(void **state) {
  (void)state;
  for (int native = 0; native < 2; ++native) {
    fixture f = open_fixture(native ? TEST_NATIVE_ALL : 0);
    test_device *apart = test_device_open("test:1", TEST_NATIVE_ALL);
    test_gate(f.stream, true);
    f.test->open_on_wait = true;
    assert_ok(kw_tensor_write_async(f.tensor, "c", f.stream));
    assert_ok(kw_event_record(f.event, f.stream));
    assert_ok(kw_stream_wait_event(apart->device.default_stream, f.event));
    assert_ok(kw_stream_query(f.stream));
    assert_int_equal(TEST_CALLS(apart, event_wait), 0);
    assert_int_equal(TEST_CALLS(f.test, event_wait), 0);
    assert_int_equal(((test_mem *)f.tensor->ref.mem)->data[f.tensor->ref.offset], 'c');
    test_device_close(apart);
    close_fixture(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_arguments),   cmocka_unit_test(native_markers), cmocka_unit_test(native_wait_orders_streams),
      cmocka_unit_test(derived_markers), cmocka_unit_test(elapsed),        cmocka_unit_test(waiting_across_devices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
