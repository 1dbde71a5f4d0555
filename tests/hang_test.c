/* SPDX-License-Identifier: Apache-2.0
 *
 * A device that never finishes: a read of it ends at the limit, another device computes meanwhile, and after it was
 * abandoned the process ends as any other. A program without a test framework, since its end is what is tested.
 */
#include "child.h"

#include <keyway/test.h>
#include <stdio.h>

enum { COUNT = 1000, LIMIT = 50000000 }; /* ns */

static kw_device *open_from(const char *plugin, const char *name) {
  kw_device *device;
  CHECK_OK(kw_plugin_load(plugin));
  CHECK_OK(kw_device_open(name, &device));
  return device;
}

static kw_tensor *tensor_of(kw_device *device, const float *values) {
  kw_tensor *tensor;
  CHECK_OK(kw_tensor_create(device, KW_F32, 1, (const int64_t[]){COUNT}, &tensor));
  CHECK_OK(kw_tensor_write(tensor, values));
  return tensor;
}

/* An op of a tensor and itself; *inout_result NULL: makes it. */
static void call_on(kw_stream *stream, const char *op, kw_tensor *x, kw_tensor **inout_result) {
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  CHECK_OK(kw_op_call(kw_op_find(op), stream, args, 2, inout_result, 1));
}

static void call(const char *op, kw_tensor *x, kw_tensor **inout_result) {
  call_on(NULL, op, x, inout_result);
}

static kw_graph *recorded(kw_device *device, const char *op, kw_tensor *x, kw_tensor **out_result) {
  kw_stream *stream;
  kw_graph *graph;
  CHECK_OK(kw_stream_create(device, &stream));
  CHECK_OK(kw_graph_begin(stream));
  call_on(stream, op, x, out_result);
  CHECK_OK(kw_graph_end(stream, &graph));
  CHECK_OK(kw_stream_destroy(stream));
  return graph;
}

static void check_computes(kw_device *device, const float *values) {
  float got[COUNT];
  kw_tensor *x = tensor_of(device, values), *sum = NULL;
  call("add.Tensor", x, &sum);
  CHECK_OK(kw_tensor_read(sum, got));
  for (int i = 0; i < COUNT; ++i) CHECK(got[i] == 2 * values[i]);
  kw_tensor_release(x);
  kw_tensor_release(sum);
}

int main(void) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY | KW_INIT_TEST};
  static float values[COUNT], got[COUNT];
  for (int i = 0; i < COUNT; ++i) values[i] = (float)i;
  CHECK_OK(kw_init(&options));
  kw_device *hangs = open_from(HANG_PLUGIN, HANG_DEVICE), *other = open_from(CPU_PLUGIN, "cpu:0"), *again;
  CHECK(kw_device_order_fault(other, KW_FAULT_HOLD, 1) == KW_ERR_UNSUPPORTED);
  CHECK_CONTAINS(kw_error_message(), "keyway.test/1");
  check_computes(hangs, values);
  CHECK_OK(kw_device_set_wait_limit(hangs, LIMIT));
  kw_tensor *x = tensor_of(hangs, values), *sum = NULL, *product = NULL, *replayed = NULL;
  kw_graph *graph = recorded(hangs, "mul.Tensor", x, &replayed);
  for (int i = 0; i < 2; ++i) call("add.Tensor", x, &sum);
  call("mul.Tensor", x, &product);
  CHECK_OK(kw_device_order_fault(hangs, KW_FAULT_HOLD, 1));
  call("add.Tensor", x, &sum); /* by the plan of before */
  CHECK(kw_tensor_read(sum, got) == KW_ERR_TIMEOUT);
  CHECK_CONTAINS(kw_error_message(), "kw_tensor_read");
  CHECK_CONTAINS(kw_error_message(), "the default stream of " HANG_DEVICE " has not finished within 50 ms");
  CHECK_CONTAINS(kw_error_message(), "add.Tensor");
  CHECK_OK(kw_graph_launch(graph, NULL));
  CHECK(kw_tensor_read(sum, got) == KW_ERR_TIMEOUT);
  CHECK_CONTAINS(kw_error_message(), "mul.Tensor");
  check_computes(other, values);
  CHECK_OK(kw_device_abandon(hangs));
  CHECK(kw_tensor_read(sum, got) == KW_ERR_DEVICE_LOST);
  CHECK_CONTAINS(kw_error_message(), HANG_DEVICE " was abandoned");
  for (int i = 0; i < COUNT; ++i) CHECK(got[i] == 0); /* no late copy has come here */
  check_computes(other, values);
  kw_tensor_release(x);
  kw_tensor_release(sum);
  kw_tensor_release(product);
  kw_tensor_release(replayed);
  CHECK_OK(kw_graph_destroy(graph));
  CHECK_OK(kw_device_close(hangs));
  CHECK(kw_device_open(HANG_DEVICE, &again) == KW_ERR_DEVICE_LOST);
  CHECK_OK(kw_device_close(other));
  return 0;
}
