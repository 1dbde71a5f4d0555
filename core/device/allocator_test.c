/* SPDX-License-Identifier: Apache-2.0
 *
 * The caching allocator over a device whose streams the test holds.
 */
#include "testing/test_buffers.h"

#include <sched.h>

/* Enqueues a fill of the whole buffer. */
static void touch(kw_buffer *buffer, kw_stream *stream, uint32_t value) {
  assert_ok(kw_buffer_fill(buffer, stream, 0, buffer->size / 4 * 4, &value, 4));
}

static void small_requests_share_a_segment(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_buffer *a = buffer_of(test, 100), *b = buffer_of(test, 513), *c = buffer_of(test, 0);
  assert_int_equal(TEST_CALLS(test, memory_alloc), 1);
  assert_ptr_equal(a->mem, b->mem);
  assert_ptr_equal(a->mem, c->mem);
  assert_int_equal(a->offset, 0);
  assert_int_equal(b->offset, 512);
  assert_int_equal(c->offset, 512 + 1024);
  assert_int_equal(c->size, 0);
  kw_memory_stats stats = test_stats(test);
  assert_int_equal(stats.allocated, 512 + 1024 + 512);
  assert_int_equal(stats.live, 3);
  assert_int_equal(stats.held, 2 * MIB);
  kw_buffer_release(a);
  kw_buffer_release(b);
  kw_buffer_release(c);
  stats = test_stats(test);
  assert_int_equal(stats.allocated, 0);
  assert_int_equal(stats.live, 0);
  assert_int_equal(stats.allocations, 3);
  assert_int_equal(stats.allocated_peak, 2048);
  assert_int_equal(stats.held, 2 * MIB);
  test_device_close(test);
}

static void a_stream_reuses_its_memory_at_once(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *stream = stream_of(test);
  test_gate(stream, true);
  kw_buffer *first = buffer_on(stream, 5 * MIB);
  touch(first, stream, 1); /* still ahead when the memory is used again */
  kw_mem mem = first->mem;
  kw_buffer_release(first);
  kw_buffer *second = buffer_on(stream, 5 * MIB);
  assert_ptr_equal(second->mem, mem);
  assert_int_equal(TEST_CALLS(test, memory_alloc), 1);
  /* ... but no other stream does. */
  kw_buffer *other = buffer_of(test, 5 * MIB);
  assert_ptr_not_equal(other->mem, mem);
  kw_buffer_release(other);
  kw_buffer_release(second);
  test_gate(stream, false);
  assert_ok(kw_stream_destroy(stream));
  test_device_close(test);
}

static void neighbours_coalesce(void **state) {
  (void)state;
  static const int orders[4][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}};
  for (int order = 0; order < 4; ++order) {
    test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
    kw_buffer *parts[4];
    for (int i = 0; i < 4; ++i) parts[i] = buffer_of(test, 512 * KIB);
    for (int i = 0; i < 3; ++i) kw_buffer_release(parts[orders[order][i]]);
    kw_buffer *joined = buffer_of(test, 1023 * KIB); /* larger than any of the parts */
    assert_int_equal(joined->offset, 0);
    kw_buffer_release(joined);
    kw_buffer_release(parts[3]);
    assert_int_equal(TEST_CALLS(test, memory_alloc), 1);
    assert_ok(kw_memory_trim(&test->device)); /* possible only if the segment is whole again */
    assert_int_equal(test->live_mems, 0);
    test_device_close(test);
  }
}

static void large_requests_split(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_buffer *large = buffer_of(test, 3 * MIB);
  assert_int_equal(test_stats(test).held, 4 * MIB);
  kw_buffer *rest = buffer_of(test, MIB);
  assert_ptr_equal(rest->mem, large->mem);
  assert_int_equal(rest->offset, 3 * MIB);
  kw_buffer *small = buffer_of(test, 100); /* from a segment of its kind */
  assert_ptr_not_equal(small->mem, large->mem);
  kw_buffer_release(large);
  kw_buffer_release(rest);
  kw_buffer_release(small);
  test_device_close(test);
}

static void best_fit_is_taken(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_buffer *wide = buffer_of(test, 7 * KIB), *wall = buffer_of(test, 512), *narrow = buffer_of(test, 6 * KIB),
            *end = buffer_of(test, 512);
  uint64_t place = narrow->offset;
  kw_buffer_release(narrow);
  kw_buffer_release(wide);
  kw_buffer *fit = buffer_of(test, 6 * KIB);
  assert_int_equal(fit->offset, place);
  kw_buffer_release(fit);
  kw_buffer_release(wall);
  kw_buffer_release(end);
  test_device_close(test);
}

static void offsets_respect_the_device(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_allocator_destroy(&test->device);
  test->device.info.offset_alignment = 4096;
  assert_ok(kw_allocator_create(&test->device));
  kw_buffer *a = buffer_of(test, 1), *b = buffer_of(test, 1), *c = buffer_of(test, 5000), *d = buffer_of(test, 1);
  assert_int_equal(b->offset, 4096);
  assert_int_equal(c->offset, 8192);
  assert_int_equal(d->offset, 16384);
  kw_buffer_release(a);
  kw_buffer_release(b);
  kw_buffer_release(c);
  kw_buffer_release(d);
  test_device_close(test);
}

static void foreign_use_defers_reuse(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *stream = stream_of(test);
  test_gate(stream, true);
  kw_buffer *used = buffer_of(test, 2 * MIB);
  kw_mem mem = used->mem;
  touch(used, stream, 7);
  touch(used, stream, 8);
  kw_buffer_release(used);
  assert_int_equal(test_stats(test).live, 0);
  assert_int_equal(TEST_CALLS(test, event_record), 1);
  kw_buffer *meanwhile = buffer_of(test, 2 * MIB);
  assert_ptr_not_equal(meanwhile->mem, mem);
  test_gate(stream, false);
  kw_buffer *after = buffer_of(test, 2 * MIB);
  assert_ptr_equal(after->mem, mem);
  assert_int_equal(TEST_CALLS(test, memory_alloc), 2);
  assert_int_equal(test->live_events, 0);
  assert_int_equal(TEST_CALLS(test, stream_synchronize), 0);
  kw_buffer_release(meanwhile);
  kw_buffer_release(after);
  assert_ok(kw_stream_destroy(stream));
  test_device_close(test);
}

static void every_foreign_stream_counts(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *streams[3];
  kw_buffer *used = buffer_of(test, 2 * MIB);
  kw_mem mem = used->mem;
  for (int i = 0; i < 3; ++i) {
    streams[i] = stream_of(test);
    test_gate(streams[i], true);
    touch(used, streams[i], 1);
  }
  kw_buffer_release(used);
  kw_buffer *others[3];
  for (int i = 0; i < 3; ++i) {
    others[i] = buffer_of(test, 2 * MIB);
    assert_ptr_not_equal(others[i]->mem, mem);
    test_gate(streams[i], false);
  }
  kw_buffer *after = buffer_of(test, 2 * MIB);
  assert_ptr_equal(after->mem, mem);
  kw_buffer_release(after);
  for (int i = 0; i < 3; ++i) {
    kw_buffer_release(others[i]);
    assert_ok(kw_stream_destroy(streams[i]));
  }
  test_device_close(test);
}

static void a_stream_that_works_is_remembered_among_many_that_are_gone(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *held = stream_of(test);
  kw_buffer *used = buffer_of(test, 2 * MIB);
  kw_mem mem = used->mem;
  test_gate(held, true);
  touch(used, held, 1);
  for (int i = 0; i < 100; ++i) {
    kw_stream *stream = stream_of(test);
    touch(used, stream, 1);
    assert_ok(kw_stream_destroy(stream));
  }
  kw_buffer_release(used);
  kw_buffer *other = buffer_of(test, 2 * MIB);
  assert_ptr_not_equal(other->mem, mem);
  test_gate(held, false);
  kw_buffer *after = buffer_of(test, 2 * MIB);
  assert_ptr_equal(after->mem, mem);
  kw_buffer_release(after);
  kw_buffer_release(other);
  assert_ok(kw_stream_destroy(held));
  test_device_close(test);
}

static void without_events_release_waits(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", 0);
  kw_stream *stream = stream_of(test);
  kw_buffer *used = buffer_of(test, 2 * MIB);
  kw_mem mem = used->mem;
  unsigned char byte = 5;
  kw_buffer_use(used, stream);
  test->open_on_wait = true;
  test_gate(stream, true);
  kw_copy_info copy = {
      .struct_size = sizeof copy, .kind = KW_COPY_HOST_TO_DEVICE, .dst_mem = mem, .src_host = &byte, .size = 1};
  assert_ok(test_memory_copy(test, stream->handle, &copy));
  kw_buffer_release(used);
  assert_int_equal(TEST_CALLS(test, stream_synchronize), 1);
  kw_buffer *after = buffer_of(test, 2 * MIB);
  assert_ptr_equal(after->mem, mem);
  kw_buffer_release(after);
  assert_ok(kw_stream_destroy(stream));
  test_device_close(test);
}

static void release_in_callback(void *user) {
  kw_buffer_release(user);
}

static void without_events_release_in_a_callback_does_not_wait(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", KW_NATIVE_CALL_HOST);
  kw_stream *stream = stream_of(test);
  kw_buffer *used = buffer_of(test, 2 * MIB);
  kw_mem mem = used->mem;
  kw_buffer_use(used, stream);
  assert_ok(kw_stream_call_host(stream, release_in_callback, used)); /* waiting for `stream` here would hang */
  assert_int_equal(TEST_CALLS(test, stream_synchronize), 0);
  kw_buffer *other = buffer_of(test, 2 * MIB);
  assert_ptr_not_equal(other->mem, mem);
  kw_buffer_release(other);
  assert_ok(kw_memory_trim(&test->device));
  assert_int_equal(test->live_mems, 0);
  assert_ok(kw_stream_destroy(stream));
  test_device_close(test);
}

static void out_of_memory_flushes_the_cache(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  test->memory_limit = 6 * MIB;
  test->open_on_wait = true;
  kw_stream *stream = stream_of(test);
  kw_buffer *cached = buffer_on(stream, 2 * MIB), *kept = buffer_of(test, 2 * MIB);
  test_gate(stream, true);
  touch(cached, stream, 3); /* must have run before its memory is freed: test_device_close looks */
  kw_buffer_release(cached);
  kw_buffer *large = buffer_of(test, 4 * MIB);
  kw_memory_stats stats = test_stats(test);
  assert_int_equal(stats.oom_retries, 1);
  assert_int_equal(stats.oom_failures, 0);
  assert_int_equal(stats.plugin_frees, 1);
  assert_int_equal(stats.plugin_allocs, 4);
  assert_int_equal(stats.held, 6 * MIB);
  assert_int_equal(stats.held_peak, 6 * MIB);
  kw_buffer_release(large);
  kw_buffer_release(kept);
  assert_ok(kw_stream_destroy(stream));
  test_device_close(test);
}

static void out_of_memory_waits_for_pending_blocks(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  test->memory_limit = 2 * MIB;
  test->open_on_wait = true;
  kw_stream *stream = stream_of(test);
  test_gate(stream, true);
  kw_buffer *used = buffer_of(test, 2 * MIB);
  touch(used, stream, 1);
  kw_buffer_release(used);
  kw_buffer *after = buffer_of(test, 2 * MIB);
  assert_int_equal(test_stats(test).oom_retries, 1);
  assert_int_equal(TEST_CALLS(test, event_synchronize), 1);
  assert_int_equal(TEST_CALLS(test, memory_dealloc), 0); /* reused, not freed */
  kw_buffer_release(after);
  assert_ok(kw_stream_destroy(stream));
  test_device_close(test);
}

static void out_of_memory_tells_the_statistics(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  test->memory_limit = 4 * MIB;
  kw_buffer *kept = buffer_of(test, 2 * MIB), *fails = (kw_buffer *)state;
  assert_int_equal(kw_buffer_create(test->device.default_stream, 3 * MIB, &fails), KW_ERR_OUT_OF_MEMORY);
  assert_ptr_equal(fails, state); /* untouched */
  assert_error("test:0 is out of memory: 3145728 bytes requested");
  assert_error("held 2097152");
  assert_error("allocated 2097152 in 1 live tensors (peak 2097152)");
  assert_error("total 1073741824");
  assert_error("driver: no room");
  assert_int_equal(test_stats(test).oom_failures, 1);
  kw_buffer_release(kept);
  kw_buffer_release(buffer_of(test, 3 * MIB)); /* the device goes on */
  test_device_close(test);
}

static void a_small_device_serves_small_requests(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  test->memory_limit = MIB; /* less than a segment */
  kw_buffer *a = buffer_of(test, 512 * KIB), *b = buffer_of(test, 512 * KIB);
  kw_buffer_release(a);
  kw_buffer_release(b);
  test_device_close(test);
}

static void max_alloc_is_respected(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  test->device.info.max_alloc = MIB + 100;
  kw_buffer *fits = buffer_of(test, MIB + 100), *small = buffer_of(test, 100), *fails = NULL;
  assert_int_equal(test_stats(test).held, 2 * (MIB + 100));
  unsigned calls = TEST_CALLS(test, memory_alloc);
  assert_int_equal(kw_buffer_create(test->device.default_stream, MIB + 101, &fails), KW_ERR_OUT_OF_MEMORY);
  assert_error("more than the device allocates at once");
  test->device.info.max_alloc = UINT64_MAX;
  assert_int_equal(kw_buffer_create(test->device.default_stream, UINT64_MAX - 5, &fails), KW_ERR_OUT_OF_MEMORY);
  assert_int_equal(TEST_CALLS(test, memory_alloc), calls);
  kw_buffer_release(fits);
  kw_buffer_release(small);
  test_device_close(test);
}

static void other_failures_are_passed_on(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_buffer *buffer = NULL;
  kw_stream *stream = test->device.default_stream;
  TEST_FAIL_NEXT(test, memory_alloc, KW_ERR_TIMEOUT);
  assert_int_equal(kw_buffer_create(stream, 10, &buffer), KW_ERR_TIMEOUT);
  assert_error("driver: memory_alloc said no");
  TEST_FAIL_NEXT(test, memory_alloc, 99);
  assert_int_equal(kw_buffer_create(stream, 10, &buffer), KW_ERR_INTERNAL);
  assert_error("99");
  test->null_alloc = true;
  assert_int_equal(kw_buffer_create(stream, 10, &buffer), KW_ERR_INTERNAL);
  assert_error("no memory");
  assert_null(buffer);
  assert_int_equal(test_stats(test).held, 0);
  kw_buffer_release(buffer_of(test, 10));
  test_device_close(test);
}

static void trim_keeps_what_is_in_use(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_buffer *kept = buffer_of(test, 2 * MIB), *gone = buffer_of(test, 2 * MIB), *part = buffer_of(test, 10);
  kw_buffer_release(gone);
  assert_ok(kw_memory_trim(&test->device));
  assert_int_equal(test->live_mems, 2);
  assert_int_equal(test_stats(test).held, 4 * MIB);
  kw_buffer_release(part);
  kw_buffer_release(kept);
  assert_ok(kw_memory_trim(&test->device));
  assert_int_equal(test_stats(test).held, 0);
  assert_int_equal(test_stats(test).plugin_frees, 3);
  assert_int_equal(kw_memory_trim(NULL), KW_ERR_INVALID_ARGUMENT);
  test_device_close(test);
}

static void a_failing_free_is_survived(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_buffer_release(buffer_of(test, 10));
  TEST_FAIL_NEXT(test, memory_dealloc, KW_ERR_INTERNAL);
  assert_ok(kw_memory_trim(&test->device));
  assert_int_equal(test_stats(test).held, 0);
  test_device_close(test);
}

static void a_destroyed_stream_leaves_its_memory_to_the_default_stream(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *stream = stream_of(test);
  kw_buffer *live = buffer_on(stream, 2 * MIB), *freed = buffer_on(stream, 2 * MIB);
  kw_mem live_mem = live->mem, freed_mem = freed->mem;
  kw_buffer_release(freed);
  assert_ok(kw_stream_destroy(stream));
  assert_ptr_equal(atomic_load(&live->stream), test->device.default_stream);
  kw_buffer *a = buffer_of(test, 2 * MIB);
  assert_ptr_equal(a->mem, freed_mem);
  kw_buffer_release(live);
  kw_buffer *b = buffer_of(test, 2 * MIB);
  assert_ptr_equal(b->mem, live_mem);
  kw_buffer_release(a);
  kw_buffer_release(b);
  test_device_close(test);
}

static void a_destroyed_stream_is_waited_for_no_more(void **state) {
  (void)state;
  for (int native = 0; native < 2; ++native) {
    test_device *test = test_device_open("test:0", native ? TEST_NATIVE_ALL : 0);
    kw_stream *stream = stream_of(test);
    kw_buffer *used = buffer_of(test, 2 * MIB);
    kw_mem mem = used->mem;
    touch(used, stream, 4);
    assert_ok(kw_stream_destroy(stream));
    kw_buffer_release(used);
    kw_buffer *after = buffer_of(test, 2 * MIB);
    assert_ptr_equal(after->mem, mem);
    kw_buffer_release(after);
    test_device_close(test);
  }
}

static void *destroy_stream(void *stream) {
  return kw_stream_destroy(stream) == KW_OK ? NULL : stream;
}

static void a_stream_being_destroyed_is_waited_for(void **state) {
  (void)state;
  for (int native = 0; native < 2; ++native) {
    test_device *test = test_device_open("test:0", native ? TEST_NATIVE_ALL : KW_NATIVE_FILL);
    kw_stream *stream = stream_of(test);
    kw_buffer *used = buffer_of(test, 4 * MIB);
    test_gate(stream, true);
    touch(used, stream, 4);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, destroy_stream, stream), 0);
    while (TEST_CALLS(test, stream_synchronize) == 0) sched_yield();
    pthread_mutex_lock(&test->mutex); /* free once the destroy waits in its synchronize */
    test->open_on_wait = true;
    pthread_mutex_unlock(&test->mutex);
    if (native) {
      kw_buffer_release(used);
      kw_buffer *other = buffer_of(test, 4 * MIB);
      assert_int_equal(TEST_CALLS(test, memory_alloc), 2); /* not the memory that is in use */
      kw_buffer_release(other);
    } else {
      kw_buffer_release(used); /* waits */
      assert_true(TEST_CALLS(test, stream_synchronize) > 1);
    }
    assert_ok(kw_memory_trim(&test->device));
    void *failed = NULL;
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    assert_int_equal(test->live_mems, 0);
    assert_int_equal(test->freed_in_use, 0);
    test_device_close(test);
  }
}

static void a_lost_device_frees_all_the_same(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *stream = stream_of(test);
  kw_buffer *used = buffer_of(test, 2 * MIB), *pending = buffer_of(test, 2 * MIB), *fails = NULL;
  touch(used, stream, 4);
  test_gate(stream, true); /* never opened: no call may wait for a lost device */
  touch(pending, stream, 5);
  kw_buffer_release(pending);
  TEST_FAIL_NEXT(test, memory_alloc, KW_ERR_DEVICE_LOST);
  assert_int_equal(kw_buffer_create(stream, 10, &fails), KW_ERR_DEVICE_LOST);
  unsigned calls = TEST_CALLS(test, memory_alloc);
  assert_int_equal(kw_buffer_create(stream, 10, &fails), KW_ERR_DEVICE_LOST);
  assert_int_equal(TEST_CALLS(test, memory_alloc), calls);
  kw_buffer_release(used);
  assert_ok(kw_memory_trim(&test->device));
  assert_int_equal(test->live_mems, 0);
  assert_ok(kw_stream_destroy(stream));
  test->freed_in_use = 0; /* work that will never run */
  test_device_close(test);
}

static void statistics_go_no_further_than_asked(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_buffer *buffer = buffer_of(test, 10);
  kw_memory_stats stats;
  memset(&stats, 0x55, sizeof stats);
  stats.struct_size = offsetof(kw_memory_stats, held);
  assert_ok(kw_memory_get_stats(&test->device, &stats));
  assert_int_equal(stats.allocated_peak, 512);
  assert_int_equal(stats.held, UINT64_C(0x5555555555555555));
  assert_int_equal(kw_memory_get_stats(NULL, &stats), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_memory_get_stats(&test->device, NULL), KW_ERR_INVALID_ARGUMENT);
  kw_buffer_release(buffer);
  test_device_close(test);
}

static void peaks_start_anew(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_buffer *kept = buffer_of(test, 1000), *large = buffer_of(test, 5 * MIB);
  kw_buffer_release(large);
  assert_ok(kw_memory_trim(&test->device));
  assert_int_equal(test_stats(test).allocated_peak, 1024 + 5 * MIB);
  assert_ok(kw_memory_reset_peak(&test->device));
  assert_int_equal(test_stats(test).allocated_peak, 1024);
  assert_int_equal(test_stats(test).held_peak, 2 * MIB);
  large = buffer_of(test, 3 * MIB);
  kw_buffer_release(large);
  assert_int_equal(test_stats(test).allocated_peak, 1024 + 3 * MIB);
  assert_int_equal(kw_memory_reset_peak(NULL), KW_ERR_INVALID_ARGUMENT);
  kw_buffer_release(kept);
  test_device_close(test);
}

typedef struct block_notes {
  test_device *test;
  kw_memory_block blocks[16];
  unsigned count;
} block_notes;

static void KW_CALL note_block(const kw_memory_block *block, void *user) {
  block_notes *notes = user;
  (void)test_stats(notes->test); /* it may call the library */
  assert_true(notes->count < 16);
  notes->blocks[notes->count++] = *block;
}

static block_notes blocks_of(test_device *test) {
  block_notes notes = {.test = test};
  assert_ok(kw_memory_for_each_block(&test->device, note_block, &notes));
  return notes;
}

static const kw_memory_block *find_block(const block_notes *notes, uint64_t size) {
  for (unsigned i = 0; i < notes->count; ++i) {
    if (notes->blocks[i].size == size) return &notes->blocks[i];
  }
  fail_msg("no block of %llu bytes", (unsigned long long)size);
  return NULL;
}

static void blocks_tile_their_segments(void **state) {
  (void)state;
  test_device *test = test_device_open("test:0", TEST_NATIVE_ALL);
  kw_stream *stream = stream_of(test);
  kw_buffer *live = buffer_of(test, 1000), *cached = buffer_of(test, 3 * KIB), *used = buffer_on(stream, 5 * MIB);
  kw_buffer_release(cached);
  test_gate(test->device.default_stream, true);
  touch(used, test->device.default_stream, 1);
  kw_buffer_release(used);
  block_notes notes = blocks_of(test);
  uint64_t held = 0, tiled = 0;
  for (unsigned i = 0; i < notes.count; ++i) {
    const kw_memory_block *block = &notes.blocks[i];
    assert_int_equal(block->struct_size, sizeof *block);
    assert_false(block->graphs);
    if (block->offset == 0) held += block->segment_size;
    if (block->offset != 0) assert_int_equal(block->segment, block[-1].segment);
    if (block->offset != 0) assert_int_equal(block->offset, block[-1].offset + block[-1].size);
    tiled += block->size;
  }
  assert_int_equal(held, test_stats(test).held);
  assert_int_equal(tiled, held);
  assert_int_equal(find_block(&notes, 1024)->state, KW_BLOCK_LIVE);
  assert_int_equal(find_block(&notes, 2 * MIB - KIB)->state, KW_BLOCK_FREE); /* with what was cached */
  assert_int_equal(find_block(&notes, 5 * MIB)->state, KW_BLOCK_PENDING);
  assert_int_equal(find_block(&notes, 5 * MIB)->stream, stream->token);
  test_gate(test->device.default_stream, false);
  assert_int_equal(kw_memory_for_each_block(NULL, note_block, &notes), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_memory_for_each_block(&test->device, NULL, &notes), KW_ERR_INVALID_ARGUMENT);
  kw_buffer_release(live);
  assert_ok(kw_stream_destroy(stream));
  test_device_close(test);
}

/* ---- Many threads ------------------------------------------------------------------------------------------------ */

typedef struct worker {
  test_device *test;
  kw_stream *own, *other;
  unsigned seed;
  bool failed;
} worker;

/* Takes and gives back memory of random sizes; what it wrote must still be there when it gives back. */
static void *work(void *user) {
  worker *w = user;
  enum { SLOTS = 8 };
  kw_buffer *slots[SLOTS] = {NULL};
  uint32_t values[SLOTS];
  for (int round = 0; round < 400 && !w->failed; ++round) {
    int i = (int)(rand_r(&w->seed) % SLOTS);
    if (slots[i] != NULL) {
      uint32_t got[2] = {0};
      kw_copy_info copy = {.struct_size = sizeof copy,
                           .kind = KW_COPY_DEVICE_TO_HOST,
                           .dst_host = &got[0],
                           .src_mem = slots[i]->mem,
                           .src_offset = slots[i]->offset,
                           .size = 4};
      w->failed |= test_memory_copy(w->test, w->own->handle, &copy) != KW_OK;
      copy.dst_host = &got[1];
      copy.src_offset += slots[i]->size - 4;
      w->failed |= test_memory_copy(w->test, w->own->handle, &copy) != KW_OK;
      w->failed |= kw_stream_synchronize(w->own) != KW_OK || got[0] != values[i] || got[1] != values[i];
      kw_buffer_use(slots[i], w->other);
      kw_buffer_release(slots[i]);
      slots[i] = NULL;
      continue;
    }
    uint64_t size = 4 + 4 * (uint64_t)(rand_r(&w->seed) % 2000);
    if (rand_r(&w->seed) % 16 == 0) size *= 200;
    values[i] = (uint32_t)rand_r(&w->seed);
    w->failed |= kw_buffer_create(w->own, size, &slots[i]) != KW_OK ||
                 kw_buffer_fill(slots[i], w->own, 0, size, &values[i], 4) != KW_OK;
    if (round % 64 == 0) w->failed |= kw_memory_trim(&w->test->device) != KW_OK;
  }
  for (int i = 0; i < SLOTS; ++i) kw_buffer_release(slots[i]);
  return NULL;
}

static void many_threads(void **state) {
  (void)state;
  for (int native = 0; native < 2; ++native) {
    enum { THREADS = 4 };
    test_device *test = test_device_open("test:0", native ? TEST_NATIVE_ALL : KW_NATIVE_FILL);
    test->memory_limit = 24 * MIB; /* so that some allocations have to flush */
    worker workers[THREADS];
    pthread_t threads[THREADS];
    kw_stream *shared = stream_of(test);
    for (int i = 0; i < THREADS; ++i)
      workers[i] = (worker){.test = test, .own = stream_of(test), .seed = 17u + (unsigned)i};
    for (int i = 0; i < THREADS; ++i) {
      workers[i].other = i % 2 == 0 ? shared : workers[0].own;
      assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; ++i) {
      assert_false(workers[i].failed);
      assert_ok(kw_stream_destroy(workers[i].own));
    }
    assert_ok(kw_stream_destroy(shared));
    kw_memory_stats stats = test_stats(test);
    assert_int_equal(stats.live, 0);
    assert_int_equal(stats.allocated, 0);
    assert_int_equal(stats.oom_failures, 0);
    test_device_close(test);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_requests_share_a_segment),
      cmocka_unit_test(a_stream_reuses_its_memory_at_once),
      cmocka_unit_test(neighbours_coalesce),
      cmocka_unit_test(large_requests_split),
      cmocka_unit_test(best_fit_is_taken),
      cmocka_unit_test(offsets_respect_the_device),
      cmocka_unit_test(foreign_use_defers_reuse),
      cmocka_unit_test(every_foreign_stream_counts),
      cmocka_unit_test(a_stream_that_works_is_remembered_among_many_that_are_gone),
      cmocka_unit_test(without_events_release_waits),
      cmocka_unit_test(without_events_release_in_a_callback_does_not_wait),
      cmocka_unit_test(out_of_memory_flushes_the_cache),
      cmocka_unit_test(out_of_memory_waits_for_pending_blocks),
      cmocka_unit_test(out_of_memory_tells_the_statistics),
      cmocka_unit_test(a_small_device_serves_small_requests),
      cmocka_unit_test(max_alloc_is_respected),
      cmocka_unit_test(other_failures_are_passed_on),
      cmocka_unit_test(trim_keeps_what_is_in_use),
      cmocka_unit_test(a_failing_free_is_survived),
      cmocka_unit_test(a_destroyed_stream_leaves_its_memory_to_the_default_stream),
      cmocka_unit_test(a_destroyed_stream_is_waited_for_no_more),
      cmocka_unit_test(a_stream_being_destroyed_is_waited_for),
      cmocka_unit_test(a_lost_device_frees_all_the_same),
      cmocka_unit_test(statistics_go_no_further_than_asked),
      cmocka_unit_test(peaks_start_anew),
      cmocka_unit_test(blocks_tile_their_segments),
      cmocka_unit_test(many_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
