/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of losses over classes and their backwards, and of embedding's.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <string.h>

typedef struct class_rows {
  const kw_shape *rows;
  uint32_t count;
} class_rows;

#define ROWS(array) \
  { array, COUNT(array) }

static void give_int(kw_case *c, uint32_t arg, int64_t i) {
  kw_case_give(c, arg, (kw_value){.tag = KW_TAG_INT, .u.i = i});
}

static kw_dtype index_dtype(const kw_case *c) {
  return c->number % 2 ? KW_I32 : KW_I64;
}

static bool pick_shape(const kw_case *c, const class_rows *rows, kw_shape *out) {
  const class_rows *mine = &rows[c->class];
  if (mine->count == 0 || (!kw_case_about_layouts(c->class) && c->number >= mine->count)) return false;
  *out = mine->rows[c->number % mine->count];
  return c->class != KW_CLASS_LARGE || c->key == KW_F32;
}

/* ---- Shapes of scores -------------------------------------------------------------------------------------------- */

/* Of nll_loss and cross_entropy_loss; of the first only those of at most two dimensions count, nll_loss2d adds two. */
static const kw_shape class_scalar[] = {{1, {5}}, {1, {1}}, {1, {7}}, {1, {3}}};
static const kw_shape class_empty[] = {{2, {0, 3}}, {2, {0, 5}}, {2, {0, 1}}};
static const kw_shape class_one[] = {{2, {1, 1}}, {2, {1, 4}}, {2, {6, 1}}};
static const kw_shape class_prime[] = {{2, {7, 3}},  {2, {13, 5}},   {2, {31, 11}}, {2, {3, 101}}, {2, {101, 2}},
                                       {2, {17, 7}}, {2, {1021, 3}}, {2, {5, 13}},  {2, {23, 4}},  {2, {2, 257}}};
static const kw_shape class_large[] = {{2, {257, 263}}};
static const kw_shape class_layout[] = {{2, {6, 5}}, {2, {19, 3}}, {2, {11, 7}}};
static const kw_shape class_attrs[] = {{2, {13, 5}}, {2, {13, 5}}, {2, {13, 5}}, {2, {13, 5}},
                                       {2, {13, 5}}, {2, {13, 5}}, {2, {13, 5}}, {2, {13, 5}},
                                       {2, {13, 5}}, {2, {13, 5}}, {2, {13, 5}}, {2, {13, 5}}};
static const kw_shape class_special[] = {{2, {53, 7}}, {2, {53, 7}}, {2, {53, 7}}, {2, {53, 7}}, {2, {53, 7}}};
static const kw_shape class_exact[] = {{2, {13, 5}}, {2, {64, 3}}, {2, {31, 9}}, {2, {16, 4}}};
static const kw_shape class_outputs[] = {{2, {5, 11}}, {2, {11, 5}}, {2, {7, 3}}, {2, {9, 4}}};

static const class_rows score_rows[KW_CLASS_COUNT] = {
    [KW_CLASS_SCALAR] = ROWS(class_scalar), [KW_CLASS_EMPTY] = ROWS(class_empty),
    [KW_CLASS_ONE] = ROWS(class_one),       [KW_CLASS_PRIME] = ROWS(class_prime),
    [KW_CLASS_LARGE] = ROWS(class_large),   [KW_CLASS_TRANSPOSED] = ROWS(class_layout),
    [KW_CLASS_SLICED] = ROWS(class_layout), [KW_CLASS_STRIDE0] = ROWS(class_layout),
    [KW_CLASS_ATTRS] = ROWS(class_attrs),   [KW_CLASS_SPECIAL] = ROWS(class_special),
    [KW_CLASS_EXACT] = ROWS(class_exact),   [KW_CLASS_OUTPUTS] = ROWS(class_outputs)};

/* Images of scores for nll_loss2d, and now and then for cross_entropy_loss: 1 to 6 by 2. */
static bool pick_scores(const kw_case *c, kw_shape *out) {
  const bool images = strstr(c->op->name, "2d") != NULL, any = strcmp(c->op->name, "cross_entropy_loss") == 0;
  if (!pick_shape(c, score_rows, out)) return false;
  if (images && out->rank < 2) return false;
  if (images || (any && out->rank == 2 && c->number % 3 == 2 && out->dims[0] < 100)) {
    out->rank = 4;
    out->dims[2] = 1 + c->number % 6;
    out->dims[3] = 2;
    if (c->class == KW_CLASS_LARGE) out->dims[2] = 1;
  }
  return true;
}

static kw_shape without_classes(const kw_shape *scores) {
  kw_shape places = {0, {0}};
  for (uint32_t d = 0; d < scores->rank; d++) {
    if (d != (scores->rank > 1)) places.dims[places.rank++] = scores->dims[d];
  }
  return places;
}

/* ---- Losses over classes ----------------------------------------------------------------------------------------- */

static kw_domain score_domain(const kw_case *c, const char *name) {
  if (strcmp(name, "weight") == 0) return c->class == KW_CLASS_EXACT ? KW_DOMAIN_BOOL : KW_DOMAIN_PROBABILITY;
  if (c->class == KW_CLASS_EXACT) return KW_DOMAIN_SMALL;
  return c->number % 2 ? KW_DOMAIN_NEAR : KW_DOMAIN_ANY;
}

static void set_special(kw_case *c, kw_case_tensor *t) {
  static const kw_domain domains[] = {KW_DOMAIN_SPECIAL_ROW, KW_DOMAIN_FEW, KW_DOMAIN_OFFSET, KW_DOMAIN_HUGE,
                                      KW_DOMAIN_TINY};
  if (c->class != KW_CLASS_SPECIAL) return;
  t->domain = domains[c->number];
  t->value_stride = 7;
}

/* A tensor argument by its name; false when a layout has run out. */
static bool set_scores(kw_case *c, const char *name, const kw_shape *shape, uint32_t which) {
  const int arg = kw_suite_op_find_arg(c->op, name);
  kw_layout layout = KW_LAYOUT_DENSE;
  if (arg < 0) return true;
  if (!kw_case_pick_layout(c->class, c->number, which, 3, &layout)) return false;
  kw_case_set_tensor(c, (uint32_t)arg, c->key, shape, layout);
  c->tensors[arg].domain = score_domain(c, name);
  if (which == 0) set_special(c, &c->tensors[arg]);
  c->promoted |= 1u << arg;
  return true;
}

static bool set_targets(kw_case *c, const kw_shape *places, int64_t classes) {
  const uint32_t arg = (uint32_t)kw_suite_op_find_arg(c->op, "target");
  kw_layout layout;
  if (!kw_case_pick_layout(c->class, c->number, 2, 3, &layout)) return false;
  kw_case_set_tensor(c, arg, index_dtype(c), places, layout);
  kw_case_set_indices(c, arg, classes, false, false, 1);
  return true;
}

/* Reductions take turns, weights come and go, and one class is ignored now and then. Of exact numbers
 * the reduction is no mean, which divides. */
static int64_t reduction_of(const kw_case *c) {
  return c->class == KW_CLASS_EXACT ? 2 * (c->number % 2) : c->number % 3;
}

/* Of layouts the first are those of all tensors. */
static bool has_weight(const kw_case *c) {
  return c->number / 3 % 2 == (kw_case_about_layouts(c->class) ? 0 : 1);
}

static int64_t ignored_class(const kw_case *c) {
  return c->class == KW_CLASS_ATTRS && c->number % 4 < 2 ? 1 : c->class == KW_CLASS_EXACT ? 0 : -100;
}

bool kw_case_make_nll_loss(kw_case *c) {
  const kw_shape point = {0, {0}};
  const bool backward = c->op->row.shape == KW_SHAPE_NLL_LOSS_BACKWARD;
  const uint32_t reduction = (uint32_t)kw_suite_op_find_arg(c->op, "reduction");
  const int64_t reduced = reduction_of(c);
  kw_shape shape;
  if (!pick_scores(c, &shape)) return false;
  kw_case_resize(c, &shape);
  const kw_shape places = without_classes(&shape), classes = {1, {shape.dims[shape.rank > 1]}};
  const kw_shape *result = reduced ? &point : &places;
  if (backward && (c->class == KW_CLASS_EXACT || !set_scores(c, "grad_output", result, 1))) return false;
  if (!set_scores(c, "self", &shape, 0) || !set_targets(c, &places, classes.dims[0])) return false;
  if (has_weight(c) && !set_scores(c, "weight", &classes, 1)) return false;
  if (!set_scores(c, "total_weight", &point, 1)) return false;
  give_int(c, reduction, reduced);
  give_int(c, reduction + 1, ignored_class(c));
  c->exact = c->class == KW_CLASS_EXACT;
  c->terms = 1;
  kw_case_set_result(c, 0, c->key, backward ? &shape : result, kw_case_out_layout(c));
  if (!backward) kw_case_set_result(c, 1, c->key, &point, kw_case_out_layout(c));
  return true;
}

/* Numbers of the class SPECIAL before that of KW_DOMAIN_ENDS. */
enum { OTHER_SPECIALS = 3 };

/* Targets are classes, or in every third case probabilities. */
bool kw_case_make_cross_entropy(kw_case *c) {
  static const double smoothings[] = {0, 0, 0.1, 0.5, 0, 1};
  const kw_shape point = {0, {0}};
  const bool told = c->number % 3 == 1;
  kw_shape shape;
  if (c->class == KW_CLASS_EXACT || !pick_scores(c, &shape)) return false;
  if (c->class == KW_CLASS_SPECIAL && c->number > OTHER_SPECIALS) return false; /* logarithms of the numbers' range */
  const bool ends = c->class == KW_CLASS_SPECIAL && c->number == OTHER_SPECIALS;
  if (ends) shape = (kw_shape){2, {KW_VALUE_END_ROWS, 70}};
  kw_case_resize(c, &shape);
  const kw_shape places = without_classes(&shape), classes = {1, {shape.dims[shape.rank > 1]}};
  if (!set_scores(c, "self", &shape, 0)) return false;
  if (c->class == KW_CLASS_PRIME || c->class == KW_CLASS_ATTRS) c->tensors[0].domain = KW_DOMAIN_NEAR;
  if (ends) kw_case_set_ends(&c->tensors[0], 1);
  if (told && !set_scores(c, "target", &shape, 2)) return false;
  if (told) c->tensors[1].domain = KW_DOMAIN_PROBABILITY;
  if (!told && !set_targets(c, &places, classes.dims[0])) return false;
  if (has_weight(c) && !ends && !set_scores(c, "weight", &classes, 1)) return false;
  const int64_t reduced = ends ? 0 : (c->number / 2) % 3; /* each row's */
  give_int(c, 3, reduced);
  give_int(c, 4, told ? -100 : ignored_class(c));
  const double smoothing = smoothings[(c->number + c->number / 6) % COUNT(smoothings)];
  kw_case_give(c, 5, (kw_value){.tag = KW_TAG_FLOAT, .u.f = c->class == KW_CLASS_SPECIAL ? 0 : smoothing});
  c->terms = 1;
  kw_case_set_result(c, 0, c->key, reduced ? &point : &places, kw_case_out_layout(c));
  return true;
}

/* ---- embedding_dense_backward ------------------------------------------------------------------------------------ */

/* Shapes of gradients: the indices', then the length of a row. */
static const kw_shape row_scalar[] = {{1, {3}}, {1, {1}}};
static const kw_shape row_empty[] = {{2, {0, 3}}, {3, {2, 0, 3}}, {2, {5, 0}}};
static const kw_shape row_one[] = {{2, {1, 1}}, {2, {5, 1}}, {3, {1, 1, 4}}};
static const kw_shape row_prime[] = {{2, {7, 3}},       {2, {13, 5}},   {3, {3, 5, 7}}, {2, {31, 11}}, {2, {1021, 3}},
                                     {4, {2, 3, 5, 7}}, {2, {101, 17}}, {2, {3, 257}},  {2, {499, 1}}};
static const kw_shape row_large[] = {{2, {1031, 67}}, {2, {70001, 1}}};
static const kw_shape row_layout[] = {{2, {6, 5}}, {3, {4, 3, 5}}, {2, {67, 9}}};
static const kw_shape row_attrs[] = {{2, {13, 5}}, {2, {13, 5}}, {2, {13, 5}}, {2, {13, 5}}, {2, {13, 5}},
                                     {2, {13, 5}}, {2, {29, 3}}, {2, {29, 3}}, {2, {29, 3}}, {2, {29, 3}}};
static const kw_shape row_special[] = {{2, {53, 7}}, {2, {53, 7}}, {2, {53, 7}}, {2, {53, 7}}, {2, {53, 7}}};
static const kw_shape row_exact[] = {{2, {13, 5}}, {2, {64, 3}}, {2, {211, 2}}};
static const kw_shape row_outputs[] = {{2, {5, 11}}, {2, {11, 5}}, {3, {2, 7, 3}}, {2, {9, 4}}};

static const class_rows gradient_rows[KW_CLASS_COUNT] = {
    [KW_CLASS_SCALAR] = ROWS(row_scalar), [KW_CLASS_EMPTY] = ROWS(row_empty),
    [KW_CLASS_ONE] = ROWS(row_one),       [KW_CLASS_PRIME] = ROWS(row_prime),
    [KW_CLASS_LARGE] = ROWS(row_large),   [KW_CLASS_TRANSPOSED] = ROWS(row_layout),
    [KW_CLASS_SLICED] = ROWS(row_layout), [KW_CLASS_STRIDE0] = ROWS(row_layout),
    [KW_CLASS_ATTRS] = ROWS(row_attrs),   [KW_CLASS_SPECIAL] = ROWS(row_special),
    [KW_CLASS_EXACT] = ROWS(row_exact),   [KW_CLASS_OUTPUTS] = ROWS(row_outputs)};

bool kw_case_make_embedding_backward(kw_case *c) {
  static const int64_t tables[] = {11, 1, 101, 2, 37};
  static const int64_t paddings[] = {-1, 0, 1, -1, -100};
  kw_shape shape;
  kw_layout layouts[2];
  if (!pick_shape(c, gradient_rows, &shape)) return false;
  kw_case_resize(c, &shape);
  const kw_shape places = {shape.rank - 1, {shape.dims[0], shape.dims[1], shape.dims[2]}};
  const kw_shape table = {2, {tables[c->number % COUNT(tables)], shape.dims[shape.rank - 1]}};
  for (uint32_t i = 0; i < 2; i++) {
    if (!kw_case_pick_layout(c->class, c->number, i, 2, &layouts[i])) return false;
  }
  kw_case_set_tensor(c, 0, c->key, &shape, layouts[0]);
  c->tensors[0].domain = c->class == KW_CLASS_EXACT ? KW_DOMAIN_SMALL : KW_DOMAIN_UNIT;
  set_special(c, &c->tensors[0]);
  c->promoted = 1;
  kw_case_set_tensor(c, 1, index_dtype(c), &places, layouts[1]);
  kw_case_set_indices(c, 1, table.dims[0], false, false, 1);
  give_int(c, 2, table.dims[0]);
  give_int(c, 3, paddings[(c->number + c->number / 5) % COUNT(paddings)]);
  const bool scaled = c->class != KW_CLASS_EXACT && c->number % 3 == 2;
  kw_case_give(c, 4, (kw_value){.tag = KW_TAG_BOOL, .u.b = scaled});
  c->exact = c->class == KW_CLASS_EXACT;
  c->terms = 1;
  kw_case_set_result(c, 0, c->key, &table, kw_case_out_layout(c));
  return true;
}
