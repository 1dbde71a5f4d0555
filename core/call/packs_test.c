/* SPDX-License-Identifier: Apache-2.0
 *
 * Constant tensors and their packed forms, on cpu:0, whose products have some: how many are made and when they go, and
 * that nobody computes with one of numbers that are no longer there.
 */
#include "testing/test_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define assert_ok(status) assert_int_equal(status, KW_OK)

enum { K = 64, COLUMNS = 48, ROWS = 16 };

static kw_device *cpu;

static uint64_t live(void) {
  kw_memory_stats stats = {.struct_size = sizeof stats};
  assert_ok(kw_memory_get_stats(cpu, &stats));
  return stats.live;
}

static kw_tensor *filled(int64_t rows, int64_t columns, float value) {
  kw_tensor *tensor = NULL;
  float *values = malloc((size_t)(rows * columns) * sizeof *values);
  for (int64_t i = 0; i < rows * columns; ++i) values[i] = value;
  assert_ok(kw_tensor_create(cpu, KW_F32, 2, (int64_t[]){rows, columns}, &tensor));
  assert_ok(kw_tensor_write(tensor, values));
  free(values);
  return tensor;
}

/* A weight as linear layers have it, and the product's argument that is a view of it. */
typedef struct weight {
  kw_tensor *own, *turned;
} weight;

static weight make_weight(float value) {
  weight w = {.own = filled(COLUMNS, K, value)};
  assert_ok(kw_tensor_transpose(w.own, 0, 1, &w.turned));
  return w;
}

static void release_weight(weight w) {
  kw_tensor_release(w.turned);
  kw_tensor_release(w.own);
}

static kw_status multiply(kw_tensor *x, weight w, kw_tensor **out) {
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(w.turned)};
  return kw_op_call(kw_op_find("mm"), NULL, args, 2, out, 1);
}

static float first_of(const kw_tensor *tensor) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  float *values = malloc((size_t)ref->numel * sizeof *values), first;
  assert_ok(kw_tensor_read(tensor, values));
  first = values[0];
  for (int64_t i = 0; i < ref->numel; ++i) assert_true(values[i] == first);
  free(values);
  return first;
}

static void fill(kw_tensor *tensor, double value) {
  const kw_value args[] = {kw_arg_tensor(tensor), kw_arg_scalar_f64(value)};
  assert_ok(kw_op_call(kw_op_find("fill_.Scalar"), NULL, args, 2, NULL, 0));
}

static void one_form_serves_all_shapes(void **state) {
  (void)state;
  weight w = make_weight(2);
  kw_tensor *few = filled(ROWS, K, 1), *many = filled(2 * ROWS, K, 1), *out = NULL, *more = NULL;
  assert_ok(multiply(few, w, &out));
  assert_ok(multiply(many, w, &more));
  const uint64_t before = live();
  assert_false(kw_tensor_is_constant(w.own));
  assert_ok(kw_tensor_set_constant(w.own, true));
  assert_true(kw_tensor_is_constant(w.turned));
  for (int i = 0; i < 3; ++i) {
    assert_ok(multiply(few, w, &out));
    assert_ok(multiply(many, w, &more));
    assert_int_equal(live(), before + 1);
    assert_true(first_of(out) == 2 * K && first_of(more) == 2 * K);
  }
  assert_ok(kw_tensor_set_constant(w.own, false));
  assert_int_equal(live(), before);
  assert_ok(kw_tensor_set_constant(w.turned, true));
  assert_ok(multiply(few, w, &out));
  release_weight(w);
  assert_int_equal(live(), before - 1); /* the form has gone with the tensor */
  kw_tensor_release(few);
  kw_tensor_release(many);
  kw_tensor_release(out);
  kw_tensor_release(more);
}

static void a_write_ends_it(void **state) {
  (void)state;
  weight w = make_weight(2);
  kw_tensor *x = filled(ROWS, K, 1), *other = filled(COLUMNS, K, 5), *out = NULL;
  for (int way = 0; way < 3; ++way) {
    fill(w.own, 2);
    assert_ok(kw_tensor_set_constant(w.own, true));
    assert_ok(multiply(x, w, &out));
    assert_true(first_of(out) == 2 * K);
    const kw_value to[] = {kw_arg_tensor(w.own), kw_arg_tensor(other)};
    const kw_value relu[] = {kw_arg_tensor(other)};
    switch (way) {
      case 0: /* changed in place, by a view */
        fill(w.turned, 5);
        break;
      case 1:
        assert_ok(kw_op_call(kw_op_find("copy_"), NULL, to, 2, NULL, 0));
        break;
      default: /* as a result */
        assert_ok(kw_op_call(kw_op_find("relu"), NULL, relu, 1, &w.own, 1));
    }
    assert_false(kw_tensor_is_constant(w.own));
    assert_ok(multiply(x, w, &out));
    assert_true(first_of(out) == 5 * K);
    assert_ok(kw_tensor_set_constant(w.own, true));
    assert_ok(multiply(x, w, &out));
    assert_true(first_of(out) == 5 * K);
  }
  release_weight(w);
  kw_tensor_release(other);
  kw_tensor_release(x);
  kw_tensor_release(out);
}

/* A plan of the application's that was ready before knows nothing of either. */
static void plans_look_again(void **state) {
  (void)state;
  weight w = make_weight(2);
  kw_tensor *x = filled(ROWS, K, 1), *out = filled(ROWS, COLUMNS, 0);
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(w.turned)};
  kw_plan *plan = NULL;
  assert_ok(kw_plan_make(kw_op_find("mm"), NULL, args, 2, &out, 1, NULL, &plan));
  for (int i = 0; i < 3; ++i) assert_ok(kw_plan_run(plan, NULL, args, 2, &out, 1));
  const uint64_t before = live();
  assert_ok(kw_tensor_set_constant(w.own, true));
  for (int i = 0; i < 3; ++i) {
    assert_ok(kw_plan_run(plan, NULL, args, 2, &out, 1));
    assert_int_equal(live(), before + 1);
  }
  fill(w.own, 3);
  assert_int_equal(live(), before);
  assert_ok(kw_plan_run(plan, NULL, args, 2, &out, 1));
  assert_true(first_of(out) == 3 * K);
  kw_plan_destroy(plan);
  release_weight(w);
  kw_tensor_release(x);
  kw_tensor_release(out);
}

/* What a graph reads it reads anew at each launch, and what one writes cannot be constant. */
static void graphs_keep_to_the_memory(void **state) {
  (void)state;
  weight w = make_weight(2);
  kw_tensor *x = filled(ROWS, K, 1), *out = filled(ROWS, COLUMNS, 0);
  kw_stream *stream = NULL;
  kw_graph *graph = NULL, *writer = NULL;
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(w.turned)};
  assert_ok(kw_stream_create(cpu, &stream));
  assert_ok(kw_tensor_set_constant(w.own, true));
  assert_ok(multiply(x, w, &out));
  assert_ok(kw_graph_begin(stream));
  assert_ok(kw_op_call(kw_op_find("mm"), stream, args, 2, &out, 1));
  assert_ok(kw_graph_end(stream, &graph));
  assert_true(kw_tensor_is_constant(w.own));
  fill(w.own, 7);
  assert_ok(kw_graph_launch(graph, stream));
  assert_ok(kw_stream_synchronize(stream));
  assert_true(first_of(out) == 7 * K);

  assert_ok(kw_tensor_set_constant(w.own, true));
  const kw_value to[] = {kw_arg_tensor(w.own), kw_arg_scalar_f64(9)};
  assert_ok(kw_graph_begin(stream));
  assert_ok(kw_op_call(kw_op_find("fill_.Scalar"), stream, to, 2, NULL, 0));
  assert_ok(kw_graph_end(stream, &writer));
  assert_false(kw_tensor_is_constant(w.own));
  assert_int_equal(kw_tensor_set_constant(w.own, true), KW_ERR_BUSY);
  assert_non_null(strstr(kw_error_message(), "a graph has been recorded that writes to the tensor's memory"));
  assert_ok(kw_graph_destroy(graph));
  assert_ok(kw_graph_destroy(writer));
  assert_ok(kw_stream_destroy(stream));
  release_weight(w);
  kw_tensor_release(x);
  kw_tensor_release(out);
}

/* Memory that comes back from the cache is as fresh as any. */
static void memory_starts_anew(void **state) {
  (void)state;
  kw_stream *stream = NULL;
  assert_ok(kw_stream_create(cpu, &stream));
  for (int i = 0; i < 4; ++i) {
    kw_tensor *w = NULL;
    kw_graph *writer = NULL;
    assert_ok(kw_tensor_create_on(stream, KW_F32, 2, (int64_t[]){K, K}, &w));
    assert_false(kw_tensor_is_constant(w));
    assert_ok(kw_tensor_set_constant(w, true));
    if (i % 2) {
      const kw_value to[] = {kw_arg_tensor(w), kw_arg_scalar_f64(9)};
      assert_ok(kw_graph_begin(stream));
      assert_ok(kw_op_call(kw_op_find("fill_.Scalar"), stream, to, 2, NULL, 0));
      assert_ok(kw_graph_end(stream, &writer));
      assert_ok(kw_graph_destroy(writer));
    }
    kw_tensor_release(w);
  }
  assert_ok(kw_stream_destroy(stream));
  assert_int_equal(kw_tensor_set_constant(NULL, true), KW_ERR_INVALID_ARGUMENT);
  assert_false(kw_tensor_is_constant(NULL));
}

/* Work of its stream fails before a form is there, the packing for all that is known: what it holds serves no call. */
static void an_error_leaves_no_form(void **state) {
  (void)state;
  weight w = make_weight(2);
  kw_tensor *x = filled(ROWS, K, 1), *out = filled(ROWS, COLUMNS, 0), *row = filled(1, K, 0), *index = NULL;
  kw_stream *stream = NULL;
  assert_ok(kw_tensor_create(cpu, KW_I64, 1, (int64_t[]){1}, &index));
  assert_ok(kw_tensor_write(index, &(int64_t){ROWS}));
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(w.turned)};
  const kw_value beyond[] = {kw_arg_tensor(x), kw_arg_int(0), kw_arg_tensor(index)};
  assert_ok(kw_stream_create(cpu, &stream));
  assert_ok(kw_tensor_set_constant(w.own, true));
  const uint64_t before = live();
  assert_ok(kw_op_call(kw_op_find("index_select"), stream, beyond, 3, &row, 1));
  assert_ok(kw_op_call(kw_op_find("mm"), stream, args, 2, &out, 1));
  assert_int_not_equal(kw_stream_synchronize(stream), KW_OK);
  assert_int_equal(live(), before);
  assert_true(first_of(out) == 2 * K);
  assert_ok(kw_op_call(kw_op_find("mm"), stream, args, 2, &out, 1));
  assert_ok(kw_stream_synchronize(stream));
  assert_int_equal(live(), before + 1);
  assert_true(first_of(out) == 2 * K);
  assert_ok(kw_stream_destroy(stream));
  release_weight(w);
  kw_tensor_release(x);
  kw_tensor_release(out);
  kw_tensor_release(row);
  kw_tensor_release(index);
}

static kw_tensor *image(int64_t channels, int64_t height) {
  kw_tensor *tensor = NULL;
  assert_ok(kw_tensor_create(cpu, KW_F32, 4, (int64_t[]){1, channels, height, 16}, &tensor));
  fill(tensor, 1);
  return tensor;
}

/* A convolution's layout may follow the image's size. */
static void layouts_are_few(void **state) {
  (void)state;
  enum { CHANNELS = 16, SIZES = 30, MOST = 8 };
  static const int64_t ones[] = {1, 1}, zeros[] = {0, 0};
  kw_tensor *w = NULL;
  assert_ok(kw_tensor_create(cpu, KW_F32, 4, (int64_t[]){CHANNELS, CHANNELS, 3, 3}, &w));
  fill(w, 1);
  assert_ok(kw_tensor_set_constant(w, true));
  const uint64_t before = live();
  for (int64_t height = 3; height < 3 + SIZES; ++height) {
    kw_tensor *x = image(CHANNELS, height), *out = NULL;
    const kw_value args[] = {kw_arg_tensor(x),         kw_arg_tensor(w),          kw_arg_none(),
                             kw_arg_int_list(ones, 2), kw_arg_int_list(zeros, 2), kw_arg_int_list(ones, 2),
                             kw_arg_bool(false),       kw_arg_int_list(zeros, 2), kw_arg_int(1)};
    assert_ok(kw_op_call(kw_op_find("convolution"), NULL, args, 9, &out, 1));
    assert_true(first_of(out) == CHANNELS * 9);
    kw_tensor_release(x);
    kw_tensor_release(out);
  }
  assert_true(live() - before <= MOST);
  kw_tensor_release(w);
}

enum { WEIGHTS = 4, SIDE = 16, CALLS = 50000 };

/* One of threads that compute, each with a weight of its own. */
typedef struct caller {
  pthread_t thread;
  kw_stream *stream; /* in whose memory the weight lies at the beginning, as all others do in theirs */
  weight weight;
  kw_tensor *x, *out;
  float value;
  int wrong; /* results */
} caller;

static void begin_caller(caller *c, float value) {
  *c = (caller){.value = value, .x = filled(ROWS, SIDE, 1), .out = filled(ROWS, SIDE, 0)};
  assert_ok(kw_stream_create(cpu, &c->stream));
  assert_ok(kw_tensor_create_on(c->stream, KW_F32, 2, (int64_t[]){SIDE, SIDE}, &c->weight.own));
  assert_ok(kw_tensor_transpose(c->weight.own, 0, 1, &c->weight.turned));
  fill(c->weight.own, value);
}

static void *call_often(void *user) {
  caller *c = user;
  float values[ROWS * SIDE];
  for (int i = 0; i < CALLS; ++i) {
    const bool done = multiply(c->x, c->weight, &c->out) == KW_OK && kw_tensor_read(c->out, values) == KW_OK;
    c->wrong += !done || values[0] != SIDE * c->value;
  }
  return NULL;
}

static void end_caller(caller *c) {
  assert_int_equal(c->wrong, 0);
  release_weight(c->weight);
  kw_tensor_release(c->x);
  kw_tensor_release(c->out);
  assert_ok(kw_stream_destroy(c->stream));
}

typedef struct marker {
  pthread_t thread;
  const caller *callers;
  atomic_bool *over;
  unsigned seed;
} marker;

static void *mark_often(void *user) {
  marker *m = user;
  for (unsigned i = 0; !atomic_load(m->over); ++i) {
    kw_tensor *weight = m->callers[i % WEIGHTS].weight.own;
    if (kw_tensor_set_constant(weight, true) != KW_OK) abort();
    for (volatile int wait = rand_r(&m->seed) % 2000; wait > 0; --wait) continue;
    if (kw_tensor_set_constant(weight, false) != KW_OK) abort();
  }
  return NULL;
}

/* While threads compute with tensors, others say that these are constant, and that they are not. */
static void a_spell_ends_at_any_time(void **state) {
  (void)state;
  const uint64_t before = live();
  atomic_bool over = false;
  caller callers[WEIGHTS];
  marker markers[2];
  for (int i = 0; i < WEIGHTS; ++i) begin_caller(&callers[i], (float)(i + 1));
  for (int i = 0; i < WEIGHTS; ++i) pthread_create(&callers[i].thread, NULL, call_often, &callers[i]);
  for (int i = 0; i < 2; ++i) {
    markers[i] = (marker){.callers = callers, .over = &over, .seed = (unsigned)i + 1};
    pthread_create(&markers[i].thread, NULL, mark_often, &markers[i]);
  }
  for (int i = 0; i < WEIGHTS; ++i) pthread_join(callers[i].thread, NULL);
  atomic_store(&over, true);
  for (int i = 0; i < 2; ++i) pthread_join(markers[i].thread, NULL);
  for (int i = 0; i < WEIGHTS; ++i) end_caller(&callers[i]);
  assert_int_equal(live(), before); /* no form is left */
}

int main(void) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  if (kw_init(&options) != KW_OK || kw_plugin_load(CPU_PLUGIN) != KW_OK || kw_device_open("cpu", &cpu) != KW_OK) {
    fprintf(stderr, "%s\n", kw_error_message());
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_form_serves_all_shapes), cmocka_unit_test(a_write_ends_it),
      cmocka_unit_test(plans_look_again),           cmocka_unit_test(graphs_keep_to_the_memory),
      cmocka_unit_test(memory_starts_anew),         cmocka_unit_test(an_error_leaves_no_form),
      cmocka_unit_test(a_spell_ends_at_any_time),   cmocka_unit_test(layouts_are_few),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return failed + (kw_device_close(cpu) != KW_OK);
}
