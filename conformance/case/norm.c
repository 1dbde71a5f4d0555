/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of softmax and of normalisation over the last dimensions.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <string.h>

/* A shape, and softmax's dim, or how many of its last dimensions are normalised over. */
typedef struct norm_row {
  kw_shape shape;
  int64_t dims;
} norm_row;

typedef struct norm_rows {
  const norm_row *rows;
  uint32_t count;
} norm_rows;

#define ROWS(array) \
  { array, COUNT(array) }

/* The row of a case's number. In the classes about layouts every row comes with every layout, as long as there are
 * layouts: rows repeat. */
static bool pick_row(const kw_case *c, const norm_rows *rows, norm_row *out) {
  const norm_rows *mine = &rows[c->class];
  if (mine->count == 0 || (!kw_case_about_layouts(c->class) && c->number >= mine->count)) return false;
  *out = mine->rows[c->number % mine->count];
  return true;
}

/* What rows hold in the class SPECIAL, by number. */
typedef struct special_rows {
  kw_domain domain;
  bool whole; /* all of a row has one value */
} special_rows;

static bool set_special(kw_case *c, const special_rows *specials, uint32_t count, int64_t row_length) {
  if (c->class != KW_CLASS_SPECIAL) return true;
  if (c->number >= count) return false;
  const special_rows *special = &specials[c->number];
  bool spread = special->whole || special->domain == KW_DOMAIN_SPECIAL_ROW;
  c->tensors[0].domain = special->domain;
  c->tensors[0].value_stride = spread ? (uint32_t)row_length : 1;
  return true;
}

/* Values whose exponentials differ little, much, and by more than any float holds. */
static kw_domain usual_domain(const kw_case *c) {
  static const kw_domain domains[] = {KW_DOMAIN_ANY, KW_DOMAIN_NEAR, KW_DOMAIN_UNIT};
  return domains[c->number % COUNT(domains)];
}

/* ---- Softmax ----------------------------------------------------------------------------------------------------- */

static const norm_row line_scalar[] = {{{0, {0}}, 0}, {{0, {0}}, -1}};
static const norm_row line_empty[] = {{{3, {2, 0, 3}}, 1}, {{3, {2, 0, 3}}, -1}, {{1, {0}}, 0}};
static const norm_row line_one[] = {{{1, {1}}, 0}, {{3, {1, 1, 1}}, 1}, {{2, {5, 1}}, -1}};
static const norm_row line_prime[] = {{{1, {7}}, 0},
                                      {{1, {1021}}, -1},
                                      {{2, {13, 5}}, 1},
                                      {{2, {13, 5}}, 0},
                                      {{3, {3, 5, 7}}, 1},
                                      {{4, {2, 3, 5, 7}}, -2},
                                      {{2, {1021, 3}}, 0},
                                      {{1, {4099}}, 0},
                                      {{5, {2, 1, 3, 2, 5}}, 3},
                                      /* far from the last dimension, which is where devices count from */
                                      {{5, {7, 2, 3, 2, 4}}, 0},
                                      {{6, {2, 7, 2, 3, 2, 3}}, -5},
                                      {{8, {3, 2, 2, 2, 2, 2, 5, 2}}, -2},
                                      {{16, {2, 1, 5, 1, 2, 1, 2, 1, 1, 2, 1, 2, 1, 3, 1, 2}}, -14}};
static const norm_row line_large[] = {{{1, {65537}}, 0}, {{2, {257, 263}}, 1}, {{2, {257, 263}}, 0}};
static const norm_row line_layout[] = {{{2, {6, 5}}, 1}, {{3, {4, 3, 5}}, 1}, {{2, {67, 129}}, 0}};
static const norm_row line_outputs[] = {
    {{2, {5, 11}}, 1}, {{3, {5, 11, 7}}, 2}, {{3, {5, 11, 7}}, 0}, {{2, {11, 5}}, 0}};
static const norm_row line_special[] = {{{2, {53, 7}}, 1},
                                        {{2, {53, 7}}, 1},
                                        {{2, {53, 7}}, 1},
                                        {{2, {53, 7}}, 1},
                                        {{2, {53, 7}}, 1},
                                        {{2, {53, 7}}, 1},
                                        {{2, {53, 7}}, 1},
                                        /* rows of nothing but -inf, and such */
                                        {{2, {KW_VALUE_END_ROWS, 70}}, 1},
                                        {{2, {70, KW_VALUE_END_ROWS}}, 0},
                                        {{2, {KW_VALUE_END_ROWS, 1100}}, -1}};
enum { OTHER_LINES = 7 }; /* before those */
static const norm_row line_deep = {{6, {2, 7, 2, 3, 2, 3}}, 1};
static const norm_row line_attrs[] = {{{3, {3, 5, 7}}, 0},  {{3, {3, 5, 7}}, 1},  {{3, {3, 5, 7}}, 2},
                                      {{3, {3, 5, 7}}, -1}, {{3, {3, 5, 7}}, -2}, {{3, {3, 5, 7}}, -3}};
static const norm_rows line_rows[KW_CLASS_COUNT] = {
    [KW_CLASS_SCALAR] = ROWS(line_scalar),   [KW_CLASS_EMPTY] = ROWS(line_empty),
    [KW_CLASS_ONE] = ROWS(line_one),         [KW_CLASS_PRIME] = ROWS(line_prime),
    [KW_CLASS_LARGE] = ROWS(line_large),     [KW_CLASS_TRANSPOSED] = ROWS(line_layout),
    [KW_CLASS_SLICED] = ROWS(line_layout),   [KW_CLASS_STRIDE0] = ROWS(line_layout),
    [KW_CLASS_OUTPUTS] = ROWS(line_outputs), [KW_CLASS_SPECIAL] = ROWS(line_special),
    [KW_CLASS_ATTRS] = ROWS(line_attrs)};

static bool has_ends(const kw_case *c) {
  return c->class == KW_CLASS_SPECIAL && c->number >= OTHER_LINES;
}

bool kw_case_make_softmax(kw_case *c) {
  static const special_rows specials[] = {
      {KW_DOMAIN_SPECIAL_ROW, false}, {KW_DOMAIN_FEW, false},  {KW_DOMAIN_SPECIAL, false}, {KW_DOMAIN_SPECIAL, true},
      {KW_DOMAIN_OFFSET, false},      {KW_DOMAIN_HUGE, false}, {KW_DOMAIN_TINY, false}};
  norm_row row;
  kw_layout in_layout = KW_LAYOUT_DENSE;
  if (!pick_row(c, line_rows, &row)) return false;
  if (kw_case_is_deep(c, 1)) row = line_deep;
  if (!kw_case_pick_deep_layout(c, 0, 1, &in_layout)) return false;

  kw_case_resize(c, &row.shape);
  kw_case_set_tensor(c, 0, c->key, &row.shape, in_layout);
  c->tensors[0].domain = usual_domain(c);
  if (has_ends(c)) {
    kw_case_set_ends(&c->tensors[0], row.dims);
  } else if (!set_special(c, specials, COUNT(specials), row.shape.dims[1])) {
    return false;
  }
  bool to_float = c->key == KW_F16 && c->class != KW_CLASS_SPECIAL && c->number % 2 == 1;
  kw_case_give(c, 1, (kw_value){.tag = KW_TAG_INT, .u.i = row.dims});
  kw_case_give(c, 2, (kw_value){.tag = KW_TAG_BOOL, .u.b = to_float});
  c->promoted = 1;
  c->terms = 1;
  kw_layout layout_out = kw_case_out_layout(c);
  kw_case_set_result(c, 0, to_float ? KW_F32 : c->key, &row.shape, layout_out);
  return true;
}

/* Gradients, and results that need not be those of a forward. */
bool kw_case_make_softmax_backward(kw_case *c) {
  static const kw_domain domains[][2] = {{KW_DOMAIN_SPECIAL_ROW, KW_DOMAIN_SMALL}, {KW_DOMAIN_SMALL, KW_DOMAIN_FEW},
                                         {KW_DOMAIN_FEW, KW_DOMAIN_SPECIAL_ROW},   {KW_DOMAIN_OFFSET, KW_DOMAIN_UNIT},
                                         {KW_DOMAIN_UNIT, KW_DOMAIN_OFFSET},       {KW_DOMAIN_TINY, KW_DOMAIN_UNIT},
                                         {KW_DOMAIN_UNIT, KW_DOMAIN_TINY}};
  const bool log = strcmp(c->op->name, "_log_softmax_backward_data") == 0;
  norm_row row;
  kw_layout layouts[2];
  if (!pick_row(c, line_rows, &row)) return false;
  if (c->class == KW_CLASS_LARGE && c->key == KW_F64) return false; /* its oracle's exp is slow */
  if (kw_case_is_deep(c, 2)) row = line_deep;
  kw_case_resize(c, &row.shape);
  for (uint32_t i = 0; i < 2; i++) {
    if (!kw_case_pick_deep_layout(c, i, 2, &layouts[i])) return false;
    kw_case_set_tensor(c, i, c->key, &row.shape, layouts[i]);
    c->tensors[i].domain = i == 0 ? usual_domain(c) : log ? KW_DOMAIN_NEAR : KW_DOMAIN_UNIT;
    if (has_ends(c)) c->tensors[i].domain = KW_DOMAIN_SMALL;
    if (has_ends(c) && i == log) kw_case_set_ends(&c->tensors[i], row.dims); /* a logarithm, or the gradient */
    if (c->class != KW_CLASS_SPECIAL || has_ends(c)) continue;
    c->tensors[i].domain = log && domains[c->number][i] == KW_DOMAIN_OFFSET ? KW_DOMAIN_NEAR : domains[c->number][i];
    c->tensors[i].value_stride = (uint32_t)row.shape.dims[1];
  }
  const bool from_half = c->key == KW_F32 && c->number % 2 == 1;
  const kw_dtype result = from_half ? KW_F16 : c->key;
  kw_case_give(c, 2, (kw_value){.tag = KW_TAG_INT, .u.i = row.dims});
  kw_case_give(c, 3, (kw_value){.tag = KW_TAG_DTYPE, .u.dtype = result});
  c->promoted = 3;
  c->terms = 1;
  kw_case_set_result(c, 0, result, &row.shape, kw_case_out_layout(c));
  return true;
}

/* ---- Normalisation ----------------------------------------------------------------------------------------------- */

/* Dtypes of input, weight and bias that promote to the key. */
static bool mixed_dtypes(const kw_case *c, kw_dtype out[3]) {
  static const struct {
    kw_dtype key, dtypes[3];
  } mixed[] = {
      {KW_F32, {KW_BF16, KW_F32, KW_F32}}, {KW_F32, {KW_F32, KW_F16, KW_BF16}}, {KW_F32, {KW_F16, KW_BF16, KW_F16}},
      {KW_F64, {KW_F32, KW_F64, KW_F16}},  {KW_F64, {KW_F64, KW_F32, KW_F32}},
  };
  uint32_t seen = 0;
  for (uint32_t i = 0; i < COUNT(mixed); i++) {
    if (mixed[i].key != c->key || seen++ != c->number) continue;
    memcpy(out, mixed[i].dtypes, sizeof mixed[i].dtypes);
    return true;
  }
  return false;
}

/* Two arguments that are one tensor: weight and bias, or input and weight. */
static void set_aliases(kw_case *c) {
  bool parameters = c->tensors[3].given && c->number == 0;
  uint32_t first = parameters ? 2 : 0, second = parameters ? 3 : 2;
  c->tensors[second].share = (int)first;
  c->tensors[second].domain = c->tensors[first].domain;
}

/* Numbers of the class SPECIAL before those of kw_case_small. */
enum { OTHER_NORMS = 5 };

static bool has_small_rows(const kw_case *c) {
  return c->class == KW_CLASS_SPECIAL && c->number >= OTHER_NORMS;
}

/* Weight, bias and eps, each there or not in all combinations. False when a layout has run out. */
static bool set_parameters(kw_case *c, const kw_shape *shape, const kw_dtype *dtypes, bool layouts) {
  static const double epsilons[] = {1e-5, 1e-12, 0, 0.1};
  bool has_bias = kw_suite_op_find_arg(c->op, "bias") >= 0, forced = c->class == KW_CLASS_MIXED;
  bool aliasing = c->class == KW_CLASS_ALIASING;
  uint32_t eps = has_bias ? 4 : 3, tensors = has_bias ? 3 : 2;
  for (uint32_t i = 2; i <= tensors; i++) {
    kw_layout layout = KW_LAYOUT_DENSE;
    if (!kw_case_pick_deep_layout(c, i - 1, tensors, &layout)) return false;
    if (forced || aliasing || layouts || c->number >> (i - 2) & 1) {
      kw_case_set_tensor(c, i, dtypes[i - 1], shape, layout);
      c->promoted |= 1u << i;
    }
  }
  bool equal = c->class == KW_CLASS_STRIDE0 || c->class == KW_CLASS_ONE; /* rows without variance need an eps */
  uint32_t which = c->class == KW_CLASS_SPECIAL || equal ? 0 : (c->number + c->number / 4) % COUNT(epsilons);
  if (has_small_rows(c)) {
    const double small = kw_case_small(c->number - OTHER_NORMS).eps;
    kw_case_give(c, eps, (kw_value){.tag = KW_TAG_FLOAT, .u.f = small});
  } else if (has_bias || c->number % 3 != 0) {
    kw_case_give(c, eps, (kw_value){.tag = KW_TAG_FLOAT, .u.f = epsilons[which]});
  } else if (!c->op->args[eps].has_default) {
    kw_case_give(c, eps, (kw_value){.tag = KW_TAG_NONE});
  }
  return true;
}

bool kw_case_make_norm(kw_case *c) {
  static const norm_row empty[] = {{{3, {2, 0, 3}}, 1}, {{2, {0, 3}}, 1}, {{2, {2, 0}}, 1}, {{3, {2, 3, 0}}, 2}};
  static const norm_row one[] = {{{1, {1}}, 1}, {{3, {1, 1, 1}}, 2}, {{2, {5, 1}}, 1}};
  static const norm_row prime[] = {{{1, {7}}, 1},
                                   {{1, {1021}}, 1},
                                   {{2, {13, 5}}, 1},
                                   {{3, {3, 5, 7}}, 2},
                                   {{3, {3, 5, 7}}, 1},
                                   {{4, {2, 3, 5, 7}}, 3},
                                   {{2, {3, 1021}}, 1},
                                   {{1, {4099}}, 1},
                                   {{2, {13, 5}}, 2},
                                   {{5, {2, 1, 3, 2, 5}}, 3},
                                   {{2, {5, 2}}, 1},
                                   {{6, {2, 3, 2, 2, 3, 2}}, 5},
                                   {{8, {2, 3, 2, 2, 2, 1, 5, 2}}, 2}};
  static const norm_row deep = {{6, {2, 5, 2, 3, 2, 3}}, 4};
  static const norm_row large[] = {
      {{1, {65537}}, 1}, {{2, {257, 263}}, 1}, {{3, {2, 131, 257}}, 2}, {{2, {21851, 3}}, 1}};
  static const norm_row layout[] = {{{2, {6, 5}}, 1}, {{3, {4, 3, 5}}, 2}, {{2, {67, 129}}, 1}};
  static const norm_row outputs[] = {{{2, {5, 11}}, 1}, {{3, {5, 11, 7}}, 2}, {{3, {5, 11, 7}}, 1}, {{2, {11, 5}}, 1}};
  static const norm_row special[] = {{{2, {53, 7}}, 1}, {{2, {53, 7}}, 1}, {{2, {53, 7}}, 1}, {{2, {53, 7}}, 1},
                                     {{2, {53, 7}}, 1}, {{2, {53, 7}}, 1}, {{2, {53, 7}}, 1}, {{2, {53, 7}}, 1}};
  static const norm_row attrs[] = {{{3, {3, 5, 7}}, 1}, {{3, {3, 5, 7}}, 2}, {{3, {3, 5, 7}}, 3}, {{3, {3, 5, 7}}, 1},
                                   {{3, {3, 5, 7}}, 3}, {{3, {3, 5, 7}}, 1}, {{3, {3, 5, 7}}, 2}, {{3, {3, 5, 7}}, 3},
                                   {{3, {3, 5, 7}}, 2}, {{3, {3, 5, 7}}, 3}, {{3, {3, 5, 7}}, 1}, {{3, {3, 5, 7}}, 2}};
  static const norm_row mixed[] = {{{2, {7, 9}}, 1}, {{2, {7, 9}}, 1}, {{2, {7, 9}}, 2}};
  static const norm_row aliasing[] = {{{1, {37}}, 1}, {{1, {37}}, 1}};
  static const norm_rows rows[KW_CLASS_COUNT] = {
      [KW_CLASS_EMPTY] = ROWS(empty),    [KW_CLASS_ONE] = ROWS(one),           [KW_CLASS_PRIME] = ROWS(prime),
      [KW_CLASS_LARGE] = ROWS(large),    [KW_CLASS_TRANSPOSED] = ROWS(layout), [KW_CLASS_SLICED] = ROWS(layout),
      [KW_CLASS_STRIDE0] = ROWS(layout), [KW_CLASS_OUTPUTS] = ROWS(outputs),   [KW_CLASS_SPECIAL] = ROWS(special),
      [KW_CLASS_ATTRS] = ROWS(attrs),    [KW_CLASS_MIXED] = ROWS(mixed),       [KW_CLASS_ALIASING] = ROWS(aliasing)};
  static const special_rows specials[] = {{KW_DOMAIN_SPECIAL_ROW, false},
                                          {KW_DOMAIN_FEW, false},
                                          {KW_DOMAIN_OFFSET, false},
                                          {KW_DOMAIN_HUGE, false},
                                          {KW_DOMAIN_TINY, false}};
  norm_row row;
  kw_layout in_layout = KW_LAYOUT_DENSE;
  kw_dtype dtypes[3] = {c->key, c->key, c->key};
  if (!pick_row(c, rows, &row)) return false;
  if (c->class == KW_CLASS_MIXED && !mixed_dtypes(c, dtypes)) return false;
  bool layouts = rows[c->class].rows == layout, has_bias = kw_suite_op_find_arg(c->op, "bias") >= 0;
  if (kw_case_is_deep(c, has_bias ? 3 : 2)) row = deep;
  if (c->class == KW_CLASS_ALIASING && !has_bias && c->number > 0) return false;
  if (!kw_case_pick_deep_layout(c, 0, has_bias ? 3 : 2, &in_layout)) return false;

  kw_case_resize(c, &row.shape);
  kw_shape normalized = {(uint32_t)row.dims, {0}};
  uint32_t outer = row.shape.rank - normalized.rank;
  memcpy(normalized.dims, row.shape.dims + outer, normalized.rank * sizeof(int64_t));
  kw_case_set_tensor(c, 0, dtypes[0], &row.shape, in_layout);
  c->promoted = 1;
  c->tensors[0].domain = usual_domain(c);
  if (has_small_rows(c)) {
    c->tensors[0].domain = kw_case_small(c->number - OTHER_NORMS).domain;
    c->tensors[0].value_stride = kw_case_small(c->number - OTHER_NORMS).stride;
  } else if (!set_special(c, specials, COUNT(specials), row.shape.dims[1])) {
    return false;
  }
  kw_case_give_ints(c, 1, normalized.dims, normalized.rank);
  if (!set_parameters(c, &normalized, dtypes, layouts)) return false;
  if (c->class == KW_CLASS_ALIASING) set_aliases(c);
  c->terms = 1;

  kw_layout layout_out = kw_case_out_layout(c);
  kw_case_set_result(c, 0, c->key, &row.shape, layout_out);
  for (uint32_t d = outer; d < row.shape.rank; d++) row.shape.dims[d] = 1;
  for (uint32_t r = 1; r < c->op->result_count; r++) {
    kw_case_set_result(c, r, kw_element_compute(c->key), &row.shape, layout_out);
  }
  return true;
}
