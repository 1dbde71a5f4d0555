/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of distances between rows.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <math.h>

/* x1, and x2 with so many rows of the same length; `batch`: with the same dimensions before that. The op on one matrix
 * takes the last two of x1's. */
typedef struct distance_row {
  kw_shape x1;
  int64_t rows;
  bool batch;
} distance_row;

typedef struct distance_rows {
  const distance_row *rows;
  uint32_t count;
} distance_rows;

#define ROWS(array) \
  { array, COUNT(array) }

static bool pick_row(kw_case *c, distance_row *out) {
  static const distance_row empty[] = {
      {{2, {0, 3}}, 4, false}, {{2, {2, 0}}, 3, false}, {{2, {1, 3}}, 0, false}, {{3, {0, 2, 3}}, 2, true}};
  static const distance_row one[] = {{{2, {2, 1}}, 1, false}, {{2, {2, 7}}, 1, false}};
  static const distance_row prime[] = {
      {{2, {7, 5}}, 3, false},       {{2, {5, 13}}, 11, false},  {{3, {2, 5, 7}}, 3, true},
      {{2, {3, 1021}}, 2, false},    {{3, {3, 4, 5}}, 2, false}, {{2, {31, 3}}, 7, false},
      {{4, {2, 1, 3, 67}}, 5, true}, {{2, {13, 1}}, 5, false},   {{6, {2, 1, 3, 2, 4, 5}}, 3, true}};
  static const distance_row large[] = {{{2, {257, 5}}, 257, false}};
  static const distance_row layout[] = {{{2, {5, 7}}, 3, false}, {{3, {2, 4, 9}}, 3, true}};
  static const distance_row special[] = {
      {{2, {13, 5}}, 7, false}, {{2, {13, 5}}, 7, false}, {{2, {13, 5}}, 7, false}, {{2, {13, 5}}, 7, false}};
  static const distance_row attrs[] = {{{2, {5, 7}}, 3, false}};
  static const distance_row outputs[] = {{{2, {5, 7}}, 3, false}, {{2, {4, 3}}, 5, false}};
  static const distance_rows classes[KW_CLASS_COUNT] = {
      [KW_CLASS_EMPTY] = ROWS(empty),    [KW_CLASS_ONE] = ROWS(one),           [KW_CLASS_PRIME] = ROWS(prime),
      [KW_CLASS_LARGE] = ROWS(large),    [KW_CLASS_TRANSPOSED] = ROWS(layout), [KW_CLASS_SLICED] = ROWS(layout),
      [KW_CLASS_STRIDE0] = ROWS(layout), [KW_CLASS_SPECIAL] = ROWS(special),   [KW_CLASS_ATTRS] = ROWS(attrs),
      [KW_CLASS_OUTPUTS] = ROWS(outputs)};
  const distance_rows *mine = &classes[c->class];
  uint32_t count = mine->count;
  if (c->class == KW_CLASS_ATTRS) count = 14;
  if (c->class == KW_CLASS_OUTPUTS) count = KW_CASE_OUT_LAYOUTS;
  if (count == 0 || (c->number >= count && !kw_case_about_layouts(c->class))) return false;
  if (c->class == KW_CLASS_LARGE && c->key != KW_F32) return false;
  *out = mine->rows[c->number % mine->count];
  kw_shape sizes = out->x1;
  sizes.dims[sizes.rank++] = out->rows;
  if (c->class != KW_CLASS_SPECIAL) kw_case_resize(c, &sizes);
  out->rows = sizes.dims[--sizes.rank];
  out->x1 = sizes;
  return true;
}

/* Numbers of few values where they are counted; where rows lie close to each other, their differences cancel. */
static kw_domain domain_of(const kw_case *c, double p) {
  if (c->class == KW_CLASS_SPECIAL) return KW_DOMAIN_SPECIAL_ROW;
  if (p == 0) return KW_DOMAIN_FEW;
  if (c->class == KW_CLASS_STRIDE0) return KW_DOMAIN_EXACT_FACTOR;
  return c->number % 4 == 3 ? KW_DOMAIN_OFFSET : c->number % 2 ? KW_DOMAIN_UNIT : KW_DOMAIN_ANY;
}

static void give_values(kw_case *c, uint32_t arg, const kw_shape *shape, kw_layout layout, double p) {
  kw_case_set_tensor(c, arg, c->key, shape, layout);
  c->tensors[arg].domain = domain_of(c, p);
  c->tensors[arg].value_stride = (uint32_t)shape->dims[shape->rank - 1];
}

bool kw_case_make_distance(kw_case *c) {
  static const double norms[] = {2, 1, 0, INFINITY, 3, 0.5, 1.5};
  const double p = norms[c->number % COUNT(norms)];
  const bool two = c->op->row.shape == KW_SHAPE_CDIST;
  distance_row row;
  kw_layout layouts[2];
  if (!pick_row(c, &row)) return false;
  for (uint32_t i = 0; i < 2; i++) {
    if (!kw_case_pick_layout(c->class, c->number, i, two ? 2 : 1, &layouts[i])) return false;
  }
  const uint32_t batch = row.x1.rank - 2;
  const int64_t n = row.x1.dims[batch], k = row.x1.dims[batch + 1];
  kw_shape x1 = row.x1, x2 = row.x1, result = {1, {n * (n - 1) / 2}};
  if (two) {
    result = row.x1;
    result.dims[batch + 1] = x2.dims[batch] = row.rows;
    if (!row.batch) x2 = (kw_shape){2, {row.rows, k}};
    give_values(c, 1, &x2, layouts[1], p);
  } else {
    x1 = (kw_shape){2, {n, k}};
  }
  give_values(c, 0, &x1, layouts[0], p);
  kw_case_give(c, two ? 2 : 1, (kw_value){.tag = KW_TAG_FLOAT, .u.f = p});
  kw_value mode = {.tag = KW_TAG_INT, .u.i = c->number % 4};
  if (two) kw_case_give(c, 3, mode.u.i < 3 ? mode : (kw_value){.tag = KW_TAG_NONE});
  c->terms = 1;
  kw_case_set_result(c, 0, c->key, &result, kw_case_out_layout(c));
  return true;
}
