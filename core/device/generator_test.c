/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of the fixture write where their numbers came from: element i is 1000 seed + 4 offset + i.
 */
#include "testing/test_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static kw_dispatch_fixture *fixture, *on_cpu;
static kw_device *device;
static const kw_op *noise, *jitter;

static int load(void **state) {
  (void)state;
  fixture = test_fixture_start(DISPATCH_FIXTURE);
  on_cpu = test_fixture_load(DISPATCH_CPU);
  noise = kw_op_find("fixture::noise_");
  jitter = kw_op_find("fixture::jitter");
  return fixture && on_cpu && noise && jitter ? 0 : -1;
}

static int open_device(void **state) {
  (void)state;
  memset(fixture, 0, sizeof *fixture);
  memset(on_cpu, 0, sizeof *on_cpu);
  return kw_device_open("fixture:0", &device) == KW_OK ? 0 : -1;
}

static int close_device(void **state) {
  (void)state;
  return kw_device_close(device) == KW_OK ? 0 : -1;
}

static kw_tensor *room(uint32_t count) {
  kw_tensor *tensor;
  assert_int_equal(kw_tensor_create(device, KW_F32, 1, (int64_t[]){count}, &tensor), KW_OK);
  return tensor;
}

static kw_status call_noise(kw_tensor *tensor, kw_generator *generator) {
  const kw_value args[] = {kw_arg_tensor(tensor), kw_arg_generator(generator)};
  return kw_op_call(noise, NULL, args, 2, NULL, 0);
}

static float first_of(const kw_tensor *tensor) {
  float values[64];
  assert_true(kw_tensor_describe(tensor)->numel <= 64);
  assert_int_equal(kw_tensor_read(tensor, values), KW_OK);
  return values[0];
}

static kw_generator_state state_of(const kw_generator *generator) {
  kw_generator_state state = {.struct_size = sizeof state};
  assert_int_equal(kw_generator_get_state(generator, &state), KW_OK);
  return state;
}

static void starts_with_seed_zero_and_takes_a_block_for_four(void **state) {
  (void)state;
  const kw_generator *generator = kw_generator_default(device);
  const struct {
    uint32_t numel, offset; /* before the call */
  } calls[] = {{1, 0}, {4, 1}, {5, 2}, {8, 4}, {0, 6}, {3, 6}};
  assert_int_equal(state_of(generator).seed, 0);
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) {
    kw_tensor *x = room(calls[i].numel);
    assert_int_equal(state_of(generator).offset, calls[i].offset);
    assert_int_equal(call_noise(x, NULL), KW_OK);
    if (calls[i].numel > 0) assert_true(first_of(x) == 4.0f * (float)calls[i].offset);
    kw_tensor_release(x);
  }
  assert_int_equal(state_of(generator).offset, 7);
}

/* The second call with one signature comes from the thread's cache, the third may be with another generator. */
static void neither_plan_nor_cache_keeps_a_generator(void **state) {
  (void)state;
  kw_generator *a, *b;
  kw_tensor *x = room(8);
  assert_int_equal(kw_generator_create(device, 7, &a), KW_OK);
  assert_int_equal(kw_generator_create(device, 9, &b), KW_OK);
  kw_generator *const order[] = {a, a, b, a, b, NULL, NULL, a};
  const float expected[] = {7000, 7008, 9000, 7016, 9008, 0, 8, 7024};
  for (size_t i = 0; i < sizeof order / sizeof order[0]; ++i) {
    assert_int_equal(call_noise(x, order[i]), KW_OK);
    assert_true(first_of(x) == expected[i]);
    assert_int_equal(fixture->last_args[1].tag, KW_TAG_NONE);
    assert_null(fixture->last_extra.rng.state);
  }
  const kw_value first[] = {kw_arg_tensor(x), kw_arg_generator(a)}, second[] = {kw_arg_tensor(x), kw_arg_generator(b)};
  kw_plan *plan;
  assert_int_equal(kw_plan_make(noise, NULL, first, 2, NULL, 0, NULL, &plan), KW_OK);
  assert_int_equal(state_of(a).offset, 8); /* making takes nothing */
  kw_generator_destroy(a);
  assert_int_equal(kw_plan_run(plan, NULL, second, 2, NULL, 0), KW_OK);
  assert_true(first_of(x) == 9016);
  kw_plan_destroy(plan);
  kw_generator_destroy(b);
  kw_tensor_release(x);
}

/* A cast and an expansion before the kernel; a result that core makes. */
static void reaches_prepared_calls(void **state) {
  (void)state;
  kw_tensor *x = room(6), *whole, *out = NULL;
  assert_int_equal(kw_tensor_create(device, KW_I32, 1, (int64_t[]){1}, &whole), KW_OK);
  assert_int_equal(kw_tensor_write(whole, &(int32_t){100}), KW_OK);
  for (int i = 0; i < 2; ++i) {
    const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(whole)};
    assert_int_equal(kw_op_call(jitter, NULL, args, 2, &out, 1), KW_OK);
    assert_true(first_of(out) == 100.0f + 8.0f * (float)i);
  }
  kw_tensor_release(x), kw_tensor_release(whole), kw_tensor_release(out);
}

static void seeds_and_restores(void **state) {
  (void)state;
  kw_generator *generator = kw_generator_default(device);
  kw_tensor *x = room(4);
  assert_int_equal(kw_generator_seed(generator, 3), KW_OK);
  assert_int_equal(call_noise(x, NULL), KW_OK);
  const kw_generator_state kept = state_of(generator);
  assert_int_equal(kept.seed, 3);
  assert_int_equal(kept.offset, 1);
  assert_int_equal(kept.algorithm, KW_GENERATOR_PHILOX4X32_10);
  assert_int_equal(call_noise(x, NULL), KW_OK);
  assert_int_equal(kw_generator_set_state(generator, &kept), KW_OK);
  assert_int_equal(call_noise(x, NULL), KW_OK);
  assert_true(first_of(x) == 3004);
  assert_int_equal(kw_generator_seed(generator, 5), KW_OK);
  assert_int_equal(state_of(generator).offset, 0);

  const kw_generator_state last = {sizeof last, KW_GENERATOR_PHILOX4X32_10, 0, UINT64_MAX};
  assert_int_equal(kw_generator_set_state(generator, &last), KW_OK);
  kw_tensor *longer = room(5);
  assert_int_equal(call_noise(longer, NULL), KW_OK);
  assert_int_equal(state_of(generator).offset, 1); /* it wraps */
  kw_tensor_release(x), kw_tensor_release(longer);
}

static void refuses_what_is_wrong(void **state) {
  (void)state;
  kw_device *other;
  kw_generator *foreign, *mine = kw_generator_default(device);
  kw_tensor *x = room(4);
  assert_int_equal(kw_device_open("fixture:1", &other), KW_OK);
  assert_int_equal(kw_generator_create(other, 1, &foreign), KW_OK);
  for (int i = 0; i < 2; ++i) { /* without and with a plan in the cache */
    assert_int_equal(call_noise(x, foreign), KW_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(kw_error_message(), "fixture::noise_: 'generator' is a generator of fixture:1"));
    assert_int_equal(call_noise(x, mine), KW_OK);
  }
  const kw_generator_state unknown = {.struct_size = sizeof unknown, .algorithm = 77};
  assert_int_equal(kw_generator_set_state(mine, &unknown), KW_ERR_UNSUPPORTED);
  assert_non_null(strstr(kw_error_message(), "algorithm 77"));
  assert_int_equal(kw_generator_set_state(mine, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_generator_seed(NULL, 1), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_generator_create(device, 1, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_generator_create(NULL, 1, &foreign), KW_ERR_INVALID_ARGUMENT);
  assert_null(kw_generator_default(NULL));
  kw_generator_destroy(NULL);
  kw_generator_destroy(mine); /* said in the log, and nothing else */
  assert_int_equal(state_of(mine).offset, 2);
  kw_generator_destroy(foreign);
  assert_int_equal(kw_device_close(other), KW_OK);
  kw_tensor_release(x);
}

/* cpu:0 gives the numbers that the device would have given, and they are taken once: when the device has no kernel for
 * a call, and when its kernel asks. */
static void gives_the_same_numbers_on_cpu(void **state) {
  (void)state;
  kw_generator *generator;
  kw_tensor *x = room(8);
  assert_int_equal(kw_generator_create(device, 2, &generator), KW_OK);
  kw_fallback_set(KW_FALLBACK_ALLOW);
  assert_int_equal(call_noise(x, generator), KW_OK);
  fixture->launch_status = KW_ERR_FALLBACK;
  assert_int_equal(call_noise(x, generator), KW_OK);
  kw_fallback_set(KW_FALLBACK_OFF);
  assert_int_equal(on_cpu->launches, 1);
  assert_true(first_of(x) == 2008);
  assert_int_equal(state_of(generator).offset, 4);
  fixture->launch_status = KW_OK;
  assert_int_equal(call_noise(x, generator), KW_OK);
  assert_true(first_of(x) == 2016);
  kw_generator_destroy(generator);
  kw_tensor_release(x);
}

/* What cpu:0 finds wrong in the data comes out of the call: the fallback waits. */
static void tells_at_once_of_errors_in_the_data_on_cpu(void **state) {
  (void)state;
  const kw_op *pick = kw_op_find("fixture::pick");
  kw_tensor *x = room(3), *index = room(1), *out = NULL;
  assert_int_equal(kw_tensor_write(index, &(float){3}), KW_OK);
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(index)};
  kw_fallback_set(KW_FALLBACK_ALLOW);
  fixture->launch_status = KW_ERR_FALLBACK;
  assert_int_equal(kw_op_call(pick, NULL, args, 2, &out, 1), KW_ERR_INVALID_ARGUMENT);
  kw_fallback_set(KW_FALLBACK_OFF);
  assert_non_null(strstr(kw_error_message(), "fixture::pick on fixture:0: falling back to cpu:0"));
  assert_non_null(
      strstr(kw_error_message(), "argument 'index': an index is out of range (found while running on cpu:0)"));
  assert_null(out);
  assert_int_equal(kw_device_synchronize(device), KW_OK);
  kw_tensor_release(x), kw_tensor_release(index);
}

/* A generator keeps its device open, and its device's last close does not reach it. */
static void outlives_the_last_close(void **state) {
  (void)state;
  kw_generator *generator;
  assert_int_equal(kw_generator_create(device, 1, &generator), KW_OK);
  assert_int_equal(kw_device_close(device), KW_OK);
  assert_int_equal(kw_generator_seed(generator, 4), KW_OK);
  kw_generator_destroy(generator);
  assert_int_equal(kw_device_open("fixture:0", &device), KW_OK);
}

#define THREADS 4
#define CALLS 200

static void *draw(void *pointer) {
  kw_tensor *tensor = pointer;
  for (int i = 0; i < CALLS; ++i) {
    if (call_noise(tensor, NULL) != KW_OK) return "call";
  }
  return NULL;
}

static void gives_threads_disjoint_blocks(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  kw_tensor *rooms[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    rooms[i] = room(9);
    assert_int_equal(pthread_create(&threads[i], NULL, draw, rooms[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    void *failure;
    pthread_join(threads[i], &failure);
    assert_null(failure);
    kw_tensor_release(rooms[i]);
  }
  assert_int_equal(state_of(kw_generator_default(device)).offset, THREADS * CALLS * 3);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_device, close_device)

/* The fixture's kernels do not say that they draw from AES-128-CTR. */
static void kernels_say_which_algorithms_they_draw_from(void **state) {
  (void)state;
  kw_generator *generator;
  kw_tensor *x = room(4);
  assert_int_equal(kw_generator_create(device, 1, &generator), KW_OK);
  kw_generator_state aes = {sizeof aes, KW_GENERATOR_AES128_CTR, 5, 6};
  assert_int_equal(kw_generator_set_state(generator, &aes), KW_OK);
  const kw_generator_state now = state_of(generator);
  assert_true(now.algorithm == KW_GENERATOR_AES128_CTR && now.seed == 5 && now.offset == 6);
  assert_int_equal(call_noise(x, generator), KW_ERR_NOT_IMPLEMENTED);
  assert_non_null(strstr(kw_error_message(), "draws from Philox only"));
  aes.algorithm = KW_GENERATOR_PHILOX4X32_10;
  assert_int_equal(kw_generator_set_state(generator, &aes), KW_OK);
  assert_int_equal(call_noise(x, generator), KW_OK);
  kw_generator_destroy(generator);
  kw_tensor_release(x);
}

/* Where the kernel does not draw from it, and where it gives up. */
static void fallback_keeps_the_algorithm(void **state) {
  (void)state;
  kw_generator *generator;
  kw_tensor *x = room(4);
  const kw_generator_state aes = {sizeof aes, KW_GENERATOR_AES128_CTR, 5, 6};
  assert_int_equal(kw_generator_create(device, 1, &generator), KW_OK);
  assert_int_equal(kw_generator_set_state(generator, &aes), KW_OK);
  kw_fallback_set(KW_FALLBACK_ALLOW);
  kw_status status = call_noise(x, generator);
  kw_fallback_set(KW_FALLBACK_OFF);
  if (status != KW_OK) fail_msg("%s", kw_error_message());
  assert_int_equal(on_cpu->last_extra.rng.algorithm, KW_GENERATOR_AES128_CTR);
  assert_true(first_of(x) == 5 * 1000 + 6 * 4);
  assert_int_equal(state_of(generator).offset, 7);
  kw_generator_destroy(generator);
  kw_tensor_release(x);
}

/* The first result may be absent: the blocks are those of the first one that is there. */
static void absent_results_take_no_blocks(void **state) {
  (void)state;
  const kw_generator *generator = kw_generator_default(device);
  const int64_t masks[][2] = {{1, 0}, {0, 1}, {0, 0}, {1, 1}};
  const uint64_t offsets[] = {2, 4, 4, 6};
  kw_tensor *x = room(8);
  for (size_t i = 0; i < 4; ++i) {
    kw_tensor *outs[2] = {NULL};
    const kw_value args[] = {kw_arg_tensor(x), kw_arg_int_list(masks[i], 2)};
    assert_int_equal(kw_op_call(kw_op_find("fixture::drops"), NULL, args, 2, outs, 2), KW_OK);
    assert_int_equal(state_of(generator).offset, offsets[i]);
    for (int r = 0; r < 2; ++r) {
      assert_int_equal(outs[r] != NULL, masks[i][r]);
      if (outs[r]) assert_true(first_of(outs[r]) == (float)(offsets[i] - 2) * 4);
      kw_tensor_release(outs[r]);
    }
  }
  kw_tensor_release(x);
}

/* A graph's kernels were told the algorithm when it was recorded. */
static void graphs_keep_their_algorithm(void **state) {
  (void)state;
  kw_generator *generator;
  kw_stream *stream;
  kw_graph *graph;
  kw_tensor *x = room(4);
  assert_int_equal(kw_generator_create(device, 1, &generator), KW_OK);
  assert_int_equal(kw_stream_create(device, &stream), KW_OK);
  assert_int_equal(kw_graph_begin(stream), KW_OK);
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_generator(generator)};
  assert_int_equal(kw_op_call(noise, stream, args, 2, NULL, 0), KW_OK);
  assert_int_equal(kw_graph_end(stream, &graph), KW_OK);
  const kw_generator_state aes = {sizeof aes, KW_GENERATOR_AES128_CTR, 5, 6};
  assert_int_equal(kw_generator_set_state(generator, &aes), KW_OK);
  assert_int_equal(kw_graph_launch(graph, stream), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "another algorithm"));
  assert_int_equal(kw_generator_seed(generator, 3), KW_OK); /* leaves the algorithm */
  assert_int_equal(kw_graph_launch(graph, stream), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_graph_destroy(graph), KW_OK);
  assert_int_equal(kw_stream_destroy(stream), KW_OK);
  kw_generator_destroy(generator);
  kw_tensor_release(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(starts_with_seed_zero_and_takes_a_block_for_four),
      TEST(neither_plan_nor_cache_keeps_a_generator),
      TEST(reaches_prepared_calls),
      TEST(seeds_and_restores),
      TEST(refuses_what_is_wrong),
      TEST(gives_the_same_numbers_on_cpu),
      TEST(tells_at_once_of_errors_in_the_data_on_cpu),
      TEST(outlives_the_last_close),
      TEST(gives_threads_disjoint_blocks),
      cmocka_unit_test_setup_teardown(kernels_say_which_algorithms_they_draw_from, open_device, close_device),
      TEST(fallback_keeps_the_algorithm),
      TEST(absent_results_take_no_blocks),
      cmocka_unit_test_setup_teardown(graphs_keep_their_algorithm, open_device, close_device),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
