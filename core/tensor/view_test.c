/* SPDX-License-Identifier: Apache-2.0
 *
 * Views are checked against a plain model: an array of values and, for each view, a rule that says from which index of
 * its source each element comes.
 */
#include "testing/test_device.h"

#define DIMS(...) ((int64_t[]){__VA_ARGS__})
#define COUNT(...) ((uint32_t)(sizeof DIMS(__VA_ARGS__) / sizeof(int64_t)))
#define LIST(...) COUNT(__VA_ARGS__), DIMS(__VA_ARGS__)

static test_device *test;

static int open_device(void **state) {
  (void)state;
  test = test_device_open("test:0", TEST_NATIVE_ALL);
  return 0;
}

static int close_device(void **state) {
  (void)state;
  test_device_close(test);
  return 0;
}

/* 0, 1, 2, ... */
static kw_tensor *counting(uint32_t rank, const int64_t *shape) {
  kw_tensor *tensor = NULL;
  assert_ok(kw_tensor_create(&test->device, KW_I32, rank, shape, &tensor));
  int32_t *values = calloc((size_t)tensor->ref.numel + 1, sizeof *values);
  for (int64_t i = 0; i < tensor->ref.numel; ++i) values[i] = (int32_t)i;
  assert_ok(kw_tensor_write(tensor, values));
  free(values);
  return tensor;
}

/* Shape and values; releases the tensor. */
static void expect(kw_tensor *tensor, uint32_t rank, const int64_t *shape, const int32_t *values) {
  assert_non_null(tensor);
  assert_int_equal(tensor->ref.rank, rank);
  int64_t numel = 1;
  for (uint32_t d = 0; d < rank; ++d) {
    assert_int_equal(tensor->ref.shape[d], shape[d]);
    numel *= shape[d];
  }
  assert_int_equal(tensor->ref.numel, numel);
  int32_t *got = calloc((size_t)numel + 1, sizeof *got);
  assert_ok(kw_tensor_read(tensor, got));
  for (int64_t i = 0; i < numel; ++i) assert_int_equal(got[i], values[i]);
  free(got);
  kw_tensor_release(tensor);
}

#define VALUES(...) ((int32_t[]){__VA_ARGS__})

static void view(void **state) {
  (void)state;
  kw_tensor *x = counting(LIST(2, 3, 4)), *v = NULL, *t = NULL;
  assert_ok(kw_tensor_view(x, LIST(6, -1), &v));
  assert_int_equal(v->ref.shape[1], 4);
  assert_int_equal(v->ref.strides[0], 4);
  assert_ptr_equal(v->buffer, x->buffer);
  kw_tensor_release(v);
  assert_ok(kw_tensor_view(x, LIST(1, 24, 1), &v));
  kw_tensor_release(v);
  /* [2, 4, 3] with strides 12, 1, 4: the first dimension can be split, the others cannot be joined. */
  assert_ok(kw_tensor_transpose(x, 1, 2, &t));
  assert_ok(kw_tensor_view(t, LIST(2, 1, 2, 2, 3), &v));
  assert_int_equal(v->ref.strides[2], 2);
  kw_tensor_release(v);
  v = NULL;
  assert_int_equal(kw_tensor_view(t, LIST(2, 12), &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_tensor_view");
  assert_error("Copy the tensor");
  assert_int_equal(kw_tensor_view(x, LIST(5, -1), &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("24 elements of i32[2, 3, 4]");
  assert_int_equal(kw_tensor_view(x, LIST(-1, -1), &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("only one");
  assert_int_equal(kw_tensor_view(x, LIST(-2, 12), &v), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_view(x, LIST(24, 2), &v), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_view(x, LIST(INT64_MAX, INT64_MAX), &v), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_view(x, KW_MAX_RANK + 1, DIMS(1), &v), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_view(x, 1, NULL, &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("argument shape");
  assert_int_equal(kw_tensor_view(NULL, LIST(1), &v), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_view(x, LIST(24), NULL), KW_ERR_INVALID_ARGUMENT);
  assert_null(v);
  kw_tensor_release(t);
  kw_tensor_release(x);
}

static void view_of_scalars_and_empty_tensors(void **state) {
  (void)state;
  kw_tensor *scalar = counting(0, NULL), *empty = counting(LIST(0, 3)), *v = NULL;
  assert_ok(kw_tensor_view(scalar, LIST(1, 1), &v));
  expect(v, LIST(1, 1), VALUES(0));
  assert_ok(kw_tensor_view(scalar, LIST(-1), &v));
  expect(v, LIST(1), VALUES(0));
  kw_tensor *one = counting(LIST(1, 1));
  assert_ok(kw_tensor_view(one, 0, NULL, &v));
  expect(v, 0, NULL, VALUES(0));
  kw_tensor_release(one);
  assert_ok(kw_tensor_view(empty, LIST(7, 0), &v));
  expect(v, LIST(7, 0), NULL);
  assert_ok(kw_tensor_view(empty, LIST(3, -1), &v));
  expect(v, LIST(3, 0), NULL);
  v = NULL;
  assert_int_equal(kw_tensor_view(empty, LIST(0, -1), &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("could be anything");
  assert_int_equal(kw_tensor_view(empty, LIST(3), &v), KW_ERR_INVALID_ARGUMENT);
  assert_null(v);
  kw_tensor_release(scalar);
  kw_tensor_release(empty);
}

static void as_strided(void **state) {
  (void)state;
  kw_tensor *x = counting(LIST(12)), *part = NULL, *v = NULL;
  assert_ok(kw_tensor_as_strided(x, 2, DIMS(3, 2), DIMS(4, 1), 2, &v));
  expect(v, LIST(3, 2), VALUES(2, 3, 6, 7, 10, 11));
  assert_ok(kw_tensor_as_strided(x, 2, DIMS(2, 3), DIMS(0, 5), 1, &v));
  expect(v, LIST(2, 3), VALUES(1, 6, 11, 1, 6, 11));
  assert_ok(kw_tensor_slice(x, 0, 5, 9, 1, &part));
  assert_ok(kw_tensor_as_strided(part, 1, DIMS(2), DIMS(1), 0, &v)); /* from the start of the memory */
  expect(v, LIST(2), VALUES(0, 1));
  v = NULL;
  assert_int_equal(kw_tensor_as_strided(x, 2, DIMS(3, 2), DIMS(4, 1), 3, &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_tensor_as_strided");
  assert_error("reaches past");
  assert_int_equal(kw_tensor_as_strided(x, 1, DIMS(2), DIMS(INT64_MAX), 0, &v), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_as_strided(x, 1, DIMS(2), DIMS(-1), 1, &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("stride -1");
  assert_int_equal(kw_tensor_as_strided(x, 1, DIMS(2), DIMS(1), -1, &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("storage_offset");
  assert_int_equal(kw_tensor_as_strided(x, 1, DIMS(2), DIMS(1), INT64_MAX, &v), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_as_strided(x, 1, DIMS(2), NULL, 0, &v), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_as_strided(x, 1, DIMS(-2), DIMS(1), 0, &v), KW_ERR_INVALID_ARGUMENT);
  assert_null(v);
  kw_tensor_release(part);
  kw_tensor_release(x);
}

static void expand(void **state) {
  (void)state;
  kw_tensor *x = counting(LIST(2, 1)), *v = NULL;
  assert_ok(kw_tensor_expand(x, LIST(2, -1, 3), &v));
  assert_int_equal(v->ref.strides[0], 0);
  assert_int_equal(v->ref.strides[2], 0);
  expect(v, LIST(2, 2, 3), VALUES(0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1));
  assert_ok(kw_tensor_expand(x, LIST(2, 0), &v));
  expect(v, LIST(2, 0), NULL);
  v = NULL;
  assert_int_equal(kw_tensor_expand(x, LIST(3, 1), &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_tensor_expand: size 3 of dimension 0 does not fit i32[2, 1]");
  assert_int_equal(kw_tensor_expand(x, LIST(-1, 2, 1), &v), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_expand(x, LIST(2), &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("rank 1 is below");
  assert_int_equal(kw_tensor_expand(x, LIST(INT64_MAX, 2, 1), &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("2^63");
  assert_null(v);
  kw_tensor_release(x);
}

static void order_of_dimensions(void **state) {
  (void)state;
  kw_tensor *x = counting(LIST(2, 3)), *scalar = counting(0, NULL), *v = NULL;
  assert_ok(kw_tensor_permute(x, LIST(-1, 0), &v));
  expect(v, LIST(3, 2), VALUES(0, 3, 1, 4, 2, 5));
  assert_ok(kw_tensor_transpose(x, 0, -1, &v));
  expect(v, LIST(3, 2), VALUES(0, 3, 1, 4, 2, 5));
  assert_ok(kw_tensor_transpose(scalar, 0, -1, &v));
  expect(v, 0, NULL, VALUES(0));
  assert_ok(kw_tensor_permute(scalar, 0, NULL, &v));
  expect(v, 0, NULL, VALUES(0));
  v = NULL;
  assert_int_equal(kw_tensor_permute(x, LIST(0, -2), &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("dimension 0 appears twice");
  assert_int_equal(kw_tensor_permute(x, LIST(0), &v), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_permute(x, LIST(0, 2), &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_tensor_permute: argument dims is 2, outside of [-2, 1]");
  assert_int_equal(kw_tensor_transpose(x, 0, 2, &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("argument dim1");
  assert_int_equal(kw_tensor_transpose(x, -3, 0, &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("argument dim0");
  assert_null(v);
  kw_tensor_release(scalar);
  kw_tensor_release(x);
}

static void select_and_slice(void **state) {
  (void)state;
  kw_tensor *x = counting(LIST(2, 4)), *scalar = counting(0, NULL), *empty = counting(LIST(0, 4)), *v = NULL;
  assert_ok(kw_tensor_select(x, 0, -1, &v));
  expect(v, LIST(4), VALUES(4, 5, 6, 7));
  assert_ok(kw_tensor_select(x, -1, 2, &v));
  expect(v, LIST(2), VALUES(2, 6));
  assert_ok(kw_tensor_select(empty, 1, 3, &v));
  expect(v, LIST(0), NULL);
  static const struct {
    int64_t start, end, step, size;
    int32_t values[4];
  } rows[] = {
      {0, INT64_MAX, 1, 4, {0, 1, 2, 3}}, {1, 4, 2, 2, {1, 3}}, {-2, INT64_MAX, 1, 2, {2, 3}},
      {INT64_MIN, -1, 1, 3, {0, 1, 2}},   {3, 1, 1, 0, {0}},    {9, 12, 1, 0, {0}},
      {0, 4, INT64_MAX, 1, {0}},          {4, 4, 1, 0, {0}},
  };
  kw_tensor *row = NULL;
  assert_ok(kw_tensor_select(x, 0, 0, &row));
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    assert_ok(kw_tensor_slice(row, 0, rows[i].start, rows[i].end, rows[i].step, &v));
    expect(v, LIST(rows[i].size), rows[i].values);
  }
  /* What is never stepped must not overflow in a kernel either. */
  assert_ok(kw_tensor_slice(row, 0, 0, 4, INT64_MAX, &v));
  assert_true(kw_tensor_describe(v)->strides[0] <= INT64_MAX / (int64_t)sizeof(int32_t));
  kw_tensor_release(v);
  assert_ok(kw_tensor_as_strided(row, 2, DIMS(0, 3), DIMS(INT64_MAX, INT64_MAX), 0, &v));
  assert_true(kw_tensor_describe(v)->strides[0] <= INT64_MAX / (int64_t)sizeof(int32_t));
  assert_true(kw_tensor_describe(v)->strides[1] <= INT64_MAX / (int64_t)sizeof(int32_t) / 3);
  kw_tensor_release(v);
  kw_tensor_release(row);
  v = NULL;
  assert_int_equal(kw_tensor_select(x, 1, 4, &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("kw_tensor_select: argument index is 4, but dimension 1 has 4 elements");
  assert_int_equal(kw_tensor_select(x, 1, -5, &v), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_select(x, 2, 0, &v), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_select(scalar, 0, 0, &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("no dimensions");
  assert_int_equal(kw_tensor_slice(scalar, 0, 0, 1, 1, &v), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_slice(x, 0, 0, 1, 0, &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("argument step is 0");
  assert_null(v);
  kw_tensor_release(empty);
  kw_tensor_release(scalar);
  kw_tensor_release(x);
}

static void squeeze_and_unsqueeze(void **state) {
  (void)state;
  kw_tensor *x = counting(LIST(2, 1, 3)), *scalar = counting(0, NULL), *v = NULL;
  static const int32_t all[] = {0, 1, 2, 3, 4, 5};
  assert_ok(kw_tensor_squeeze(x, -2, &v));
  expect(v, LIST(2, 3), all);
  assert_ok(kw_tensor_squeeze(x, 0, &v)); /* not of size 1: as it is */
  expect(v, LIST(2, 1, 3), all);
  assert_ok(kw_tensor_squeeze(scalar, -1, &v));
  expect(v, 0, NULL, all);
  assert_ok(kw_tensor_unsqueeze(x, 0, &v));
  assert_int_equal(v->ref.strides[0], 6);
  expect(v, LIST(1, 2, 1, 3), all);
  assert_ok(kw_tensor_unsqueeze(x, -1, &v));
  assert_int_equal(v->ref.strides[3], 1);
  expect(v, LIST(2, 1, 3, 1), all);
  assert_ok(kw_tensor_unsqueeze(scalar, 0, &v));
  expect(v, LIST(1), all);
  v = NULL;
  assert_int_equal(kw_tensor_squeeze(x, 3, &v), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_unsqueeze(x, 4, &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("outside of [-4, 3]");
  kw_tensor *deep = counting(16, DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
  assert_int_equal(kw_tensor_unsqueeze(deep, 0, &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("maximum rank");
  assert_null(v);
  kw_tensor_release(deep);
  kw_tensor_release(scalar);
  kw_tensor_release(x);
}

static void diagonal(void **state) {
  (void)state;
  kw_tensor *x = counting(LIST(3, 4)), *v = NULL;
  static const struct {
    int64_t offset, size;
    int32_t values[3];
  } rows[] = {{0, 3, {0, 5, 10}}, {1, 3, {1, 6, 11}}, {3, 1, {3}},         {4, 0, {0}},
              {-1, 2, {4, 9}},    {-2, 1, {8}},       {INT64_MIN, 0, {0}}, {INT64_MAX, 0, {0}}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    assert_ok(kw_tensor_diagonal(x, rows[i].offset, 0, 1, &v));
    expect(v, LIST(rows[i].size), rows[i].values);
  }
  assert_ok(kw_tensor_diagonal(x, 1, -1, 0, &v)); /* of the transpose */
  expect(v, LIST(2), VALUES(4, 9));
  kw_tensor *cube = counting(LIST(2, 3, 2));
  assert_ok(kw_tensor_diagonal(cube, 0, 0, 2, &v));
  expect(v, LIST(3, 2), VALUES(0, 7, 2, 9, 4, 11));
  v = NULL;
  assert_int_equal(kw_tensor_diagonal(x, 0, 1, -1, &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("both name dimension 1");
  assert_int_equal(kw_tensor_diagonal(x, 0, 0, 2, &v), KW_ERR_INVALID_ARGUMENT);
  assert_error("argument dim2");
  assert_null(v);
  kw_tensor_release(cube);
  kw_tensor_release(x);
}

static void split_with_sizes(void **state) {
  (void)state;
  kw_tensor *x = counting(LIST(2, 4)), *parts[3] = {NULL};
  assert_ok(kw_tensor_split_with_sizes(x, LIST(1, 0, 3), -1, parts));
  expect(parts[0], LIST(2, 1), VALUES(0, 4));
  expect(parts[1], LIST(2, 0), NULL);
  expect(parts[2], LIST(2, 3), VALUES(1, 2, 3, 5, 6, 7));
  memset(parts, 0, sizeof parts);
  assert_int_equal(kw_tensor_split_with_sizes(x, LIST(1, 2), 1, parts), KW_ERR_INVALID_ARGUMENT);
  assert_error("does not add up to the 4 elements of dimension 1");
  assert_int_equal(kw_tensor_split_with_sizes(x, LIST(INT64_MAX, INT64_MAX, 6), 1, parts), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_split_with_sizes(x, LIST(5, -1), 1, parts), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_split_with_sizes(x, LIST(-1, 5), 1, parts), KW_ERR_INVALID_ARGUMENT);
  assert_error("size -1 of piece 0");
  assert_int_equal(kw_tensor_split_with_sizes(x, 1, NULL, 1, parts), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_tensor_split_with_sizes(x, LIST(4), 2, parts), KW_ERR_INVALID_ARGUMENT);
  assert_null(parts[0]);
  kw_tensor_release(x);
}

static void views_share_and_keep_the_memory(void **state) {
  (void)state;
  kw_tensor *x = counting(LIST(4)), *v = NULL;
  assert_ok(kw_tensor_alias(x, &v));
  assert_ptr_equal(v->ref.mem, x->ref.mem);
  assert_int_equal(v->ref.offset, x->ref.offset);
  assert_ok(kw_tensor_write(x, VALUES(7, 8, 9, 10)));
  kw_tensor_release(x);
  assert_int_equal(test_stats(test).live, 1);
  expect(v, LIST(4), VALUES(7, 8, 9, 10));
  assert_int_equal(test_stats(test).live, 0);
}

static void alignment_of_views(void **state) {
  (void)state;
  kw_tensor *x = counting(LIST(16, 16)), *v = NULL;
  static const uint32_t alignments[] = {256, 64, 128, 64, 256};
  for (int64_t i = 0; i < 5; ++i) {
    assert_ok(kw_tensor_select(x, 0, i, &v));
    assert_int_equal(v->ref.alignment, alignments[i]);
    kw_tensor_release(v);
  }
  assert_ok(kw_tensor_select(x, 1, 3, &v));
  assert_int_equal(v->ref.alignment, 4);
  kw_tensor_release(v);
  kw_tensor_release(x);
}

/* ---- Chains of views against the model --------------------------------------------------------------------------- */

typedef struct model {
  uint32_t rank;
  int64_t shape[KW_MAX_RANK];
  int64_t numel;
  int32_t *values; /* row-major */
} model;

/* p: parameters of the view. Fills the source's index from the view's. */
typedef void (*index_rule)(const int64_t *p, uint32_t rank, const int64_t *index, int64_t *source);

static void model_apply(model *m, uint32_t rank, const int64_t *shape, index_rule rule, const int64_t *p) {
  model made = {.rank = rank, .numel = 1};
  for (uint32_t d = 0; d < rank; ++d) made.numel *= made.shape[d] = shape[d];
  made.values = calloc((size_t)made.numel + 1, sizeof *made.values);
  for (int64_t i = 0; i < made.numel; ++i) {
    int64_t index[KW_MAX_RANK + 1], source[KW_MAX_RANK + 1], rest = i, flat = 0;
    for (uint32_t d = rank; d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
    rule(p, rank, index, source);
    for (uint32_t d = 0; d < m->rank; ++d) flat = flat * m->shape[d] + source[d];
    made.values[i] = m->values[flat];
  }
  free(m->values);
  *m = made;
}

static void rule_transpose(const int64_t *p, uint32_t rank, const int64_t *index, int64_t *source) {
  memcpy(source, index, rank * sizeof *index);
  source[p[0]] = index[p[1]];
  source[p[1]] = index[p[0]];
}

static void rule_select(const int64_t *p, uint32_t rank, const int64_t *index, int64_t *source) {
  for (uint32_t d = 0; d <= rank; ++d) source[d] = d < p[0] ? index[d] : d == p[0] ? p[1] : index[d - 1];
}

static void rule_slice(const int64_t *p, uint32_t rank, const int64_t *index, int64_t *source) {
  memcpy(source, index, rank * sizeof *index);
  source[p[0]] = p[1] + index[p[0]] * p[2];
}

static void rule_unsqueeze(const int64_t *p, uint32_t rank, const int64_t *index, int64_t *source) {
  for (uint32_t d = 0; d + 1 < rank; ++d) source[d] = index[d < p[0] ? d : d + 1];
}

static void rule_expand(const int64_t *p, uint32_t rank, const int64_t *index, int64_t *source) {
  memcpy(source, index, rank * sizeof *index);
  source[p[0]] = 0;
}

static void rule_diagonal(const int64_t *p, uint32_t rank, const int64_t *index, int64_t *source) {
  uint32_t at = 0;
  for (uint32_t d = 0; d <= rank; ++d) {
    int64_t along = index[rank - 1];
    if (d == p[1]) {
      source[d] = along + (p[0] < 0 ? -p[0] : 0);
    } else if (d == p[2]) {
      source[d] = along + (p[0] > 0 ? p[0] : 0);
    } else {
      source[d] = index[at++];
    }
  }
}

static unsigned seed;

static int64_t pick(int64_t count) {
  return (int64_t)(rand_r(&seed) % (unsigned)count);
}

/* One random view of both; returns the new tensor, the old one is released. */
static kw_tensor *random_view(kw_tensor *tensor, model *m) {
  kw_tensor *v = NULL;
  int64_t shape[KW_MAX_RANK], rank = m->rank, dim = rank > 0 ? pick(rank) : 0;
  memcpy(shape, m->shape, sizeof shape);
  int choice = (int)pick(7);
  if (choice == 0 && rank > 0) {
    int64_t other = pick(rank);
    assert_ok(kw_tensor_transpose(tensor, dim, other - rank, &v));
    shape[dim] = m->shape[other];
    shape[other] = m->shape[dim];
    model_apply(m, (uint32_t)rank, shape, rule_transpose, DIMS(dim, other));
  } else if (choice == 1 && rank > 2 && shape[dim] > 0) {
    int64_t index = pick(shape[dim]);
    assert_ok(kw_tensor_select(tensor, dim, index, &v));
    memmove(&shape[dim], &shape[dim + 1], (size_t)(rank - dim - 1) * sizeof *shape);
    model_apply(m, (uint32_t)rank - 1, shape, rule_select, DIMS(dim, index));
  } else if (choice == 2 && rank > 0 && shape[dim] > 1) {
    int64_t start = pick(shape[dim]), step = 1 + pick(2), end = start + 1 + pick(shape[dim] - start);
    assert_ok(kw_tensor_slice(tensor, dim, start, end, step, &v));
    shape[dim] = (end - start + step - 1) / step;
    model_apply(m, (uint32_t)rank, shape, rule_slice, DIMS(dim, start, step));
  } else if (choice == 3 && rank < 5) {
    assert_ok(kw_tensor_unsqueeze(tensor, dim, &v));
    memmove(&shape[dim + 1], &shape[dim], (size_t)(rank - dim) * sizeof *shape);
    shape[dim] = 1;
    model_apply(m, (uint32_t)rank + 1, shape, rule_unsqueeze, DIMS(dim));
  } else if (choice == 4 && rank > 0 && shape[dim] == 1 && m->numel < 500) {
    shape[dim] = 1 + pick(3);
    assert_ok(kw_tensor_expand(tensor, (uint32_t)rank, shape, &v));
    model_apply(m, (uint32_t)rank, shape, rule_expand, DIMS(dim));
  } else if (choice == 5 && rank > 2) {
    int64_t other = (dim + 1 + pick(rank - 1)) % rank, offset = pick(3) - 1;
    int64_t rows = m->shape[dim] - (offset < 0), columns = m->shape[other] - (offset > 0);
    assert_ok(kw_tensor_diagonal(tensor, offset, dim, other, &v));
    uint32_t at = 0;
    for (int64_t d = 0; d < rank; ++d) {
      if (d != dim && d != other) shape[at++] = m->shape[d];
    }
    shape[at++] = rows < columns ? rows : columns;
    model_apply(m, at, shape, rule_diagonal, DIMS(offset, dim, other));
  } else { /* flattened where strides allow; the model's values stay as they are */
    if (kw_tensor_view(tensor, LIST(-1), &v) != KW_OK) return tensor;
    m->rank = 1;
    m->shape[0] = m->numel;
  }
  kw_tensor_release(tensor);
  return v;
}

static void chains_of_views(void **state) {
  (void)state;
  for (seed = 1; seed < 300; ++seed) {
    unsigned start = seed;
    model m = {.rank = 4, .shape = {3, 4, 2, 5}, .numel = 120};
    m.values = calloc(121, sizeof *m.values);
    for (int32_t i = 0; i < 120; ++i) m.values[i] = i;
    kw_tensor *tensor = counting(m.rank, m.shape);
    for (int i = 0; i < 8 && m.numel > 0; ++i) tensor = random_view(tensor, &m);
    expect(tensor, m.rank, m.shape, m.values);
    free(m.values);
    seed = start;
  }
}

static void expect_floats(kw_tensor *tensor, const float *values, size_t count) {
  float got[16];
  assert_int_equal(tensor->ref.numel * (int64_t)kw_dtype_size(tensor->ref.dtype), count * sizeof *got);
  assert_ok(kw_tensor_read(tensor, got));
  for (size_t i = 0; i < count; ++i) assert_true(got[i] == values[i]);
}

static void parts_of_complex_numbers(void **state) {
  (void)state;
  kw_tensor *x, *turned, *parts, *one, *back, *steps;
  const float values[] = {1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6};
  assert_ok(kw_tensor_create(&test->device, KW_C64, 2, DIMS(2, 3), &x));
  assert_ok(kw_tensor_write(x, values));
  assert_ok(kw_tensor_transpose(x, 0, 1, &turned));
  assert_ok(kw_tensor_view_as_real(turned, &parts));
  assert_true(parts->ref.dtype == KW_F32 && parts->ref.rank == 3 && parts->ref.shape[2] == 2);
  expect_floats(parts, (float[]){1, -1, 4, -4, 2, -2, 5, -5, 3, -3, 6, -6}, 12);
  assert_ok(kw_tensor_select(parts, -1, 1, &one)); /* imaginary parts */
  expect_floats(one, (float[]){-1, -4, -2, -5, -3, -6}, 6);
  assert_ok(kw_tensor_view_as_complex(parts, &back));
  assert_true(back->ref.dtype == KW_C64 && back->ref.rank == 2);
  expect_floats(back, (float[]){1, -1, 4, -4, 2, -2, 5, -5, 3, -3, 6, -6}, 12);
  kw_tensor_release(back);
  /* a part, with an offset; real parts written through a view are the numbers' */
  assert_ok(kw_tensor_slice(parts, 0, 1, 3, 1, &steps));
  assert_ok(kw_tensor_view_as_complex(steps, &back));
  expect_floats(back, (float[]){2, -2, 5, -5, 3, -3, 6, -6}, 8);
  assert_ok(kw_tensor_write(one, (float[]){0, 0, 0, 0, 0, 9}));
  expect_floats(x, (float[]){1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 9}, 12);
  kw_tensor_release(back), kw_tensor_release(steps);

  assert_int_equal(kw_tensor_view_as_real(parts, &back), KW_ERR_INVALID_ARGUMENT);
  assert_error("a tensor of f32 has no real and imaginary parts");
  assert_int_equal(kw_tensor_view_as_complex(x, &back), KW_ERR_INVALID_ARGUMENT);
  assert_error("numbers of c64 are no parts");
  assert_int_equal(kw_tensor_view_as_complex(one, &back), KW_ERR_INVALID_ARGUMENT); /* [3, 2], two steps apart */
  assert_error("do not lie in memory as those of complex numbers do");
  kw_tensor *row, *odd, *empty;
  assert_ok(kw_tensor_create(&test->device, KW_F32, 1, DIMS(8), &row));
  assert_int_equal(kw_tensor_view_as_complex(row, &back), KW_ERR_INVALID_ARGUMENT);
  assert_error("the last dimension of");
  assert_ok(kw_tensor_as_strided(row, 2, DIMS(2, 2), DIMS(3, 1), 0, &odd)); /* an odd step */
  assert_int_equal(kw_tensor_view_as_complex(odd, &back), KW_ERR_INVALID_ARGUMENT);
  kw_tensor_release(odd);
  assert_ok(kw_tensor_as_strided(row, 2, DIMS(2, 2), DIMS(2, 1), 1, &odd)); /* an odd offset */
  assert_int_equal(kw_tensor_view_as_complex(odd, &back), KW_ERR_INVALID_ARGUMENT);
  assert_ok(kw_tensor_create(&test->device, KW_F64, 2, DIMS(0, 2), &empty));
  assert_ok(kw_tensor_view_as_complex(empty, &back));
  assert_true(back->ref.dtype == KW_C128 && back->ref.rank == 1 && back->ref.shape[0] == 0);
  kw_tensor_release(back), kw_tensor_release(empty), kw_tensor_release(odd), kw_tensor_release(row);
  kw_tensor_release(x), kw_tensor_release(turned), kw_tensor_release(parts), kw_tensor_release(one);
}

static void reinterpret(void **state) {
  (void)state;
  kw_tensor *bytes, *floats, *halves, *view;
  assert_ok(kw_tensor_create(&test->device, KW_U8, 1, DIMS(24), &bytes));
  assert_ok(kw_tensor_reinterpret(bytes, KW_F32, 2, DIMS(3, 2), DIMS(1, 3), 0, &floats));
  assert_ok(kw_tensor_write(floats, (float[]){1, 2, 3, 4, 5, 6}));
  assert_ok(kw_tensor_reinterpret(floats, KW_F32, 1, DIMS(6), DIMS(1), 0, &view)); /* as it lies in memory */
  expect_floats(view, (float[]){1, 3, 5, 2, 4, 6}, 6);
  kw_tensor_release(view);
  /* the place counts from the start of the memory, whatever view it is asked of */
  assert_ok(kw_tensor_select(floats, 1, 1, &halves));
  assert_ok(kw_tensor_reinterpret(halves, KW_F32, 1, DIMS(2), DIMS(2), 4, &view));
  expect_floats(view, (float[]){3, 2}, 2);
  kw_tensor_release(view), kw_tensor_release(halves);
  assert_ok(kw_tensor_reinterpret(floats, KW_I16, 1, DIMS(2), DIMS(1), 20, &halves)); /* 6.0f = 0x40c00000 */
  int16_t words[2];
  assert_ok(kw_tensor_read(halves, words));
  assert_true(words[0] == 0 && words[1] == 0x40c0);

  assert_int_equal(kw_tensor_reinterpret(bytes, KW_F32, 1, DIMS(1), DIMS(1), 2, &view), KW_ERR_INVALID_ARGUMENT);
  assert_error("argument byte_offset is 2, no multiple of the size of f32");
  assert_int_equal(kw_tensor_reinterpret(bytes, KW_F32, 1, DIMS(6), DIMS(1), 4, &view), KW_ERR_INVALID_ARGUMENT);
  assert_error("reaches past its memory of 24 bytes");
  assert_int_equal(kw_tensor_reinterpret(bytes, KW_F32, 1, DIMS(2), DIMS(-1), 4, &view), KW_ERR_INVALID_ARGUMENT);
  assert_error("stride -1 of dimension 0 is negative");
  assert_int_equal(kw_tensor_reinterpret(bytes, 99, 1, DIMS(2), DIMS(1), 0, &view), KW_ERR_INVALID_ARGUMENT);
  kw_tensor_release(bytes), kw_tensor_release(floats), kw_tensor_release(halves);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(view),
      cmocka_unit_test(view_of_scalars_and_empty_tensors),
      cmocka_unit_test(as_strided),
      cmocka_unit_test(expand),
      cmocka_unit_test(order_of_dimensions),
      cmocka_unit_test(select_and_slice),
      cmocka_unit_test(squeeze_and_unsqueeze),
      cmocka_unit_test(diagonal),
      cmocka_unit_test(split_with_sizes),
      cmocka_unit_test(views_share_and_keep_the_memory),
      cmocka_unit_test(alignment_of_views),
      cmocka_unit_test(chains_of_views),
      cmocka_unit_test(parts_of_complex_numbers),
      cmocka_unit_test(reinterpret),
  };
  return cmocka_run_group_tests(tests, open_device, close_device);
}
