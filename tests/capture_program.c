/* SPDX-License-Identifier: Apache-2.0
 *
 * An application for captures: one of each thing that the capture layer writes down, on the device that it is given.
 * What it reads it prints, so that two runs can be held against each other.
 */
#include <keyway/interop.h>
#include <keyway/keyway.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 4
#define COUNT (SIDE * SIDE)

static kw_device *device;
static const int64_t shape[2] = {SIDE, SIDE};

static void check(kw_status status, const char *what) {
  if (status == KW_OK) return;
  printf("%s: %s\n", what, kw_error_message());
  exit(1);
}
#define CHECK(call) check(call, #call)

static void print(const char *what, const float *numbers, size_t count) {
  printf("%s:", what);
  for (size_t i = 0; i < count; ++i) printf(" %a", (double)numbers[i]);
  printf("\n");
}

static void show(const char *what, const kw_tensor *tensor) {
  float numbers[64];
  CHECK(kw_tensor_read(tensor, numbers));
  print(what, numbers, (size_t)kw_tensor_describe(tensor)->numel);
}

static kw_tensor *make(float first) {
  kw_tensor *tensor;
  float numbers[COUNT];
  for (int i = 0; i < COUNT; ++i) numbers[i] = first + 0.37f * (float)i;
  CHECK(kw_tensor_create(device, KW_F32, 2, shape, &tensor));
  CHECK(kw_tensor_write(tensor, numbers));
  return tensor;
}

static kw_tensor *call(const char *op, kw_stream *stream, const kw_value *args, uint32_t count) {
  kw_tensor *result = NULL;
  CHECK(kw_op_call(kw_op_find(op), stream, args, count, &result, 1));
  return result;
}

/* Views, lists, results that are given, arguments that are changed, numbers, a result whose size only the data show. */
static void calls(kw_tensor *x, kw_tensor *y) {
  kw_tensor *turned, *part, *sum, *found;
  CHECK(kw_tensor_transpose(x, 0, 1, &turned));
  CHECK(kw_tensor_slice(y, 0, 1, 3, 1, &part));
  kw_tensor *product = call("mm", NULL, (kw_value[]){kw_arg_tensor(turned), kw_arg_tensor(y)}, 2);
  kw_tensor *list[] = {product, part};
  kw_tensor *joined = call("cat", NULL, (kw_value[]){kw_arg_tensor_list(list, 2), kw_arg_int(0)}, 2);
  show("cat", joined);
  CHECK(kw_tensor_create(device, KW_F32, 2, shape, &sum));
  CHECK(kw_op_call(kw_op_find("add.Tensor"), NULL,
                   (kw_value[]){kw_arg_tensor(x), kw_arg_tensor(product), kw_arg_scalar_f64(0.3)}, 3, &sum, 1));
  CHECK(kw_op_call(kw_op_find("copy_"), NULL, (kw_value[]){kw_arg_tensor(part), kw_arg_tensor(part)}, 2, NULL, 0));
  show("add", sum);
  kw_tensor *large = call("gt.Scalar", NULL, (kw_value[]){kw_arg_tensor(x), kw_arg_scalar_f64(3)}, 2);
  found = call("nonzero", NULL, (kw_value[]){kw_arg_tensor(large)}, 1);
  printf("nonzero: %d\n", (int)kw_tensor_describe(found)->shape[0]);
  kw_tensor *all[] = {turned, part, product, joined, sum, large, found};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) kw_tensor_release(all[i]);
}

/* Twice the same state: what lies between does not matter. */
static void random_numbers(void) {
  kw_generator *generator;
  CHECK(kw_generator_create(device, 7, &generator));
  CHECK(kw_generator_seed(kw_generator_default(device), 99));
  const kw_value args[] = {kw_arg_int_list(shape, 2), kw_arg_dtype(KW_F32), kw_arg_generator(generator)};
  kw_stream *stream = kw_stream_default(device);
  for (int i = 0; i < 2; ++i) {
    kw_tensor *own = call("rand", stream, args, 3), *shared = call("rand", stream, args, 2);
    show("rand", own);
    show("rand of the device", shared);
    kw_tensor_release(own);
    kw_tensor_release(shared);
  }
  kw_generator_destroy(generator);
}

/* Copies that are enqueued, maps, another tensor's memory, weights, plans. */
static void data(kw_tensor *x) {
  kw_stream *stream;
  kw_tensor *copy, *y = make(9);
  float there[COUNT], back[COUNT], *mapped;
  for (int i = 0; i < COUNT; ++i) there[i] = (float)i / 3;
  CHECK(kw_stream_create(device, &stream));
  CHECK(kw_tensor_write_async(y, there, stream));
  CHECK(kw_tensor_read_async(y, back, stream));
  CHECK(kw_stream_synchronize(stream));
  print("enqueued", back, COUNT);
  CHECK(kw_tensor_map(y, NULL, KW_MAP_READ | KW_MAP_WRITE, (void **)&mapped));
  mapped[3] = 77;
  CHECK(kw_tensor_unmap(y, mapped));
  CHECK(kw_tensor_to(y, device, &copy));
  CHECK(kw_tensor_copy_async(x, NULL, copy, NULL));
  show("copied", x);
  CHECK(kw_tensor_set_constant(y, true));
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(y)};
  kw_tensor *product = call("mm", NULL, args, 2), *again = NULL;
  kw_plan *plan;
  CHECK(kw_plan_make(kw_op_find("mm"), NULL, args, 2, &again, 1, NULL, &plan));
  CHECK(kw_plan_run(plan, NULL, args, 2, &again, 1));
  show("by constants", product);
  show("by a plan", again);
  kw_plan_destroy(plan);
  kw_tensor *all[] = {copy, y, product, again};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) kw_tensor_release(all[i]);
  CHECK(kw_stream_destroy(stream));
}

/* Memory of the application's, which changes it without a word. */
static void imported(void) {
  static _Alignas(64) float numbers[COUNT];
  kw_tensor *bytes, *tensor;
  const int64_t strides[2] = {SIDE, 1};
  const kw_external_memory memory = {
      .struct_size = sizeof memory, .kind = KW_HANDLE_HOST, .size = sizeof numbers, .host = numbers};
  if (kw_tensor_import(device, &memory, NULL, NULL, &bytes) != KW_OK) return; /* a device that cannot */
  CHECK(kw_tensor_reinterpret(bytes, KW_F32, 2, shape, strides, 0, &tensor));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < COUNT; ++i) numbers[i] = (float)(i + 100 * round);
    kw_tensor *negated = call("neg", NULL, (kw_value[]){kw_arg_tensor(tensor)}, 1);
    show("imported", negated);
    kw_tensor_release(negated);
  }
  kw_tensor_release(tensor);
  kw_tensor_release(bytes);
}

/* A graph that is launched on two contents, with random numbers of its own. */
static void graph(kw_tensor *x) {
  kw_stream *stream;
  kw_graph *graph;
  float numbers[COUNT];
  CHECK(kw_stream_create(device, &stream));
  CHECK(kw_graph_begin(stream));
  kw_tensor *squared = call("mm", stream, (kw_value[]){kw_arg_tensor(x), kw_arg_tensor(x)}, 2);
  kw_tensor *result = call("neg", stream, (kw_value[]){kw_arg_tensor(squared)}, 1);
  CHECK(kw_graph_end(stream, &graph));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < COUNT; ++i) numbers[i] = (float)((i * 7 + round) % 5);
    CHECK(kw_tensor_write(x, numbers));
    CHECK(kw_graph_launch(graph, NULL));
    show("graph", result);
  }
  kw_tensor_release(squared);
  kw_tensor_release(result);
  CHECK(kw_graph_destroy(graph));
  CHECK(kw_stream_destroy(stream));
}

/* Calls of several threads, each with results of its own. */
static void *thread(void *user) {
  kw_tensor *x = user;
  for (int i = 0; i < 20; ++i) {
    kw_tensor *sum = call("add.Tensor", NULL, (kw_value[]){kw_arg_tensor(x), kw_arg_tensor(x)}, 2);
    float numbers[COUNT];
    CHECK(kw_tensor_read(sum, numbers));
    kw_tensor_release(sum);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[3];
  CHECK(kw_device_open(argc > 1 ? argv[1] : "cpu:0", &device));
  kw_tensor *x = make(1), *y = make(-2);
  calls(x, y);
  random_numbers();
  data(x);
  imported();
  graph(x);
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, thread, y);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  kw_tensor_release(x);
  kw_tensor_release(y);
  CHECK(kw_device_close(device));
  return 0;
}
