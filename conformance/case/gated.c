/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of gated activations, their gradients, and rotary positions.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <string.h>

#define ROWS_OF(array) \
  { array, COUNT(array) }

/* A shape, and of what is halved the dimension: its size is doubled. Of rows that turn: how many pairs, and how many
 * more positions there are than rows. */
typedef struct gated_row {
  kw_shape shape;
  int64_t dim;
  int64_t pairs, more;
} gated_row;

typedef struct gated_rows {
  const gated_row *rows;
  uint32_t count;
} gated_rows;

/* The row of a case's number; in the classes about layouts rows repeat. */
static bool pick_row(kw_case *c, const gated_rows *rows, gated_row *out) {
  const gated_rows *mine = &rows[c->class];
  if (mine->count == 0 || (!kw_case_about_layouts(c->class) && c->number >= mine->count)) return false;
  *out = mine->rows[c->number % mine->count];
  kw_case_resize(c, &out->shape);
  c->terms = 1; /* the magnitude op is the bound itself */
  c->exact = c->class == KW_CLASS_EXACT;
  return true;
}

static bool set_operand(kw_case *c, uint32_t arg, uint32_t number, uint32_t count, kw_dtype dtype,
                        const kw_shape *shape) {
  kw_layout layout = KW_LAYOUT_DENSE;
  if (!kw_case_pick_layout(c->class, c->number, number, count, &layout)) return false;
  kw_case_set_tensor(c, arg, dtype, shape, layout);
  return true;
}

/* ---- Gates ------------------------------------------------------------------------------------------------------- */

static const gated_row gate_empty[] = {{{2, {0, 3}}, 1, 0, 0}, {{3, {2, 0, 3}}, 1, 0, 0}, {{1, {0}}, 0, 0, 0}};
static const gated_row gate_one[] = {{{1, {1}}, 0, 0, 0}, {{3, {1, 1, 1}}, -1, 0, 0}};
static const gated_row gate_prime[] = {{{1, {7}}, 0, 0, 0},
                                       {{1, {1021}}, -1, 0, 0},
                                       {{2, {13, 5}}, 0, 0, 0},
                                       {{2, {13, 5}}, 1, 0, 0},
                                       {{3, {3, 5, 7}}, 1, 0, 0},
                                       {{4, {2, 3, 5, 7}}, -2, 0, 0},
                                       {{5, {2, 1, 3, 2, 5}}, 3, 0, 0},
                                       {{6, {2, 3, 1, 2, 2, 3}}, 0, 0, 0},
                                       {{6, {2, 3, 1, 2, 2, 3}}, -5, 0, 0}};
static const gated_row gate_large[] = {{{2, {257, 263}}, 1, 0, 0}, {{1, {65537}}, 0, 0, 0}};
static const gated_row gate_layout[] = {{{2, {6, 5}}, 1, 0, 0}, {{3, {4, 3, 5}}, 0, 0, 0}};
static const gated_row gate_attrs[] = {{{3, {3, 5, 7}}, 0, 0, 0},  {{3, {3, 5, 7}}, 1, 0, 0},
                                       {{3, {3, 5, 7}}, 2, 0, 0},  {{3, {3, 5, 7}}, -1, 0, 0},
                                       {{3, {3, 5, 7}}, -2, 0, 0}, {{3, {3, 5, 7}}, -3, 0, 0}};
static const gated_row gate_special[] = {{{2, {5, 67}}, 1, 0, 0}, {{2, {11, 29}}, 0, 0, 0}, {{1, {131}}, 0, 0, 0}};
static const gated_row gate_outputs[] = {
    {{2, {5, 11}}, 1, 0, 0}, {{3, {5, 11, 7}}, 2, 0, 0}, {{3, {5, 11, 7}}, 0, 0, 0}, {{2, {11, 5}}, 0, 0, 0}};

static bool pick_gate(kw_case *c, gated_row *out) {
  static const gated_rows rows[KW_CLASS_COUNT] = {
      [KW_CLASS_EMPTY] = ROWS_OF(gate_empty),       [KW_CLASS_ONE] = ROWS_OF(gate_one),
      [KW_CLASS_PRIME] = ROWS_OF(gate_prime),       [KW_CLASS_LARGE] = ROWS_OF(gate_large),
      [KW_CLASS_TRANSPOSED] = ROWS_OF(gate_layout), [KW_CLASS_SLICED] = ROWS_OF(gate_layout),
      [KW_CLASS_STRIDE0] = ROWS_OF(gate_layout),    [KW_CLASS_ATTRS] = ROWS_OF(gate_attrs),
      [KW_CLASS_SPECIAL] = ROWS_OF(gate_special),   [KW_CLASS_OUTPUTS] = ROWS_OF(gate_outputs)};
  if (c->class == KW_CLASS_LARGE && c->key != KW_F32) return false; /* heavy */
  return pick_row(c, rows, out);
}

static kw_shape doubled(const gated_row *row) {
  kw_shape shape = row->shape;
  shape.dims[row->dim < 0 ? row->dim + shape.rank : row->dim] *= 2;
  return shape;
}

/* Gates from where they are shut to where they are open. */
static void set_domains(kw_case *c, uint32_t first, uint32_t count) {
  static const kw_domain usual[] = {KW_DOMAIN_NEAR, KW_DOMAIN_ANY, KW_DOMAIN_EXPONENT};
  for (uint32_t i = first; i < first + count; i++) {
    c->tensors[i].domain = usual[c->number % COUNT(usual)];
  }
}

bool kw_case_make_glu(kw_case *c) {
  gated_row row;
  if (!pick_gate(c, &row)) return false;
  kw_shape whole = doubled(&row);
  if (!set_operand(c, 0, 0, 1, c->key, &whole)) return false;
  set_domains(c, 0, 1);
  if (c->class == KW_CLASS_SPECIAL) c->tensors[0].domain = KW_DOMAIN_SPECIAL;
  c->tensors[0].value_stride = 1;
  kw_case_give(c, 1, (kw_value){.tag = KW_TAG_INT, .u.i = row.dim});
  kw_case_set_result(c, 0, c->key, &row.shape, kw_case_out_layout(c));
  return true;
}

/* No special values: partial products of gradients may leave the range in another order. */
bool kw_case_make_glu_backward(kw_case *c) {
  gated_row row;
  if (c->class == KW_CLASS_SPECIAL || !pick_gate(c, &row)) return false;
  kw_shape whole = doubled(&row);
  if (!set_operand(c, 0, 0, 2, c->key, &row.shape) || !set_operand(c, 1, 1, 2, c->key, &whole)) return false;
  set_domains(c, 0, 2);
  kw_case_give(c, 2, (kw_value){.tag = KW_TAG_INT, .u.i = row.dim});
  kw_case_set_result(c, 0, c->key, &whole, kw_case_out_layout(c));
  return true;
}

/* All tensors and results of one shape; gradients as well. */
bool kw_case_make_same(kw_case *c) {
  gated_row row;
  uint32_t count = c->op->arg_count;
  if (c->class == KW_CLASS_ATTRS || c->class == KW_CLASS_SPECIAL || !pick_gate(c, &row)) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (!set_operand(c, i, i, count, c->key, &row.shape)) return false;
  }
  set_domains(c, 0, count);
  kw_layout layout = kw_case_out_layout(c);
  for (uint32_t r = 0; r < c->op->result_count; r++) kw_case_set_result(c, r, c->key, &row.shape, layout);
  return true;
}

/* ---- Rotary positions -------------------------------------------------------------------------------------------- */

static const gated_row rope_empty[] = {{{2, {0, 4}}, 0, 2, 3}, {{3, {2, 3, 0}}, 0, 0, 1}, {{3, {0, 3, 4}}, 0, 1, 0}};
static const gated_row rope_one[] = {{{2, {1, 2}}, 0, 1, 0}, {{4, {1, 1, 1, 1}}, 0, 0, 0}};
static const gated_row rope_prime[] = {
    {{2, {7, 10}}, 0, 5, 0},         {{3, {3, 5, 11}}, 0, 5, 3},    {{4, {2, 3, 7, 16}}, 0, 8, 9},
    {{4, {2, 3, 5, 13}}, 0, 2, 2},   {{4, {1, 2, 67, 6}}, 0, 3, 1}, {{5, {2, 1, 3, 5, 8}}, 0, 3, 0},
    {{2, {131, 4}}, 0, 2, 70},       {{3, {3, 5, 9}}, 0, 0, 2},     {{6, {2, 1, 2, 3, 2, 6}}, 0, 3, 2},
    {{3, {2, 5, 268}}, 0, 134, 300}, {{3, {2, 3, 132}}, 0, 33, 0}};
static const gated_row rope_large[] = {{{4, {2, 4, 67, 128}}, 0, 64, 5}, {{3, {5, 131, 101}}, 0, 32, 0}};
static const gated_row rope_layout[] = {{{3, {4, 3, 6}}, 0, 3, 2}, {{4, {2, 3, 5, 8}}, 0, 2, 0}};
static const gated_row rope_outputs[] = {
    {{3, {4, 3, 6}}, 0, 3, 2}, {{4, {2, 3, 5, 8}}, 0, 2, 0}, {{3, {4, 3, 6}}, 0, 2, 0}, {{2, {5, 7}}, 0, 3, 1}};
static const gated_row rope_plain[] = {{{4, {2, 3, 5, 8}}, 0, 4, 3}, {{4, {2, 3, 5, 8}}, 0, 4, 3},
                                       {{4, {2, 3, 5, 8}}, 0, 4, 3}, {{4, {2, 3, 5, 8}}, 0, 3, 3},
                                       {{4, {2, 3, 5, 8}}, 0, 3, 3}, {{4, {2, 3, 5, 8}}, 0, 3, 3}};

static bool pick_rope(kw_case *c, gated_row *out) {
  static const gated_rows rows[KW_CLASS_COUNT] = {
      [KW_CLASS_EMPTY] = ROWS_OF(rope_empty),       [KW_CLASS_ONE] = ROWS_OF(rope_one),
      [KW_CLASS_PRIME] = ROWS_OF(rope_prime),       [KW_CLASS_LARGE] = ROWS_OF(rope_large),
      [KW_CLASS_TRANSPOSED] = ROWS_OF(rope_layout), [KW_CLASS_SLICED] = ROWS_OF(rope_layout),
      [KW_CLASS_STRIDE0] = ROWS_OF(rope_layout),    [KW_CLASS_ATTRS] = ROWS_OF(rope_plain),
      [KW_CLASS_BROADCAST] = ROWS_OF(rope_plain),   [KW_CLASS_EXACT] = ROWS_OF(rope_plain),
      [KW_CLASS_SPECIAL] = ROWS_OF(rope_plain),     [KW_CLASS_OUTPUTS] = ROWS_OF(rope_outputs)};
  if (!pick_row(c, rows, out)) return false;
  int64_t width = out->shape.dims[out->shape.rank - 1]; /* a shrunken case has less room */
  if (out->pairs > width / 2) out->pairs = width / 2;
  return true;
}

/* A position a row, alike for all heads, for all of a batch, or without the dimension. */
static void set_positions(kw_case *c, const gated_row *row, int64_t count, kw_layout layout) {
  kw_shape shape = {row->shape.rank - 1, {0}};
  memcpy(shape.dims, row->shape.dims, shape.rank * sizeof *shape.dims);
  uint32_t broadcast = c->class == KW_CLASS_BROADCAST ? c->number % 3 : c->number / 2 % 2;
  if (broadcast == 1 && shape.rank > 1) shape.dims[shape.rank - 2] = 1;
  if (broadcast == 2) shape = (kw_shape){1, {shape.dims[shape.rank - 1]}};
  kw_case_set_tensor(c, 3, c->number % 4 == 1 ? KW_I32 : KW_I64, &shape, layout);
  kw_case_set_indices(c, 3, count, false, false, 1);
}

bool kw_case_make_rope(kw_case *c) {
  gated_row row;
  if (!pick_rope(c, &row)) return false;
  int64_t rows = row.shape.dims[row.shape.rank - 2], count = rows + row.more;
  kw_shape table = {2, {count, row.pairs}};
  bool wide = c->number % 3 == 2; /* tables in the compute type */
  bool given = c->class == KW_CLASS_BROADCAST || c->number % 2 == 1;
  if (given && count == 0) return false;
  if (!set_operand(c, 0, 0, 3, c->key, &row.shape)) return false;
  for (uint32_t i = 1; i < 3; i++) {
    if (!set_operand(c, i, i, 3, wide ? kw_element_compute(c->key) : c->key, &table)) return false;
    c->tensors[i].domain = c->exact ? KW_DOMAIN_SMALL : KW_DOMAIN_UNIT;
  }
  if (c->exact) c->tensors[0].domain = KW_DOMAIN_SMALL;
  if (c->class == KW_CLASS_SPECIAL) c->tensors[0].domain = KW_DOMAIN_SPECIAL;
  c->tensors[0].value_stride = 1;
  kw_layout layout; /* where all are laid out alike */
  kw_case_pick_layout(c->class, c->number, 1, 3, &layout);
  if (given) set_positions(c, &row, count, layout);
  if (c->number % 4 >= 2) kw_case_give(c, 4, (kw_value){.tag = KW_TAG_BOOL, .u.b = true});
  kw_case_set_result(c, 0, c->key, &row.shape, kw_case_out_layout(c));
  return true;
}
