/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of reductions, and of scans along a dimension.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <keyway/keyway.h>

#include <string.h>

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

/* In dims[0] of a row without dimensions: an empty list says so, not an absent one. */
enum { EMPTY_LIST = 1 };

/* What is reduced: a shape, and the dimensions ("all" when dim_count is 0). */
typedef struct reduce_row {
  kw_shape shape;
  uint32_t dim_count;
  int64_t dims[6];
} reduce_row;

static const reduce_row scalar_rows[] = {{{0, {0}}, 0, {0}}};
static const reduce_row empty_rows[] = {{{3, {2, 0, 3}}, 1, {2}}, {{3, {2, 3, 0}}, 1, {1}}};
static const reduce_row identity_rows[] = {
    {{3, {2, 0, 3}}, 1, {1}}, {{3, {2, 0, 3}}, 1, {0}}, {{1, {0}}, 0, {0}}, {{2, {0, 4}}, 0, {0}}};
static const reduce_row one_rows[] = {{{1, {1}}, 0, {0}}, {{3, {1, 1, 1}}, 1, {1}}};
static const reduce_row prime_rows[] = {{{1, {7}}, 0, {0}},
                                        {{1, {1021}}, 1, {0}},
                                        {{2, {13, 5}}, 1, {1}},
                                        {{2, {13, 5}}, 1, {0}},
                                        {{3, {3, 5, 7}}, 1, {1}},
                                        {{4, {2, 3, 5, 7}}, 1, {2}},
                                        {{1, {4099}}, 0, {0}},
                                        {{2, {3, 1021}}, 1, {1}},
                                        {{2, {1021, 3}}, 1, {0}},
                                        {{3, {3, 5, 7}}, 0, {0}},
                                        {{5, {2, 1, 3, 2, 5}}, 1, {3}},
                                        /* far from the last dimension, which is where devices count from */
                                        {{5, {3, 2, 5, 2, 4}}, 1, {0}},
                                        {{6, {2, 5, 2, 3, 2, 3}}, 1, {-5}},
                                        {{8, {3, 2, 2, 3, 2, 2, 3, 2}}, 1, {-2}},
                                        {{16, {2, 1, 3, 1, 2, 1, 2, 1, 1, 2, 1, 2, 1, 3, 1, 2}}, 1, {-14}}};
static const reduce_row large_rows[] = {
    {{1, {65537}}, 0, {0}}, {{2, {257, 263}}, 1, {1}}, {{2, {257, 263}}, 1, {0}}, {{2, {65537, 2}}, 1, {1}}};
static const reduce_row layout_rows[] = {{{2, {6, 5}}, 1, {1}},       {{3, {4, 3, 5}}, 1, {1}},
                                         {{2, {67, 129}}, 1, {0}},    {{2, {17, 31}}, 0, {0}},
                                         {{3, {4, 3, 5}}, 0, {0}},    {{3, {4, 3, 5}}, 1, {-3}},
                                         {{4, {2, 3, 4, 5}}, 1, {-2}}}; /* each in every layout of the class */
enum { MOST_EQUAL = 17 };
static const reduce_row deep_row = {{6, {2, 5, 2, 3, 2, 3}}, 3, {1, 3, 0}}; /* behind those */
/* Two-powers of terms, so that a mean is as exact as its sum. */
static const reduce_row exact_mean_rows[] = {{{1, {256}}, 0, {0}}, {{2, {19, 128}}, 1, {1}}, {{2, {64, 19}}, 1, {0}}};
static const reduce_row exact_rows[] = {{{1, {251}}, 0, {0}}, {{2, {19, 127}}, 1, {1}}, {{2, {127, 19}}, 1, {0}}};
static const reduce_row list_rows[] = {
    {{3, {3, 5, 7}}, 1, {0}},    {{3, {3, 5, 7}}, 1, {1}},         {{3, {3, 5, 7}}, 1, {2}},
    {{3, {3, 5, 7}}, 1, {-1}},   {{3, {3, 5, 7}}, 2, {0, 1}},      {{3, {3, 5, 7}}, 2, {0, 2}},
    {{3, {3, 5, 7}}, 2, {2, 1}}, {{3, {3, 5, 7}}, 3, {0, 1, 2}},   {{3, {3, 5, 7}}, 2, {-3, 1}},
    {{3, {3, 5, 7}}, 0, {0}},    {{3, {3, 5, 7}}, 0, {EMPTY_LIST}}};
/* Dimensions that are reduced with some that stay between them, once each, and then all of them by name. An op of one
 * dimension has the first row. */
static const reduce_row apart_rows[] = {{{5, {3, 2, 4, 2, 3}}, 2, {-5, 3}},
                                        {{6, {2, 3, 2, 2, 3, 2}}, 5, {0, 1, 3, 4, 5}},
                                        {{7, {2, 3, 2, 2, 2, 3, 2}}, 4, {-1, 4, 2, -7}},
                                        {{8, {2, 3, 2, 2, 2, 2, 3, 2}}, 4, {1, 3, 5, 7}},
                                        {{9, {2, 2, 3, 2, 2, 2, 2, 2, 3}}, 6, {8, 0, 1, 5, 3, 6}},
                                        {{4, {3, 2, 4, 3}}, 4, {0, 1, 2, 3}},
                                        {{5, {3, 2, 4, 2, 3}}, 5, {4, -4, 0, 2, 3}},
                                        {{6, {2, 3, 2, 2, 3, 2}}, 6, {0, 1, 2, 3, 4, 5}}};

static bool is_all(const kw_case *c) {
  return c->op->row.shape == KW_SHAPE_REDUCE_ALL;
}

/* The others refuse to reduce no elements. */
static bool has_identity(const kw_case *c) {
  kw_result_rule rule = c->op->row.result;
  return rule == KW_RESULT_SUM || rule == KW_RESULT_MEAN || rule == KW_RESULT_ANY || rule == KW_RESULT_FLOAT;
}

/* Ops with a bound of their own: no result of theirs is exact. */
static bool has_own_bound(const kw_case *c) {
  return strchr(c->op->row.magnitude, '/') != NULL;
}

/* Such ops compute in f32 on them. */
static bool takes_integers_as_floats(const kw_case *c) {
  return c->op->row.result == KW_RESULT_FLOAT && (c->op->row.dtypes & KW_DTYPES_INT) && c->key == KW_F32;
}

/* What is largest or smallest, or where that is. */
static bool is_extreme(const kw_case *c) {
  static const char *const bases[] = {"amax", "amin", "argmax", "argmin", "max", "min"};
  bool extreme = false;
  for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) extreme |= strcmp(bases[i], c->op->base) == 0;
  return extreme;
}

/* A sum, whose terms may all be subnormal numbers: it is one, or little more. */
static bool adds_floats(const kw_case *c) {
  const kw_result_rule rule = c->op->row.result;
  return (rule == KW_RESULT_SUM || rule == KW_RESULT_MEAN) && kw_case_domain(c, 0) != KW_DOMAIN_FACTOR &&
         kw_element_is_float(c->key);
}

/* What is reduced in the class SPECIAL, and what it holds: by number, in the order in which they are added. */
typedef struct special_row {
  reduce_row row;
  kw_domain domain;
  uint32_t stride;
} special_row;

typedef struct special_rows {
  special_row rows[16];
  uint32_t count;
} special_rows;

enum { ROW = 7, SUM_SPECIALS = 7 };

static const reduce_row special_lines = {{2, {53, ROW}}, 1, {1}}, special_single = {{2, {53, 1}}, 1, {1}};
static const reduce_row special_all = {{1, {29}}, 0, {0}}, special_one = {{1, {1}}, 0, {0}};

static void add_special(special_rows *list, const reduce_row *row, kw_domain domain, uint32_t stride) {
  list->rows[list->count++] = (special_row){*row, domain, stride};
}

/* One special value, among ordinary ones where those do not decide alone. */
static void add_for_all(const kw_case *c, special_rows *list) {
  const bool any = c->op->row.result == KW_RESULT_ANY;
  for (uint32_t i = 0; i < SUM_SPECIALS; i++) {
    add_special(list, any ? &special_one : &special_all, KW_DOMAIN_SPECIAL_ONE, i);
  }
}

/* Sums of extremes depend on the order, and so do squares. */
static void add_for_rows(const kw_case *c, special_rows *list) {
  const bool sums = c->op->row.compare == KW_CMP_ACCUMULATE && kw_element_is_float(c->key);
  const bool exponential = strcmp(c->op->base, "logsumexp") == 0;
  if (c->op->row.result == KW_RESULT_ANY) {
    add_special(list, &special_single, KW_DOMAIN_SPECIAL, 1);
  } else {
    add_special(list, &special_lines, KW_DOMAIN_SPECIAL_ROW, ROW);
  }
  add_special(list, &special_lines, KW_DOMAIN_FEW, 1);
  if (!sums || exponential) add_special(list, &special_lines, KW_DOMAIN_SPECIAL, 1);
  if (exponential) add_special(list, &special_lines, KW_DOMAIN_SPECIAL, ROW);
  if (has_own_bound(c)) add_special(list, &special_lines, KW_DOMAIN_OFFSET, 1);
}

/* Rows of nothing but -inf, and such. Long ones of floats only: a wrong start shows in any row, while an infinite
 * partial result takes several blocks. */
static void add_ends(const kw_case *c, special_rows *list) {
  static const reduce_row rows[] = {{{2, {KW_VALUE_END_ROWS, 70}}, 1, {1}},
                                    {{2, {70, KW_VALUE_END_ROWS}}, 1, {0}},
                                    {{2, {KW_VALUE_END_ROWS, 1100}}, 1, {-1}}};
  static const reduce_row lines[] = {{{1, {70}}, 0, {0}}, {{1, {1100}}, 0, {0}}};
  const uint32_t count = (is_all(c) ? COUNT(lines) : COUNT(rows)) - !kw_element_is_float(c->key);
  for (uint32_t i = 0; i < count; i++) {
    add_special(list, is_all(c) ? &lines[i] : &rows[i], KW_DOMAIN_ENDS, 1);
  }
}

static bool pick_special(const kw_case *c, special_row *out) {
  special_rows list = {.count = 0};
  const reduce_row *lines = is_all(c) ? &special_all : &special_lines;
  const bool extreme = is_extreme(c), all = is_all(c);
  (all ? add_for_all : add_for_rows)(c, &list);
  if (adds_floats(c)) add_special(&list, lines, KW_DOMAIN_BELOW_NORMAL, 1);
  for (int i = 0; i < 2 && extreme && kw_element_is_float(c->key); i++) { /* a zero may be taken for one of them */
    add_special(&list, &special_all, KW_DOMAIN_SUBNORMAL, 1);
  }
  if (extreme && !all) add_special(&list, lines, KW_DOMAIN_SPECIAL, ROW); /* rows of one number each */
  add_ends(c, &list);
  if (c->number < list.count) *out = list.rows[c->number];
  return c->number < list.count;
}

static bool pick_special_row(const kw_case *c, reduce_row *out) {
  special_row special;
  if (!pick_special(c, &special)) return false;
  *out = special.row;
  return true;
}

/* In the classes about layouts: all rows in all layouts, then that of many dimensions. */
static uint32_t usual_layouts(const kw_case *c) {
  return COUNT(layout_rows) * kw_case_layout_count(c->class, 1);
}

static bool is_deep(const kw_case *c) {
  return kw_case_is_behind(c, usual_layouts(c));
}

/* Each of the lists with and without keepdim, where the op has that; then dimensions apart. */
static bool pick_list(const kw_case *c, reduce_row *out) {
  const int dim = kw_suite_op_find_arg(c->op, "dim");
  const uint32_t turns = kw_suite_op_find_arg(c->op, "keepdim") >= 0 ? 2 : 1, lists = turns * COUNT(list_rows);
  if (dim < 0 || is_all(c)) return false;
  const bool several = c->op->args[dim].tag == KW_TAG_INT_LIST;
  if (c->number >= lists + (several ? COUNT(apart_rows) : 1)) return false;
  *out = c->number < lists ? list_rows[c->number / turns] : apart_rows[c->number - lists];
  return true;
}

static bool pick_row(kw_case *c, reduce_row *out) {
  uint32_t n = c->number, count;
  const reduce_row *rows;
  bool exact_class = c->op->row.compare == KW_CMP_ACCUMULATE && !has_own_bound(c),
       mean = c->op->row.result == KW_RESULT_MEAN;
  switch (c->class) {
    case KW_CLASS_SCALAR:
      rows = scalar_rows, count = COUNT(scalar_rows);
      break;
    case KW_CLASS_EMPTY:
      if (is_all(c)) n += 2;
      rows = has_identity(c) ? identity_rows : empty_rows;
      count = has_identity(c) ? COUNT(identity_rows) : COUNT(empty_rows);
      break;
    case KW_CLASS_ONE:
      rows = one_rows, count = COUNT(one_rows);
      break;
    case KW_CLASS_PRIME:
      rows = prime_rows, count = COUNT(prime_rows);
      break;
    case KW_CLASS_LARGE:
      if (has_own_bound(c) && c->key == KW_F64) return false; /* their oracle takes long in 113 bits */
      rows = large_rows, count = COUNT(large_rows);
      break;
    case KW_CLASS_TRANSPOSED:
    case KW_CLASS_SLICED:
    case KW_CLASS_STRIDE0:
      *out = is_deep(c) ? deep_row : layout_rows[n % COUNT(layout_rows)];
      if (c->class == KW_CLASS_STRIDE0 && is_all(c) && out->shape.dims[0] > MOST_EQUAL) {
        out->shape.dims[0] = out->shape.dims[1] = MOST_EQUAL; /* a product of equal factors soon leaves f32's range */
      }
      return true;
    case KW_CLASS_OUTPUTS:
      *out = (reduce_row){{3, {5, 11, 7}}, 1, {(int64_t)(n % 3)}};
      return n < 4 && !is_all(c);
    case KW_CLASS_EXACT:
      if (!exact_class) return false;
      c->exact = true;
      rows = mean ? exact_mean_rows : exact_rows, count = mean ? COUNT(exact_mean_rows) : COUNT(exact_rows);
      break;
    case KW_CLASS_SPECIAL:
      return pick_special_row(c, out);
    case KW_CLASS_MIXED:
      *out = (reduce_row){{2, {7, 9}}, 1, {0}};
      return c->op->row.result == KW_RESULT_SUM || mean || takes_integers_as_floats(c);
    case KW_CLASS_ATTRS:
      return pick_list(c, out);
    default:
      return false;
  }
  if (n >= count) return false;
  *out = rows[n];
  return true;
}

/* Ops that take one dimension take the first of the list; those that must have one, the last where there is none. */
static void adapt_dims(const kw_case *c, reduce_row *row) {
  int dim = kw_suite_op_find_arg(c->op, "dim");
  if (dim < 0 || c->op->args[dim].tag == KW_TAG_INT_LIST) return;
  if (row->dim_count > 1) row->dim_count = 1;
  if (row->dim_count > 0 || c->op->args[dim].optional) return;
  row->dim_count = 1;
  row->dims[0] = -1;
}

/* Of special values and exact sums, each result has a number that fits the sizes. */
static void resize(kw_case *c, reduce_row *row) {
  if (c->class != KW_CLASS_SPECIAL && c->class != KW_CLASS_EXACT) kw_case_resize(c, &row->shape);
}

static void set_dims(kw_case *c, const reduce_row *row, bool keepdim) {
  int dim = kw_suite_op_find_arg(c->op, "dim"), keep = kw_suite_op_find_arg(c->op, "keepdim");
  if (dim < 0) return;
  bool list = c->op->args[dim].tag == KW_TAG_INT_LIST;
  if (row->dim_count == 0 && (!list || (c->op->args[dim].optional && row->dims[0] != EMPTY_LIST))) {
    kw_case_give(c, (uint32_t)dim, kw_arg_none());
  } else if (list) {
    kw_case_give_ints(c, (uint32_t)dim, row->dims, row->dim_count);
  } else {
    kw_case_give(c, (uint32_t)dim, kw_arg_int(row->dims[0]));
  }
  if (keep >= 0 && (keepdim || c->class == KW_CLASS_ATTRS)) kw_case_give(c, (uint32_t)keep, kw_arg_bool(keepdim));
}

static kw_shape reduced_shape(const kw_case *c, const reduce_row *row, bool keepdim) {
  kw_shape result = {0, {0}};
  bool nothing = row->dim_count == 0 && row->dims[0] == EMPTY_LIST &&
                 c->op->row.result == KW_RESULT_ANY; /* other ops take an empty list for all */
  bool all = (row->dim_count == 0 && !nothing) || c->op->row.shape == KW_SHAPE_REDUCE_ALL;
  for (uint32_t d = 0; d < row->shape.rank; d++) {
    bool reduced = all;
    for (uint32_t i = 0; i < row->dim_count; i++) {
      int64_t dim = row->dims[i] < 0 ? row->dims[i] + row->shape.rank : row->dims[i];
      reduced |= dim == d;
    }
    bool keep = keepdim && c->op->row.shape != KW_SHAPE_REDUCE_ALL;
    if (!reduced) result.dims[result.rank++] = row->shape.dims[d];
    if (reduced && keep) result.dims[result.rank++] = 1;
  }
  return result;
}

/* The dtype of what is summed: another one in the class MIXED, together with the attribute that says what to sum in. */
static bool set_sum_dtype(kw_case *c, kw_dtype *io_input) {
  int dtype = kw_suite_op_find_arg(c->op, "dtype");
  bool needs = kw_element_is_integer(c->key) && c->key != KW_I64; /* integers sum in i64 unless told otherwise */
  if (c->class == KW_CLASS_MIXED) {
    uint32_t seen = 0;
    kw_dtype input = KW_DTYPE_NONE;
    for (kw_dtype d = 0; d <= KW_F64 && input == KW_DTYPE_NONE; d++) {
      if (d != c->key && seen++ == c->number) input = d;
    }
    bool narrows = kw_element_is_float(input) && kw_element_is_integer(c->key);
    if (input == KW_DTYPE_NONE || narrows) return false;
    *io_input = input;
    needs = !(c->key == KW_I64 && input < KW_I64);
  }
  if (!needs) return true;
  kw_case_give(c, (uint32_t)dtype, kw_arg_dtype(c->key));
  return true;
}

/* The dtypes that are computed on as f32, by number. */
static bool set_integer_dtype(const kw_case *c, kw_dtype *out_input) {
  uint32_t seen = 0;
  for (kw_dtype d = 0; d <= KW_F64; d++) {
    if (!kw_element_is_integer(d) || seen++ != c->number) continue;
    *out_input = d;
    return true;
  }
  return false;
}

/* What is reduced or scanned, with its layout and values; `terms` of them go into one result. */
static bool set_input(kw_case *c, const reduce_row *row, uint64_t terms) {
  kw_result_rule rule = c->op->row.result;
  kw_dtype input = c->key;
  kw_layout layout = KW_LAYOUT_DENSE;
  const bool deep = kw_case_about_layouts(c->class) && is_deep(c);
  if (deep) layout = kw_case_deep_layout(c, usual_layouts(c));
  if (!deep && !kw_case_pick_layout(c->class, c->number / COUNT(layout_rows), 0, 1, &layout)) return false;
  if ((rule == KW_RESULT_SUM || rule == KW_RESULT_MEAN) && !set_sum_dtype(c, &input)) return false;
  if (rule == KW_RESULT_FLOAT && c->class == KW_CLASS_MIXED && !set_integer_dtype(c, &input)) return false;
  kw_case_set_tensor(c, 0, input, &row->shape, layout);
  c->promoted = 1;
  kw_case_tensor *tensor = &c->tensors[0];
  bool factors = tensor->domain == KW_DOMAIN_FACTOR, sums = c->op->row.compare == KW_CMP_ACCUMULATE && !factors;
  bool rare = tensor->domain == KW_DOMAIN_SPARSE || tensor->domain == KW_DOMAIN_DENSE;
  if (rare) tensor->value_stride = (uint32_t)(2 * terms + 1);
  if (c->class == KW_CLASS_MIXED || c->exact) tensor->domain = factors ? KW_DOMAIN_EXACT_FACTOR : KW_DOMAIN_SMALL;
  /* Equal terms may all be rounded the same way, and no bound on errors that are spread allows that. */
  if (c->class == KW_CLASS_STRIDE0 && sums) tensor->domain = KW_DOMAIN_EXACT_FACTOR;
  bool integers = kw_element_is_integer(c->key) && kw_element_is_integer(input);
  bool floats = kw_element_is_float(c->key) && kw_element_is_float(input) && !factors;
  if (c->class == KW_CLASS_MIXED && integers) tensor->domain = KW_DOMAIN_ANY; /* exact at any size: their sums wrap */
  if (c->class == KW_CLASS_MIXED && floats) tensor->domain = KW_DOMAIN_UNIT; /* rounded to the key dtype, then summed */
  if (c->sweep && is_extreme(c)) { /* of many random numbers the last is hardly ever the largest */
    tensor->domain = KW_DOMAIN_ENDS;
    tensor->from_end = true;
    if (row->dim_count == 1) kw_case_set_ends(tensor, row->dims[0]);
  }
  if (c->class != KW_CLASS_SPECIAL) return true;
  special_row special;
  if (!pick_special(c, &special)) return false;
  tensor->domain = special.domain;
  tensor->value_stride = special.stride;
  if (special.domain == KW_DOMAIN_ENDS) kw_case_set_ends(tensor, row->dims[0]);
  return true;
}

/* What var divides by is n less this, or with `unbiased` n - 1. Where rows may be constant 0 / 0 depends on rounding.
 */
static void set_correction(kw_case *c) {
  static const double corrections[] = {0, 1, 2, 0.5, -1};
  int correction = kw_suite_op_find_arg(c->op, "correction"), unbiased = kw_suite_op_find_arg(c->op, "unbiased");
  bool attrs = c->class == KW_CLASS_ATTRS;
  if (unbiased >= 0 && c->number % 3) kw_case_give(c, (uint32_t)unbiased, kw_arg_bool(c->number % 3 == 1));
  if (correction < 0 || c->number % 3 == 0) return;
  double value = corrections[c->number % (attrs ? COUNT(corrections) : 2)];
  if (c->class == KW_CLASS_EMPTY) value = -1;                                /* a divisor, and nothing to divide */
  if (attrs && c->number % 7 == 5) value = (double)c->terms + c->number % 2; /* the divisor is 0 */
  bool whole = value == (double)(int64_t)value && c->number % 2;
  kw_case_give(c, (uint32_t)correction, whole ? kw_arg_scalar_i64((int64_t)value) : kw_arg_scalar_f64(value));
}

static void set_result(kw_case *c, const kw_shape *shape) {
  kw_dtype dtype = c->key;
  if (c->op->row.result == KW_RESULT_I64) dtype = KW_I64;
  if (c->op->row.result == KW_RESULT_ANY && c->key != KW_U8) dtype = KW_BOOL;
  kw_case_set_result(c, 0, dtype, shape, kw_case_out_layout(c));
  for (uint32_t r = 1; r < c->op->result_count; r++) {
    dtype = c->op->row.result == KW_RESULT_CHOICE ? KW_I64 : c->key;
    kw_case_set_result(c, r, dtype, shape, kw_case_out_layout(c));
  }
}

static int64_t product_of(const kw_shape *shape) {
  int64_t product = 1;
  for (uint32_t d = 0; d < shape->rank; d++) product *= shape->dims[d];
  return product;
}

bool kw_case_make_reduce(kw_case *c) {
  reduce_row row;
  if (!pick_row(c, &row)) return false;
  resize(c, &row);
  adapt_dims(c, &row);
  bool keepdim = c->class == KW_CLASS_ATTRS || c->class == KW_CLASS_OUTPUTS ? c->number % 2 : false;
  set_dims(c, &row, keepdim);
  kw_shape result = reduced_shape(c, &row, keepdim);
  int64_t results = product_of(&result);
  c->terms = results ? (uint64_t)(product_of(&row.shape) / results) : 0;
  if (!set_input(c, &row, c->terms)) return false;
  set_correction(c);
  if (has_own_bound(c)) c->terms = 1;
  set_result(c, &result);
  return true;
}

bool kw_case_make_scan(kw_case *c) {
  reduce_row row;
  if (!pick_row(c, &row)) return false;
  resize(c, &row);
  adapt_dims(c, &row);
  set_dims(c, &row, false);
  uint32_t rank = row.shape.rank, dim = (uint32_t)(row.dims[0] < 0 ? row.dims[0] + rank : row.dims[0]);
  c->terms = rank > 0 ? (uint64_t)row.shape.dims[dim] : 1;
  c->scan_step = 1;
  for (uint32_t d = dim + 1; d < rank; d++) c->scan_step *= row.shape.dims[d];
  if (!set_input(c, &row, c->terms)) return false;
  set_result(c, &row.shape);
  return true;
}
