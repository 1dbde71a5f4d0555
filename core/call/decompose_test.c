/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of ops that other ops serve, on the fixture's device.
 */
#include "base/dtype.h"
#include "testing/test_dispatch.h"

static void decomposes_sub_and_counts_it(void **state) {
  (void)state;
  kw_tensor *x = floats(2, (float[]){5, 7}), *y = floats(2, (float[]){1, 2}), *out = NULL;
  assert_int_equal(kw_op_support(sub, device, KW_F32), KW_SUPPORT_DECOMPOSED);
  assert_int_equal(kw_op_support(add, device, KW_F32), KW_SUPPORT_KERNEL);
  assert_int_equal(kw_op_support(add, device, KW_F64), KW_SUPPORT_NONE);
  assert_int_equal(call(sub, x, y, &out), KW_OK);
  assert_floats(out, (float[]){4, 5}, 2);
  assert_int_equal(counters().decomposed, 1);
  kw_tensor_release(x), kw_tensor_release(y), kw_tensor_release(out);
}

static void decomposes_reductions_to_their_general_form(void **state) {
  (void)state;
  kw_tensor *x = tensor_of(KW_F32, 2, (int64_t[]){2, 2}, (float[]){0, 4, 0, 8}), *out = NULL;
  const kw_value whole[] = {kw_arg_tensor(x)};
  assert_int_equal(kw_op_call(kw_op_find("mean"), NULL, whole, 1, &out, 1), KW_OK);
  assert_floats(out, (float[]){3}, 1);
  assert_string_equal(fixture->last_kernel, "mean");
  kw_tensor_release(out), out = NULL;

  uint8_t any[2] = {7, 7};
  assert_int_equal(kw_op_call(kw_op_find("any"), NULL, whole, 1, &out, 1), KW_OK);
  assert_int_equal(kw_tensor_read(out, any), KW_OK);
  assert_int_equal(any[0], 1);
  kw_tensor_release(out), out = NULL;

  const kw_value along[] = {kw_arg_tensor(x), kw_arg_int(0), kw_arg_bool(true)};
  assert_int_equal(kw_op_call(kw_op_find("any.dim"), NULL, along, 3, &out, 1), KW_OK);
  assert_int_equal(kw_tensor_read(out, any), KW_OK);
  assert_true(any[0] == 0 && any[1] == 1);
  assert_string_equal(fixture->last_kernel, "any");
  assert_true(kw_tensor_describe(out)->rank == 2);
  assert_int_equal(counters().decomposed, 3);
  kw_tensor_release(x), kw_tensor_release(out);
}

static void decomposes_casts_to_copies(void **state) {
  (void)state;
  kw_tensor *x = tensor_of(KW_I32, 1, (int64_t[]){3}, (int32_t[]){1, -2, 3}), *out = NULL;
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_dtype(KW_F32)};
  assert_int_equal(kw_op_call(kw_op_find("_to_copy"), NULL, args, 2, &out, 1), KW_OK);
  assert_floats(out, (float[]){1, -2, 3}, 3);
  assert_string_equal(fixture->last_kernel, "copy");
  assert_int_equal(counters().decomposed, 1);
  kw_tensor_release(x), kw_tensor_release(out);
}

/* By the plugin's fill for new memory, and by copy_ for what has gaps. */
static void makes_full_tensors_without_a_kernel(void **state) {
  (void)state;
  kw_tensor *x = floats(6, (float[]){0, 0, 0, 0, 0, 0}), *odd, *out = NULL;
  kw_stream *stream = kw_stream_default(device);
  assert_int_equal(kw_tensor_slice(x, 0, 1, 6, 2, &odd), KW_OK);
  const int64_t three[] = {3};
  const kw_value args[] = {kw_arg_int_list(three, 1), kw_arg_scalar_f64(2.5)};
  const kw_op *full = kw_op_find("full");
  assert_int_equal(kw_op_call(full, stream, args, 2, &out, 1), KW_OK);
  assert_floats(out, (float[]){2.5f, 2.5f, 2.5f}, 3);
  assert_int_equal(kw_op_call(full, stream, args, 2, &odd, 1), KW_OK);
  assert_floats(x, (float[]){0, 2.5f, 0, 2.5f, 0, 2.5f}, 6);
  assert_int_equal(counters().decomposed, 2);
  kw_tensor_release(x), kw_tensor_release(odd), kw_tensor_release(out);
}

static void fills_dense_and_strided_memory_without_a_fill_kernel(void **state) {
  (void)state;
  kw_tensor *x = floats(6, (float[]){0, 0, 0, 0, 0, 0}), *odd;
  assert_int_equal(kw_tensor_slice(x, 0, 1, 6, 2, &odd), KW_OK);
  const kw_op *fill = kw_op_find("fill_.Scalar");
  const kw_value dense[] = {kw_arg_tensor(x), kw_arg_scalar_f64(0.5)},
                 strided[] = {kw_arg_tensor(odd), kw_arg_scalar_i64(2)};
  assert_int_equal(kw_op_call(fill, NULL, dense, 2, NULL, 0), KW_OK);
  assert_int_equal(kw_op_call(fill, NULL, strided, 2, NULL, 0), KW_OK);
  assert_floats(x, (float[]){0.5f, 2, 0.5f, 2, 0.5f, 2}, 6);
  kw_tensor_release(x), kw_tensor_release(odd);
}

/* A list that one kernel takes as it is, and lists that it does not: of several dtypes, or where it says no. */
static void joins_lists_by_kernel_or_by_copies(void **state) {
  (void)state;
  const kw_op *cat = kw_op_find("cat");
  const int64_t square[] = {2, 2}, column[] = {2, 1};
  kw_tensor *a = tensor_of(KW_F32, 2, square, (float[]){1, 2, 3, 4}), *out = NULL, *turned, *rows, *columns;
  kw_tensor *b = tensor_of(KW_I32, 2, column, (int32_t[]){-5, 6}), *none = tensor_of(KW_F32, 1, (int64_t[]){0}, NULL);
  kw_tensor *room = tensor_of(KW_F32, 2, (int64_t[]){5, 2}, (float[10]){0});
  assert_int_equal(kw_tensor_transpose(a, 0, 1, &turned), KW_OK);
  kw_tensor *same[] = {a, none, turned}, *mixed[] = {b, none, turned, a};
  const kw_value direct[] = {kw_arg_tensor_list(same, 3), kw_arg_int(1)};
  const kw_value copied[] = {kw_arg_tensor_list(mixed, 4), kw_arg_int(-1)};
  assert_int_equal(kw_op_call(cat, NULL, direct, 2, &out, 1), KW_OK);
  assert_string_equal(fixture->last_kernel, "cat");
  assert_int_equal(fixture->pure_calls_with_memory, 0);
  assert_floats(out, (float[]){1, 2, 1, 3, 3, 4, 2, 4}, 8);
  kw_tensor_release(out), out = NULL;
  fixture->cat_refuses = true; /* the plan is made: this is not asked again */
  assert_int_equal(kw_op_call(cat, NULL, direct, 2, &out, 1), KW_OK);
  assert_int_equal(counters().decomposed, 0);
  kw_tensor_release(out), out = NULL;
  fixture->cat_refuses = false;
  kw_tensor *other[] = {a, none, a}; /* another signature, though it begins the same way */
  const kw_value again[] = {kw_arg_tensor_list(other, 3), kw_arg_int(1)};
  assert_int_equal(kw_op_call(cat, NULL, again, 2, &out, 1), KW_OK);
  assert_floats(out, (float[]){1, 2, 1, 2, 3, 4, 3, 4}, 8);
  fixture->cat_refuses = true;

  /* into columns of a tensor, strided */
  assert_int_equal(kw_tensor_transpose(room, 0, 1, &columns), KW_OK);
  assert_int_equal(kw_op_call(cat, NULL, copied, 2, &columns, 1), KW_OK);
  assert_string_equal(fixture->last_kernel, "copy");
  assert_floats(room, (float[]){-5, 6, 1, 2, 3, 4, 1, 3, 2, 4}, 10);
  assert_int_equal(counters().decomposed, 1);
  assert_int_equal(kw_tensor_slice(room, 0, 0, 4, 1, &rows), KW_OK);
  const kw_value down[] = {kw_arg_tensor_list((kw_tensor *[]){turned, turned}, 2)};
  assert_int_equal(kw_op_call(cat, NULL, down, 1, &rows, 1), KW_OK);
  assert_floats(room, (float[]){1, 3, 2, 4, 1, 3, 2, 4, 2, 4}, 10);
  assert_int_equal(counters().decomposed, 2);
  assert_int_equal(kw_op_call(cat, NULL, down, 1, &columns, 1), KW_ERR_INVALID_ARGUMENT);

  kw_tensor *wide = tensor_of(KW_F64, 1, (int64_t[]){1}, NULL), *nothing = NULL;
  const kw_value doubles[] = {kw_arg_tensor_list((kw_tensor *[]){wide, wide}, 2)};
  assert_int_equal(kw_op_call(cat, NULL, doubles, 1, &nothing, 1), KW_ERR_NOT_IMPLEMENTED);
  assert_non_null(strstr(kw_error_message(), "cat([f64[1], f64[1]]) on fixture:0"));
  kw_tensor_release(a), kw_tensor_release(b), kw_tensor_release(none), kw_tensor_release(room), kw_tensor_release(out);
  kw_tensor_release(turned), kw_tensor_release(rows), kw_tensor_release(columns), kw_tensor_release(wide);
}

static void expect_call(const char *op, const kw_value *args, uint32_t count, const float *expected, size_t numel) {
  kw_tensor *out = NULL;
  assert_int_equal(kw_op_call(kw_op_find(op), NULL, args, count, &out, 1), KW_OK);
  assert_int_equal(kw_tensor_describe(out)->numel, numel);
  assert_floats(out, expected, numel);
  kw_tensor_release(out);
}

/* A copy, and a second one into a part of it. */
static void decomposes_replaced_parts_to_copies(void **state) {
  (void)state;
  kw_tensor *x = tensor_of(KW_F32, 2, (int64_t[]){2, 3}, (float[]){1, 2, 3, 4, 5, 6});
  kw_tensor *column = floats(2, (float[]){-1, -2}),
            *two = tensor_of(KW_F32, 2, (int64_t[]){2, 2}, (float[]){7, 8, 9, 0});
  const kw_value select[] = {kw_arg_tensor(x), kw_arg_tensor(column), kw_arg_int(1), kw_arg_int(-1)};
  const kw_value whole[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  const kw_value slice[] = {kw_arg_tensor(x), kw_arg_tensor(two), kw_arg_int(-1),
                            kw_arg_int(0),    kw_arg_none(),      kw_arg_int(2)};
  expect_call("select_scatter", select, 4, (float[]){1, 2, -1, 4, 5, -2}, 6);
  expect_call("slice_scatter", whole, 2, (float[]){1, 2, 3, 4, 5, 6}, 6);
  expect_call("slice_scatter", slice, 6, (float[]){7, 2, 8, 9, 5, 0}, 6);
  const int64_t pads[] = {-1, 1, 1, 0}, gone[] = {-4, 6}, all_gone[] = {6, -4};
  const kw_value pad[] = {kw_arg_tensor(x), kw_arg_int_list(pads, 4), kw_arg_scalar_f64(0.5)};
  const kw_value none[] = {kw_arg_tensor(column), kw_arg_int_list(gone, 2)};
  const kw_value no_more[] = {kw_arg_tensor(column), kw_arg_int_list(all_gone, 2)};
  expect_call("constant_pad_nd", pad, 3, (float[]){0.5f, 0.5f, 0.5f, 2, 3, 0.5f, 5, 6, 0.5f}, 9);
  assert_string_equal(fixture->last_kernel, "copy");
  expect_call("constant_pad_nd", none, 2, (float[]){0, 0, 0, 0}, 4);
  expect_call("constant_pad_nd", no_more, 2, (float[]){0, 0, 0, 0}, 4);
  assert_int_equal(counters().decomposed, 6);
  kw_tensor_release(x), kw_tensor_release(column), kw_tensor_release(two);
}

/* What embedding, index_select and scatter.value become gives what they mean. */
static void decomposes_to_gather_and_scatter(void **state) {
  (void)state;
  kw_tensor *table = tensor_of(KW_F32, 2, (int64_t[]){3, 2}, (float[]){0, 1, 10, 11, 20, 21}), *turned, *every, *number;
  kw_tensor *four = indices(2, (int64_t[]){2, 2}, (int64_t[]){2, 0, 1, 2}), *one = indices(0, NULL, (int64_t[]){1});
  kw_tensor *line = indices(1, (int64_t[]){5}, (int64_t[]){1, 9, 0, 9, 1}), *zero = indices(0, NULL, (int64_t[]){0});
  assert_int_equal(kw_tensor_transpose(table, 0, 1, &turned), KW_OK);
  assert_int_equal(kw_tensor_slice(line, 0, 0, 5, 2, &every), KW_OK);
  assert_int_equal(kw_tensor_create(device, KW_F32, 0, NULL, &number), KW_OK);
  assert_int_equal(kw_tensor_write(number, (float[]){7}), KW_OK);

  const kw_value rows[] = {kw_arg_tensor(table), kw_arg_tensor(four)},
                 row[] = {kw_arg_tensor(table), kw_arg_tensor(one)};
  const kw_value columns[] = {kw_arg_tensor(turned), kw_arg_tensor(every)};
  expect_call("embedding", rows, 2, (float[]){20, 21, 0, 1, 10, 11, 20, 21}, 8);
  expect_call("embedding", row, 2, (float[]){10, 11}, 2);
  expect_call("embedding", columns, 2, (float[]){1, 11, 21, 0, 10, 20, 1, 11, 21}, 9);

  const kw_value along[] = {kw_arg_tensor(table), kw_arg_int(-1), kw_arg_tensor(every)};
  const kw_value single[] = {kw_arg_tensor(turned), kw_arg_int(0), kw_arg_tensor(one)};
  const kw_value scalar[] = {kw_arg_tensor(number), kw_arg_int(0), kw_arg_tensor(zero)};
  expect_call("index_select", along, 3, (float[]){1, 0, 1, 11, 10, 11, 21, 20, 21}, 9);
  expect_call("index_select", single, 3, (float[]){1, 11, 21}, 3);
  expect_call("index_select", scalar, 3, (float[]){7}, 1);

  const kw_value scatter[] = {kw_arg_tensor(table), kw_arg_int(0), kw_arg_tensor(four), kw_arg_scalar_i64(-3)};
  expect_call("scatter.value", scatter, 4, (float[]){0, -3, -3, 11, -3, -3}, 6);
  assert_string_equal(fixture->last_kernel, "scatter");
  assert_int_equal(counters().decomposed, 7);
  kw_tensor_release(table), kw_tensor_release(turned), kw_tensor_release(every), kw_tensor_release(number);
  kw_tensor_release(four), kw_tensor_release(one), kw_tensor_release(line), kw_tensor_release(zero);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static const struct {
  const char *op, *needs;
} table[] = {
#define KW_DECOMPOSITION(op, needs, function, how) {op, needs},
#include "op/decompositions.def"
};
#define ROWS (sizeof table / sizeof *table)

/* Every word is an op and, behind a slash, a dtype. */
static void rows_name_ops_and_dtypes(void **state) {
  (void)state;
  for (size_t i = 0; i < ROWS; ++i) {
    char text[256], *rest = NULL;
    assert_non_null(kw_op_find(table[i].op));
    assert_true(strlen(table[i].needs) < sizeof text);
    strcpy(text, table[i].needs);
    uint32_t count = 0;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest), ++count) {
      char *dtype = strchr(word, '/');
      const bool found = dtype == NULL || kw_dtype_from_name(dtype + 1) != KW_DTYPE_NONE;
      if (dtype) *dtype = '\0';
      if (!found || !kw_op_find(word + (word[0] == '!'))) fail_msg("%s: '%s'", table[i].op, word);
    }
    assert_true(count > 0 && count <= 12); /* MAX_NEEDS */
  }
}

/* Whether a walk along what ops need comes back to `target`. Ops that need a kernel end it. */
static bool comes_to(const char *op, size_t length, const char *target, uint32_t depth) {
  assert_true(depth < 32);
  for (size_t i = 0; i < ROWS; ++i) {
    if (strlen(table[i].op) != length || memcmp(table[i].op, op, length) != 0) continue;
    for (const char *need = table[i].needs; *need; need += strspn(need, " ")) {
      const size_t size = strcspn(need, " /");
      if (*need != '!') {
        if (size == strlen(target) && memcmp(need, target, size) == 0) return true;
        if (comes_to(need, size, target, depth + 1)) return true;
      }
      need += strcspn(need, " ");
    }
  }
  return false;
}

static void no_op_comes_back_to_itself(void **state) {
  (void)state;
  for (size_t i = 0; i < ROWS; ++i) {
    if (comes_to(table[i].op, strlen(table[i].op), table[i].op, 0)) fail_msg("%s is served by itself", table[i].op);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(decomposes_sub_and_counts_it),
      TEST(decomposes_reductions_to_their_general_form),
      TEST(decomposes_casts_to_copies),
      TEST(makes_full_tensors_without_a_kernel),
      TEST(fills_dense_and_strided_memory_without_a_fill_kernel),
      TEST(joins_lists_by_kernel_or_by_copies),
      TEST(decomposes_replaced_parts_to_copies),
      TEST(decomposes_to_gather_and_scatter),
      cmocka_unit_test(rows_name_ops_and_dtypes),
      cmocka_unit_test(no_op_comes_back_to_itself),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
