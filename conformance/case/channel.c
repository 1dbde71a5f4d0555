/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of normalisation by channels and groups, and of the backwards of all normalisations.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <string.h>

/* The input [n, channels, ...], and how many groups the channels make. */
typedef struct channel_row {
  kw_shape shape;
  int64_t groups;
} channel_row;

typedef struct channel_rows {
  const channel_row *rows;
  uint32_t count;
} channel_rows;

#define ROWS(array) \
  { array, COUNT(array) }

static const channel_row channel_empty[] = {{{3, {0, 4, 3}}, 2}, {{3, {2, 4, 0}}, 4}, {{2, {0, 3}}, 1}};
static const channel_row channel_one[] = {{{2, {1, 1}}, 1}, {{3, {2, 3, 1}}, 3}, {{4, {1, 6, 1, 1}}, 2}};
static const channel_row channel_prime[] = {{{2, {7, 3}}, 3},
                                            {{3, {5, 6, 7}}, 3},
                                            {{4, {2, 4, 3, 5}}, 2},
                                            {{4, {3, 9, 5, 7}}, 3},
                                            {{3, {2, 12, 101}}, 4},
                                            {{5, {2, 6, 2, 3, 5}}, 1},
                                            {{2, {31, 10}}, 5},
                                            {{3, {1, 8, 257}}, 8},
                                            {{4, {5, 3, 1, 9}}, 1},
                                            {{3, {3, 4, 1021}}, 2},
                                            /* channels and groups past what a wave or a block has, with odd rests */
                                            {{4, {2, 67, 3, 2}}, 67},
                                            {{3, {3, 260, 2}}, 4},
                                            {{2, {5, 131}}, 1},
                                            {{3, {2, 257, 3}}, 257},
                                            {{4, {1, 96, 2, 3}}, 32},
                                            {{3, {67, 6, 2}}, 3},
                                            {{7, {2, 4, 2, 3, 2, 2, 2}}, 2},
                                            {{10, {3, 4, 1, 2, 2, 1, 2, 2, 1, 2}}, 4}};
static const channel_row channel_deep = {{6, {2, 4, 2, 3, 2, 2}}, 2};
enum { FEW_CHANNELS = 10 }; /* before those */
static const channel_row channel_large[] = {{{4, {3, 6, 61, 67}}, 2}};
static const channel_row channel_layout[] = {
    {{2, {6, 4}}, 2}, {{3, {4, 6, 5}}, 3}, {{4, {2, 4, 7, 5}}, 2}, {{4, {3, 8, 5, 4}}, 1}};
static const channel_row channel_special[] = {{{3, {5, 6, 19}}, 2}, {{3, {5, 6, 19}}, 2}, {{3, {5, 6, 19}}, 2},
                                              {{3, {5, 6, 19}}, 2}, {{3, {5, 6, 19}}, 2}, {{3, {5, 6, 19}}, 2},
                                              {{3, {5, 6, 19}}, 3}, {{3, {5, 6, 19}}, 2}};
enum { OTHER_SPECIALS = 5 }; /* before those of kw_case_small, which are of forwards */
static const channel_row channel_attrs[] = {
    {{3, {3, 6, 7}}, 1}, {{3, {3, 6, 7}}, 2}, {{3, {3, 6, 7}}, 3}, {{3, {3, 6, 7}}, 6}, {{3, {3, 6, 7}}, 1},
    {{3, {3, 6, 7}}, 2}, {{3, {3, 6, 7}}, 3}, {{3, {3, 6, 7}}, 6}, {{3, {3, 6, 7}}, 1}, {{3, {3, 6, 7}}, 2}};
static const channel_row channel_mixed[] = {{{3, {3, 6, 7}}, 1}, {{3, {3, 6, 7}}, 2}, {{4, {2, 4, 3, 5}}, 4}};
static const channel_row channel_outputs[] = {
    {{2, {5, 6}}, 2}, {{3, {5, 4, 7}}, 2}, {{3, {4, 6, 3}}, 3}, {{4, {2, 4, 3, 5}}, 2}};

static const channel_rows rows_of[KW_CLASS_COUNT] = {
    [KW_CLASS_EMPTY] = ROWS(channel_empty),       [KW_CLASS_ONE] = ROWS(channel_one),
    [KW_CLASS_PRIME] = ROWS(channel_prime),       [KW_CLASS_LARGE] = ROWS(channel_large),
    [KW_CLASS_TRANSPOSED] = ROWS(channel_layout), [KW_CLASS_SLICED] = ROWS(channel_layout),
    [KW_CLASS_STRIDE0] = ROWS(channel_layout),    [KW_CLASS_SPECIAL] = ROWS(channel_special),
    [KW_CLASS_ATTRS] = ROWS(channel_attrs),       [KW_CLASS_MIXED] = ROWS(channel_mixed),
    [KW_CLASS_OUTPUTS] = ROWS(channel_outputs)};

static bool pick_row(const kw_case *c, channel_row *out) {
  const channel_rows *mine = &rows_of[c->class];
  if (mine->count == 0 || (!kw_case_about_layouts(c->class) && c->number >= mine->count)) return false;
  const bool deep = kw_case_is_deep(c, strstr(c->op->name, "backward") ? 3 : 2);
  *out = deep ? channel_deep : mine->rows[c->number % mine->count];
  if (c->class == KW_CLASS_LARGE && c->key != KW_F32) return false;
  if (c->class == KW_CLASS_PRIME && c->key == KW_F64 && c->number >= FEW_CHANNELS) return false; /* a slow oracle */
  if (c->class == KW_CLASS_SPECIAL && c->number >= OTHER_SPECIALS && strstr(c->op->name, "backward")) return false;
  return c->class != KW_CLASS_MIXED || c->key == KW_F16 || c->key == KW_BF16;
}

/* The shapes of a case. */
typedef struct channel_shapes {
  kw_shape input, weight, rows;
} channel_shapes;

static channel_shapes find_shapes(const kw_case *c, const channel_row *row) {
  channel_shapes shapes = {row->shape, {1, {row->shape.dims[1]}}, {1, {row->shape.dims[1]}}};
  if (kw_suite_op_find_arg(c->op, "group") >= 0) shapes.rows = (kw_shape){2, {row->shape.dims[0], row->groups}};
  if (kw_suite_op_find_arg(c->op, "normalized_shape") < 0) return shapes;
  const uint32_t outer = row->shape.rank - 1 - (row->shape.rank > 2 && c->number % 2);
  shapes.rows = row->shape;
  shapes.weight.rank = row->shape.rank - outer;
  memcpy(shapes.weight.dims, row->shape.dims + outer, shapes.weight.rank * sizeof(int64_t));
  for (uint32_t d = outer; d < row->shape.rank; d++) shapes.rows.dims[d] = 1;
  return shapes;
}

static bool is_like_input(const char *name) {
  return strcmp(name, "input") == 0 || strcmp(name, "grad_out") == 0;
}

static bool is_weight(const char *name) {
  return strcmp(name, "weight") == 0 || strcmp(name, "bias") == 0;
}

/* Statistics are not negative where a root was drawn, or will be. */
static kw_domain channel_domain(const kw_case *c, const char *name) {
  static const kw_domain usual[] = {KW_DOMAIN_ANY, KW_DOMAIN_NEAR, KW_DOMAIN_UNIT};
  if (strcmp(name, "input") == 0) return usual[c->number % COUNT(usual)];
  if (strstr(name, "var") || strstr(name, "std")) return KW_DOMAIN_PROBABILITY;
  return KW_DOMAIN_UNIT;
}

/* What the input holds, or where the op has no statistics of its own what it and the gradient do. */
static void set_special(kw_case *c, uint32_t arg, const char *name) {
  static const kw_domain domains[] = {KW_DOMAIN_SPECIAL_ROW, KW_DOMAIN_FEW, KW_DOMAIN_OFFSET, KW_DOMAIN_HUGE,
                                      KW_DOMAIN_TINY};
  if (c->class != KW_CLASS_SPECIAL || strcmp(name, "input") != 0) return;
  if (c->number >= OTHER_SPECIALS) {
    const kw_case_small_row row = kw_case_small(c->number - OTHER_SPECIALS);
    c->tensors[arg].domain = row.domain;
    c->tensors[arg].value_stride = row.stride;
    return;
  }
  c->tensors[arg].domain = domains[c->number];
  c->tensors[arg].value_stride = 19;
}

/* Numbers beside the input are of its dtype, or of what a device computes in: always so in the class about dtypes. */
static kw_dtype channel_dtype(const kw_case *c, const char *name) {
  const bool other = c->class == KW_CLASS_MIXED || (c->class == KW_CLASS_PRIME && c->number % 2);
  return other && !is_like_input(name) ? kw_element_compute(c->key) : c->key;
}

/* Statistics of the batch as the forward gives them without training: none, in a tensor. */
static bool is_left_empty(const kw_case *c, const char *name) {
  return c->class == KW_CLASS_ATTRS && c->number % 3 == 2 && strncmp(name, "save_", 5) == 0;
}

/* All tensors; false when a layout has run out. Optional weights come and go; statistics stay, whoever needs them. */
static bool set_tensors(kw_case *c, const channel_shapes *shapes) {
  static const kw_shape nothing = {1, {0}};
  const bool backward = strstr(c->op->name, "backward") != NULL;
  for (uint32_t i = 0; i < c->op->arg_count; i++) {
    const kw_suite_arg *arg = &c->op->args[i];
    const bool like = is_like_input(arg->name), weight = is_weight(arg->name);
    const uint32_t which = strcmp(arg->name, "input") == 0 ? 0 : like ? 2 : 1;
    kw_layout layout;
    if (arg->tag != KW_TAG_TENSOR) continue;
    if (weight && (c->number >> (strcmp(arg->name, "bias") == 0) & 1)) continue;
    if (!kw_case_pick_deep_layout(c, which, backward ? 3 : 2, &layout)) return false;
    if (!like && !weight && c->class == KW_CLASS_STRIDE0) layout = KW_LAYOUT_DENSE;
    const kw_shape *shape = like ? &shapes->input : weight ? &shapes->weight : &shapes->rows;
    if (is_left_empty(c, arg->name)) shape = &nothing;
    if (arg->mutated) {
      kw_case_set_changed(c, i, i, channel_dtype(c, arg->name), shape, kw_case_beside_layout(c));
    } else {
      kw_case_set_tensor(c, i, channel_dtype(c, arg->name), shape, layout);
    }
    c->tensors[i].domain = channel_domain(c, arg->name);
    set_special(c, i, arg->name);
  }
  return true;
}

/* What `training` says. */
static bool is_training(const kw_case *c) {
  return kw_suite_op_find_arg(c->op, "running_mean") < 0 || c->number % 3 != 2;
}

/* Small only where the op has statistics of its own: given ones may have variances of 0. */
static double pick_eps(const kw_case *c) {
  static const double epsilons[] = {1e-5, 1e-3, 0.1};
  const bool batch = c->op->row.shape == KW_SHAPE_BATCH_NORM, given = kw_suite_op_find_arg(c->op, "training") < 0;
  if (c->class == KW_CLASS_SPECIAL && c->number >= OTHER_SPECIALS && !(batch && (given || !is_training(c)))) {
    return kw_case_small(c->number - OTHER_SPECIALS).eps;
  }
  const bool equal = c->class == KW_CLASS_STRIDE0 || c->class == KW_CLASS_ONE || c->class == KW_CLASS_SPECIAL;
  return equal ? 1e-5 : epsilons[c->number % COUNT(epsilons)];
}

static void set_numbers(kw_case *c, const channel_row *row, const channel_shapes *shapes) {
  for (uint32_t i = 0; i < c->op->arg_count; i++) {
    const kw_suite_arg *arg = &c->op->args[i];
    kw_value value = {.tag = arg->tag};
    if (arg->tag == KW_TAG_BOOL) {
      value.u.b = is_training(c);
    } else if (arg->tag == KW_TAG_FLOAT && strcmp(arg->name, "eps") == 0) {
      value.u.f = pick_eps(c);
    } else if (arg->tag == KW_TAG_FLOAT) {
      value.u.f = 0.1;
    } else if (arg->tag == KW_TAG_INT) {
      const uint32_t rank = row->shape.rank;
      value.u.i = strcmp(arg->name, "N") == 0 ? row->shape.dims[0] : row->shape.dims[1];
      if (strcmp(arg->name, "group") == 0) value.u.i = row->groups;
      if (strcmp(arg->name, "HxW") == 0) {
        value.u.i = 1;
        for (uint32_t d = 2; d < rank; d++) value.u.i *= row->shape.dims[d];
      }
    } else {
      continue;
    }
    kw_case_give(c, i, value);
  }
  const int normalized = kw_suite_op_find_arg(c->op, "normalized_shape");
  if (normalized >= 0) kw_case_give_ints(c, (uint32_t)normalized, shapes->weight.dims, shapes->weight.rank);
}

/* Which results are wanted: all, but where attributes are tried. */
static uint32_t set_mask(kw_case *c) {
  const int mask = kw_suite_op_find_arg(c->op, "output_mask");
  const uint32_t all = (1u << c->op->result_count) - 1;
  if (mask < 0) return all;
  const uint32_t wanted = c->class == KW_CLASS_ATTRS ? 1 + c->number % all : all;
  int64_t bools[KW_SUITE_RESULTS];
  for (uint32_t r = 0; r < c->op->result_count; r++) bools[r] = wanted >> r & 1;
  kw_case_give_ints(c, (uint32_t)mask, bools, c->op->result_count);
  return wanted;
}

static void set_results(kw_case *c, const channel_shapes *shapes, uint32_t wanted) {
  const bool backward = strstr(c->op->name, "backward") != NULL;
  const int weight = kw_suite_op_find_arg(c->op, "weight"), training = kw_suite_op_find_arg(c->op, "training");
  const bool given = c->op->row.shape == KW_SHAPE_BATCH_NORM && (training < 0 || !c->args[training].value.u.b);
  const kw_shape nothing = {1, {0}};
  const kw_layout layout = kw_case_out_layout(c);
  const kw_shape *others = backward ? &shapes->weight : given ? &nothing : &shapes->rows;
  kw_dtype dtype = kw_element_compute(c->key);
  if (backward) dtype = c->tensors[weight].given ? c->tensors[weight].dtype : c->key;
  for (uint32_t r = 0; r < c->op->result_count && r < 3; r++) { /* further ones are arguments */
    if (!(wanted >> r & 1)) continue;
    kw_case_set_result(c, r, r ? dtype : c->key, r ? others : &shapes->input, layout);
  }
}

/* Each group keeps as many channels as the others. */
static void resize(kw_case *c, channel_row *row) {
  kw_shape sizes = row->shape;
  sizes.dims[1] /= row->groups;
  kw_case_resize(c, &sizes);
  row->shape = sizes;
  row->shape.dims[1] *= row->groups;
}

bool kw_case_make_channel_norm(kw_case *c) {
  channel_row row;
  if (!pick_row(c, &row)) return false;
  resize(c, &row);
  const channel_shapes shapes = find_shapes(c, &row);
  if (!set_tensors(c, &shapes)) return false;
  set_numbers(c, &row, &shapes);
  set_results(c, &shapes, set_mask(c));
  c->terms = 1;
  return true;
}
