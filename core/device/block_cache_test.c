/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocator's cache: what is freed serves again, whoever frees it, and none of it is lost.
 */
#include "testing/test_buffers.h"

/* More blocks of a size than the cache has room for, of more sizes than it has sets. */
static void what_was_freed_serves_again(void **state) {
  (void)state;
  enum { COUNT = 12, SIZES = 100 };
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  for (uint64_t size = 512; size <= 512 * SIZES; size += 512) {
    kw_buffer *buffers[COUNT];
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < COUNT; ++i) buffers[i] = buffer_of(test, size);
      for (int i = 0; i < COUNT; ++i) {
        for (int k = 0; k < i; ++k) assert_int_not_equal(buffers[i]->offset, buffers[k]->offset);
      }
      for (int i = 0; i < COUNT; ++i) kw_buffer_release(buffers[i]);
    }
  }
  assert_int_equal(TEST_CALLS(test, memory_alloc), 1);
  assert_ok(kw_memory_trim(&test->device));
  assert_int_equal(test->live_mems, 0);
  kw_memory_stats stats = test_stats(test);
  assert_int_equal(stats.live, 0);
  assert_int_equal(stats.allocated, 0);
  assert_int_equal(stats.allocated_peak, 512 * SIZES * COUNT);
  test_device_close(test);
}

static void *release(void *buffer) {
  kw_buffer_release(buffer);
  return NULL;
}

static void what_another_thread_frees_serves_again(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_buffer *buffer = buffer_of(test, 5 * MIB);
  for (int i = 0; i < 3; ++i) {
    const kw_buffer *before = buffer;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, release, buffer), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    buffer = buffer_of(test, 5 * MIB);
    assert_ptr_equal(buffer, before);
  }
  assert_int_equal(TEST_CALLS(test, memory_alloc), 1);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, release, buffer), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_ok(kw_memory_trim(&test->device));
  assert_int_equal(test->live_mems, 0);
  test_device_close(test);
}

/* Whatever lies where the stream lay. */
static void what_a_destroyed_stream_freed_is_the_default_streams(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  for (int i = 0; i < 8; ++i) {
    kw_stream *stream = stream_of(test);
    kw_buffer *freed = buffer_on(stream, 5 * MIB), *live = buffer_on(stream, 9 * MIB);
    const kw_mem freed_mem = freed->mem, live_mem = live->mem;
    kw_buffer_release(freed);
    assert_ok(kw_stream_destroy(stream));
    kw_buffer_release(live);
    stream = stream_of(test);
    kw_buffer *others[] = {buffer_on(stream, 5 * MIB), buffer_on(stream, 9 * MIB)};
    kw_buffer *own[] = {buffer_of(test, 5 * MIB), buffer_of(test, 9 * MIB)};
    assert_ptr_not_equal(others[0]->mem, freed_mem);
    assert_ptr_not_equal(others[1]->mem, live_mem);
    assert_ptr_equal(own[0]->mem, freed_mem);
    assert_ptr_equal(own[1]->mem, live_mem);
    for (int k = 0; k < 2; ++k) kw_buffer_release(others[k]), kw_buffer_release(own[k]);
    assert_ok(kw_stream_destroy(stream));
    assert_ok(kw_memory_trim(&test->device));
    assert_int_equal(test->live_mems, 0);
  }
  test_device_close(test);
}

typedef struct worker {
  test_device *test;
  unsigned seed;
  bool failed;
} worker;

/* What the last thread has taken and the next one frees. */
static _Atomic(kw_buffer *) handed;

static void *hand_over(void *user) {
  worker *w = user;
  for (int round = 0; round < 2000 && !w->failed; ++round) {
    kw_buffer *buffer;
    w->failed |= kw_buffer_create(w->test->device.default_stream, 512 + 512 * (uint64_t)(rand_r(&w->seed) % 6),
                                  &buffer) != KW_OK;
    if (!w->failed) kw_buffer_release(atomic_exchange(&handed, buffer));
    if (round % 256 == 0) w->failed |= kw_memory_trim(&w->test->device) != KW_OK;
  }
  return NULL;
}

static void threads_share_a_stream(void **state) {
  (void)state;
  enum { THREADS = 4 };
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  worker workers[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    workers[i] = (worker){.test = test, .seed = 5u + (unsigned)i};
    assert_int_equal(pthread_create(&threads[i], NULL, hand_over, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_false(workers[i].failed);
  }
  kw_memory_stats stats = test_stats(test);
  assert_int_equal(stats.live, 1);
  kw_buffer_release(atomic_exchange(&handed, NULL));
  stats = test_stats(test);
  assert_int_equal(stats.allocations, THREADS * 2000);
  assert_int_equal(stats.live, 0);
  assert_int_equal(stats.allocated, 0);
  assert_ok(kw_memory_trim(&test->device));
  assert_int_equal(test->live_mems, 0);
  test_device_close(test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_freed_serves_again),
      cmocka_unit_test(what_another_thread_frees_serves_again),
      cmocka_unit_test(what_a_destroyed_stream_freed_is_the_default_streams),
      cmocka_unit_test(threads_share_a_stream),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
