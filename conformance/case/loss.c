/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of losses and their backwards.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <string.h>

static void give_int(kw_case *c, int arg, int64_t i) {
  kw_case_give(c, (uint32_t)arg, (kw_value){.tag = KW_TAG_INT, .u.i = i});
}

static bool is_op(const kw_case *c, const char *name) {
  return strcmp(c->op->name, name) == 0;
}

/* ---- Element by element ------------------------------------------------------------------------------------------ */

typedef struct loss_rows {
  const kw_shape *rows;
  uint32_t count;
} loss_rows;

#define ROWS(array) \
  { array, COUNT(array) }

static const kw_shape loss_scalar[] = {{0, {0}}, {0, {0}}, {0, {0}}};
static const kw_shape loss_empty[] = {{1, {0}}, {3, {2, 0, 3}}, {2, {4, 0}}};
static const kw_shape loss_one[] = {{1, {1}}, {3, {1, 1, 1}}, {2, {1, 1}}};
static const kw_shape loss_prime[] = {{1, {7}},       {1, {1021}},       {2, {13, 5}},
                                      {3, {3, 5, 7}}, {4, {2, 3, 5, 7}}, {5, {2, 1, 3, 2, 5}},
                                      {1, {4099}},    {2, {31, 33}},     {8, {2, 1, 3, 1, 2, 1, 2, 2}}};
static const kw_shape loss_large[] = {{1, {65537}}, {2, {257, 263}}};
static const kw_shape loss_layout[] = {{2, {6, 5}}, {3, {4, 3, 5}}, {2, {67, 29}}};
static const kw_shape loss_attrs[] = {{2, {7, 9}}, {2, {7, 9}}, {2, {7, 9}}, {2, {7, 9}}, {2, {7, 9}}, {2, {7, 9}},
                                      {2, {7, 9}}, {2, {7, 9}}, {2, {7, 9}}, {2, {7, 9}}, {2, {7, 9}}, {2, {7, 9}}};
static const kw_shape loss_mixed[] = {{2, {7, 9}}, {2, {7, 9}}, {2, {7, 9}}, {2, {7, 9}}};
static const kw_shape loss_special[] = {{2, {53, 7}}, {2, {53, 7}}, {2, {53, 7}}, {2, {53, 7}}, {2, {53, 7}}};
static const kw_shape loss_exact[] = {{1, {64}}, {2, {16, 32}}, {1, {4}}};
static const kw_shape loss_outputs[] = {{2, {5, 11}}, {3, {5, 11, 7}}, {2, {11, 5}}, {3, {7, 3, 5}}};
static const kw_shape loss_aliasing[] = {{1, {37}}, {1, {37}}, {1, {37}}};
static const kw_shape loss_broadcast[] = {{2, {5, 7}}, {3, {3, 5, 7}}, {3, {2, 4, 3}},
                                          {2, {6, 8}}, {1, {9}},       {2, {3, 4}}};

static const loss_rows rows_of[KW_CLASS_COUNT] = {[KW_CLASS_SCALAR] = ROWS(loss_scalar),
                                                  [KW_CLASS_EMPTY] = ROWS(loss_empty),
                                                  [KW_CLASS_ONE] = ROWS(loss_one),
                                                  [KW_CLASS_PRIME] = ROWS(loss_prime),
                                                  [KW_CLASS_LARGE] = ROWS(loss_large),
                                                  [KW_CLASS_TRANSPOSED] = ROWS(loss_layout),
                                                  [KW_CLASS_SLICED] = ROWS(loss_layout),
                                                  [KW_CLASS_STRIDE0] = ROWS(loss_layout),
                                                  [KW_CLASS_ATTRS] = ROWS(loss_attrs),
                                                  [KW_CLASS_MIXED] = ROWS(loss_mixed),
                                                  [KW_CLASS_SPECIAL] = ROWS(loss_special),
                                                  [KW_CLASS_EXACT] = ROWS(loss_exact),
                                                  [KW_CLASS_OUTPUTS] = ROWS(loss_outputs),
                                                  [KW_CLASS_ALIASING] = ROWS(loss_aliasing),
                                                  [KW_CLASS_BROADCAST] = ROWS(loss_broadcast)};

static bool pick_shape(const kw_case *c, kw_shape *out) {
  const loss_rows *mine = &rows_of[c->class];
  if (mine->count == 0 || (!kw_case_about_layouts(c->class) && c->number >= mine->count)) return false;
  *out = mine->rows[c->number % mine->count];
  return c->class != KW_CLASS_LARGE || c->key == KW_F32 || (c->key != KW_F64 && c->number == 0);
}

/* Tensor number `which` of a case about broadcasting lacks dimensions, or has them with size 1. The first has them all
 * where the result is like it. */
static kw_shape broadcast_shape(const kw_case *c, const kw_shape *shape, uint32_t which) {
  kw_shape part = *shape;
  if (c->class != KW_CLASS_BROADCAST) return part;
  switch ((which + c->number) % 3) {
    case 0:
      return part;
    case 1: /* the last dimensions only */
      part.rank = 1;
      part.dims[0] = shape->dims[shape->rank - 1];
      return part;
    default:
      part.dims[shape->rank - 1] = 1;
      return part;
  }
}

/* Dtypes that promote to the key: one of the tensors is narrower. */
static kw_dtype mixed_dtype(const kw_case *c, uint32_t which) {
  if (c->class != KW_CLASS_MIXED || which % 2 != c->number % 2) return c->key;
  if (c->key == KW_F64) return c->number < 2 ? KW_F32 : KW_F16;
  return c->number < 2 ? KW_BF16 : KW_F16;
}

static kw_domain loss_domain(const kw_case *c, const char *name) {
  const bool logits = is_op(c, "binary_cross_entropy_with_logits");
  if (strstr(name, "weight")) return KW_DOMAIN_PROBABILITY;
  if (c->class == KW_CLASS_EXACT) return KW_DOMAIN_SMALL;
  if (logits) return strcmp(name, "self") == 0 ? KW_DOMAIN_NEAR : KW_DOMAIN_PROBABILITY;
  static const kw_domain usual[] = {KW_DOMAIN_UNIT, KW_DOMAIN_ANY, KW_DOMAIN_NEAR};
  return usual[c->number / 3 % COUNT(usual)];
}

/* Self is special, each row with one value; or both are tied, far apart, or near each other. */
static void set_special(kw_case *c, uint32_t arg, bool is_self) {
  static const kw_domain domains[] = {KW_DOMAIN_HUGE, KW_DOMAIN_FEW, KW_DOMAIN_SPECIAL_ROW, KW_DOMAIN_OFFSET,
                                      KW_DOMAIN_TINY};
  kw_case_tensor *t = &c->tensors[arg];
  const bool logits = is_op(c, "binary_cross_entropy_with_logits");
  const kw_domain domain = domains[c->number];
  t->value_stride = 7;
  if (logits) {
    if (is_self) t->domain = domain == KW_DOMAIN_SPECIAL_ROW ? KW_DOMAIN_SPECIAL_ONE : domain;
  } else if (is_self || domain == KW_DOMAIN_FEW || domain == KW_DOMAIN_OFFSET) {
    t->domain = domain;
  } else {
    t->domain = KW_DOMAIN_SMALL;
  }
}

/* The reduction takes turns; of special values only each loss is judged, their sums could leave the range. */
static int64_t reduction_of(const kw_case *c) {
  return c->class == KW_CLASS_SPECIAL && c->number != 1 ? 0 : c->number % 3;
}

bool kw_case_make_loss(kw_case *c) {
  static const double deltas[] = {1, 0.5, 3, 0.1};
  const bool backward = c->op->row.shape == KW_SHAPE_LOSS_BACKWARD,
             logits = is_op(c, "binary_cross_entropy_with_logits");
  const bool exact = c->class == KW_CLASS_EXACT;
  const int reduction = kw_suite_op_find_arg(c->op, "reduction"), delta = kw_suite_op_find_arg(c->op, "delta");
  const uint32_t self = backward ? 1 : 0, count = 2;
  const kw_shape point = {0, {0}};
  kw_shape shape;
  if (!pick_shape(c, &shape)) return false;
  if (c->class == KW_CLASS_MIXED && c->key != KW_F32 && c->key != KW_F64) return false;
  if (exact && (delta >= 0 || logits)) return false;
  kw_case_resize(c, &shape);
  const int64_t reduced = reduction_of(c);

  for (uint32_t i = 0; i < (uint32_t)reduction; i++) {
    const bool optional = c->op->args[i].optional, is_grad = backward && i == 0;
    const uint32_t which = is_grad ? 2 : i - self;
    if (optional && c->class != KW_CLASS_BROADCAST && !((c->number + c->number / 4) >> (i - 2) & 1)) continue;
    kw_layout layout = KW_LAYOUT_DENSE;
    if (!kw_case_pick_layout(c->class, c->number, which, count, &layout)) return false;
    kw_shape mine = broadcast_shape(c, &shape, which);
    if (backward && i == self) mine = shape;
    if (is_grad && reduced != 0) mine = point;
    kw_case_set_tensor(c, i, mixed_dtype(c, which), &mine, layout);
    c->tensors[i].domain = loss_domain(c, c->op->args[i].name);
    if (c->class == KW_CLASS_SPECIAL) set_special(c, i, i == self);
    c->promoted |= 1u << i;
  }
  if (c->class == KW_CLASS_ALIASING) {
    c->tensors[self + 1].share = (int)self;
    c->tensors[self + 1].domain = c->tensors[self].domain;
  }
  const bool usual = reduced == 1 && !backward && c->number % 2; /* the mean may be left out */
  if (!usual || delta >= 0) give_int(c, reduction, reduced);
  if (delta >= 0) {
    kw_case_give(c, (uint32_t)delta, (kw_value){.tag = KW_TAG_FLOAT, .u.f = deltas[c->number % COUNT(deltas)]});
  }
  c->exact = exact;
  c->terms = 1;
  kw_case_set_result(c, 0, c->key, backward || reduced == 0 ? &shape : &point, kw_case_out_layout(c));
  return true;
}
