/* SPDX-License-Identifier: Apache-2.0
 *
 * Layers stacked in front of the library and of a plugin: who sees which call, in which order, and that calls reach the
 * plugin as they would without. The program contains the library, since the layers are its own.
 */
#include "layers/layer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static kw_layer outer, inner;

static kw_api api = {
#define KW_FUNCTION(type, name, parameters, arguments) .name = kw_##name,
#include "functions.def"
};

/* Who was called since the last look, "outer.op_call inner.op_call ...". */
static char calls[512];

static void note(const kw_layer *layer, const char *function) {
  const size_t used = strlen(calls);
  snprintf(calls + used, sizeof calls - used, "%s%s.%s", used > 0 ? " " : "", layer == &outer ? "outer" : "inner",
           function);
}

#define assert_calls(text) (assert_string_equal(calls, text), calls[0] = '\0')

/* ---- The layers -------------------------------------------------------------------------------------------------- */

static bool memory_is_out;

#define LAYER(layer)                                                                                             \
  static kw_status layer##_op_call(const kw_op *op, kw_stream *stream, const kw_value *args, uint32_t arg_count, \
                                   kw_tensor **outs, uint32_t out_count) {                                       \
    note(&layer, "op_call");                                                                                     \
    return layer.below.op_call(op, stream, args, arg_count, outs, out_count);                                    \
  }                                                                                                              \
  static kw_status layer##_synchronize(void *device, void *stream, uint64_t timeout_ns) {                        \
    note(&layer, "synchronize");                                                                                 \
    return kw_slots_below(&layer, device)->stream.synchronize(device, stream, timeout_ns);                       \
  }                                                                                                              \
  static kw_status layer##_info(void *plugin, uint32_t index, kw_device_info *out_info) {                        \
    note(&layer, "info");                                                                                        \
    assert_string_equal(kw_slots_plugin(plugin)->key, "cpu");                                                    \
    return kw_slots_below(&layer, plugin)->device.info(plugin, index, out_info);                                 \
  }                                                                                                              \
  static kw_status layer##_launch(const kw_call *call) {                                                         \
    note(&layer, "launch");                                                                                      \
    return kw_kernel_below(&layer, call->user)->launch(call);                                                    \
  }                                                                                                              \
  static void layer##_wrap_api(kw_api *of) {                                                                     \
    of->op_call = layer##_op_call;                                                                               \
  }                                                                                                              \
  static void layer##_wrap_kernel(kw_kernel_desc *kernel) {                                                      \
    kernel->launch = layer##_launch;                                                                             \
  }
LAYER(outer)
LAYER(inner)

static void outer_wrap_slots(kw_slots *slots) {
  slots->stream.synchronize = outer_synchronize;
  slots->device.info = outer_info;
}

/* Answers by itself where memory is to be out. */
static kw_status inner_alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  if (memory_is_out) return KW_ERR_OUT_OF_MEMORY;
  return kw_slots_below(&inner, device)->memory.alloc(device, info, out_mem);
}

static void inner_wrap_slots(kw_slots *slots) {
  slots->stream.synchronize = inner_synchronize;
  slots->device.info = inner_info;
  slots->memory.alloc = inner_alloc;
}

static kw_layer outer = {.wrap_api = outer_wrap_api, .wrap_slots = outer_wrap_slots, .wrap_kernel = outer_wrap_kernel};
static kw_layer inner = {.wrap_api = inner_wrap_api, .wrap_slots = inner_wrap_slots, .wrap_kernel = inner_wrap_kernel};

/* ---- The tests --------------------------------------------------------------------------------------------------- */

static kw_device *device;

static int start(void **state) {
  (void)state;
  kw_layers_install((kw_layer *const[]){&outer, &inner}, 2, &api);
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  if (api.init(&options) != KW_OK || api.plugin_load(CPU_PLUGIN) != KW_OK ||
      api.device_open("cpu:0", &device) != KW_OK) {
    print_error("%s\n", kw_error_message());
    return -1;
  }
  calls[0] = '\0';
  return 0;
}

static int stop(void **state) {
  (void)state;
  return api.device_close(device) == KW_OK ? 0 : -1;
}

static kw_tensor *floats(float first, float second) {
  kw_tensor *tensor;
  assert_int_equal(api.tensor_create(device, KW_F32, 1, (int64_t[]){2}, &tensor), KW_OK);
  assert_int_equal(api.tensor_write(tensor, (float[]){first, second}), KW_OK);
  calls[0] = '\0';
  return tensor;
}

static void a_call_passes_the_layers_from_the_application_to_the_plugin(void **state) {
  (void)state;
  kw_tensor *x = floats(1, 2), *sum = NULL;
  float numbers[2];
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  assert_int_equal(api.op_call(kw_op_find("add.Tensor"), NULL, args, 2, &sum, 1), KW_OK);
  assert_calls("outer.op_call inner.op_call outer.launch inner.launch");
  assert_int_equal(api.device_synchronize(device), KW_OK);
  assert_calls("outer.synchronize inner.synchronize");
  assert_int_equal(api.tensor_read(sum, numbers), KW_OK);
  assert_true(numbers[0] == 2 && numbers[1] == 4);
  api.tensor_release(x), api.tensor_release(sum);
}

static void a_layer_may_answer_itself(void **state) {
  (void)state;
  kw_tensor *none = NULL;
  memory_is_out = true;
  assert_int_equal(api.tensor_create(device, KW_F32, 1, (int64_t[]){1 << 24}, &none), KW_ERR_OUT_OF_MEMORY);
  memory_is_out = false;
  assert_null(none);
  assert_int_equal(api.tensor_create(device, KW_F32, 1, (int64_t[]){1 << 24}, &none), KW_OK);
  api.tensor_release(none);
}

static void slots_of_the_plugin_as_a_whole_pass_them_as_well(void **state) {
  (void)state;
  kw_device_entry entry = {.struct_size = sizeof entry};
  calls[0] = '\0';
  assert_int_equal(api.device_get_entry(0, &entry), KW_OK);
  assert_calls("outer.info inner.info");
  assert_string_equal(entry.name, "cpu:0");
}

/* Recorded launches keep their kernel, and its layers. */
static void a_graph_replays_through_the_layers(void **state) {
  (void)state;
  kw_tensor *x = floats(1, 2), *sum = floats(0, 0);
  kw_stream *stream;
  kw_graph *graph;
  float numbers[2];
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  assert_int_equal(api.stream_create(device, &stream), KW_OK);
  assert_int_equal(api.graph_begin(stream), KW_OK);
  assert_int_equal(api.op_call(kw_op_find("add.Tensor"), stream, args, 2, &sum, 1), KW_OK);
  assert_int_equal(api.graph_end(stream, &graph), KW_OK);
  assert_int_equal(api.graph_launch(graph, stream), KW_OK);
  assert_int_equal(api.stream_synchronize(stream), KW_OK);
  assert_int_equal(api.tensor_read(sum, numbers), KW_OK);
  assert_true(numbers[0] == 2 && numbers[1] == 4);
  assert_int_equal(api.graph_destroy(graph), KW_OK);
  assert_int_equal(api.stream_destroy(stream), KW_OK);
  api.tensor_release(x), api.tensor_release(sum);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_call_passes_the_layers_from_the_application_to_the_plugin),
      cmocka_unit_test(a_layer_may_answer_itself),
      cmocka_unit_test(slots_of_the_plugin_as_a_whole_pass_them_as_well),
      cmocka_unit_test(a_graph_replays_through_the_layers),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
