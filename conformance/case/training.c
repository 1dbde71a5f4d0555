/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of optimisers, scaled gradients and metrics: ops that change their arguments, lists of them among these.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <math.h>
#include <string.h>

static kw_value float_value(double f) {
  return (kw_value){.tag = KW_TAG_FLOAT, .u.f = f};
}

static kw_value bool_value(bool b) {
  return (kw_value){.tag = KW_TAG_BOOL, .u.b = b};
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

enum { MOST = 3 }; /* entries of a list: times the lists of an optimiser, all that a case may have */
_Static_assert(6 * MOST <= KW_CASE_ENTRIES, "six lists");

/* What the entries of every list have; where there are more than MOST of them the shapes take turns. */
typedef struct list_row {
  uint32_t count;
  kw_shape shapes[MOST];
} list_row;

typedef struct list_rows {
  const list_row *rows;
  uint32_t count;
} list_rows;

#define ROWS(array) \
  { array, COUNT(array) }

static const list_row list_scalar[] = {{1, {{0, {0}}}}, {2, {{0, {0}}, {1, {3}}}}, {3, {{0, {0}}, {0, {0}}, {0, {0}}}}};
static const list_row list_empty[] = {{0, {{0, {0}}}}, {1, {{1, {0}}}}, {2, {{2, {0, 3}}, {1, {4}}}}};
static const list_row list_one[] = {{1, {{1, {1}}}}, {3, {{2, {1, 1}}, {1, {1}}, {1, {5}}}}};
static const list_row list_prime[] = {{1, {{1, {7}}}},
                                      {2, {{2, {13, 5}}, {1, {5}}}},
                                      {3, {{1, {257}}, {2, {3, 31}}, {3, {3, 5, 7}}}},
                                      {3, {{4, {2, 3, 5, 7}}, {1, {101}}, {0, {0}}}},
                                      {1, {{8, {2, 1, 3, 1, 2, 1, 2, 2}}}},
                                      {2, {{2, {8, 17}}, {2, {8, 17}}}}};
static const list_row list_large[] = {{2, {{2, {257, 263}}, {1, {11}}}}};
static const list_row list_layout[] = {{2, {{2, {6, 5}}, {2, {9, 4}}}}, {3, {{3, {4, 3, 5}}, {1, {7}}, {2, {3, 8}}}}};
static const list_row list_attrs[] = {{2, {{2, {7, 3}}, {1, {11}}}}};
static const list_row list_special[] = {{2, {{2, {5, 19}}, {1, {38}}}}};
static const list_row list_exact[] = {
    {1, {{1, {37}}}}, {2, {{2, {8, 5}}, {1, {64}}}}, {3, {{1, {3}}, {1, {211}}, {2, {6, 7}}}}};

static const list_rows rows_of[KW_CLASS_COUNT] = {
    [KW_CLASS_SCALAR] = ROWS(list_scalar),   [KW_CLASS_EMPTY] = ROWS(list_empty),
    [KW_CLASS_ONE] = ROWS(list_one),         [KW_CLASS_PRIME] = ROWS(list_prime),
    [KW_CLASS_LARGE] = ROWS(list_large),     [KW_CLASS_TRANSPOSED] = ROWS(list_layout),
    [KW_CLASS_SLICED] = ROWS(list_layout),   [KW_CLASS_ATTRS] = ROWS(list_attrs),
    [KW_CLASS_SPECIAL] = ROWS(list_special), [KW_CLASS_EXACT] = ROWS(list_exact),
    [KW_CLASS_OUTPUTS] = ROWS(list_layout)};

/* An op of one list has as many entries as a case may have, behind the usual numbers of PRIME and SPECIAL. */
enum { SPECIALS = 4, LONG_SPECIALS = 3 };
static const list_row list_long = {KW_CASE_ENTRIES, {{2, {5, 19}}, {1, {7}}, {1, {38}}}};

static bool has_one_list(const kw_case *c) {
  return strncmp(c->op->name, "_fused_", 7) != 0;
}

static bool is_long(const kw_case *c) {
  if (!has_one_list(c)) return false;
  return (c->class == KW_CLASS_PRIME && c->number == COUNT(list_prime)) ||
         (c->class == KW_CLASS_SPECIAL && c->number >= SPECIALS);
}

/* How many cases classes have that take one row for several. */
static uint32_t count_of(const kw_case *c) {
  if (c->class == KW_CLASS_ATTRS) return 16;
  if (c->class == KW_CLASS_SPECIAL) return SPECIALS + (has_one_list(c) ? LONG_SPECIALS : 0);
  if (c->class == KW_CLASS_PRIME) return COUNT(list_prime) + (has_one_list(c) ? 1 : 0);
  return c->class == KW_CLASS_OUTPUTS ? KW_CASE_OUT_LAYOUTS : rows_of[c->class].count;
}

static bool pick_row(kw_case *c, list_row *out) {
  const list_rows *mine = &rows_of[c->class];
  if (mine->count == 0 || (!kw_case_about_layouts(c->class) && c->number >= count_of(c))) return false;
  if (c->class == KW_CLASS_LARGE && c->key != KW_F32) return false;
  *out = is_long(c) ? list_long : mine->rows[c->number % mine->count];
  if (out->count > 0 && out->shapes[0].rank > 0) kw_case_resize(c, &out->shapes[0]);
  return true;
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* Gives argument `arg` a list like the row; false when a layout has run out. `which` of three: parameters, gradients,
 * states. */
static bool set_list(kw_case *c, uint32_t arg, const list_row *row, uint32_t which, kw_domain domain) {
  const uint32_t first = kw_case_set_list(c, arg, row->count);
  kw_layout layout = KW_LAYOUT_DENSE;
  if (!kw_case_pick_layout(c->class, c->number, which, 3, &layout)) return false;
  if (which == 0 && c->class == KW_CLASS_OUTPUTS) layout = kw_case_out_layout(c);
  for (uint32_t k = 0; k < row->count; k++) {
    kw_case_set_changed(c, arg, first + k, c->key, &row->shapes[k % MOST], layout);
    c->tensors[first + k].domain = domain;
  }
  return true;
}

/* One special value among small numbers in every row. */
static void make_special(kw_case *c, uint32_t arg, const list_row *row) {
  for (uint32_t k = 0; k < row->count; k++) {
    kw_case_tensor *tensor = &c->tensors[c->args[arg].first + k];
    tensor->domain = KW_DOMAIN_SPECIAL_ROW;
    tensor->value_stride = 19;
  }
}

/* A tensor of one element, of rank 0 or 1. */
static void set_single(kw_case *c, uint32_t arg, kw_dtype dtype, kw_domain domain) {
  const kw_shape shape = {c->number % 2, {1}};
  kw_case_set_tensor(c, arg, dtype, &shape, KW_LAYOUT_DENSE);
  c->tensors[arg].domain = domain;
}

static void change_single(kw_case *c, uint32_t arg, kw_dtype dtype, kw_domain domain) {
  const kw_shape shape = {c->number / 2 % 2, {1}};
  kw_case_set_changed(c, arg, arg, dtype, &shape, KW_LAYOUT_DENSE);
  c->tensors[arg].domain = domain;
}

/* ---- Optimisers -------------------------------------------------------------------------------------------------- */

/* Numbers and switches differ from case to case; this one is what they follow from. */
static uint32_t mixed(const kw_case *c) {
  return c->number + 5 * (uint32_t)c->class;
}

/* grad_scale and found_inf: now and then, most of all where attributes are tried. */
static void set_scaling(kw_case *c, uint32_t arg, bool exact) {
  const uint32_t n = mixed(c);
  if (n % 4 == 1) set_single(c, arg, KW_F32, exact ? KW_DOMAIN_EXACT_FACTOR : KW_DOMAIN_NONZERO);
  if (n % 8 >= 6) set_single(c, arg + 1, KW_F32, KW_DOMAIN_BOOL);
}

static bool make_sgd(kw_case *c, const list_row *row) {
  static const double decays[] = {0, 0.01, 0.5}, momenta[] = {0.9, 0, 0.5, 1}, rates[] = {0.1, 1e-3, 1.5};
  const uint32_t n = mixed(c);
  const bool exact = c->class == KW_CLASS_EXACT;
  const double momentum = exact ? 0.5 : momenta[n % 4];
  const kw_domain domain = exact ? KW_DOMAIN_SMALL : KW_DOMAIN_ANY;
  if (!set_list(c, 0, row, 0, domain) || !set_list(c, 1, row, 1, domain)) return false;
  if (momentum == 0 && n % 2) {
    kw_case_set_list(c, 2, 0);
  } else if (!set_list(c, 2, row, 2, domain)) {
    return false;
  }
  if (c->class == KW_CLASS_SPECIAL && c->number < 3 && (c->number < 2 || momentum != 0))
    make_special(c, c->number, row);
  kw_case_give(c, 3, float_value(exact ? 0.25 : decays[n / 2 % 3]));
  kw_case_give(c, 4, float_value(momentum));
  kw_case_give(c, 5, float_value(exact ? 0.5 : rates[n / 3 % 3]));
  kw_case_give(c, 6, float_value(exact || n % 5 < 3 ? 0 : 0.25));
  for (uint32_t i = 0; i < 3; i++) kw_case_give(c, 7 + i, bool_value(n >> i & 1));
  set_scaling(c, 10, true);
  c->exact = exact;
  return true;
}

static bool make_adam(kw_case *c, const list_row *row) {
  static const double rates[] = {1e-3, 0.1}, decays[] = {0, 0.01, 0.5}, firsts[] = {0.9, 0.5, 0},
                      leasts[] = {1e-8, 1e-3};
  static const double seconds[] = {0.999, 0.95, 0.5};
  const uint32_t n = mixed(c);
  const bool amsgrad = n & 1;
  if (c->class == KW_CLASS_EXACT) return false;
  for (uint32_t arg = 0; arg < 4; arg++) {
    const kw_domain domain = arg == 3 ? KW_DOMAIN_PROBABILITY : KW_DOMAIN_ANY;
    if (!set_list(c, arg, row, arg < 2 ? arg : 2, domain)) return false;
  }
  if (!amsgrad && n % 4 == 2) {
    kw_case_set_list(c, 4, 0);
  } else if (!set_list(c, 4, row, 2, KW_DOMAIN_PROBABILITY)) {
    return false;
  }
  if (c->class == KW_CLASS_SPECIAL) make_special(c, c->number, row);
  const uint32_t steps = kw_case_set_list(c, 5, row->count);
  for (uint32_t k = 0; k < row->count; k++) {
    const kw_shape shape = {k % 2, {1}};
    kw_case_set_entry(c, 5, steps + k, KW_F32, &shape, KW_LAYOUT_DENSE);
    c->tensors[steps + k].domain = KW_DOMAIN_STEP;
  }
  kw_case_give(c, 6, float_value(rates[n % COUNT(rates)]));
  kw_case_give(c, 7, float_value(firsts[n % COUNT(firsts)]));
  kw_case_give(c, 8, float_value(seconds[n / 2 % COUNT(seconds)]));
  kw_case_give(c, 9, float_value(decays[n % COUNT(decays)]));
  kw_case_give(c, 10, float_value(leasts[n / 4 % COUNT(leasts)]));
  kw_case_give(c, 11, bool_value(amsgrad));
  kw_case_give(c, 12, bool_value(n >> 2 & 1));
  set_scaling(c, 13, false);
  return true;
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

static bool make_unscale(kw_case *c, const list_row *row) {
  const bool exact = c->class == KW_CLASS_EXACT;
  static const uint32_t entries[LONG_SPECIALS] = {0, 7, KW_CASE_ENTRIES - 1};
  const bool lone = c->class == KW_CLASS_SPECIAL && (c->number == 2 || is_long(c));
  const uint32_t entry = is_long(c) && lone ? entries[c->number - SPECIALS] : 0;
  if (!set_list(c, 0, row, 0, exact ? KW_DOMAIN_SMALL : KW_DOMAIN_ANY)) return false;
  if (lone) { /* one NaN, and nothing else that is not finite */
    c->tensors[c->args[0].first + entry].domain = KW_DOMAIN_SPECIAL_ONE;
    c->tensors[c->args[0].first + entry].value_stride = KW_VALUE_NAN;
  } else if (c->class == KW_CLASS_SPECIAL) {
    make_special(c, 0, row);
    for (uint32_t k = 0; k < row->count && c->number % 2; k++) {
      kw_case_tensor *tensor = &c->tensors[c->args[0].first + k];
      tensor->domain = KW_DOMAIN_SPECIAL;
      tensor->value_stride = 1;
    }
  }
  change_single(c, 1, KW_F32, c->number % 4 == 3 ? KW_DOMAIN_BOOL : KW_DOMAIN_SPARSE);
  c->tensors[1].value_stride = lone ? UINT32_MAX : 2;
  set_single(c, 2, KW_F32, exact ? KW_DOMAIN_EXACT_FACTOR : KW_DOMAIN_NONZERO);
  c->exact = exact;
  return true;
}

static bool make_clip(kw_case *c, const list_row *row) {
  static const double limits[] = {1, 0.1, 1e6, 0}, types[] = {2, 1, INFINITY, 2, 3, 0.5};
  const bool exact = c->class == KW_CLASS_EXACT;
  if (!set_list(c, 0, row, 0, exact ? KW_DOMAIN_SMALL : KW_DOMAIN_UNIT)) return false;
  if (c->class == KW_CLASS_SPECIAL) make_special(c, 0, row);
  const double type = exact ? types[1 + c->number % 2] : types[c->number % COUNT(types)];
  kw_case_give(c, 1, float_value(exact ? 1e6 : limits[(c->number + c->number / 6) % COUNT(limits)]));
  if (type != 2 || c->number % 2) kw_case_give(c, 2, float_value(type));
  const kw_shape point = {0, {0}};
  kw_case_set_result(c, 0, row->count > 0 ? kw_element_compute(c->key) : KW_F32, &point, KW_LAYOUT_DENSE);
  c->exact = exact;
  return true;
}

/* All is of one element: classes tell only what it is. */
static bool make_update_scale(kw_case *c) {
  static const double growths[] = {2, 1.1, 4}, backoffs[] = {0.5, 0.9, 0.25};
  static const int64_t intervals[] = {1, 2, 2000, 1};
  const uint32_t n = c->number;
  const bool special = c->class == KW_CLASS_SPECIAL;
  if (special ? n >= kw_value_special_count(KW_F32) : n >= 12) return false;
  if (!special && c->class != KW_CLASS_SCALAR && c->class != KW_CLASS_ATTRS) return false;
  change_single(c, 0, KW_F32, special ? KW_DOMAIN_SPECIAL_ONE : KW_DOMAIN_POSITIVE);
  c->tensors[0].value_stride = n;
  change_single(c, 1, KW_I32, KW_DOMAIN_BOOL);
  set_single(c, 2, KW_F32, c->class == KW_CLASS_SCALAR ? KW_DOMAIN_SPARSE : KW_DOMAIN_BOOL);
  c->tensors[2].value_stride = 2;
  kw_case_give(c, 3, float_value(growths[special ? 0 : n % 3]));
  kw_case_give(c, 4, float_value(backoffs[special ? 0 : n / 2 % 3]));
  kw_case_give(c, 5, (kw_value){.tag = KW_TAG_INT, .u.i = intervals[n % COUNT(intervals)]});
  return true;
}

bool kw_case_make_lists(kw_case *c) {
  list_row row;
  c->terms = 1;
  if (strcmp(c->op->name, "_amp_update_scale_") == 0) return make_update_scale(c);
  if (!pick_row(c, &row)) return false;
  if (strcmp(c->op->name, "_fused_sgd_") == 0) return make_sgd(c, &row);
  if (strncmp(c->op->name, "_fused_adam", 11) == 0) return make_adam(c, &row);
  return kw_suite_op_find_arg(c->op, "max_norm") >= 0 ? make_clip(c, &row) : make_unscale(c, &row);
}

/* ---- Metrics ----------------------------------------------------------------------------------------------------- */

static const kw_shape metric_scalar[] = {{0, {0}}};
static const kw_shape metric_empty[] = {{1, {0}}, {2, {3, 0}}};
static const kw_shape metric_one[] = {{1, {1}}, {3, {1, 1, 1}}};
static const kw_shape metric_prime[] = {{1, {7}},    {2, {13, 5}},  {3, {3, 5, 7}},
                                        {1, {1021}}, {2, {31, 11}}, {8, {2, 1, 3, 1, 2, 1, 2, 2}}};
static const kw_shape metric_large[] = {{2, {257, 263}}};
static const kw_shape metric_layout[] = {{2, {6, 5}}, {3, {4, 3, 5}}, {2, {67, 9}}};
static const kw_shape metric_other[] = {{2, {13, 5}}, {1, {64}}, {1, {211}}};

/* The shape of what is counted, of a class's case `number`; `most` for classes that take these in turn. */
static bool pick_shape(kw_case *c, uint32_t most, kw_shape *out) {
  static const struct {
    const kw_shape *shapes;
    uint32_t count;
  } of[KW_CLASS_COUNT] = {[KW_CLASS_SCALAR] = ROWS(metric_scalar), [KW_CLASS_EMPTY] = ROWS(metric_empty),
                          [KW_CLASS_ONE] = ROWS(metric_one),       [KW_CLASS_PRIME] = ROWS(metric_prime),
                          [KW_CLASS_LARGE] = ROWS(metric_large),   [KW_CLASS_TRANSPOSED] = ROWS(metric_layout),
                          [KW_CLASS_SLICED] = ROWS(metric_layout), [KW_CLASS_STRIDE0] = ROWS(metric_layout),
                          [KW_CLASS_MIXED] = ROWS(metric_other),   [KW_CLASS_ATTRS] = ROWS(metric_other),
                          [KW_CLASS_SPECIAL] = ROWS(metric_other), [KW_CLASS_EXACT] = ROWS(metric_other),
                          [KW_CLASS_OUTPUTS] = ROWS(metric_layout)};
  const uint32_t count = of[c->class].count, n = c->number;
  const bool turns = c->class == KW_CLASS_MIXED || c->class == KW_CLASS_ATTRS || c->class == KW_CLASS_OUTPUTS;
  if (count == 0 || (!kw_case_about_layouts(c->class) && n >= (turns ? most : count))) return false;
  *out = of[c->class].shapes[n % count];
  if (out->rank > 0) kw_case_resize(c, out);
  return true;
}

bool kw_case_make_accumulate_mean(kw_case *c) {
  static const kw_dtype dtypes[] = {KW_BOOL, KW_U8, KW_I8, KW_I16, KW_I32, KW_I64, KW_F16, KW_BF16, KW_F32, KW_F64};
  const bool exact = c->class == KW_CLASS_EXACT, mixes = c->class == KW_CLASS_MIXED;
  kw_shape shape;
  kw_layout layout;
  if (c->class == KW_CLASS_ATTRS || c->class == KW_CLASS_OUTPUTS) return false;
  if (!pick_shape(c, COUNT(dtypes), &shape)) return false;
  if (!kw_case_pick_layout(c->class, c->number, 0, 1, &layout)) return false;
  change_single(c, 0, c->key, exact ? KW_DOMAIN_SMALL : KW_DOMAIN_ANY);
  change_single(c, 1, KW_I64, KW_DOMAIN_ANY);
  kw_case_set_tensor(c, 2, mixes ? dtypes[c->number] : c->key, &shape, layout);
  c->tensors[2].domain = exact ? KW_DOMAIN_SMALL : KW_DOMAIN_UNIT;
  if (c->class == KW_CLASS_SPECIAL) c->tensors[2].domain = KW_DOMAIN_SPECIAL_ONE;
  if (c->class == KW_CLASS_SPECIAL) c->tensors[2].value_stride = 2 + c->number;
  c->exact = exact;
  c->terms = 1;
  return true;
}

/* Every other case has i32 classes, and the one after that a target to be ignored. */
bool kw_case_make_accumulate_confusion(kw_case *c) {
  static const int64_t sizes[] = {3, 1, 7, 101, 2};
  const kw_dtype dtypes[] = {c->number % 2 ? KW_I32 : KW_I64, c->number / 2 % 2 ? KW_I32 : KW_I64};
  const int64_t classes = sizes[c->number % COUNT(sizes)];
  const kw_shape counts = {2, {classes, classes}};
  kw_shape shape;
  if (c->class == KW_CLASS_MIXED || c->class == KW_CLASS_SPECIAL || c->class == KW_CLASS_EXACT) return false;
  if (!pick_shape(c, c->class == KW_CLASS_OUTPUTS ? KW_CASE_OUT_LAYOUTS : 8, &shape)) return false;
  kw_case_set_changed(c, 0, 0, c->key, &counts, kw_case_out_layout(c));
  for (uint32_t i = 0; i < 2; i++) {
    kw_layout layout;
    if (!kw_case_pick_layout(c->class, c->number, i, 2, &layout)) return false;
    kw_case_set_tensor(c, 1 + i, dtypes[i], &shape, layout);
    kw_case_set_indices(c, 1 + i, classes, false, false, 1);
  }
  if (c->class == KW_CLASS_ATTRS) kw_case_give(c, 3, (kw_value){.tag = KW_TAG_INT, .u.i = c->number % 3});
  return true;
}
