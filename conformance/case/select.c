/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of ops that select by a mask, or by what is not zero.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <keyway/keyway.h>

typedef struct shapes {
  const kw_shape *rows;
  uint32_t count;
} shapes;

#define ROWS(array) \
  { array, COUNT(array) }

/* What is selected from. In the classes about layouts every row comes with every layout, as long as there are layouts:
 * rows repeat. */
static bool pick_shape(const kw_case *c, uint32_t tensors, kw_shape *out) {
  static const kw_shape scalar[] = {{0, {0}}, {0, {0}}, {0, {0}}};
  static const kw_shape empty[] = {{1, {0}}, {3, {2, 0, 3}}};
  static const kw_shape one[] = {{1, {1}}, {3, {1, 1, 1}}};
  static const kw_shape prime[] = {
      {1, {7}},          {1, {1021}},    {2, {13, 5}},
      {3, {3, 5, 7}},    {2, {1021, 3}}, {8, {2, 1, 3, 1, 2, 1, 2, 2}},
      {4, {2, 3, 5, 7}}, {1, {4099}},    {16, {1, 1, 1, 2, 1, 1, 3, 1, 1, 1, 2, 1, 1, 1, 1, 3}}};
  static const kw_shape large[] = {{1, {65537}}, {2, {257, 263}}};
  static const kw_shape deep = {6, {2, 5, 2, 3, 2, 3}};
  static const kw_shape layout[] = {{2, {6, 5}}, {3, {4, 3, 5}}, {2, {67, 129}}};
  static const kw_shape outputs[] = {{2, {5, 11}}, {3, {5, 11, 7}}, {1, {31}}, {2, {11, 5}}};
  static const kw_shape special[] = {{1, {37}}, {2, {29, 3}}};
  static const kw_shape attrs[] = {{2, {53, 7}}, {2, {53, 7}}, {2, {53, 7}}, {2, {53, 7}}};
  static const shapes rows[KW_CLASS_COUNT] = {
      [KW_CLASS_SCALAR] = ROWS(scalar),   [KW_CLASS_EMPTY] = ROWS(empty),    [KW_CLASS_ONE] = ROWS(one),
      [KW_CLASS_PRIME] = ROWS(prime),     [KW_CLASS_LARGE] = ROWS(large),    [KW_CLASS_TRANSPOSED] = ROWS(layout),
      [KW_CLASS_SLICED] = ROWS(layout),   [KW_CLASS_STRIDE0] = ROWS(layout), [KW_CLASS_OUTPUTS] = ROWS(outputs),
      [KW_CLASS_SPECIAL] = ROWS(special), [KW_CLASS_ATTRS] = ROWS(attrs)};
  const shapes *mine = &rows[c->class];
  if (mine->count == 0 || (!kw_case_about_layouts(c->class) && c->number >= mine->count)) return false;
  *out = kw_case_is_deep(c, tensors) ? deep : mine->rows[c->number % mine->count];
  return true;
}

/* How many elements there are for one that is selected: all, few, none, by case number. */
static uint32_t pick_density(const kw_case *c) {
  static const uint32_t densities[] = {2, 5, 1, 1u << 30};
  bool extremes = c->class == KW_CLASS_ATTRS || c->class == KW_CLASS_SCALAR || c->class == KW_CLASS_ONE;
  return densities[c->number % (extremes ? COUNT(densities) : 2)];
}

static void give_count(kw_case *c) {
  const kw_shape point = {0, {0}};
  kw_case_set_result(c, 1, KW_I64, &point, KW_LAYOUT_DENSE);
}

bool kw_case_make_nonzero(kw_case *c) {
  kw_shape shape;
  kw_layout layout = KW_LAYOUT_DENSE;
  bool every_pattern =
      c->class == KW_CLASS_EXHAUSTIVE && c->number == 0 && kw_element_size(c->key) <= 2 && c->key != KW_BOOL;
  if (every_pattern) shape = (kw_shape){1, {kw_element_size(c->key) == 1 ? 256 : 65536}};
  if (!every_pattern && !pick_shape(c, 1, &shape)) return false;
  if (!kw_case_pick_deep_layout(c, 0, 1, &layout)) return false;
  if (!every_pattern) kw_case_resize(c, &shape);
  kw_case_set_tensor(c, 0, c->key, &shape, layout);
  c->tensors[0].domain = every_pattern                  ? KW_DOMAIN_BITS
                         : c->class == KW_CLASS_SPECIAL ? KW_DOMAIN_SPECIAL
                                                        : KW_DOMAIN_SPARSE;
  c->tensors[0].value_stride = c->tensors[0].domain == KW_DOMAIN_SPARSE ? pick_density(c) : 1;
  const kw_shape indices = {2, {c->tensors[0].numel, shape.rank}};
  kw_case_set_result(c, 0, KW_I64, &indices, kw_case_out_layout(c));
  give_count(c);
  return true;
}

/* ---- Masks ------------------------------------------------------------------------------------------------------- */

/* Shapes of self and mask that are not the same. */
static const struct {
  kw_shape self, mask, result;
} broadcasts[] = {{{2, {13, 5}}, {1, {5}}, {2, {13, 5}}},        {{1, {5}}, {2, {13, 5}}, {2, {13, 5}}},
                  {{3, {3, 1, 7}}, {2, {5, 1}}, {3, {3, 5, 7}}}, {{0, {0}}, {2, {4, 3}}, {2, {4, 3}}},
                  {{2, {6, 11}}, {0, {0}}, {2, {6, 11}}},        {{2, {0, 3}}, {2, {1, 1}}, {2, {0, 3}}}};

typedef struct masked {
  kw_shape self, mask, result; /* result: what self and mask broadcast to */
  kw_layout layouts[3];        /* of self, mask and source */
} masked;

static bool pick_masked(kw_case *c, masked *out) {
  const bool joined = c->class == KW_CLASS_BROADCAST;
  const uint32_t tensors = c->op->row.shape == KW_SHAPE_MASKED_SCATTER ? 3 : 2;
  if (joined && c->number >= COUNT(broadcasts)) return false;
  if (joined) {
    *out = (masked){broadcasts[c->number].self, broadcasts[c->number].mask, broadcasts[c->number].result, {0}};
  } else {
    kw_shape shape;
    if (!pick_shape(c, tensors, &shape)) return false;
    kw_case_resize(c, &shape);
    *out = (masked){shape, shape, shape, {0}};
  }
  for (uint32_t i = 0; i < tensors; i++) {
    if (!kw_case_pick_deep_layout(c, i, tensors, &out->layouts[i])) return false;
  }
  return true;
}

/* As many elements as places, in several shapes; some of them with more. */
static kw_shape source_shape(const kw_case *c, const kw_shape *result) {
  int64_t numel = 1;
  for (uint32_t d = 0; d < result->rank; d++) numel *= result->dims[d];
  if (kw_case_about_layouts(c->class) || c->number % 3 == 0) return *result;
  if (c->number % 3 == 1) return (kw_shape){1, {numel}};
  return (kw_shape){2, {numel + 1, 2}};
}

bool kw_case_make_masked(kw_case *c) {
  masked m;
  if (!pick_masked(c, &m)) return false;
  const bool scatters = c->op->row.shape == KW_SHAPE_MASKED_SCATTER;
  kw_case_set_tensor(c, 0, c->key, &m.self, m.layouts[0]);
  kw_case_set_tensor(c, 1, KW_BOOL, &m.mask, m.layouts[1]);
  c->tensors[1].domain = KW_DOMAIN_SPARSE;
  c->tensors[1].value_stride = pick_density(c);
  if (c->class == KW_CLASS_SPECIAL) c->tensors[0].domain = KW_DOMAIN_SPECIAL_RAW;
  if (scatters) {
    const kw_shape source = source_shape(c, &m.result);
    kw_case_set_tensor(c, 2, c->key, &source, m.layouts[2]);
    if (c->class == KW_CLASS_SPECIAL) c->tensors[2].domain = KW_DOMAIN_SPECIAL_RAW;
    kw_case_set_result(c, 0, c->key, &m.result, kw_case_out_layout(c));
    return true;
  }
  kw_shape all = {1, {1}};
  for (uint32_t d = 0; d < m.result.rank; d++) all.dims[0] *= m.result.dims[d];
  kw_case_set_result(c, 0, c->key, &all, kw_case_out_layout(c));
  give_count(c);
  return true;
}
