/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between the reference device and the example vendor's that nobody waits for (kw_tensor_copy_async): in the
 * order of both streams.
 */
#include <keyway/keyway.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT 1000

static kw_device *devices[2]; /* cpu:0, npu:0 */
static kw_stream *streams[2];
static kw_tensor *tensors[2];
static float ones[COUNT], twos[COUNT], threes[COUNT];
static sem_t go_on;

static int open_devices(void **state) {
  (void)state;
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  if (kw_init(&options) != KW_OK || kw_plugin_load(CPU_PLUGIN) != KW_OK || kw_plugin_load(NPU_PLUGIN) != KW_OK) {
    print_error("%s\n", kw_error_message());
    return -1;
  }
  static const char *const names[] = {"cpu:0", "npu:0"};
  for (int i = 0; i < 2; ++i) {
    if (kw_device_open(names[i], &devices[i]) != KW_OK || kw_stream_create(devices[i], &streams[i]) != KW_OK ||
        kw_tensor_create_on(streams[i], KW_F32, 1, (int64_t[]){COUNT}, &tensors[i]) != KW_OK) {
      return -1;
    }
  }
  for (int i = 0; i < COUNT; ++i) ones[i] = 1, twos[i] = 2, threes[i] = 3;
  return sem_init(&go_on, 0, 0);
}

static int close_devices(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    kw_tensor_release(tensors[i]);
    if (kw_stream_destroy(streams[i]) != KW_OK || kw_device_close(devices[i]) != KW_OK) return -1;
  }
  return sem_destroy(&go_on);
}

static void wait_to_go_on(void *user) {
  (void)user;
  sem_wait(&go_on);
}

static void assert_holds(int device, const float *expected) {
  float got[COUNT];
  assert_int_equal(kw_tensor_read_async(tensors[device], got, streams[device]), KW_OK);
  assert_int_equal(kw_stream_synchronize(streams[device]), KW_OK);
  assert_memory_equal(got, expected, sizeof got);
}

/* The call returns while the source's stream is held up; what comes later on that stream comes after the copy. */
static void copies_in_the_order_of_both_streams(void **state) {
  (void)state;
  for (int to = 0; to < 2; ++to) {
    const int from = 1 - to;
    assert_int_equal(kw_tensor_write_async(tensors[to], ones, streams[to]), KW_OK);
    assert_int_equal(kw_stream_call_host(streams[from], wait_to_go_on, NULL), KW_OK);
    assert_int_equal(kw_tensor_write_async(tensors[from], twos, streams[from]), KW_OK);
    assert_int_equal(kw_tensor_copy_async(tensors[to], streams[to], tensors[from], streams[from]), KW_OK);
    assert_int_equal(kw_tensor_write_async(tensors[from], threes, streams[from]), KW_OK);
    assert_int_equal(sem_post(&go_on), 0);
    assert_holds(to, twos);
    assert_holds(from, threes);
  }
}

/* What the destination's stream does first is done first. */
static void waits_for_the_destination_too(void **state) {
  (void)state;
  assert_int_equal(kw_tensor_write(tensors[0], twos), KW_OK);
  assert_int_equal(kw_stream_call_host(streams[1], wait_to_go_on, NULL), KW_OK);
  assert_int_equal(kw_tensor_write_async(tensors[1], ones, streams[1]), KW_OK);
  assert_int_equal(kw_tensor_copy_async(tensors[1], streams[1], tensors[0], streams[0]), KW_OK);
  assert_int_equal(kw_stream_synchronize(streams[0]), KW_OK);
  assert_int_equal(sem_post(&go_on), 0);
  assert_holds(1, twos);
}

static void both_ways_at_once(void **state) {
  (void)state;
  kw_tensor *others[2];
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(kw_tensor_create_on(streams[i], KW_F32, 1, (int64_t[]){COUNT}, &others[i]), KW_OK);
    assert_int_equal(kw_tensor_write_async(tensors[i], i == 0 ? ones : twos, streams[i]), KW_OK);
  }
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(kw_tensor_copy_async(others[i], streams[i], tensors[1 - i], streams[1 - i]), KW_OK);
  }
  for (int i = 0; i < 2; ++i) {
    float got[COUNT];
    assert_int_equal(kw_tensor_read_async(others[i], got, streams[i]), KW_OK);
    assert_int_equal(kw_stream_synchronize(streams[i]), KW_OK);
    assert_memory_equal(got, i == 0 ? twos : ones, sizeof got);
    kw_tensor_release(others[i]);
  }
}

/* Released by its owner, a tensor's memory serves the next one of its stream: after the copy. */
static void tensors_may_be_released_at_once(void **state) {
  (void)state;
  kw_tensor *short_lived, *next;
  assert_int_equal(kw_stream_call_host(streams[1], wait_to_go_on, NULL), KW_OK);
  assert_int_equal(kw_tensor_create_on(streams[1], KW_F32, 1, (int64_t[]){COUNT}, &short_lived), KW_OK);
  assert_int_equal(kw_tensor_write_async(short_lived, threes, streams[1]), KW_OK);
  assert_int_equal(kw_tensor_copy_async(tensors[0], streams[0], short_lived, streams[1]), KW_OK);
  kw_tensor_release(short_lived);
  assert_int_equal(kw_tensor_create_on(streams[1], KW_F32, 1, (int64_t[]){COUNT}, &next), KW_OK);
  assert_int_equal(kw_tensor_write_async(next, ones, streams[1]), KW_OK);
  assert_int_equal(sem_post(&go_on), 0);
  assert_holds(0, threes);
  kw_tensor_release(next);
}

static void on_one_device_too(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    kw_tensor *other;
    kw_stream *second;
    assert_int_equal(kw_stream_create(devices[i], &second), KW_OK);
    assert_int_equal(kw_tensor_create_on(second, KW_F32, 1, (int64_t[]){COUNT}, &other), KW_OK);
    assert_int_equal(kw_tensor_write_async(other, twos, second), KW_OK);
    assert_int_equal(kw_tensor_copy_async(tensors[i], streams[i], other, second), KW_OK);
    assert_int_equal(kw_tensor_write_async(other, ones, second), KW_OK);
    assert_holds(i, twos);
    kw_tensor_release(other);
    assert_int_equal(kw_stream_destroy(second), KW_OK);
  }
}

static void what_does_not_fit_is_refused(void **state) {
  (void)state;
  kw_tensor *shorter, *spread;
  assert_int_equal(kw_tensor_create(devices[1], KW_F32, 1, (int64_t[]){COUNT / 2}, &shorter), KW_OK);
  assert_int_equal(kw_tensor_slice(tensors[0], 0, 0, COUNT, 2, &spread), KW_OK);
  assert_int_equal(kw_tensor_copy_async(shorter, NULL, tensors[0], NULL), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "f32[500]"));
  assert_int_equal(kw_tensor_copy_async(shorter, NULL, spread, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_copy_async(shorter, streams[0], shorter, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_copy_async(NULL, NULL, shorter, NULL), KW_ERR_INVALID_ARGUMENT);
  kw_tensor_release(spread);
  kw_tensor_release(shorter);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_in_the_order_of_both_streams),
      cmocka_unit_test(waits_for_the_destination_too),
      cmocka_unit_test(both_ways_at_once),
      cmocka_unit_test(tensors_may_be_released_at_once),
      cmocka_unit_test(on_one_device_too),
      cmocka_unit_test(what_does_not_fit_is_refused),
  };
  return cmocka_run_group_tests(tests, open_devices, close_devices);
}
