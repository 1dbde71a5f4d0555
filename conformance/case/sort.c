/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of sort and topk: elements that tie, that differ little, and that have no order but the one that is decided;
 * and of searchsorted in rows of such.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <keyway/keyway.h>

/* Numbers of the class SPECIAL before those of KW_DOMAIN_ENDS, and where these end. */
enum { OTHER_SPECIALS = 4, ENDS_END = 10 };

/* A shape, what is sorted along, and how many topk takes: of all of them in 8 parts. */
typedef struct sort_row {
  kw_shape shape;
  int64_t dim;
  int64_t eighths;
} sort_row;

typedef struct sort_rows {
  const sort_row *rows;
  uint32_t count;
} sort_rows;

#define ROWS(array) \
  { array, COUNT(array) }

static bool pick_row(const kw_case *c, sort_row *out) {
  static const sort_row scalar[] = {{{0, {0}}, 0, 8}, {{0, {0}}, -1, 8}};
  static const sort_row empty[] = {{{1, {0}}, 0, 8}, {{3, {2, 0, 3}}, 2, 4}, {{3, {2, 0, 3}}, 1, 8}};
  static const sort_row one[] = {{{1, {1}}, 0, 8}, {{3, {1, 1, 1}}, 1, 8}, {{2, {5, 1}}, -1, 8}};
  static const sort_row prime[] = {{{1, {7}}, 0, 4},
                                   {{1, {1021}}, -1, 1},
                                   {{2, {13, 5}}, 1, 5},
                                   {{2, {13, 5}}, 0, 8},
                                   {{3, {3, 5, 7}}, 1, 7},
                                   {{4, {2, 3, 5, 7}}, -2, 4},
                                   {{2, {1021, 3}}, 0, 2},
                                   {{1, {4099}}, 0, 8},
                                   {{5, {2, 1, 3, 2, 5}}, 3, 4},
                                   /* far from the last dimension, which is where devices count from */
                                   {{5, {7, 2, 3, 2, 4}}, 0, 6},
                                   {{6, {2, 7, 2, 3, 2, 3}}, -5, 8},
                                   {{8, {3, 2, 2, 2, 2, 2, 5, 2}}, -2, 8},
                                   {{16, {2, 1, 5, 1, 2, 1, 2, 1, 1, 2, 1, 2, 1, 3, 1, 2}}, -14, 5}};
  static const sort_row large[] = {{{1, {65537}}, 0, 1}, {{2, {257, 263}}, 1, 8}};
  static const sort_row layout[] = {{{2, {6, 5}}, 1, 5}, {{3, {4, 3, 5}}, 1, 8}, {{2, {67, 129}}, 0, 3}};
  static const sort_row deep = {{6, {2, 7, 2, 3, 2, 3}}, 1, 6};
  static const sort_row outputs[] = {
      {{2, {5, 11}}, 1, 4}, {{3, {5, 11, 7}}, 2, 6}, {{3, {5, 11, 7}}, 0, 8}, {{2, {11, 5}}, 0, 3}};
  static const sort_row special[] = {{{2, {521, 7}}, 1, 8},
                                     {{1, {101}}, 0, 8},
                                     {{2, {3, 53}}, 1, 3},
                                     {{1, {101}}, 0, 4},
                                     {{2, {KW_VALUE_END_ROWS, 70}}, 1, 8},
                                     {{2, {KW_VALUE_END_ROWS, 70}}, 1, 3},
                                     {{2, {70, KW_VALUE_END_ROWS}}, 0, 8},
                                     {{2, {70, KW_VALUE_END_ROWS}}, 0, 3},
                                     {{2, {KW_VALUE_END_ROWS, 1100}}, 1, 5},
                                     {{2, {KW_VALUE_END_ROWS, 1100}}, 1, 8},
                                     {{2, {3, 1100}}, 1, 8}, /* long ones: often sorted in another way */
                                     {{1, {4099}}, 0, 8},
                                     {{2, {300, 3}}, 0, 4}};
  static const sort_row attrs[] = {{{3, {3, 5, 7}}, 0, 8},  {{3, {3, 5, 7}}, 1, 4},  {{3, {3, 5, 7}}, 2, 8},
                                   {{3, {3, 5, 7}}, -1, 3}, {{3, {3, 5, 7}}, -2, 8}, {{3, {3, 5, 7}}, -3, 6},
                                   {{2, {9, 16}}, 1, 0},    {{2, {9, 16}}, 1, 2}};
  static const sort_rows rows[KW_CLASS_COUNT] = {
      [KW_CLASS_SCALAR] = ROWS(scalar),   [KW_CLASS_EMPTY] = ROWS(empty),    [KW_CLASS_ONE] = ROWS(one),
      [KW_CLASS_PRIME] = ROWS(prime),     [KW_CLASS_LARGE] = ROWS(large),    [KW_CLASS_TRANSPOSED] = ROWS(layout),
      [KW_CLASS_SLICED] = ROWS(layout),   [KW_CLASS_STRIDE0] = ROWS(layout), [KW_CLASS_OUTPUTS] = ROWS(outputs),
      [KW_CLASS_SPECIAL] = ROWS(special), [KW_CLASS_ATTRS] = ROWS(attrs)};
  if (c->class == KW_CLASS_EXHAUSTIVE) {
    *out = (sort_row){{1, {kw_element_size(c->key) == 1 ? 256 : 65536}}, 0, 1};
    return c->number < 2 && kw_element_size(c->key) <= 2 && c->key != KW_BOOL;
  }
  const sort_rows *mine = &rows[c->class];
  const uint32_t turns = c->class == KW_CLASS_ATTRS ? 2 : 1; /* both directions */
  if (mine->count == 0 || (!kw_case_about_layouts(c->class) && c->number >= turns * mine->count)) return false;
  *out = kw_case_is_deep(c, 1) ? deep : mine->rows[c->number / turns % mine->count];
  return true;
}

/* Many ties, none or few, and everything that has an order by decision. */
static void set_values(kw_case *c, const sort_row *row) {
  static const kw_domain usual[] = {KW_DOMAIN_FEW, KW_DOMAIN_ANY, KW_DOMAIN_SMALL};
  static const kw_domain special[] = {KW_DOMAIN_SPECIAL_ROW, KW_DOMAIN_SPECIAL_RAW};
  if (c->class == KW_CLASS_SPECIAL && c->number >= OTHER_SPECIALS && c->number < ENDS_END) {
    kw_case_set_ends(&c->tensors[0], row->dim);
    return;
  }
  bool bits = c->class == KW_CLASS_EXHAUSTIVE, specials = c->class == KW_CLASS_SPECIAL;
  c->tensors[0].domain = bits       ? KW_DOMAIN_BITS
                         : specials ? special[c->number >= ENDS_END ? 1 : c->number % COUNT(special)]
                                    : usual[c->number % COUNT(usual)];
  c->tensors[0].value_stride = specials && c->number % 2 == 0 && c->number < ENDS_END ? 7 : 1;
}

/* What is left of the schema: which end goes first; two arguments that change nothing. */
static void set_flags(kw_case *c) {
  int descending = kw_suite_op_find_arg(c->op, "descending"), largest = kw_suite_op_find_arg(c->op, "largest");
  int stable = kw_suite_op_find_arg(c->op, "stable"), sorted = kw_suite_op_find_arg(c->op, "sorted");
  bool odd = c->number % 2;
  if (stable >= 0) kw_case_give(c, (uint32_t)stable, c->number % 3 ? kw_arg_bool(c->number % 3 == 1) : kw_arg_none());
  if (descending >= 0 && odd) kw_case_give(c, (uint32_t)descending, kw_arg_bool(true));
  if (largest >= 0 && odd) kw_case_give(c, (uint32_t)largest, kw_arg_bool(false));
  if (sorted >= 0 && c->number % 4 >= 2) kw_case_give(c, (uint32_t)sorted, kw_arg_bool(false));
}

bool kw_case_make_sort(kw_case *c) {
  sort_row row;
  kw_layout layout = KW_LAYOUT_DENSE;
  if (!pick_row(c, &row)) return false;
  if (!kw_case_pick_deep_layout(c, 0, 1, &layout)) return false;
  if (c->class != KW_CLASS_EXHAUSTIVE && c->class != KW_CLASS_SPECIAL) kw_case_resize(c, &row.shape);
  kw_case_set_tensor(c, 0, c->key, &row.shape, layout);
  set_values(c, &row);
  int k = kw_suite_op_find_arg(c->op, "k");
  kw_shape result = row.shape;
  if (k >= 0) {
    int64_t kept = 1, *size = result.rank > 0 ? &result.dims[row.dim < 0 ? row.dim + result.rank : row.dim] : &kept;
    *size = (*size * row.eighths + 7) / 8;
    kept = *size;
    kw_case_give(c, (uint32_t)k, kw_arg_int(kept));
  }
  kw_case_give(c, (uint32_t)kw_suite_op_find_arg(c->op, "dim"), kw_arg_int(row.dim));
  set_flags(c);
  kw_case_set_result(c, 0, c->key, &result, kw_case_out_layout(c));
  kw_case_set_result(c, 1, KW_I64, &result, kw_case_out_layout(c));
  return true;
}

/* ---- searchsorted ------------------------------------------------------------------------------------------------ */

enum { SEQUENCE, SELF, OUT_INT32, RIGHT, SIDE, SORTER };

/* The values, and how long the rows are that they are searched in: one for all, or with `rows` one for each of theirs.
 */
typedef struct search_row {
  kw_shape self;
  int64_t length;
  bool rows;
} search_row;

typedef struct search_rows {
  const search_row *rows;
  uint32_t count, numbers;
} search_rows;

#define SEARCHES(array, numbers) \
  { array, COUNT(array), numbers }

static bool pick_search(kw_case *c, search_row *out) {
  static const search_row scalar[] = {{{0, {0}}, 7, false}, {{0, {0}}, 1, false}, {{0, {0}}, 0, false}};
  static const search_row empty[] = {
      {{1, {0}}, 5, false}, {{3, {2, 0, 3}}, 4, true}, {{2, {3, 4}}, 0, true}, {{1, {7}}, 0, false}};
  static const search_row one[] = {{{1, {1}}, 1, false}, {{3, {1, 1, 1}}, 7, true}, {{2, {1, 1}}, 1021, false}};
  static const search_row prime[] = {
      {{1, {7}}, 5, false},         {{2, {13, 5}}, 7, true},          {{2, {13, 5}}, 1021, false},
      {{3, {3, 5, 7}}, 31, true},   {{1, {1021}}, 2, false},          {{4, {2, 3, 5, 7}}, 64, true},
      {{2, {3, 1021}}, 4099, true}, {{5, {2, 1, 3, 2, 5}}, 3, true},  {{1, {4099}}, 1, false},
      {{2, {7, 1}}, 63, true},      {{5, {2, 1, 3, 2, 5}}, 13, false}};
  static const search_row deep = {{6, {2, 3, 2, 3, 2, 4}}, 13, true};
  static const search_row large[] = {
      {{1, {65537}}, 1021, false}, {{2, {257, 263}}, 129, true}, {{1, {31}}, 70001, false}};
  static const search_row layout[] = {{{2, {6, 5}}, 11, true}, {{3, {4, 3, 5}}, 7, true}, {{2, {67, 129}}, 31, true}};
  static const search_row outputs[] = {{{2, {5, 11}}, 4, true}, {{3, {5, 11, 7}}, 13, false}};
  static const search_row special[] = {{{2, {5, 53}}, 67, true}, {{1, {101}}, 257, false}};
  static const search_row attrs[] = {{{2, {5, 53}}, 67, true}};
  static const search_rows classes[KW_CLASS_COUNT] = {[KW_CLASS_SCALAR] = SEARCHES(scalar, 6),
                                                      [KW_CLASS_EMPTY] = SEARCHES(empty, 4),
                                                      [KW_CLASS_ONE] = SEARCHES(one, 6),
                                                      [KW_CLASS_PRIME] = SEARCHES(prime, 22),
                                                      [KW_CLASS_LARGE] = SEARCHES(large, 3),
                                                      [KW_CLASS_TRANSPOSED] = SEARCHES(layout, UINT32_MAX),
                                                      [KW_CLASS_SLICED] = SEARCHES(layout, UINT32_MAX),
                                                      [KW_CLASS_STRIDE0] = SEARCHES(layout, UINT32_MAX),
                                                      [KW_CLASS_OUTPUTS] = SEARCHES(outputs, KW_CASE_OUT_LAYOUTS),
                                                      [KW_CLASS_SPECIAL] = SEARCHES(special, 6),
                                                      [KW_CLASS_ATTRS] = SEARCHES(attrs, 20)};
  if (c->class == KW_CLASS_EXHAUSTIVE) {
    *out = (search_row){{1, {kw_element_size(c->key) == 1 ? 256 : 65536}}, 1021, false};
    return c->number < 2 && kw_element_size(c->key) <= 2;
  }
  const search_rows *mine = &classes[c->class];
  if (c->number >= mine->numbers) return false;
  *out = kw_case_is_deep(c, 2) ? deep : mine->rows[c->number % mine->count];
  if (c->class == KW_CLASS_SPECIAL) return true;
  kw_shape sizes = out->self;
  sizes.dims[sizes.rank++] = out->length;
  kw_case_resize(c, &sizes);
  out->length = sizes.dims[--sizes.rank];
  out->self = sizes;
  return true;
}

/* All that may be said of the side and of the result's dtype, by turns. True for the side behind equals. */
static void set_sides(kw_case *c) {
  static const struct {
    bool right;
    const char *side;
  } sides[] = {{false, NULL}, {true, NULL}, {false, "right"}, {false, "left"}, {true, "right"}};
  const uint32_t which = c->number % COUNT(sides);
  kw_case_give(c, OUT_INT32, kw_arg_bool(c->number % 2));
  kw_case_give(c, RIGHT, kw_arg_bool(sides[which].right));
  if (sides[which].side) kw_case_give(c, SIDE, kw_arg_string(sides[which].side));
}

/* A sorter lies as the sequence does; rows that are turned have to lie in steps of one length in their storage. */
static void set_sequence(kw_case *c, const kw_shape *shape, kw_layout layout, bool sorted) {
  const uint32_t last = shape->rank - 1;
  if (sorted && layout == KW_LAYOUT_INNER) layout = KW_LAYOUT_DENSE;
  kw_case_set_tensor(c, SEQUENCE, c->key, shape, layout);
  c->tensors[SEQUENCE].domain = KW_DOMAIN_ASCENDING;
  if (!sorted) return;
  bool equal = layout == KW_LAYOUT_EXPAND_LAST || layout == KW_LAYOUT_EXPAND_ALL; /* elements, in any order */
  kw_case_set_tensor(c, SORTER, KW_I64, shape, equal ? KW_LAYOUT_DENSE : layout);
  c->tensors[SORTER].domain = KW_DOMAIN_TURN;
  for (uint32_t i = SEQUENCE; i <= SORTER; i += SORTER - SEQUENCE) {
    c->tensors[i].limit = shape->dims[last];
    c->tensors[i].value_stride = (uint32_t)c->tensors[i].strides[last];
  }
}

bool kw_case_make_searchsorted(kw_case *c) {
  static const kw_domain usual[] = {KW_DOMAIN_SMALL, KW_DOMAIN_HALVES, KW_DOMAIN_ANY};
  search_row row;
  kw_layout layouts[2];
  if (!pick_search(c, &row)) return false;
  for (uint32_t i = 0; i < 2; i++) {
    if (!kw_case_pick_deep_layout(c, i, 2, &layouts[i])) return false;
  }
  kw_shape sequence = {1, {row.length}};
  if (row.rows) sequence = row.self;
  sequence.dims[sequence.rank - 1] = row.length;
  set_sequence(c, &sequence, layouts[0], c->number % 4 >= 2);
  kw_case_set_tensor(c, SELF, c->key, &row.self, layouts[1]);
  c->tensors[SELF].domain = c->class == KW_CLASS_EXHAUSTIVE ? KW_DOMAIN_BITS
                            : c->class == KW_CLASS_SPECIAL  ? KW_DOMAIN_SPECIAL_RAW
                                                            : usual[c->number % COUNT(usual)];
  set_sides(c);
  kw_case_set_result(c, 0, c->args[OUT_INT32].value.u.b ? KW_I32 : KW_I64, &row.self, kw_case_out_layout(c));
  return true;
}
