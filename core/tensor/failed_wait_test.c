/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits that fail while copies are queued: the library's own host memory, which those copies still read or write, is
 * nobody else's until a later wait went well. A test opens the stream's gate to let the copies come late.
 */
#include "call/dynamic_output.h"
#include "tensor/transfer.h"
#include "testing/test_device.h"

enum { ROWS = 6, COLUMNS = 5, COUNT = ROWS * COLUMNS };

static test_device *test;
static kw_stream *stream;
static kw_tensor *whole, *turned; /* i32 of ROWS x COLUMNS, and transposed */
static int32_t values[COUNT];

static int open_device(void **state) {
  (void)state;
  test = test_device_open("test:0", 0);
  stream = test->device.default_stream;
  assert_ok(kw_tensor_create(&test->device, KW_I32, 2, (int64_t[]){ROWS, COLUMNS}, &whole));
  assert_ok(kw_tensor_transpose(whole, 0, 1, &turned));
  for (int i = 0; i < COUNT; ++i) values[i] = i + 1;
  assert_ok(kw_tensor_write(whole, values));
  return 0;
}

/* Nothing is left of what a wait has left. */
static int close_device(void **state) {
  (void)state;
  test_gate(stream, false);
  assert_ok(kw_stream_synchronize(stream));
  assert_null(stream->held);
  kw_tensor_release(turned);
  kw_tensor_release(whole);
  test_device_close(test);
  return 0;
}

/* ---- Whose memory is it -------------------------------------------------------------------------------------------
 */

enum { SIZES = 20, EACH = 8, CANARY = 0xc5 };
static unsigned char *blocks[SIZES][EACH]; /* of any size that the library asks for here */

static size_t block_size(int i) {
  return 8 + (size_t)i * 16;
}

/* What was freed, as somebody else's memory. */
static void take_blocks(void) {
  for (int i = 0; i < SIZES; ++i) {
    for (int k = 0; k < EACH; ++k) {
      blocks[i][k] = malloc(block_size(i));
      memset(blocks[i][k], CANARY, block_size(i));
    }
  }
}

/* Nobody has written there. */
static void give_blocks(void) {
  for (int i = 0; i < SIZES; ++i) {
    for (int k = 0; k < EACH; ++k) {
      for (size_t at = 0; at < block_size(i); ++at) assert_int_equal(blocks[i][k][at], CANARY);
      free(blocks[i][k]);
    }
  }
}

/* The copies of a call that has failed come now. */
static void let_them_come(void) {
  take_blocks();
  test_gate(stream, false);
  give_blocks();
}

static void the_next_wait_fails(void) {
  test_gate(stream, true);
  TEST_FAIL_NEXT(test, stream_synchronize, KW_ERR_TIMEOUT);
}

/* The next wait runs all that is queued; the one behind it fails, with what was enqueued in between still queued. */
static void the_second_wait_fails(void) {
  test->open_on_wait = test->close_after_wait = true;
  TEST_FAIL_AFTER(test, stream_synchronize, 1, KW_ERR_TIMEOUT);
}

static void all_waits_go_well(void) {
  test->open_on_wait = test->close_after_wait = false;
}

static void expect_whole(const int32_t *expected) {
  int32_t got[COUNT];
  assert_ok(kw_tensor_read(whole, got));
  assert_memory_equal(got, expected, sizeof got);
}

/* ---- Tests --------------------------------------------------------------------------------------------------------
 */

static void reading_with_strides(void **state) {
  (void)state;
  int32_t got[COUNT];
  the_next_wait_fails();
  assert_int_equal(kw_tensor_read(turned, got), KW_ERR_TIMEOUT);
  let_them_come();
  assert_ok(kw_tensor_read(turned, got));
  assert_int_equal(got[1], values[COLUMNS]);
}

static void writing_with_strides(void **state) {
  (void)state;
  int32_t more[COUNT], expected[COUNT];
  for (int i = 0; i < COUNT; ++i) more[i] = -i;
  for (int i = 0; i < COUNT; ++i) expected[i % ROWS * COLUMNS + i / ROWS] = more[i];
  the_second_wait_fails();
  assert_int_equal(kw_tensor_write(turned, more), KW_ERR_TIMEOUT);
  all_waits_go_well();
  let_them_come();
  expect_whole(expected);
  the_next_wait_fails();
  assert_int_equal(kw_tensor_write(turned, more), KW_ERR_TIMEOUT);
  let_them_come();
  expect_whole(expected); /* it had only been read */
}

/* As the fallback does it. */
static void copying_through_the_host(void **state) {
  (void)state;
  test_device *apart = test_device_open("test:1", 0);
  kw_tensor *copy;
  assert_ok(kw_tensor_create(&apart->device, KW_I32, 2, (int64_t[]){ROWS, COLUMNS}, &copy));
  the_next_wait_fails();
  assert_int_equal(kw_tensor_copy_through_host("test", copy, whole), KW_ERR_TIMEOUT);
  let_them_come();
  assert_ok(kw_tensor_copy_through_host("test", copy, whole));
  for (int i = 0; i < COUNT; ++i) values[i] = 0;
  assert_ok(kw_tensor_write(whole, values));
  the_next_wait_fails();
  assert_int_equal(kw_tensor_copy_through_host("test", whole, copy), KW_ERR_TIMEOUT);
  let_them_come();
  for (int i = 0; i < COUNT; ++i) values[i] = i + 1;
  expect_whole(values);
  kw_tensor_release(copy);
  test_device_close(apart);
}

/* A device keeps a piece of host memory for copies: not while one of another device may still use it. */
static void copying_between_devices(void **state) {
  (void)state;
  test_device *apart = test_device_open("test:1", KW_NATIVE_HOST_MEMORY);
  kw_tensor *copy;
  assert_ok(kw_tensor_create(&apart->device, KW_I32, 2, (int64_t[]){ROWS, COLUMNS}, &copy));
  for (int side = 0; side < 2; ++side) {
    test_device *failing = side == 0 ? test : apart;
    test_gate(failing->device.default_stream, true);
    TEST_FAIL_NEXT(failing, stream_synchronize, KW_ERR_TIMEOUT);
    assert_int_equal(kw_tensor_copy_contiguous(copy, whole, stream), KW_ERR_TIMEOUT);
    assert_null(atomic_load(&apart->device.staging));
    assert_int_equal(apart->live_host, 1);
    test_gate(failing->device.default_stream, false);
    assert_ok(kw_stream_synchronize(failing->device.default_stream));
    assert_non_null(atomic_load(&apart->device.staging)); /* for the next one again */
    assert_int_equal(apart->live_host, 1);
  }
  kw_tensor_release(copy);
  test_device_close(apart);
}

static void filling_by_copies(void **state) {
  (void)state;
  test_gate(stream, true);
  TEST_FAIL_NEXT(test, stream_synchronize, KW_ERR_IO);
  assert_ok(kw_buffer_fill(whole->buffer, stream, 0, 16, &(uint32_t){7}, 4)); /* its wait surfaces nothing */
  assert_null(atomic_load(&test->device.staging));
  test_gate(stream, false);
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_IO);
  assert_non_null(atomic_load(&test->device.staging));
  values[0] = values[1] = values[2] = values[3] = 7;
  expect_whole(values);
}

/* A stack as the next function finds it. */
static __attribute__((noinline)) void let_it_come_over_the_stack(void) {
  volatile unsigned char stack[8192];
  for (size_t i = 0; i < sizeof stack; ++i) stack[i] = CANARY;
  let_them_come();
  for (size_t i = 0; i < sizeof stack; ++i) assert_int_equal(stack[i], CANARY);
}

static void counting_results(void **state) {
  (void)state;
  kw_tensor *count, *result = whole;
  assert_ok(kw_tensor_create(&test->device, KW_I64, 0, NULL, &count));
  assert_ok(kw_tensor_write(count, &(int64_t){2}));
  the_next_wait_fails();
  assert_int_equal(kw_dynamic_output_narrow(kw_op_find("nonzero"), stream, count, &result), KW_ERR_TIMEOUT);
  assert_ptr_equal(result, whole);
  let_it_come_over_the_stack();
  kw_tensor_release(count);
}

/* A wait says nothing about what was enqueued after it had begun, and the end of the stream everything. */
static void is_held_until_a_later_wait(void **state) {
  (void)state;
  kw_host_memory *memory = kw_host_memory_take(16);
  const uint64_t earlier = kw_host_memory_begin_wait(stream);
  kw_host_memory_give(stream, memory, false);
  kw_host_memory_settle(stream, earlier);
  assert_ptr_equal(stream->held, memory);
  TEST_FAIL_NEXT(test, stream_synchronize, KW_ERR_IO);
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_IO);
  assert_ptr_equal(stream->held, memory);
  assert_ok(kw_stream_synchronize(stream));
  assert_null(stream->held);
  kw_stream *second;
  assert_ok(kw_stream_create(&test->device, &second));
  TEST_FAIL_NEXT(test, stream_synchronize, KW_ERR_IO);
  kw_host_memory_give(second, kw_host_memory_take(16), false);
  assert_ok(kw_stream_destroy(second)); /* its wait fails */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(reading_with_strides, open_device, close_device),
      cmocka_unit_test_setup_teardown(writing_with_strides, open_device, close_device),
      cmocka_unit_test_setup_teardown(copying_through_the_host, open_device, close_device),
      cmocka_unit_test_setup_teardown(copying_between_devices, open_device, close_device),
      cmocka_unit_test_setup_teardown(filling_by_copies, open_device, close_device),
      cmocka_unit_test_setup_teardown(counting_results, open_device, close_device),
      cmocka_unit_test_setup_teardown(is_held_until_a_later_wait, open_device, close_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
