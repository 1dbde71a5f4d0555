/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: element-wise calls that follow each other are one launch, whose results have the bits of the calls one by
 * one; what may not be joined is not.
 */
#include "test_host.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CHECK(call) assert_int_equal(call, KW_OK)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { ROWS = 37, COLS = 53, ELEMENTS = ROWS * COLS, TENSORS = 5, CALLS = 16, ARGS = 4 };

/* The plugin's launches come here first. */
static int launches;

__attribute__((visibility("default"))) cl_int CL_API_CALL
clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint rank, const size_t *offset,
                       const size_t *global, const size_t *local, cl_uint count, const cl_event *waits, cl_event *out) {
  cl_int(CL_API_CALL * real)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *,
                             cl_uint, const cl_event *, cl_event *);
  *(void **)&real = dlsym(dlopen("libOpenCL.so.1", RTLD_NOW), "clEnqueueNDRangeKernel");
  ++launches;
  return real(queue, kernel, rank, offset, global, local, count, waits, out);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* A call of an op: tensors by their numbers, then a Scalar. */
typedef struct step {
  const char *op;
  int result, first, second; /* -1: there is none */
  double scalar;             /* 0: none */
} step;

/* Tensors 0 and 1 are given, 2 is a row that repeats, 3 and 4 are written. */
static const step program[] = {
    {"mul.Tensor", 3, 0, 1, 0},  {"add.Tensor", 4, 3, 2, 1},   {"relu", 3, 4, -1, 0},       {"mul.Tensor", 4, 3, 0, 0},
    {"add.Scalar", 3, 4, -1, 3}, {"sub.Tensor", 4, 3, 1, 0.5}, {"maximum", 3, 4, 2, 0},     {"abs", 4, 3, -1, 0},
    {"neg", 4, 4, -1, 0},        {"minimum", 3, 4, 0, 0},      {"mul.Scalar", 4, 3, -1, 2},
};

typedef struct work {
  kw_tensor_ref tensors[TENSORS];
  struct {
    const kw_kernel_desc *kernel;
    kw_call call;
    kw_value args[ARGS];
    const kw_tensor_ref *out;
  } calls[CALLS];
  size_t count;
} work;

static kw_value number(kw_dtype dtype, double value) {
  return (KW_DTYPES_FLOAT >> dtype & 1) ? test_float_scalar(value) : test_int_scalar((int64_t)(value + 0.5));
}

static void add_call(test_host *host, work *w, const step *s) {
  const size_t i = w->count++;
  uint32_t args = 0;
  kw_value *to = w->calls[i].args;
  to[args++] = test_tensor_arg(&w->tensors[s->first]);
  if (s->second >= 0) to[args++] = test_tensor_arg(&w->tensors[s->second]);
  if (s->second < 0 && s->scalar != 0) to[args++] = number(w->tensors[0].dtype, s->scalar);
  if (strncmp(s->op, "add", 3) == 0 || strncmp(s->op, "sub", 3) == 0)
    to[args++] = number(w->tensors[0].dtype, s->second >= 0 && s->scalar != 0 ? s->scalar : 1);
  if (strcmp(s->op, "clamp") == 0) to[args++] = (kw_value){.tag = KW_TAG_NONE};
  w->calls[i].out = &w->tensors[s->result];
  w->calls[i].kernel = test_kernel(host, s->op);
  w->calls[i].call = (kw_call){.struct_size = sizeof(kw_call),
                               .arg_count = args,
                               .out_count = 1,
                               .device = host->device,
                               .stream = host->stream,
                               .call_id = 100 + i,
                               .op = s->op,
                               .args = to,
                               .outs = &w->calls[i].out,
                               .user = w->calls[i].kernel->user};
  if (w->calls[i].kernel->prepare(&w->calls[i].call, (void **)(uintptr_t)&w->calls[i].call.prepared) != KW_OK)
    fail_msg("prepare: %s", host->error);
}

static void enqueue(work *w) {
  for (size_t i = 0; i < w->count; ++i) CHECK(w->calls[i].kernel->launch(&w->calls[i].call));
}

static void synchronize(test_host *host) {
  CHECK(host->stream_api->synchronize(host->device, host->stream, KW_WAIT_FOREVER));
}

/* Numbers, and the same ones each time. */
static work begin(test_host *host, kw_dtype dtype) {
  work w = {.count = 0};
  const bool is_float = KW_DTYPES_FLOAT >> dtype & 1;
  for (int t = 0; t < TENSORS; ++t) {
    const int64_t shape[] = {ROWS, COLS};
    unsigned char data[ELEMENTS * 4];
    for (size_t i = 0; i < sizeof data; ++i) data[i] = (unsigned char)(i * 2654435761u >> (8 + t));
    /* No NaN: the exponent is never all ones. */
    for (size_t i = 0; is_float && i < sizeof data; ++i)
      if (i % test_dtype_size(dtype) == test_dtype_size(dtype) - 1u) data[i] = (data[i] & 0x87) | 0x38;
    w.tensors[t] = test_tensor(host, dtype, 2, shape, data);
  }
  w.tensors[2].strides[0] = 0;
  return w;
}

static void end(test_host *host, work *w) {
  for (size_t i = 0; i < w->count; ++i)
    CHECK(w->calls[i].kernel->release(w->calls[i].kernel->user, (void *)(uintptr_t)w->calls[i].call.prepared));
  for (int t = 0; t < TENSORS; ++t) test_tensor_free(host, &w->tensors[t]);
}

static const void *group(const test_host *host, const char *name) {
  for (uint32_t i = 0; i < host->plugin_desc->group_count; ++i)
    if (strcmp(host->plugin_desc->groups[i].name, name) == 0) return host->plugin_desc->groups[i].table;
  fail_msg("no %s", name);
  return NULL;
}

static const kw_graph_api *graphs(const test_host *host) {
  return group(host, KW_GROUP_GRAPH);
}

static void *record(test_host *host, work *w) {
  void *graph = NULL;
  CHECK(graphs(host)->begin(host->device, host->stream, &(kw_capture_info){.struct_size = sizeof(kw_capture_info)}));
  enqueue(w);
  CHECK(graphs(host)->end(host->device, host->stream, &graph));
  return graph;
}

static void launch(test_host *host, void *graph) {
  launches = 0;
  CHECK(graphs(host)->launch(host->device, graph, host->stream,
                             &(kw_graph_launch_info){.struct_size = sizeof(kw_graph_launch_info)}));
  synchronize(host);
}

/* All bytes of a tensor of f32 at most, once the calls have run one by one, and once as a graph. */
static void compare(test_host *host, kw_dtype dtype, const step *steps, size_t count, int wanted_launches) {
  unsigned char want[TENSORS][ELEMENTS * 4], got[ELEMENTS * 4];
  const uint64_t size = (uint64_t)ELEMENTS * test_dtype_size(dtype);
  work w = begin(host, dtype);
  for (size_t i = 0; i < count; ++i) add_call(host, &w, &steps[i]);
  enqueue(&w);
  for (int t = 0; t < TENSORS; ++t) test_read(host, &w.tensors[t], want[t], size);
  end(host, &w);
  w = begin(host, dtype);
  for (size_t i = 0; i < count; ++i) add_call(host, &w, &steps[i]);
  launches = 0;
  void *graph = record(host, &w);
  assert_int_equal(launches, 0);
  launch(host, graph);
  assert_int_equal(launches, wanted_launches);
  for (int t = 0; t < TENSORS; ++t) {
    test_read(host, &w.tensors[t], got, size);
    assert_memory_equal(got, want[t], size);
  }
  CHECK(graphs(host)->destroy(host->device, graph));
  end(host, &w);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void test_a_chain_is_one_launch(void **state) {
  const kw_dtype dtypes[] = {KW_F32, KW_F16, KW_BF16, KW_I8, KW_I32};
  for (size_t d = 0; d < COUNT(dtypes); ++d) compare(*state, dtypes[d], program, COUNT(program), 1);
}

static void test_functions_in_a_chain(void **state) {
  static const step steps[] = {
      {"add.Tensor", 3, 0, 2, 1}, {"gelu", 4, 3, -1, 0}, {"mul.Tensor", 3, 4, 1, 0}, {"clamp", 3, 3, -1, 0.5}};
  compare(*state, KW_F32, steps, 4, 1);
  compare(*state, KW_F16, steps, 4, 1);
}

/* What is on one tensor that no other call has is a launch of its own. */
static void test_strangers_stay_apart(void **state) {
  static const step steps[] = {{"abs", 3, 0, -1, 0}, {"neg", 4, 1, -1, 0}};
  compare(*state, KW_F32, steps, 2, 2);
}

/* A call reads the row that one before it has written: an element that belongs to many. */
static void test_what_others_need_is_written_first(void **state) {
  test_host *host = *state;
  static const step steps[] = {{"add.Tensor", 3, 0, 1, 1}, {"mul.Tensor", 4, 3, 2, 0}};
  unsigned char want[ELEMENTS * 4], got[ELEMENTS * 4];
  for (int as_graph = 0; as_graph < 2; ++as_graph) {
    work w = begin(host, KW_F32);
    const kw_tensor_ref row = w.tensors[2];
    w.tensors[2] = w.tensors[3]; /* the first row of the result, again and again */
    w.tensors[2].strides[0] = 0;
    for (size_t i = 0; i < 2; ++i) add_call(host, &w, &steps[i]);
    void *graph = as_graph ? record(host, &w) : NULL;
    if (graph) {
      launch(host, graph);
      assert_int_equal(launches, 2);
      CHECK(graphs(host)->destroy(host->device, graph));
    } else {
      enqueue(&w);
    }
    test_read(host, &w.tensors[4], as_graph ? got : want, sizeof got);
    w.tensors[2] = row;
    end(host, &w);
  }
  assert_memory_equal(got, want, sizeof got);
}

/* The same where the row has another kw_mem than the result: both are imports of one place. */
static void test_what_was_imported_twice_is_one_place(void **state) {
  test_host *host = *state;
  static const step steps[] = {{"add.Tensor", 3, 0, 1, 1}, {"mul.Tensor", 4, 3, 2, 0}};
  enum { SIZE = ELEMENTS * 4, ALIGNMENT = 4096 };
  const kw_interop_api *interop = group(host, KW_GROUP_INTEROP);
  unsigned char want[SIZE], got[SIZE];
  void *place = aligned_alloc(ALIGNMENT, (SIZE + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  const kw_external_memory info = {.struct_size = sizeof info, .kind = KW_HANDLE_HOST, .size = SIZE, .host = place};
  for (int as_graph = 0; as_graph < 2; ++as_graph) {
    kw_mem imports[2] = {NULL, NULL};
    uint32_t alignment;
    memset(place, 0, SIZE);
    for (int i = 0; i < 2; ++i) {
      if (interop->import_memory(host->device, &info, &imports[i], &alignment) == KW_OK) continue;
      free(place); /* a device with memory of its own */
      skip();
    }
    work w = begin(host, KW_F32);
    const kw_tensor_ref own[] = {w.tensors[2], w.tensors[3]};
    w.tensors[2].mem = imports[0];
    w.tensors[3].mem = imports[1];
    for (size_t i = 0; i < 2; ++i) add_call(host, &w, &steps[i]);
    void *graph = as_graph ? record(host, &w) : NULL;
    if (graph) {
      launch(host, graph);
      assert_int_equal(launches, 2);
      CHECK(graphs(host)->destroy(host->device, graph));
    } else {
      enqueue(&w);
    }
    test_read(host, &w.tensors[4], as_graph ? got : want, SIZE);
    for (int i = 0; i < 2; ++i) CHECK(interop->release_memory(host->device, imports[i]));
    w.tensors[2] = own[0];
    w.tensors[3] = own[1];
    end(host, &w);
  }
  free(place);
  assert_memory_equal(got, want, SIZE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_chain_is_one_launch),
      cmocka_unit_test(test_functions_in_a_chain),
      cmocka_unit_test(test_strangers_stay_apart),
      cmocka_unit_test(test_what_others_need_is_written_first),
      cmocka_unit_test(test_what_was_imported_twice_is_one_place),
  };
  return cmocka_run_group_tests(tests, test_host_start, test_host_stop);
}
