/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of the ops that combine what indices send to one place: scatter_add, scatter_reduce, index_add.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <string.h>

/* `count` numbers for each line of self along `dim`. */
typedef struct scatter_row {
  kw_shape self;
  int64_t dim, count;
} scatter_row;

typedef struct scatter_rows {
  const scatter_row *rows;
  uint32_t count;
} scatter_rows;

#define ROWS(array) \
  { array, COUNT(array) }

/* Numbers of the class SPECIAL before those of KW_DOMAIN_ENDS, both with each reduction. */
enum { OTHER_SPECIALS = 5 };

static bool has_ends(const kw_case *c) {
  return c->class == KW_CLASS_SPECIAL && c->number >= OTHER_SPECIALS;
}

/* In the classes about layouts rows repeat, as long as there are layouts. */
static bool pick_row(kw_case *c, scatter_row *out) {
  static const scatter_row scalar[] = {{{0, {0}}, 0, 1}, {{0, {0}}, -1, 1}};
  static const scatter_row empty[] = {{{2, {3, 4}}, 0, 0}, {{2, {0, 4}}, 1, 3}, {{3, {2, 3, 0}}, 1, 2}};
  static const scatter_row one[] = {{{1, {1}}, 0, 1}, {{3, {1, 1, 1}}, -2, 5}, {{1, {7}}, 0, 1}};
  static const scatter_row prime[] = {{{1, {7}}, 0, 23},
                                      {{2, {13, 5}}, 0, 31},
                                      {{2, {13, 5}}, 1, 11},
                                      {{3, {3, 5, 7}}, 1, 13},
                                      {{3, {3, 5, 7}}, 2, 3},
                                      {{4, {2, 3, 5, 7}}, 2, 8},
                                      {{1, {1021}}, 0, 2039},
                                      {{1, {3}}, 0, 509},
                                      {{2, {1, 67}}, 0, 17},
                                      {{2, {5, 3}}, -2, 40},
                                      {{2, {31, 2}}, 1, 129},
                                      /* far from the last dimension, which is where devices count from, or many */
                                      {{5, {7, 2, 3, 2, 4}}, 0, 9},
                                      {{15, {2, 1, 5, 1, 2, 1, 2, 1, 2, 1, 2, 1, 3, 1, 2}}, -13, 9},
                                      {{6, {2, 5, 2, 3, 2, 3}}, -5, 8},
                                      {{7, {2, 3, 2, 3, 2, 5, 2}}, -2, 4}};
  static const scatter_row deep = {{6, {2, 5, 2, 3, 2, 3}}, 1, 8};
  static const scatter_row large[] = {{{2, {257, 131}}, 1, 263}};
  static const scatter_row layout[] = {{{2, {5, 7}}, 1, 12}, {{3, {4, 3, 5}}, 1, 7}, {{2, {17, 29}}, 0, 31}};
  static const scatter_row special[] = {{{2, {53, 7}}, 0, 53},
                                        {{2, {53, 7}}, 0, 53},
                                        {{2, {53, 7}}, 0, 53},
                                        {{2, {53, 7}}, 0, 53},
                                        {{2, {53, 7}}, 0, 53},
                                        {{2, {5, KW_VALUE_END_ROWS}}, 0, 70},
                                        {{2, {5, KW_VALUE_END_ROWS}}, 0, 70},
                                        {{2, {5, KW_VALUE_END_ROWS}}, 0, 70},
                                        {{2, {5, KW_VALUE_END_ROWS}}, 0, 70},
                                        {{2, {5, KW_VALUE_END_ROWS}}, 0, 70}};
  static const scatter_row attrs[] = {{{3, {3, 5, 7}}, 0, 9},  {{3, {3, 5, 7}}, 1, 9},   {{3, {3, 5, 7}}, 2, 9},
                                      {{3, {3, 5, 7}}, -1, 9}, {{3, {3, 5, 7}}, -2, 9},  {{3, {3, 5, 7}}, -3, 9},
                                      {{3, {3, 5, 7}}, 0, 1},  {{3, {3, 5, 7}}, 1, 20},  {{3, {3, 5, 7}}, 2, 2},
                                      {{3, {3, 5, 7}}, -1, 4}, {{3, {3, 5, 7}}, -3, 40}, {{3, {3, 5, 7}}, 0, 9}};
  static const scatter_row exact[] = {{{1, {5}}, 0, 300}, {{2, {19, 7}}, 0, 127}, {{2, {3, 4}}, 1, 250}};
  static const scatter_row outputs[] = {
      {{3, {5, 11, 7}}, 0, 9}, {{3, {5, 11, 7}}, 1, 9}, {{3, {5, 11, 7}}, 2, 9}, {{2, {11, 5}}, 1, 9}};
  static const scatter_row aliasing[] = {{{1, {37}}, 0, 37}};
  static const scatter_rows classes[KW_CLASS_COUNT] = {
      [KW_CLASS_SCALAR] = ROWS(scalar),    [KW_CLASS_EMPTY] = ROWS(empty),    [KW_CLASS_ONE] = ROWS(one),
      [KW_CLASS_PRIME] = ROWS(prime),      [KW_CLASS_LARGE] = ROWS(large),    [KW_CLASS_TRANSPOSED] = ROWS(layout),
      [KW_CLASS_SLICED] = ROWS(layout),    [KW_CLASS_STRIDE0] = ROWS(layout), [KW_CLASS_SPECIAL] = ROWS(special),
      [KW_CLASS_ATTRS] = ROWS(attrs),      [KW_CLASS_EXACT] = ROWS(exact),    [KW_CLASS_OUTPUTS] = ROWS(outputs),
      [KW_CLASS_ALIASING] = ROWS(aliasing)};
  const scatter_rows *mine = &classes[c->class];
  if (mine->count == 0 || (c->number >= mine->count && !kw_case_about_layouts(c->class))) return false;
  if (c->class == KW_CLASS_LARGE && c->key != KW_F32) return false;
  if (has_ends(c) && kw_suite_op_find_arg(c->op, "reduce") < 0) return false;
  *out = kw_case_is_deep(c, 3) ? deep : mine->rows[c->number % mine->count];
  kw_shape sizes = out->self; /* and the count of numbers */
  sizes.dims[sizes.rank++] = out->count;
  if (c->class != KW_CLASS_SPECIAL && c->class != KW_CLASS_EXACT) kw_case_resize(c, &sizes);
  out->count = sizes.dims[out->self.rank];
  memcpy(out->self.dims, sizes.dims, out->self.rank * sizeof(int64_t));
  return true;
}

/* What scatter_reduce does; "" for a sum. */
static const char *give_reduction(kw_case *c) {
  static const char *const reductions[] = {"sum", "mean", "prod", "amax", "amin"};
  int arg = kw_suite_op_find_arg(c->op, "reduce");
  if (arg < 0) return "";
  uint32_t which = c->number % COUNT(reductions);
  bool mean = which == 1 && (c->key == KW_BOOL || (c->class == KW_CLASS_EXACT && kw_element_is_float(c->key)));
  if (mean) which = 0; /* there is none of bool, and one of floats is not exact */
  kw_case_give(c, (uint32_t)arg, (kw_value){.tag = KW_TAG_STRING, .u.s = reductions[which]});
  bool alone = c->number / COUNT(reductions) % 2 == 0 || has_ends(c); /* by its default self is included */
  if (alone || c->number % 3 == 0) kw_case_give(c, (uint32_t)arg + 1, (kw_value){.tag = KW_TAG_BOOL, .u.b = !alone});
  return reductions[which];
}

static void give_alpha(kw_case *c) {
  static const double factors[] = {2, -1.5, 0, 0.1, 1, -3};
  int arg = kw_suite_op_find_arg(c->op, "alpha");
  if (arg < 0 || (c->class != KW_CLASS_ATTRS && c->number % 3 != 1)) return;
  double factor = factors[c->class == KW_CLASS_EXACT ? 0 : c->number % COUNT(factors)];
  kw_value v = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = (int64_t)(factor * 2)};
  if (c->key == KW_BOOL) v = (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_BOOL, .u.b = factor != 0};
  if (kw_element_is_float(c->key)) {
    v.kind = KW_SCALAR_F64;
    v.u.f = factor;
  }
  const uint32_t beyond = c->number - COUNT(factors);
  if (c->class == KW_CLASS_ATTRS && c->key == KW_I64 && beyond < KW_CASE_WIDE_SCALARS) {
    v.u.i = kw_case_wide_scalar(beyond);
  }
  kw_case_give(c, (uint32_t)arg, v);
}

/* Values that the sums or products of any so many stay in range of. */
static void set_values(kw_case *c, const char *reduction) {
  const bool product = strcmp(reduction, "prod") == 0, chosen = *reduction == 'a';
  kw_domain domain = product ? KW_DOMAIN_FACTOR : chosen ? KW_DOMAIN_ANY : KW_DOMAIN_UNIT;
  /* Equal terms may all be rounded the same way, and no bound on errors that are spread allows that. */
  if (c->class == KW_CLASS_STRIDE0 && !chosen) domain = KW_DOMAIN_EXACT_FACTOR;
  if (c->class == KW_CLASS_EXACT) domain = product ? KW_DOMAIN_EXACT_FACTOR : KW_DOMAIN_SMALL;
  if (c->class == KW_CLASS_SPECIAL) domain = KW_DOMAIN_SMALL;
  c->tensors[0].domain = c->tensors[3].domain = domain;
  if (c->class == KW_CLASS_SPECIAL) {
    c->tensors[3].domain = chosen && c->number % 2 ? KW_DOMAIN_SPECIAL : KW_DOMAIN_SPECIAL_ROW;
    c->tensors[3].value_stride = c->tensors[3].domain == KW_DOMAIN_SPECIAL ? 1 : 7;
  }
  if (has_ends(c)) kw_case_set_ends(&c->tensors[3], 0);
  c->exact = c->class == KW_CLASS_EXACT || chosen;
}

bool kw_case_make_scatter_sum(kw_case *c) {
  scatter_row row;
  kw_layout layouts[3];
  if (!pick_row(c, &row)) return false;
  for (uint32_t i = 0; i < 3; i++) { /* self, src, index */
    if (!kw_case_pick_deep_layout(c, i, 3, &layouts[i])) return false;
  }
  const bool slices = c->op->row.shape == KW_SHAPE_INDEX_ADD, indexed = row.count > 0;
  const uint32_t rank = row.self.rank;
  const uint32_t dim = (uint32_t)(row.dim < 0 ? row.dim + (rank ? rank : 1) : row.dim);
  kw_shape src = row.self, index = row.self;
  if (rank > 0) src.dims[dim] = index.dims[dim] = row.count;
  for (uint32_t d = 0; d < rank && c->class == KW_CLASS_PRIME && indexed; d++) { /* index may be smaller than both */
    if (c->number % 2 && d != dim && index.dims[d] > 1) index.dims[d]--;
    if (!slices) src.dims[d] += c->number % 3;
  }
  if (slices) index = (kw_shape){1, {rank ? row.count : 1}};
  kw_case_set_tensor(c, 0, c->key, &row.self, layouts[0]);
  kw_case_give(c, 1, (kw_value){.tag = KW_TAG_INT, .u.i = row.dim});
  kw_case_set_tensor(c, 2, c->number % 2 ? KW_I32 : KW_I64, &index, layouts[2]);
  kw_case_set_indices(c, 2, rank && row.self.dims[dim] > 0 ? row.self.dims[dim] : 1, false, false, 1);
  kw_case_set_tensor(c, 3, c->key, &src, layouts[1]);
  const char *reduction = give_reduction(c);
  give_alpha(c);
  set_values(c, reduction);
  if (c->class == KW_CLASS_ALIASING) c->tensors[3].share = 0;
  c->terms = 3 + (uint64_t)row.count; /* self, the numbers, and the division of a mean */
  kw_case_set_result(c, 0, c->key, &row.self, kw_case_out_layout(c));
  return true;
}
