/* SPDX-License-Identifier: Apache-2.0
 *
 * Words, by hand: a copy of a code into the word stands for the kernel that stores it there.
 */
#include "call/record.h"
#include "testing/test_device.h"

#include "op/op.h"

#include <sched.h>

static test_device *test;
static kw_stream *stream;
static const kw_op *add, *sub;

static int open_device(void **state) {
  (void)state;
  test = test_device_open("npu:0", TEST_NATIVE_ALL);
  stream = test->device.default_stream;
  add = kw_op_find("add.Tensor");
  sub = kw_op_find("sub.Tensor");
  return 0;
}

static int close_device(void **state) {
  (void)state;
  test_device_close(test);
  return 0;
}

/* Enqueues the store of `*code`, which must stay. */
static void store(const kw_error_word *word, const uint32_t *code) {
  const kw_copy_info copy = {
      .struct_size = sizeof copy, .kind = KW_COPY_HOST_TO_DEVICE, .dst_mem = word->mem, .src_host = code, .size = 4};
  assert_ok(test_memory_copy(test, stream->handle, &copy));
}

static kw_error_word *own_word(void) {
  kw_error_word *word;
  assert_ok(kw_error_words_own(stream, &word));
  return word;
}

static void tells_once_and_clears(void **state) {
  (void)state;
  const uint32_t direct = kw_error_word_code(add, add) + 1, served = kw_error_word_code(sub, add) + 0;
  const uint32_t *codes[] = {&direct, &served};
  const char *const texts[] = {"add.Tensor: argument 'other': an index is out of range (found while running on npu:0)",
                               "sub.Tensor, by add.Tensor: argument 'self': an index is out of range"};
  for (int i = 0; i < 2; ++i) {
    test_gate(stream, true); /* nothing has run when the wait begins */
    test->open_on_wait = true;
    kw_error_word *word = own_word();
    store(word, codes[i]);
    kw_error_words_use_own(stream);
    assert_int_equal(kw_stream_synchronize(stream), KW_ERR_INVALID_ARGUMENT);
    assert_error(texts[i]);
    kw_error_words_use_own(stream);
    assert_ok(kw_stream_synchronize(stream));
    assert_ptr_equal(own_word(), word);
  }
  assert_int_equal(TEST_CALLS(test, memory_alloc), 1);
}

static void costs_one_copy_and_no_wait_more(void **state) {
  (void)state;
  own_word();
  unsigned copies = TEST_CALLS(test, memory_copy), waits = TEST_CALLS(test, stream_synchronize);
  assert_ok(kw_stream_synchronize(stream)); /* no kernel has run that stores there */
  assert_int_equal(TEST_CALLS(test, memory_copy), copies);
  kw_error_words_use_own(stream);
  kw_error_words_use_own(stream);
  assert_ok(kw_stream_synchronize(stream));
  assert_ok(kw_stream_synchronize(stream));
  assert_int_equal(TEST_CALLS(test, memory_copy), copies + 1);
  assert_int_equal(TEST_CALLS(test, stream_synchronize), waits + 3);
}

/* What the plugin reported before the wait comes first; the other is in the log, and cleared. */
static void leaves_a_reported_error_the_first_place(void **state) {
  (void)state;
  const uint32_t code = kw_error_word_code(add, add);
  store(own_word(), &code);
  kw_error_words_use_own(stream);
  assert_ok(kw_late_error_report(stream->token, (uint64_t)sub->id << KW_CALL_ID_BITS, KW_ERR_INTERNAL, "a bit"));
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_INTERNAL);
  assert_ok(kw_stream_synchronize(stream));
}

static void looks_again_after_a_wait_that_failed(void **state) {
  (void)state;
  const uint32_t code = kw_error_word_code(add, add);
  store(own_word(), &code);
  kw_error_words_use_own(stream);
  TEST_FAIL_NEXT(test, stream_synchronize, KW_ERR_TIMEOUT);
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_TIMEOUT);
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_INVALID_ARGUMENT);
  assert_ok(kw_stream_synchronize(stream));
}

static void makes_a_defect_of_what_names_no_argument(void **state) {
  (void)state;
  const uint32_t code = kw_error_word_code(add, add) + 200;
  store(own_word(), &code);
  kw_error_words_use_own(stream);
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_INTERNAL);
  assert_error("names no op's argument");
}

/* Waiting for another reason keeps it for who asks. */
static void stays_with_its_stream(void **state) {
  (void)state;
  const uint32_t code = kw_error_word_code(add, add);
  store(own_word(), &code);
  kw_error_words_use_own(stream);
  kw_stream_drain_all(&test->device);
  kw_stream *other;
  assert_ok(kw_stream_create(&test->device, &other));
  assert_ok(kw_stream_synchronize(other));
  assert_ok(kw_stream_destroy(other));
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_INVALID_ARGUMENT);
}

static void flushes_caches_for_its_memory(void **state) {
  (void)state;
  kw_buffer *buffer;
  test->memory_limit = UINT64_C(2) << 20;
  assert_ok(kw_buffer_create(stream, 1, &buffer));
  kw_error_word *word;
  assert_int_equal(kw_stream_error_word(stream, &word), KW_ERR_OUT_OF_MEMORY);
  assert_error("error word");
  kw_buffer_release(buffer);
  assert_int_equal(kw_error_words_own(stream, &word), KW_ERR_OUT_OF_MEMORY); /* flushing is its caller's */
  assert_ok(kw_stream_error_word(stream, &word));
}

static void leaves_a_lost_device_alone(void **state) {
  (void)state;
  own_word();
  kw_error_words_use_own(stream);
  unsigned copies = TEST_CALLS(test, memory_copy);
  kw_device_mark_if_lost(&test->device, KW_ERR_DEVICE_LOST);
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_DEVICE_LOST);
  assert_int_equal(TEST_CALLS(test, memory_copy), copies);
}

/* A graph's word: launched here, while the graph goes. */
static void frees_a_word_only_when_it_is_cleared(void **state) {
  (void)state;
  const uint32_t code = kw_error_word_code(add, add);
  kw_error_word *word;
  struct kw_word_use *use;
  assert_ok(kw_error_word_create(stream, &word));
  assert_ok(kw_word_use_create(word, &use));
  store(word, &code);
  kw_error_words_use(stream, use);
  kw_word_check check;
  kw_error_words_begin_check(stream, &check);
  assert_ok(test->plugin.stream.synchronize(test, stream->handle, KW_WAIT_FOREVER));
  kw_error_word_unref(word);
  test_gate(stream, true); /* what comes from here on waits for the next wait */
  test->open_on_wait = true;
  kw_error_words_end_check(stream, &check, true);
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(test->live_mems, 0);
  assert_int_equal(test->freed_in_use, 0);
}

static void looks_again_after_a_copy_that_failed(void **state) {
  (void)state;
  const uint32_t code = kw_error_word_code(add, add);
  store(own_word(), &code);
  kw_error_words_use_own(stream);
  TEST_FAIL_NEXT(test, memory_copy, KW_ERR_OUT_OF_MEMORY);
  assert_ok(kw_stream_synchronize(stream));
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_INVALID_ARGUMENT);
  assert_ok(kw_stream_synchronize(stream));
}

/* What another thread does that waits in passing, so far that it would end its check. */
static void take_in_hand(kw_word_check *check) {
  kw_error_words_begin_check(stream, check);
  assert_ok(test->plugin.stream.synchronize(test, stream->handle, KW_WAIT_FOREVER));
}

static void waits_for_what_others_have_in_hand(void **state) {
  (void)state;
  const uint32_t code = kw_error_word_code(add, add);
  kw_word_check others;
  store(own_word(), &code);
  kw_error_words_use_own(stream);
  take_in_hand(&others);
  assert_int_equal(kw_stream_synchronize_for(stream, 0), KW_ERR_TIMEOUT);
  assert_int_equal(kw_device_synchronize_for(&test->device, 1000), KW_ERR_TIMEOUT);
  assert_ok(kw_stream_drain(stream)); /* tells nobody */
  kw_error_words_end_check(stream, &others, true);
  assert_int_equal(kw_stream_synchronize_for(stream, 0), KW_ERR_INVALID_ARGUMENT);
  assert_ok(kw_stream_synchronize_for(stream, 0));
}

static void *synchronize(void *out_status) {
  *(kw_status *)out_status = kw_stream_synchronize(stream);
  return NULL;
}

/* The thread finds the check in hand, or given back and does it itself. */
static void looks_for_itself_where_others_did_not(void **state) {
  (void)state;
  const uint32_t code = kw_error_word_code(add, add);
  const bool went_well[] = {true, false};
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    kw_status status = KW_OK;
    kw_word_check others;
    store(own_word(), &code);
    kw_error_words_use_own(stream);
    take_in_hand(&others);
    const unsigned waits = TEST_CALLS(test, stream_synchronize);
    assert_int_equal(pthread_create(&thread, NULL, synchronize, &status), 0);
    while (TEST_CALLS(test, stream_synchronize) == waits) sched_yield();
    kw_error_words_end_check(stream, &others, went_well[i]);
    pthread_join(thread, NULL);
    assert_int_equal(status, KW_ERR_INVALID_ARGUMENT);
    assert_ok(kw_stream_synchronize(stream));
  }
}

/* Words that came into somebody's hand after the wait had begun are not its business. */
static void lets_later_checks_be(void **state) {
  (void)state;
  kw_word_check own, others;
  bool again;
  own_word();
  kw_error_words_use_own(stream);
  kw_error_words_begin_check(stream, &own);
  kw_error_words_use_own(stream);
  take_in_hand(&others);
  kw_error_words_end_check(stream, &own, true);
  assert_true(kw_error_words_let_end(stream, &own, KW_WAIT_FOREVER, &again));
  assert_false(again);
  kw_error_words_end_check(stream, &others, true);
}

#define THREADS 4

static void *make_own(void *unused) {
  kw_error_word *word = NULL;
  (void)unused;
  kw_error_words_own(stream, &word);
  return word;
}

static void is_one_for_all_threads(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  void *words[THREADS];
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, make_own, NULL), 0);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], &words[i]);
  for (int i = 0; i < THREADS; ++i) assert_ptr_equal(words[i], own_word());
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_device, close_device)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(tells_once_and_clears),
      TEST(costs_one_copy_and_no_wait_more),
      TEST(leaves_a_reported_error_the_first_place),
      TEST(looks_again_after_a_wait_that_failed),
      TEST(makes_a_defect_of_what_names_no_argument),
      TEST(stays_with_its_stream),
      TEST(flushes_caches_for_its_memory),
      TEST(leaves_a_lost_device_alone),
      TEST(frees_a_word_only_when_it_is_cleared),
      TEST(looks_again_after_a_copy_that_failed),
      TEST(waits_for_what_others_have_in_hand),
      TEST(looks_for_itself_where_others_did_not),
      TEST(lets_later_checks_be),
      TEST(is_one_for_all_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
