/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments that a call changes and does not return: on the device's own kernels, replayed, by way of cpu:0.
 */
#include "testing/test_fixture.h"

#include <keyway/keyway.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 40 }; /* tensors: more than core looks at without memory */

static kw_device *device;
static const kw_op *sgd, *mean;

static int load(void **state) {
  (void)state;
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  if (kw_init(&options) != KW_OK || kw_plugin_load(CPU_PLUGIN) != KW_OK) return -1;
  sgd = kw_op_find("_fused_sgd_");
  mean = kw_op_find("keyway::accumulate_mean_");
  return sgd && mean && test_fixture_load(DISPATCH_FIXTURE) ? kw_device_open("cpu:0", &device) : -1;
}

static int unload(void **state) {
  (void)state;
  return kw_device_close(device);
}

static kw_tensor *floats_on(kw_device *on, float first, float second) {
  kw_tensor *tensor;
  const float data[] = {first, second};
  assert_int_equal(kw_tensor_create(on, KW_F32, 1, (int64_t[]){2}, &tensor), KW_OK);
  assert_int_equal(kw_tensor_write(tensor, data), KW_OK);
  return tensor;
}

static kw_tensor *floats(float first, float second) {
  return floats_on(device, first, second);
}

static void expect(const kw_tensor *tensor, float first, float second) {
  float got[2];
  assert_int_equal(kw_tensor_read(tensor, got), KW_OK);
  if (got[0] != first || got[1] != second) fail_msg("%g %g, expected %g %g", got[0], got[1], first, second);
}

/* p -= 0.5 g with momentum 0.5: b = 0.5 b + g, p -= 0.5 b. */
static kw_status step(kw_stream *stream, kw_tensor **params, kw_tensor **grads, kw_tensor **buffers, uint32_t count) {
  const kw_value args[] = {kw_arg_tensor_list(params, count),
                           kw_arg_tensor_list(grads, count),
                           kw_arg_tensor_list(buffers, count),
                           kw_arg_float(0),
                           kw_arg_float(0.5),
                           kw_arg_float(0.5),
                           kw_arg_float(0),
                           kw_arg_bool(false),
                           kw_arg_bool(false),
                           kw_arg_bool(false)};
  return kw_op_call(sgd, stream, args, sizeof args / sizeof args[0], NULL, 0);
}

static void assert_refused(kw_status status, const char *text) {
  assert_int_equal(status, KW_ERR_INVALID_ARGUMENT);
  if (!strstr(kw_error_message(), text)) fail_msg("wanted \"%s\": %s", text, kw_error_message());
}

static void release(kw_tensor **tensors, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) kw_tensor_release(tensors[i]);
}

static void lists_change(void **state) {
  (void)state;
  kw_tensor *params[MANY], *grads[MANY], *buffers[MANY];
  for (int i = 0; i < MANY; ++i) {
    params[i] = floats(1, (float)i);
    grads[i] = floats(2, 0);
    buffers[i] = floats(4, 8);
  }
  for (uint32_t count = 1; count <= MANY; count += MANY - 1) { /* few, many; each made, then remembered */
    assert_int_equal(step(NULL, params, grads, buffers, count), KW_OK);
    assert_int_equal(step(NULL, params, grads, buffers, count), KW_OK);
  }
  expect(params[0], 1 - 2 - 2 - 2 - 2, 0 - 2 - 1 - 0.5f - 0.25f); /* b: 4, 4, 4, 4 and 4, 2, 1, 0.5 */
  expect(params[MANY - 1], 1 - 2 - 2, MANY - 1 - 2 - 1);
  expect(buffers[MANY - 1], 4, 2);
  expect(grads[MANY - 1], 2, 0);
  assert_int_equal(step(kw_stream_default(device), NULL, NULL, NULL, 0), KW_OK); /* nothing to do */
  release(params, MANY);
  release(grads, MANY);
  release(buffers, MANY);
}

static void what_changes_has_memory_of_its_own(void **state) {
  (void)state;
  kw_tensor *p[] = {floats(1, 2), floats(3, 4)}, *g[] = {floats(5, 6), floats(7, 8)},
            *b[] = {floats(0, 0), floats(0, 0)};
  kw_tensor *same[] = {p[0], p[0]}, *crossed[] = {g[0], p[1]}, *wide[] = {NULL, p[1]}, *one;
  assert_int_equal(kw_tensor_slice(g[0], 0, 0, 1, 1, &one), KW_OK);
  assert_int_equal(kw_tensor_expand(one, 1, (int64_t[]){2}, &wide[0]), KW_OK);
  for (int i = 0; i < 2; ++i) {
    assert_refused(step(NULL, same, g, b, 2), "entry 0 of 'self' and entry 1 of 'self' share memory");
    assert_refused(step(NULL, p, crossed, b, 2), "entry 1 of 'self' and entry 1 of 'grads' share memory");
    assert_refused(step(NULL, wide, g, b, 2), "entry 0 of 'self' is changed in place but overlaps itself");
  }
  expect(p[0], 1, 2);
  expect(b[1], 0, 0);
  release((kw_tensor *[]){p[0], p[1], g[0], g[1], b[0], b[1], wide[0], one}, 8);
}

/* sum and count are changed, values are read: they may be the sum itself, but no other part of its memory. */
static void one_that_is_read_may_be_the_same(void **state) {
  (void)state;
  kw_tensor *both = floats(3, 4), *sum, *count;
  const int64_t zero = 0;
  assert_int_equal(kw_tensor_slice(both, 0, 0, 1, 1, &sum), KW_OK);
  assert_int_equal(kw_tensor_create(device, KW_I64, 0, NULL, &count), KW_OK);
  assert_int_equal(kw_tensor_write(count, &zero), KW_OK);
  kw_value args[] = {kw_arg_tensor(sum), kw_arg_tensor(count), kw_arg_tensor(sum)};
  assert_int_equal(kw_op_call(mean, NULL, args, 3, NULL, 0), KW_OK);
  expect(both, 6, 4);
  args[2] = kw_arg_tensor(both);
  assert_refused(kw_op_call(mean, NULL, args, 3, NULL, 0), "'sum' and 'values' share memory");
  assert_int_equal(kw_op_call(mean, NULL, args, 3, NULL, 1), KW_ERR_INVALID_ARGUMENT);
  release((kw_tensor *[]){both, sum, count}, 3);
}

static void a_graph_changes_them_again(void **state) {
  (void)state;
  kw_tensor *p[] = {floats(1, 2)}, *g[] = {floats(2, 0)}, *b[] = {floats(4, 0)};
  kw_stream *stream;
  kw_graph *graph;
  assert_int_equal(kw_stream_create(device, &stream), KW_OK);
  assert_int_equal(kw_graph_begin(stream), KW_OK);
  assert_int_equal(step(stream, p, g, b, 1), KW_OK);
  assert_int_equal(kw_graph_end(stream, &graph), KW_OK);
  expect(p[0], 1, 2);
  for (int i = 0; i < 3; ++i) assert_int_equal(kw_graph_launch(graph, stream), KW_OK);
  assert_int_equal(kw_stream_synchronize(stream), KW_OK);
  expect(p[0], 1 - 6, 2);
  assert_int_equal(kw_graph_destroy(graph), KW_OK);
  assert_int_equal(kw_stream_destroy(stream), KW_OK);
  release((kw_tensor *[]){p[0], g[0], b[0]}, 3);
}

static void fallback_brings_them_back(void **state) {
  (void)state;
  kw_device *other;
  assert_int_equal(kw_device_open("fixture:0", &other), KW_OK);
  kw_tensor *p[] = {floats_on(other, 1, 2), floats_on(other, 0, 0)};
  kw_tensor *g[] = {floats_on(other, 2, 0), floats_on(other, 1, 1)};
  kw_tensor *b[] = {floats_on(other, 4, 0), floats_on(other, 0, 2)};
  assert_int_equal(step(NULL, p, g, b, 2), KW_ERR_NOT_IMPLEMENTED);
  kw_fallback_set(KW_FALLBACK_ALLOW);
  assert_int_equal(step(NULL, p, g, b, 2), KW_OK);
  kw_fallback_set(KW_FALLBACK_OFF);
  expect(p[0], 1 - 2, 2);
  expect(p[1], -0.5f, -1);
  expect(b[1], 1, 2);
  expect(g[0], 2, 0);
  release((kw_tensor *[]){p[0], p[1], g[0], g[1], b[0], b[1]}, 6);
  assert_int_equal(kw_device_close(other), KW_OK);
}

static void arguments_say_what_they_are(void **state) {
  (void)state;
  kw_arg_info info = {.struct_size = sizeof info};
  assert_int_equal(kw_op_get_arg(sgd, 0, &info), KW_OK);
  assert_true(info.tag == KW_TAG_TENSOR_LIST && (info.flags & KW_ARG_MUTATED) && !(info.flags & KW_ARG_RETURNED));
  assert_int_equal(kw_op_get_arg(kw_op_find("_amp_update_scale_"), 0, &info), KW_OK);
  assert_true((info.flags & KW_ARG_MUTATED) && (info.flags & KW_ARG_RETURNED));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_change),
      cmocka_unit_test(what_changes_has_memory_of_its_own),
      cmocka_unit_test(one_that_is_read_may_be_the_same),
      cmocka_unit_test(a_graph_changes_them_again),
      cmocka_unit_test(fallback_brings_them_back),
      cmocka_unit_test(arguments_say_what_they_are),
  };
  return cmocka_run_group_tests(tests, load, unload);
}
