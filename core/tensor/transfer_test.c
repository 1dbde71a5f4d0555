/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between host and devices, whole and strided, and fills.
 */
#include "tensor/transfer.h"
#include "testing/test_device.h"

#define DIMS(...) ((int64_t[]){__VA_ARGS__})

static kw_tensor *tensor_of(test_device *test, uint32_t rank, const int64_t *shape) {
  kw_tensor *tensor = NULL;
  assert_ok(kw_tensor_create(&test->device, KW_I32, rank, shape, &tensor));
  return tensor;
}

static void write_and_read(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", 0);
  kw_tensor *x = tensor_of(test, 1, DIMS(4)), *empty = tensor_of(test, 2, DIMS(0, 3));
  int32_t in[4] = {1, -2, 3, INT32_MIN}, out[4] = {0};
  assert_ok(kw_tensor_write(x, in));
  assert_ok(kw_tensor_read(x, out));
  assert_memory_equal(in, out, sizeof in);
  unsigned copies = TEST_CALLS(test, memory_copy);
  assert_ok(kw_tensor_write(empty, NULL));
  assert_ok(kw_tensor_read(empty, NULL));
  assert_int_equal(TEST_CALLS(test, memory_copy), copies);
  assert_int_equal(kw_tensor_write(x, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_tensor_write: argument host");
  assert_int_equal(kw_tensor_read(NULL, out), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_tensor_read: argument tensor");
  kw_tensor_release(empty);
  kw_tensor_release(x);
  test_device_close(test);
}

/* Also turned round, and from device to device; a pair of 4-bit numbers stays together. */
static void what_no_op_computes_on_moves(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", 0), *other = test_device_open("test:1", 0);
  for (kw_dtype dtype = KW_U16; kw_dtype_size(dtype) != 0; ++dtype) {
    const size_t item = kw_dtype_size(dtype);
    kw_tensor *x = NULL, *turned = NULL, *there = NULL;
    uint8_t in[6 * 8], out[6 * 8];
    for (size_t i = 0; i < sizeof in; ++i) in[i] = (uint8_t)(0xf1 * i + dtype);
    assert_ok(kw_tensor_create(&test->device, dtype, 2, DIMS(2, 3), &x));
    assert_ok(kw_tensor_write(x, in));
    assert_ok(kw_tensor_transpose(x, 0, 1, &turned));
    assert_ok(kw_tensor_to(turned, &other->device, &there));
    assert_ok(kw_tensor_read(there, out));
    for (size_t i = 0; i < 6; ++i) assert_memory_equal(out + i * item, in + (i % 2 * 3 + i / 2) * item, item);
    kw_tensor_release(there);
    kw_tensor_release(turned);
    kw_tensor_release(x);
  }
  test_device_close(other);
  test_device_close(test);
}

static void strided(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", 0);
  kw_tensor *x = tensor_of(test, 2, DIMS(4, 6)), *columns = NULL, *view = NULL;
  int32_t all[24], some[6], out[24];
  for (int i = 0; i < 24; ++i) all[i] = i;
  assert_ok(kw_tensor_write(x, all));
  assert_ok(kw_tensor_slice(x, 1, 1, 6, 2, &columns));    /* [4, 3] of columns 1, 3, 5 */
  assert_ok(kw_tensor_slice(columns, 0, 1, 3, 1, &view)); /* rows 1 and 2 */
  assert_ok(kw_tensor_read(view, some));
  static const int32_t expected[] = {7, 9, 11, 13, 15, 17};
  assert_memory_equal(some, expected, sizeof some);
  for (int i = 0; i < 6; ++i) some[i] = 100 + i;
  assert_ok(kw_tensor_write(view, some));
  assert_ok(kw_tensor_read(x, out)); /* the gaps are as before */
  for (int i = 0, at = 0; i < 24; ++i) {
    bool inside = i / 6 >= 1 && i / 6 <= 2 && i % 2 == 1;
    assert_int_equal(out[i], inside ? 100 + at++ : i);
  }
  kw_tensor *repeated = NULL, *row = NULL;
  assert_ok(kw_tensor_slice(x, 0, 0, 1, 1, &row));
  assert_ok(kw_tensor_expand(row, 2, DIMS(3, 6), &repeated));
  assert_ok(kw_tensor_read(repeated, out));
  for (int i = 0; i < 18; ++i) assert_int_equal(out[i], i % 6);
  assert_int_equal(kw_tensor_write(repeated, out), KW_ERR_INVALID_ARGUMENT);
  assert_error("i32[3, 6] share one place");
  kw_tensor_release(repeated);
  kw_tensor_release(row);
  kw_tensor_release(view);
  kw_tensor_release(columns);
  kw_tensor_release(x);
  test_device_close(test);
}

static void async(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL), *apart = test_device_open("test:1", TEST_NATIVE_ALL);
  kw_stream *stream = NULL;
  assert_ok(kw_stream_create(&test->device, &stream));
  kw_tensor *x = tensor_of(test, 2, DIMS(2, 2)), *turned = NULL;
  int32_t in[4] = {1, 2, 3, 4}, out[4] = {0};
  test_gate(stream, true);
  assert_ok(kw_tensor_write_async(x, in, stream));
  assert_ok(kw_tensor_read_async(x, out, stream));
  assert_int_equal(kw_stream_query(stream), KW_ERR_NOT_READY);
  assert_int_equal(out[0], 0);
  test_gate(stream, false);
  assert_memory_equal(in, out, sizeof in);
  assert_int_equal(TEST_CALLS(test, stream_synchronize), 0);
  assert_ok(kw_tensor_read_async(x, out, NULL)); /* the default stream */
  assert_ok(kw_tensor_transpose(x, 0, 1, &turned));
  assert_int_equal(kw_tensor_read_async(turned, out, stream), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_tensor_read_async: argument tensor, i32[2, 2], is not contiguous");
  assert_int_equal(kw_tensor_write_async(x, in, apart->device.default_stream), KW_ERR_INVALID_ARGUMENT);
  assert_error("argument stream belongs to test:1");
  assert_int_equal(kw_tensor_write_async(x, NULL, stream), KW_ERR_INVALID_ARGUMENT);
  kw_tensor_release(turned);
  kw_tensor_release(x);
  assert_int_equal(TEST_CALLS(test, event_record), 1); /* the release knows of the foreign stream */
  x = tensor_of(test, 2, DIMS(2, 2));
  assert_ok(kw_tensor_write_async(x, in, stream));
  kw_tensor_release(x);
  assert_int_equal(TEST_CALLS(test, event_record), 2);
  x = tensor_of(test, 2, DIMS(2, 2));
  assert_ok(kw_tensor_read_async(x, out, stream));
  kw_tensor_release(x);
  assert_int_equal(TEST_CALLS(test, event_record), 3);
  assert_ok(kw_stream_destroy(stream));
  test_device_close(test);
  test_device_close(apart);
}

static void failures_are_passed_on(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_tensor *x = tensor_of(test, 1, DIMS(4)), *every_other = NULL, *copy = NULL;
  int32_t data[4] = {0};
  assert_ok(kw_tensor_slice(x, 0, 0, 4, 2, &every_other));
  TEST_FAIL_NEXT(test, memory_copy, KW_ERR_IO);
  assert_int_equal(kw_tensor_write(x, data), KW_ERR_IO);
  assert_error("copying 16 bytes, host to device, on test:0");
  assert_error("memory_copy said no");
  TEST_FAIL_NEXT(test, memory_copy, KW_ERR_IO);
  assert_int_equal(kw_tensor_read(x, data), KW_ERR_IO);
  TEST_FAIL_NEXT(test, memory_copy, KW_ERR_IO);
  assert_int_equal(kw_tensor_read(every_other, data), KW_ERR_IO);
  TEST_FAIL_NEXT(test, memory_copy, KW_ERR_IO);
  assert_int_equal(kw_tensor_write(every_other, data), KW_ERR_IO);
  TEST_FAIL_NEXT(test, memory_copy, KW_ERR_IO);
  assert_int_equal(kw_tensor_to(x, &test->device, &copy), KW_ERR_IO);
  TEST_FAIL_NEXT(test, stream_synchronize, KW_ERR_IO);
  assert_int_equal(kw_tensor_write(x, data), KW_ERR_IO);
  /* A late error of an earlier op surfaces at the next wait for its stream. */
  assert_ok(kw_late_error_report(test->device.default_stream->token, 0, KW_ERR_TIMEOUT, "late"));
  assert_int_equal(kw_tensor_read(x, data), KW_ERR_TIMEOUT);
  assert_ok(kw_tensor_read(x, data));
  TEST_FAIL_NEXT(test, memory_copy, KW_ERR_DEVICE_LOST);
  assert_int_equal(kw_tensor_read(x, data), KW_ERR_DEVICE_LOST);
  unsigned copies = TEST_CALLS(test, memory_copy);
  assert_int_equal(kw_tensor_read(x, data), KW_ERR_DEVICE_LOST);
  assert_int_equal(TEST_CALLS(test, memory_copy), copies);
  assert_int_equal(kw_tensor_to(x, &test->device, &copy), KW_ERR_DEVICE_LOST);
  assert_null(copy);
  kw_tensor_release(every_other);
  kw_tensor_release(x);
  test_device_close(test);
}

static void expect_values(const kw_tensor *tensor, const int32_t *values, int count) {
  int32_t got[64];
  assert_int_equal(tensor->ref.numel, count);
  assert_ok(kw_tensor_read(tensor, got));
  for (int i = 0; i < count; ++i) assert_int_equal(got[i], values[i]);
}

static void to_devices(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL), *apart = test_device_open("test:1", 0);
  kw_tensor *x = tensor_of(test, 2, DIMS(2, 3)), *turned = NULL, *copy = NULL, *empty = tensor_of(test, 1, DIMS(0));
  static const int32_t values[] = {1, 2, 3, 4, 5, 6}, by_column[] = {1, 4, 2, 5, 3, 6};
  assert_ok(kw_tensor_write(x, values));
  assert_ok(kw_tensor_transpose(x, 0, 1, &turned));
  kw_device *devices[] = {&test->device, &apart->device};
  for (int i = 0; i < 2; ++i) {
    assert_ok(kw_tensor_to(x, devices[i], &copy));
    assert_ptr_equal(copy->device, devices[i]);
    assert_ptr_not_equal(copy->buffer, x->buffer);
    expect_values(copy, values, 6);
    kw_tensor_release(copy);
    assert_ok(kw_tensor_to(turned, devices[i], &copy));
    assert_true(kw_ref_is_contiguous(&copy->ref));
    assert_int_equal(copy->ref.shape[0], 3);
    expect_values(copy, by_column, 6);
    kw_tensor_release(copy);
    assert_ok(kw_tensor_to(empty, devices[i], &copy));
    assert_int_equal(copy->ref.numel, 0);
    kw_tensor_release(copy);
  }
  copy = NULL;
  assert_int_equal(kw_tensor_to(x, NULL, &copy), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_to(NULL, &test->device, &copy), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_to(x, &test->device, NULL), KW_ERR_INVALID_ARGUMENT);
  apart->memory_limit = 1;
  assert_ok(kw_memory_trim(&apart->device));
  assert_int_equal(kw_tensor_to(x, &apart->device, &copy), KW_ERR_OUT_OF_MEMORY);
  assert_error("test:1");
  assert_null(copy);
  kw_tensor_release(empty);
  kw_tensor_release(turned);
  kw_tensor_release(x);
  test_device_close(test);
  test_device_close(apart);
}

/* More than one piece of staging memory, on a stream of either side. */
static void staging_in_pieces(void **state) {
  (void)state;
  enum { COUNT = (20 << 20) / 4 };
  test_device *test = test_device_open("test:0", 0), *apart = test_device_open("test:1", 0);
  kw_tensor *from = tensor_of(test, 1, DIMS(COUNT)), *to = NULL;
  kw_stream *streams[2] = {NULL};
  assert_ok(kw_tensor_create(&apart->device, KW_I32, 1, DIMS(COUNT), &to));
  assert_ok(kw_stream_create(&test->device, &streams[0]));
  assert_ok(kw_stream_create(&apart->device, &streams[1]));
  int32_t *values = malloc(COUNT * sizeof *values), *got = malloc(COUNT * sizeof *got);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < COUNT; ++i) values[i] = i * 7 + round;
    if (round == 0) { /* what the stream still has to do comes first */
      test->open_on_wait = true;
      test_gate(streams[0], true);
      assert_ok(kw_tensor_write_async(from, values, streams[0]));
    } else {
      assert_ok(kw_tensor_write(from, values));
    }
    assert_ok(kw_tensor_copy_contiguous(to, from, streams[round]));
    assert_ok(kw_tensor_read(to, got));
    assert_memory_equal(values, got, COUNT * sizeof *values);
  }
  free(values);
  free(got);
  kw_tensor_release(from);
  kw_tensor_release(to);
  assert_ok(kw_stream_destroy(streams[0]));
  assert_ok(kw_stream_destroy(streams[1]));
  test_device_close(test);
  test_device_close(apart);
}

/* Between devices of one plugin that can: the slot, behind what either side still has to do. */
static void from_peers(void **state) {
  (void)state;
  enum { COUNT = 150 };
  test_device *test = test_device_open("test:0", KW_NATIVE_PEER_COPY), *apart = test_device_open("test:1", 0);
  apart->device.plugin = &test->plugin;
  atomic_store(&apart->device.slots, &test->plugin);
  kw_tensor *whole = tensor_of(test, 1, DIMS(COUNT)), *from = NULL, *to = NULL;
  int32_t values[COUNT];
  for (int i = 0; i < COUNT; ++i) values[i] = i * 3;
  kw_stream *stream = NULL;
  assert_ok(kw_stream_create(&test->device, &stream));
  assert_ok(kw_tensor_slice(whole, 0, 100, COUNT, 1, &from));
  test->open_on_wait = true;
  test_gate(stream, true);
  assert_ok(kw_tensor_write_async(whole, values, stream));
  assert_ok(kw_tensor_create(&apart->device, KW_I32, 1, DIMS(COUNT - 100), &to));
  unsigned copies = TEST_CALLS(test, memory_copy);
  assert_ok(kw_tensor_copy_contiguous(to, from, stream));
  assert_int_equal(TEST_CALLS(apart, memory_copy_peer), 1);
  assert_int_equal(TEST_CALLS(test, memory_copy), copies);
  assert_int_equal(TEST_CALLS(apart, memory_copy), 0);
  expect_values(to, values + 100, COUNT - 100);

  TEST_FAIL_NEXT(apart, memory_copy_peer, KW_ERR_UNSUPPORTED); /* these two cannot: through the host */
  for (int i = 0; i < COUNT; ++i) values[i] = -i;
  assert_ok(kw_tensor_write(whole, values));
  assert_ok(kw_tensor_copy_contiguous(to, from, apart->device.default_stream));
  expect_values(to, values + 100, COUNT - 100);
  TEST_FAIL_NEXT(apart, memory_copy_peer, KW_ERR_IO);
  assert_int_equal(kw_tensor_copy_contiguous(to, from, stream), KW_ERR_IO);
  assert_error("copying 200 bytes from test:0 to test:1");
  assert_int_equal(TEST_CALLS(apart, memory_copy_peer), 3);
  kw_tensor_release(from);
  kw_tensor_release(whole);
  kw_tensor_release(to);
  assert_ok(kw_stream_destroy(stream));
  test_device_close(apart);
  test_device_close(test);
}

static void *open_gate(void *stream) {
  test_gate(stream, false);
  return NULL;
}

/* A peer's copy that nobody waits for is a use of the source, which may be released at once. */
static void peers_use_the_source(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", KW_NATIVE_PEER_COPY | KW_NATIVE_CALL_HOST | KW_NATIVE_EVENTS),
              *apart = test_device_open("test:1", KW_NATIVE_CALL_HOST);
  apart->device.plugin = &test->plugin;
  atomic_store(&apart->device.slots, &test->plugin);
  kw_tensor *from = tensor_of(test, 1, DIMS(50)), *to = tensor_of(apart, 1, DIMS(50));
  kw_stream *source = NULL, *on = apart->device.default_stream;
  assert_ok(kw_stream_create(&test->device, &source));
  test_gate(source, true);
  test_gate(on, true);
  assert_ok(kw_tensor_copy_async(to, on, from, source));
  assert_int_equal(TEST_CALLS(apart, memory_copy_peer), 1);
  assert_true(kw_buffer_used_on(from->buffer, source));
  kw_tensor_release(from);
  pthread_t opener; /* each stream waits for the other in turn */
  assert_int_equal(pthread_create(&opener, NULL, open_gate, source), 0);
  open_gate(on);
  assert_int_equal(pthread_join(opener, NULL), 0);
  kw_tensor_release(to);
  assert_ok(kw_stream_destroy(source));
  test_device_close(apart);
  test_device_close(test);
}

static void fill(void **state) {
  (void)state;
  for (int native = 0; native < 2; ++native) {
    test_device *test = test_device_open("test:0", native ? KW_NATIVE_FILL : 0);
    kw_stream *stream = test->device.default_stream;
    kw_tensor *x = tensor_of(test, 1, DIMS(16));
    static const uint8_t pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    uint8_t expected[64], got[64];
    memset(expected, 0, sizeof expected);
    assert_ok(kw_tensor_write(x, expected));
    for (uint32_t size = 1; size <= 16; size *= 2) {
      for (unsigned i = 16; i < 48; ++i) expected[i] = pattern[i % size];
      assert_ok(kw_buffer_fill(x->buffer, stream, 16, 32, pattern, size));
      assert_ok(kw_tensor_read(x, got));
      assert_memory_equal(expected, got, sizeof got);
    }
    assert_int_equal(TEST_CALLS(test, memory_fill), native ? 5 : 0);
    test->open_on_wait = true;
    test_gate(stream, true);
    assert_ok(kw_buffer_fill(x->buffer, stream, 0, 64, pattern, 16));
    assert_ok(kw_tensor_read(x, got));
    for (int i = 0; i < 64; ++i) assert_int_equal(got[i], i % 16 + 1);
    assert_ok(kw_buffer_fill(x->buffer, stream, 64, 0, pattern, 4));
    assert_int_equal(kw_buffer_fill(x->buffer, stream, 0, 64, pattern, 3), KW_ERR_INVALID_ARGUMENT);
    assert_int_equal(kw_buffer_fill(x->buffer, stream, 0, 64, pattern, 32), KW_ERR_INVALID_ARGUMENT);
    assert_int_equal(kw_buffer_fill(x->buffer, stream, 2, 60, pattern, 4), KW_ERR_INVALID_ARGUMENT);
    assert_int_equal(kw_buffer_fill(x->buffer, stream, 0, 62, pattern, 4), KW_ERR_INVALID_ARGUMENT);
    assert_int_equal(kw_buffer_fill(x->buffer, stream, 32, 36, pattern, 4), KW_ERR_INVALID_ARGUMENT);
    assert_int_equal(kw_buffer_fill(x->buffer, stream, 64, UINT64_MAX - 3, pattern, 4), KW_ERR_INVALID_ARGUMENT);
    if (native) TEST_FAIL_NEXT(test, memory_fill, KW_ERR_IO);
    if (!native) TEST_FAIL_NEXT(test, memory_copy, KW_ERR_IO);
    assert_int_equal(kw_buffer_fill(x->buffer, stream, 0, 64, pattern, 4), KW_ERR_IO);
    kw_tensor_release(x);
    test_device_close(test);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(write_and_read),
      cmocka_unit_test(strided),
      cmocka_unit_test(what_no_op_computes_on_moves),
      cmocka_unit_test(async),
      cmocka_unit_test(to_devices),
      cmocka_unit_test(staging_in_pieces),
      cmocka_unit_test(from_peers),
      cmocka_unit_test(peers_use_the_source),
      cmocka_unit_test(fill),
      cmocka_unit_test(failures_are_passed_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
