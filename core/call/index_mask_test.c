/* SPDX-License-Identifier: Apache-2.0
 *
 * Masks among indices.
 */
#include <keyway/keyway.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static kw_device *device;

static int open_device(void **state) {
  (void)state;
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  if (kw_init(&options) != KW_OK || kw_plugin_load(CPU_PLUGIN) != KW_OK) return -1;
  return kw_device_open("cpu:0", &device);
}

static int close_device(void **state) {
  (void)state;
  return kw_device_close(device);
}

static kw_tensor *tensor_of(kw_dtype dtype, uint32_t rank, const int64_t *shape, const void *data) {
  kw_tensor *tensor;
  assert_int_equal(kw_tensor_create(device, dtype, rank, shape, &tensor), KW_OK);
  assert_int_equal(kw_tensor_write(tensor, data), KW_OK);
  return tensor;
}

/* 0 1 2 / 3 4 5 */
static kw_tensor *make_self(void) {
  return tensor_of(KW_F32, 2, (int64_t[]){2, 3}, (float[]){0, 1, 2, 3, 4, 5});
}

static kw_tensor *make_mask(void) {
  return tensor_of(KW_BOOL, 2, (int64_t[]){2, 3}, (uint8_t[]){1, 0, 1, 0, 0, 1});
}

static kw_tensor *make_row_mask(kw_dtype dtype) {
  return tensor_of(dtype, 1, (int64_t[]){3}, (uint8_t[]){1, 0, 1});
}

static kw_status index_by(kw_stream *stream, kw_tensor *self, kw_tensor *first, kw_tensor *second, kw_tensor **out) {
  kw_tensor *entries[] = {first, second};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor_list(entries, second ? 2 : 1)};
  return kw_op_call(kw_op_find("index.Tensor"), stream, args, 2, out, 1);
}

static void expect(const kw_tensor *tensor, uint32_t rank, const int64_t *shape, const float *values) {
  float got[16];
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  assert_int_equal(ref->rank, rank);
  assert_memory_equal(ref->shape, shape, rank * sizeof *shape);
  assert_int_equal(kw_tensor_read(tensor, got), KW_OK);
  assert_memory_equal(got, values, (size_t)ref->numel * sizeof *got);
}

static void a_mask_of_all_dimensions(void **state) {
  (void)state;
  kw_tensor *self = make_self(), *mask = make_mask(), *out = NULL;
  assert_int_equal(index_by(NULL, self, mask, NULL, &out), KW_OK);
  expect(out, 1, (int64_t[]){3}, (float[]){0, 2, 5});
  kw_tensor_release(self), kw_tensor_release(mask), kw_tensor_release(out);
}

static void a_mask_beside_indices(void **state) {
  (void)state;
  kw_tensor *self = make_self(), *first = tensor_of(KW_I64, 1, (int64_t[]){2}, (int64_t[]){1, 0});
  for (int i = 0; i < 2; ++i) {
    kw_tensor *mask = make_row_mask(i ? KW_U8 : KW_BOOL), *out = NULL;
    assert_int_equal(index_by(NULL, self, first, mask, &out), KW_OK);
    expect(out, 1, (int64_t[]){2}, (float[]){3, 2});
    kw_tensor_release(out);
    out = NULL;
    assert_int_equal(index_by(NULL, self, NULL, mask, &out), KW_OK);
    expect(out, 2, (int64_t[]){2, 2}, (float[]){0, 2, 3, 5});
    kw_tensor_release(mask), kw_tensor_release(out);
  }
  kw_tensor_release(self), kw_tensor_release(first);
}

static void a_mask_that_selects_nothing(void **state) {
  (void)state;
  kw_tensor *self = make_self(), *out = NULL;
  kw_tensor *mask = tensor_of(KW_BOOL, 1, (int64_t[]){2}, (uint8_t[]){0, 0});
  assert_int_equal(index_by(NULL, self, mask, NULL, &out), KW_OK);
  expect(out, 2, (int64_t[]){0, 3}, NULL);
  kw_tensor_release(self), kw_tensor_release(mask), kw_tensor_release(out);
}

static void values_go_where_the_mask_is(void **state) {
  (void)state;
  kw_tensor *self = make_self(), *mask = make_mask(), *out = NULL;
  kw_tensor *values = tensor_of(KW_F32, 1, (int64_t[]){3}, (float[]){10, 20, 30});
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor_list(&mask, 1), kw_arg_tensor(values)};
  for (int i = 0; i < 2; ++i) { /* made, then given */
    assert_int_equal(kw_op_call(kw_op_find("index_put"), NULL, args, 3, &out, 1), KW_OK);
    expect(out, 2, (int64_t[]){2, 3}, (float[]){10, 1, 20, 3, 4, 30});
  }
  kw_tensor_release(self), kw_tensor_release(mask), kw_tensor_release(values), kw_tensor_release(out);
}

static void refused(kw_status status, kw_status wanted, const char *text) {
  assert_int_equal(status, wanted);
  if (!strstr(kw_error_message(), text)) fail_msg("%s\n  lacks  %s", kw_error_message(), text);
}

static void masks_of_other_shapes_are_refused(void **state) {
  (void)state;
  kw_tensor *self = make_self(), *row = make_row_mask(KW_BOOL), *whole = make_mask(), *out = NULL;
  kw_tensor *point = tensor_of(KW_BOOL, 0, NULL, (uint8_t[]){1});
  refused(index_by(NULL, self, row, NULL, &out), KW_ERR_INVALID_ARGUMENT,
          "index.Tensor: argument 'indices': entry 0 is a mask of shape [3], which is not that of 'self', [2, 3], from "
          "dimension 0 on");
  refused(index_by(NULL, self, NULL, whole, &out), KW_ERR_INVALID_ARGUMENT, "entry 1 is a mask of shape [2, 3]");
  refused(index_by(NULL, self, point, NULL, &out), KW_ERR_INVALID_ARGUMENT, "entry 0 is a mask of rank 0");
  kw_tensor_release(self), kw_tensor_release(row), kw_tensor_release(whole), kw_tensor_release(point);
}

static void neither_plans_nor_graphs_take_masks(void **state) {
  (void)state;
  kw_tensor *self = make_self(), *mask = make_mask(), *out = NULL;
  kw_stream *stream;
  kw_plan *plan;
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor_list(&mask, 1)};
  refused(kw_plan_make(kw_op_find("index.Tensor"), NULL, args, 2, &out, 1, NULL, &plan), KW_ERR_INVALID_ARGUMENT,
          "no plan can be made for one");
  assert_int_equal(kw_stream_create(device, &stream), KW_OK);
  assert_int_equal(kw_graph_begin(stream), KW_OK);
  refused(index_by(stream, self, mask, NULL, &out), KW_ERR_BUSY, "index.Tensor: the places of mask 0");
  assert_int_equal(kw_graph_end(stream, NULL), KW_OK);
  assert_int_equal(kw_stream_destroy(stream), KW_OK);
  kw_tensor_release(self), kw_tensor_release(mask);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_mask_of_all_dimensions),          cmocka_unit_test(a_mask_beside_indices),
      cmocka_unit_test(a_mask_that_selects_nothing),       cmocka_unit_test(values_go_where_the_mask_is),
      cmocka_unit_test(masks_of_other_shapes_are_refused), cmocka_unit_test(neither_plans_nor_graphs_take_masks),
  };
  return cmocka_run_group_tests(tests, open_device, close_device);
}
