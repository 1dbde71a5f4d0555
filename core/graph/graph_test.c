/* SPDX-License-Identifier: Apache-2.0
 *
 * Most tests run twice: on a device whose graphs core replays, and on one whose plugin records them.
 */
#include "testing/test_calls.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static kw_dispatch_fixture *replayed, *native, *fixture; /* fixture: the one in use */
static kw_stream *stream;
static const kw_op *add, *noise, *pick;

static int load(void **state) {
  (void)state;
  replayed = test_fixture_start(DISPATCH_FIXTURE);
  native = test_fixture_load(DISPATCH_NATIVE);
  if (kw_plugin_load(CPU_PLUGIN) != KW_OK) return -1;
  add = kw_op_find("add.Tensor");
  noise = kw_op_find("fixture::noise_");
  pick = kw_op_find("fixture::pick");
  return replayed && native && add && noise && pick ? 0 : -1;
}

static int open_named(const char *name, kw_dispatch_fixture *plugin) {
  fixture = plugin;
  memset(fixture, 0, sizeof *fixture);
  if (kw_device_open(name, &device) != KW_OK) return -1;
  stream = kw_stream_default(device);
  return 0;
}

static int open_replayed(void **state) {
  (void)state;
  return open_named("fixture:0", replayed);
}

static int open_native(void **state) {
  (void)state;
  return open_named("native:0", native);
}

static int open_cpu(void **state) {
  (void)state;
  return open_named("cpu:0", replayed);
}

static int close_device(void **state) {
  (void)state;
  if (fixture->graphs != 0) return -1;
  return kw_device_close(device) == KW_OK ? 0 : -1;
}

#define assert_ok(call) assert_int_equal(call, KW_OK)
#define assert_error(text) assert_non_null(strstr(kw_error_message(), text))

static kw_graph_info info_of(const kw_graph *graph) {
  kw_graph_info info = {.struct_size = sizeof info};
  assert_ok(kw_graph_get_info(graph, &info));
  return info;
}

static uint64_t launches(void) {
  kw_counters now = {.struct_size = sizeof now};
  assert_ok(kw_device_get_counters(device, &now));
  return now.launches;
}

static uint64_t held(void) {
  kw_memory_stats stats = {.struct_size = sizeof stats};
  assert_ok(kw_memory_trim(device));
  assert_ok(kw_memory_get_stats(device, &stats));
  return stats.held;
}

/* 3 x + y, in two calls, the first of which has a temporary result. */
static kw_graph *record_three_x(kw_tensor *x, kw_tensor *y, kw_tensor **out) {
  kw_graph *graph;
  kw_tensor *twice = NULL;
  const kw_value args[] = {kw_arg_tensor(y), kw_arg_tensor(x), kw_arg_scalar_i64(2)};
  assert_ok(kw_graph_begin(stream));
  assert_ok(kw_op_call(add, NULL, args, 3, &twice, 1));
  assert_ok(call(add, twice, x, out));
  kw_tensor_release(twice);
  assert_ok(kw_graph_end(stream, &graph));
  return graph;
}

/* ---- What a graph does ------------------------------------------------------------------------------------------- */

static void runs_at_each_launch_what_was_recorded(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *y = floats(2, (float[]){10, 20}), *out = NULL;
  assert_ok(call(add, x, y, &out)); /* the ready-made call of the thread must not slip past the recording */
  kw_tensor_release(out);
  out = NULL;
  const uint32_t before = fixture->launches;
  kw_graph *graph = record_three_x(x, y, &out);
  assert_int_equal(fixture->launches, before);
  assert_int_equal(info_of(graph).nodes, 2);
  assert_int_equal(info_of(graph).native, fixture == native);
  assert_int_equal(fixture->captured, fixture == native ? 2 : 0);
  const uint64_t counted = launches();
  assert_ok(kw_graph_launch(graph, NULL));
  assert_floats(out, (float[]){13, 26}, 2);
  assert_ok(kw_tensor_write(x, (float[]){-1, 0.5f}));
  assert_ok(kw_graph_launch(graph, stream));
  assert_floats(out, (float[]){7, 21.5f}, 2);
  assert_int_equal(fixture->launches, before + 4);
  assert_int_equal(launches(), counted + 4);
  assert_int_equal(fixture->graph_launches, fixture == native ? 2 : 0);
  kw_tensor *sum = NULL;
  assert_ok(call(add, out, x, &sum)); /* and eager work goes on */
  assert_floats(sum, (float[]){6, 22}, 2);
  assert_ok(kw_graph_destroy(graph));
  kw_tensor_release(x), kw_tensor_release(y), kw_tensor_release(out), kw_tensor_release(sum);
}

/* Both ways round: who lives longer. */
static void keeps_what_it_uses_and_leaves_its_results(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *y = floats(2, (float[]){10, 20}), *out = NULL, *unread = NULL;
  kw_graph *graph = record_three_x(x, y, &out), *other = record_three_x(x, y, &unread);
  kw_tensor_release(x), kw_tensor_release(y), kw_tensor_release(unread);
  kw_tensor *elsewhere = floats(2, (float[]){7, 7}); /* would come to where x was */
  assert_ok(kw_graph_launch(other, NULL));
  assert_ok(kw_graph_launch(graph, NULL));
  assert_ok(kw_graph_destroy(graph));
  assert_ok(kw_graph_destroy(other));
  assert_floats(elsewhere, (float[]){7, 7}, 2);
  assert_floats(out, (float[]){13, 26}, 2);
  assert_ok(call(add, out, out, &elsewhere));
  assert_floats(elsewhere, (float[]){26, 52}, 2);
  kw_tensor_release(out), kw_tensor_release(elsewhere);
}

#define LARGE (3u << 18) /* floats: 3 MiB */

/* Temporaries share memory, and no other tensor gets it while the graph lives. */
static void has_memory_of_its_own(void **state) {
  (void)state;
  const uint64_t mib = UINT64_C(1) << 20;
  kw_tensor *x = floats(LARGE, NULL), *sum = NULL;
  const uint64_t before = held();
  kw_graph *graph;
  assert_ok(kw_graph_begin(stream));
  assert_ok(call(add, x, x, &sum));
  for (int i = 0; i < 6; ++i) {
    kw_tensor *next = NULL;
    assert_ok(call(add, sum, x, &next));
    kw_tensor_release(sum);
    sum = next;
  }
  kw_tensor_release(sum);
  assert_ok(kw_graph_end(stream, &graph));
  assert_int_equal(info_of(graph).nodes, 7);
  assert_int_equal(info_of(graph).pool_bytes, 8 * mib); /* two at a time, each in a segment of 4 MiB */
  assert_int_equal(held(), before + 8 * mib);
  kw_tensor *eager = floats(LARGE, NULL);
  assert_int_equal(held(), before + 12 * mib);
  assert_ok(kw_graph_launch(graph, NULL));
  kw_tensor_release(eager);
  assert_ok(kw_graph_destroy(graph));
  assert_int_equal(held(), before);
  kw_tensor_release(x);
}

static void records_casts_decompositions_fills_and_plans(void **state) {
  (void)state;
  kw_tensor *x = floats(4, (float[]){1, 2, 3, 4}), *y = floats(4, (float[]){0.5f, 1, 1, 1}), *odd;
  kw_tensor *whole, *cast = NULL, *less = NULL, *sum = NULL;
  assert_ok(kw_tensor_create(device, KW_I32, 1, (int64_t[]){1}, &whole));
  assert_ok(kw_tensor_write(whole, &(int32_t){100}));
  assert_ok(kw_tensor_slice(x, 0, 1, 4, 2, &odd));
  const kw_value dense[] = {kw_arg_tensor(y), kw_arg_scalar_f64(0.25)},
                 spread[] = {kw_arg_tensor(odd), kw_arg_scalar_i64(-2)};
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(y)};
  const kw_op *fill = kw_op_find("fill_.Scalar");
  fixture->fast_refuses = true;
  fixture->workspace = 1000;
  kw_plan *plan;
  assert_ok(kw_plan_make(add, NULL, args, 2, &sum, 1, "plain", &plan));
  const uint32_t before = fixture->launches;
  kw_graph *graph;
  assert_ok(kw_graph_begin(stream));
  assert_ok(call(kw_op_find("sub.Tensor"), x, y, &less)); /* by add */
  assert_ok(kw_op_call(fill, NULL, dense, 2, NULL, 0));
  assert_ok(kw_op_call(fill, NULL, spread, 2, NULL, 0)); /* a fill and a copy */
  assert_ok(call(add, x, whole, &cast));                 /* a copy and an add */
  assert_ok(kw_plan_run(plan, NULL, args, 2, &sum, 1));
  assert_ok(kw_graph_end(stream, &graph));
  kw_plan_destroy(plan);
  assert_int_equal(fixture->releases, 0);
  assert_int_equal(fixture->launches, before);
  assert_int_equal(info_of(graph).nodes, 7);
  assert_int_equal(fixture->captured, fixture == native ? 7 : 0);
  for (int i = 0; i < 2; ++i) {
    assert_ok(kw_tensor_write(x, (float[]){1, 2, 3, 4}));
    assert_ok(kw_tensor_write(y, (float[]){0.5f, 1, 1, 1}));
    assert_ok(kw_graph_launch(graph, NULL));
    assert_floats(less, (float[]){0.5f, 1, 2, 3}, 4);
    assert_floats(y, (float[]){0.25f, 0.25f, 0.25f, 0.25f}, 4);
    assert_floats(x, (float[]){1, -2, 3, -2}, 4);
    assert_floats(cast, (float[]){101, 98, 103, 98}, 4);
    assert_floats(sum, (float[]){1.25f, -1.75f, 3.25f, -1.75f}, 4);
  }
  assert_ok(kw_graph_destroy(graph));
  assert_true(fixture->releases >= 1); /* that of the plan */
  kw_tensor_release(x), kw_tensor_release(y), kw_tensor_release(odd), kw_tensor_release(whole);
  kw_tensor_release(cast), kw_tensor_release(less), kw_tensor_release(sum);
}

/* ---- Numbers, errors in the data --------------------------------------------------------------------------------- */

static kw_status draw(kw_tensor *tensor, kw_generator *generator) {
  const kw_value args[] = {kw_arg_tensor(tensor), kw_arg_generator(generator)};
  return kw_op_call(noise, NULL, args, 2, NULL, 0);
}

static uint64_t offset_of(const kw_generator *generator) {
  kw_generator_state state = {.struct_size = sizeof state};
  assert_ok(kw_generator_get_state(generator, &state));
  return state.offset;
}

/* As eager calls in the order of the launches would draw. */
static void draws_new_numbers_at_each_launch(void **state) {
  (void)state;
  kw_generator *mine;
  kw_tensor *a = floats(8, NULL), *b = floats(4, NULL), *c = floats(4, NULL);
  assert_ok(kw_generator_create(device, 2, &mine));
  kw_generator_seed(kw_generator_default(device), 1);
  kw_graph *graph;
  assert_ok(kw_graph_begin(stream));
  assert_ok(draw(a, mine));
  assert_ok(draw(b, mine));
  assert_ok(draw(c, NULL));
  assert_ok(kw_graph_end(stream, &graph));
  assert_int_equal(info_of(graph).native, fixture == native);
  assert_int_equal(offset_of(mine), 0); /* recording draws nothing */
  for (int i = 0; i < 3; ++i) {
    assert_ok(kw_graph_launch(graph, NULL));
    assert_floats(a, (float[]){2000 + 16.0f * (float)i}, 1);
    assert_floats(b, (float[]){2008 + 16.0f * (float)i}, 1);
    assert_floats(c, (float[]){1000 + 4.0f * (float)i}, 1);
    assert_ok(draw(b, mine)); /* eager, from the same generator */
    assert_floats(b, (float[]){2012 + 16.0f * (float)i}, 1);
  }
  assert_ok(kw_generator_seed(mine, 5));
  kw_generator_destroy(mine); /* the graph has it still */
  assert_ok(kw_graph_launch(graph, NULL));
  assert_floats(b, (float[]){5008}, 1);
  assert_ok(kw_graph_destroy(graph));
  kw_tensor_release(a), kw_tensor_release(b), kw_tensor_release(c);
}

/* A launch writes what is drawn from before its calls run: none of them may have its temporary result there. */
static void draws_from_what_no_call_before_has_written(void **state) {
  (void)state;
  kw_tensor *x = floats(4, (float[]){1, 2, 3, 4}), *b = floats(4, NULL), *temporary = NULL;
  kw_generator_seed(kw_generator_default(device), 1);
  kw_graph *graph;
  assert_ok(kw_graph_begin(stream));
  assert_ok(call(add, x, x, &temporary));
  kw_tensor_release(temporary);
  assert_ok(draw(b, NULL));
  assert_ok(kw_graph_end(stream, &graph));
  assert_ok(kw_graph_launch(graph, NULL));
  assert_floats(b, (float[]){1000}, 1);
  assert_ok(kw_graph_destroy(graph));
  kw_tensor_release(x), kw_tensor_release(b);
}

static void tells_of_errors_in_the_data_after_a_launch(void **state) {
  (void)state;
  kw_tensor *x = floats(3, (float[]){5, 6, 7}), *index = floats(2, (float[]){0, 3}), *out = NULL;
  kw_stream *other;
  kw_graph *graph;
  assert_ok(kw_stream_create(device, &other));
  assert_ok(kw_graph_begin(stream));
  assert_ok(call(pick, x, index, &out));
  assert_ok(kw_graph_end(stream, &graph));
  assert_ok(kw_stream_synchronize(stream));
  kw_stream *const streams[] = {stream, other, stream};
  for (int i = 0; i < 3; ++i) {
    assert_ok(kw_graph_launch(graph, streams[i]));
    assert_ok(kw_graph_launch(graph, streams[i]));
    assert_int_equal(kw_stream_synchronize(streams[i]), KW_ERR_INVALID_ARGUMENT);
    assert_error("fixture::pick: argument 'index': an index is out of range");
    assert_ok(kw_device_synchronize(device));
  }
  assert_ok(kw_tensor_write(index, (float[]){2, 1}));
  assert_ok(kw_graph_launch(graph, other));
  assert_ok(kw_stream_synchronize(other));
  assert_floats(out, (float[]){7, 6}, 2);
  assert_ok(kw_tensor_write(index, (float[]){2, 9}));
  assert_ok(kw_graph_launch(graph, other));
  assert_ok(kw_graph_destroy(graph)); /* what it found stays with the stream */
  assert_int_equal(kw_stream_synchronize(other), KW_ERR_INVALID_ARGUMENT);
  assert_ok(kw_stream_destroy(other));
  kw_tensor_release(x), kw_tensor_release(index), kw_tensor_release(out);
}

/* Each of two launches finds one. */
static void tells_each_stream_its_own_errors(void **state) {
  (void)state;
  kw_tensor *x = floats(3, (float[]){5, 6, 7}), *index, *out = NULL;
  assert_ok(kw_tensor_create(device, KW_I64, 1, (int64_t[]){2}, &index));
  assert_ok(kw_tensor_write(index, (int64_t[]){0, 3}));
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_int(0), kw_arg_tensor(index)};
  kw_stream *other;
  kw_graph *graph;
  assert_ok(kw_stream_create(device, &other));
  assert_ok(kw_graph_begin(stream));
  assert_ok(kw_op_call(kw_op_find("index_select"), stream, args, 3, &out, 1));
  assert_ok(kw_graph_end(stream, &graph));
  assert_ok(kw_graph_launch(graph, other));
  assert_ok(kw_graph_launch(graph, stream));
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_stream_synchronize(other), KW_ERR_INVALID_ARGUMENT);
  assert_ok(kw_graph_destroy(graph));
  assert_ok(kw_stream_destroy(other));
  kw_tensor_release(x), kw_tensor_release(index), kw_tensor_release(out);
}

/* ---- What has no place in a graph -------------------------------------------------------------------------------- */

static void do_nothing(void *unused) {
  (void)unused;
}

static void assert_busy(kw_status status, const char *function) {
  assert_int_equal(status, KW_ERR_BUSY);
  assert_error(function);
}

static void refuses_what_would_wait(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *result = NULL, *copy;
  kw_event *event;
  kw_graph *graph, *second;
  kw_stream *side;
  float host[2];
  char text[64];
  assert_ok(kw_event_create(device, &event));
  assert_ok(kw_stream_create(device, &side));
  assert_ok(kw_graph_begin(stream));
  assert_ok(kw_graph_end(stream, &graph));
  assert_int_equal(info_of(graph).nodes, 0);
  assert_ok(kw_graph_launch(graph, NULL));

  assert_ok(kw_graph_begin(stream));
  assert_busy(kw_graph_begin(stream), "kw_graph_begin");
  assert_busy(kw_graph_launch(graph, stream), "kw_graph_launch");
  assert_busy(kw_stream_synchronize(stream), "kw_stream_synchronize");
  assert_error("records a graph");
  assert_ok(kw_device_synchronize(device)); /* what is recorded has not been enqueued */
  assert_busy(kw_stream_query(stream), "kw_stream_query");
  assert_busy(kw_stream_call_host(stream, do_nothing, NULL), "kw_stream_call_host");
  assert_busy(kw_event_record(event, stream), "kw_event_record");
  assert_busy(kw_stream_wait_event(stream, event), "kw_stream_wait_event");
  assert_busy(kw_tensor_read(x, host), "kw_tensor_read");
  assert_busy(kw_tensor_write(x, host), "kw_tensor_write");
  assert_busy(kw_tensor_read_async(x, host, stream), "kw_tensor_read_async");
  assert_busy(kw_tensor_write_async(x, host, NULL), "kw_tensor_write_async");
  assert_busy(kw_tensor_to(x, device, &copy), "kw_tensor_to");
  assert_busy(kw_tensor_format(x, text, sizeof text), "kw_tensor_read");
  kw_fallback_set(KW_FALLBACK_ALLOW);
  const kw_value args[] = {kw_arg_tensor(x)};
  assert_busy(kw_op_call(kw_op_find("relu"), NULL, args, 1, &result, 1), "falling back to cpu:0");
  kw_fallback_set(KW_FALLBACK_OFF);
  assert_null(result);
  assert_ok(kw_graph_end(stream, &second));
  assert_int_equal(info_of(second).nodes, 0);

  assert_ok(kw_graph_begin(side)); /* the default stream goes on */
  assert_busy(kw_stream_destroy(side), "kw_stream_destroy");
  assert_ok(call_on(side, add, x, x, &result));
  assert_busy(kw_tensor_read(result, host), "it has contents once the graph has been launched");
  assert_floats(x, (float[]){1, 2}, 2);
  assert_ok(kw_graph_launch(graph, NULL));
  assert_ok(kw_stream_synchronize(stream));
  assert_ok(kw_graph_end(side, NULL)); /* thrown away */
  assert_int_equal(fixture->launches, 0);
  assert_int_equal(kw_graph_end(side, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_error("does not record");
  assert_int_equal(kw_graph_begin(NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_graph_launch(NULL, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_ok(kw_graph_destroy(NULL));
  assert_ok(kw_stream_destroy(side));
  assert_ok(kw_event_destroy(event));
  assert_ok(kw_graph_destroy(graph));
  assert_ok(kw_graph_destroy(second));
  kw_tensor_release(x), kw_tensor_release(result);
}

static void stays_with_the_parent_of_a_fork(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *out = NULL;
  kw_graph *graph;
  assert_ok(kw_graph_begin(stream));
  assert_ok(call(add, x, x, &out));
  pid_t child = fork();
  if (child == 0) _exit(kw_graph_end(stream, &graph) == KW_ERR_UNSUPPORTED ? 0 : 1);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_ok(kw_graph_end(stream, &graph));
  assert_ok(kw_graph_launch(graph, NULL));
  assert_floats(out, (float[]){2, 4}, 2);
  assert_ok(kw_graph_destroy(graph));
  kw_tensor_release(x), kw_tensor_release(out);
}

static void *use_from_elsewhere(void *tensor) {
  kw_tensor *x = tensor, *out = NULL;
  if (call(add, x, x, &out) != KW_ERR_BUSY) return "kw_op_call";
  if (!strstr(kw_error_message(), "add.Tensor: another thread records a graph")) return "text";
  if (kw_graph_end(stream, NULL) != KW_ERR_BUSY) return "kw_graph_end";
  if (kw_stream_synchronize(stream) != KW_ERR_BUSY) return "kw_stream_synchronize";
  if (kw_tensor_create(device, KW_F32, 1, (int64_t[]){2}, &out) != KW_OK) return "kw_tensor_create";
  kw_tensor_release(out);
  return NULL;
}

static void is_recorded_by_one_thread(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *out = NULL;
  assert_ok(call(add, x, x, &out));
  kw_graph *graph;
  pthread_t thread;
  void *failure;
  assert_ok(kw_graph_begin(stream));
  assert_int_equal(pthread_create(&thread, NULL, use_from_elsewhere, x), 0);
  pthread_join(thread, &failure);
  assert_null(failure);
  assert_ok(call(add, x, x, &out));
  assert_ok(kw_graph_end(stream, &graph));
  assert_int_equal(info_of(graph).nodes, 1);
  assert_ok(kw_graph_destroy(graph));
  kw_tensor_release(x), kw_tensor_release(out);
}

static void *record_and_end(void *side) {
  kw_tensor *x = floats(2, (float[]){1, 2}), *more = NULL, *index = NULL, *picked = NULL;
  kw_graph *kept;
  if (kw_tensor_create(device, KW_F32, 1, (int64_t[]){1}, &index) != KW_OK) return "index";
  if (kw_tensor_write(index, (float[]){1}) != KW_OK) return "write";
  if (kw_graph_begin(stream) != KW_OK || kw_graph_begin(side) != KW_OK) return "kw_graph_begin";
  if (kw_graph_end(stream, &kept) != KW_OK || kw_graph_destroy(kept) != KW_OK) return "one that it ends";
  if (kw_graph_begin(stream) != KW_OK) return "kw_graph_begin, again";
  if (call(add, x, x, &more) != KW_OK) return "add";
  if (call_on(side, pick, x, index, &picked) != KW_OK) return "pick"; /* a word in the graph */
  kw_tensor_release(x), kw_tensor_release(more), kw_tensor_release(index), kw_tensor_release(picked);
  return NULL;
}

/* Nobody else could end what a thread recorded, and a later thread must not be taken for it. */
static void is_thrown_away_with_its_thread(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *out = NULL;
  kw_stream *side;
  assert_ok(kw_stream_create(device, &side));
  const uint64_t before = held();
  for (int i = 0; i < 3; ++i) {
    pthread_t thread;
    void *failure;
    assert_int_equal(pthread_create(&thread, NULL, record_and_end, side), 0);
    pthread_join(thread, &failure);
    assert_null(failure);
    assert_int_equal(held(), before);
    assert_ok(kw_stream_synchronize(side));
    assert_ok(call(add, x, x, &out));
    assert_floats(out, (float[]){2, 4}, 2);
  }
  assert_int_equal(fixture->launches, 3);
  assert_ok(kw_stream_destroy(side));
  kw_tensor_release(x), kw_tensor_release(out);
}

/* A call that fails leaves nothing behind, not even the cast that came before. */
static void goes_on_after_a_call_that_fails(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *longer = floats(3, NULL), *whole, *out = NULL, *none = NULL;
  assert_ok(kw_tensor_create(device, KW_I32, 1, (int64_t[]){2}, &whole));
  fixture->fast_refuses = true;
  fixture->workspace = UINT64_C(1) << 60;
  kw_graph *graph;
  assert_ok(kw_graph_begin(stream));
  assert_int_equal(call(add, x, longer, &none), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(call(add, x, whole, &none), KW_ERR_OUT_OF_MEMORY);
  assert_null(none);
  fixture->fast_refuses = false;
  kw_tensor *column;
  assert_ok(kw_tensor_unsqueeze(x, 0, &column));
  assert_ok(call(add, column, column, &out));
  assert_ok(kw_graph_end(stream, &graph));
  assert_int_equal(info_of(graph).nodes, 1);
  assert_ok(kw_graph_launch(graph, NULL));
  assert_floats(out, (float[]){2, 4}, 2);
  assert_ok(kw_graph_destroy(graph));
  kw_tensor_release(x), kw_tensor_release(longer), kw_tensor_release(whole), kw_tensor_release(out);
  kw_tensor_release(column);
}

static void try_to_destroy(void *graph) {
  assert_busy(kw_graph_destroy(graph), "kw_graph_destroy");
  assert_ok(kw_graph_launch(graph, NULL));
}

static void is_not_destroyed_in_a_host_function(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *y = floats(2, (float[]){10, 20}), *out = NULL;
  kw_graph *graph = record_three_x(x, y, &out);
  assert_ok(kw_stream_call_host(stream, try_to_destroy, graph));
  assert_floats(out, (float[]){13, 26}, 2);
  assert_ok(kw_graph_destroy(graph));
  kw_tensor_release(x), kw_tensor_release(y), kw_tensor_release(out);
}

static void says_which_node_failed(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *y = floats(2, (float[]){10, 20}), *out = NULL;
  kw_graph *graph = record_three_x(x, y, &out);
  fixture->launch_status = fixture->graph_status = KW_ERR_INTERNAL;
  assert_int_equal(kw_graph_launch(graph, NULL), KW_ERR_INTERNAL);
  assert_error(fixture == native ? "graph.launch" : "node 0 of 2");
  if (fixture != native) {
    assert_error("add.Tensor, kernel 'plain'");
    assert_error("the knob says so");
    fixture->launch_status = KW_ERR_FALLBACK;
    assert_int_equal(kw_graph_launch(graph, NULL), KW_ERR_NOT_IMPLEMENTED);
    assert_error("call the op outside of it");
  }
  fixture->launch_status = fixture->graph_status = KW_OK;
  assert_ok(kw_graph_launch(graph, NULL));
  assert_floats(out, (float[]){13, 26}, 2);
  fixture->launch_status = fixture->graph_status = KW_ERR_DEVICE_LOST;
  assert_int_equal(kw_graph_launch(graph, NULL), KW_ERR_DEVICE_LOST);
  assert_int_equal(kw_graph_launch(graph, NULL), KW_ERR_DEVICE_LOST);
  assert_ok(kw_graph_destroy(graph));
  kw_tensor_release(x), kw_tensor_release(y), kw_tensor_release(out);
}

static void names_the_op_of_a_late_error(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *y = floats(2, (float[]){10, 20}), *out = NULL;
  kw_graph *graph = record_three_x(x, y, &out);
  fixture->late_status = KW_ERR_TIMEOUT;
  assert_ok(kw_graph_launch(graph, NULL));
  fixture->late_status = KW_OK;
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_TIMEOUT);
  assert_error("add.Tensor failed on");
  assert_error("it is late");
  assert_ok(kw_graph_launch(graph, NULL));
  assert_floats(out, (float[]){13, 26}, 2);
  assert_ok(kw_graph_destroy(graph));
  kw_tensor_release(x), kw_tensor_release(y), kw_tensor_release(out);
}

/* ---- Native or not ----------------------------------------------------------------------------------------------- */

static void is_replayed_when_the_plugin_does_not_record_it(void **state) {
  (void)state;
  kw_status *const knobs[] = {&fixture->begin_status, &fixture->end_status, &fixture->capture_status};
  kw_tensor *x = floats(2, (float[]){1, 2}), *y = floats(2, (float[]){10, 20});
  for (int i = 0; i < 3; ++i) {
    kw_tensor *out = NULL;
    *knobs[i] = KW_ERR_UNSUPPORTED;
    kw_graph *graph = record_three_x(x, y, &out);
    *knobs[i] = KW_OK;
    assert_false(info_of(graph).native);
    assert_ok(kw_graph_launch(graph, NULL));
    assert_floats(out, (float[]){13, 26}, 2);
    assert_int_equal(fixture->graph_launches, 0);
    assert_ok(kw_graph_destroy(graph));
    kw_tensor_release(out);
  }
  kw_tensor_release(x), kw_tensor_release(y);
}

static void is_replayed_with_a_kernel_that_the_plugin_may_not_record(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){1, 2}), *out = NULL, *more = NULL;
  kw_graph *graph;
  assert_ok(kw_graph_begin(stream));
  assert_ok(call(add, x, x, &out));
  assert_ok(call(kw_op_find("fixture::jitter"), x, out, &more));
  assert_ok(kw_graph_end(stream, &graph));
  assert_false(info_of(graph).native);
  assert_int_equal(fixture->captured, 0);
  assert_ok(kw_graph_launch(graph, NULL));
  assert_ok(kw_graph_launch(graph, NULL));
  assert_floats(more, (float[]){6, 9}, 2);
  assert_ok(kw_graph_destroy(graph));
  kw_tensor_release(x), kw_tensor_release(out), kw_tensor_release(more);
}

#define DRAWS 10

static void draw_uniform(kw_stream *own, kw_generator *generator, kw_tensor **out) {
  static const int64_t size[] = {DRAWS};
  const kw_value args[] = {kw_arg_int_list(size, 1), kw_arg_none(), kw_arg_generator(generator)};
  assert_ok(kw_op_call(kw_op_find("rand"), own, args, 3, out, 1));
}

/* rand is made of uniform_, which gets the generator; two calls a launch. */
static void draws_what_eager_calls_would(void **state) {
  (void)state;
  kw_stream *own;
  kw_generator *generator;
  kw_tensor *eager[4] = {NULL}, *recorded[2] = {NULL};
  kw_graph *graph;
  assert_ok(kw_stream_create(device, &own));
  assert_ok(kw_generator_create(device, 3, &generator));
  for (int i = 0; i < 4; ++i) draw_uniform(own, generator, &eager[i]);
  assert_int_equal(offset_of(generator), 4 * 3);
  assert_ok(kw_generator_seed(generator, 3));
  assert_ok(kw_graph_begin(own));
  for (int i = 0; i < 2; ++i) draw_uniform(own, generator, &recorded[i]);
  assert_ok(kw_graph_end(own, &graph));
  assert_int_equal(info_of(graph).nodes, 2);
  for (int launch = 0; launch < 2; ++launch) {
    assert_ok(kw_graph_launch(graph, own));
    assert_ok(kw_stream_synchronize(own));
    for (int i = 0; i < 2; ++i) {
      float expected[DRAWS];
      assert_ok(kw_tensor_read(eager[2 * launch + i], expected));
      assert_floats(recorded[i], expected, DRAWS);
      assert_true(expected[0] != expected[1]);
    }
  }
  assert_ok(kw_graph_destroy(graph));
  for (int i = 0; i < 4; ++i) kw_tensor_release(eager[i]);
  for (int i = 0; i < 2; ++i) kw_tensor_release(recorded[i]);
  kw_generator_destroy(generator);
  assert_ok(kw_stream_destroy(own));
}

#define ON_BOTH(function)                                                   \
  {#function " (replayed)", function, open_replayed, close_device, NULL}, { \
#function " (native)", function, open_native, close_device, NULL        \
  }

int main(void) {
  const struct CMUnitTest tests[] = {
      ON_BOTH(runs_at_each_launch_what_was_recorded),
      ON_BOTH(keeps_what_it_uses_and_leaves_its_results),
      ON_BOTH(has_memory_of_its_own),
      ON_BOTH(records_casts_decompositions_fills_and_plans),
      ON_BOTH(draws_new_numbers_at_each_launch),
      ON_BOTH(draws_from_what_no_call_before_has_written),
      ON_BOTH(tells_of_errors_in_the_data_after_a_launch),
      ON_BOTH(refuses_what_would_wait),
      ON_BOTH(stays_with_the_parent_of_a_fork),
      ON_BOTH(is_recorded_by_one_thread),
      ON_BOTH(is_thrown_away_with_its_thread),
      ON_BOTH(goes_on_after_a_call_that_fails),
      ON_BOTH(is_not_destroyed_in_a_host_function),
      ON_BOTH(says_which_node_failed),
      ON_BOTH(names_the_op_of_a_late_error),
      cmocka_unit_test_setup_teardown(is_replayed_when_the_plugin_does_not_record_it, open_native, close_device),
      cmocka_unit_test_setup_teardown(is_replayed_with_a_kernel_that_the_plugin_may_not_record, open_native,
                                      close_device),
      cmocka_unit_test_setup_teardown(draws_what_eager_calls_would, open_cpu, close_device),
      cmocka_unit_test_setup_teardown(tells_each_stream_its_own_errors, open_cpu, close_device),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
