/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of random choices: samples by weight, permutations, dropout.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <keyway/keyway.h>

/* ---- multinomial ------------------------------------------------------------------------------------------------- */

typedef struct sample_row {
  kw_shape shape;
  int64_t samples;
  bool replacement;
} sample_row;

typedef struct sample_rows {
  const sample_row *rows;
  uint32_t count;
} sample_rows;

#define ROWS(array) \
  { array, COUNT(array) }

/* Without replacement few samples of few entries: where one sample is near a step, all after it depend on it. */
static const sample_row empty[] = {{{2, {0, 5}}, 3, true}, {{2, {0, 1}}, 1, false}};
static const sample_row one[] = {{{1, {1}}, 1, false}, {{2, {1, 1}}, 5, true}};
static const sample_row prime[] = {{{1, {7}}, 11, true},      {{2, {3, 5}}, 13, true}, {{1, {13}}, 5, false},
                                   {{2, {5, 11}}, 3, false},  {{1, {101}}, 211, true}, {{2, {67, 3}}, 2, false},
                                   {{2, {17, 131}}, 5, true}, {{1, {17}}, 17, false}};
static const sample_row large[] = {{{2, {257, 19}}, 257, true}};
static const sample_row strided[] = {{{2, {7, 9}}, 6, true}, {{2, {5, 11}}, 2, false}};

static sample_rows sample_rows_of(kw_case_class class) {
  static const sample_rows rows[KW_CLASS_COUNT] = {
      [KW_CLASS_EMPTY] = ROWS(empty),        [KW_CLASS_ONE] = ROWS(one),
      [KW_CLASS_PRIME] = ROWS(prime),        [KW_CLASS_LARGE] = ROWS(large),
      [KW_CLASS_TRANSPOSED] = ROWS(strided), [KW_CLASS_SLICED] = ROWS(strided),
      [KW_CLASS_STRIDE0] = ROWS(strided),    [KW_CLASS_OUTPUTS] = ROWS(strided)};
  return rows[class];
}

static bool make_multinomial(kw_case *c) {
  const sample_rows rows = sample_rows_of(c->class);
  const bool many = kw_case_about_layouts(c->class) || c->class == KW_CLASS_OUTPUTS;
  kw_layout layout = KW_LAYOUT_DENSE;
  if (rows.count == 0 || c->number >= (many ? 4 : rows.count)) return false;
  if (!kw_case_pick_layout(c->class, c->number, 0, 1, &layout)) return false;
  const sample_row *row = &rows.rows[c->number % rows.count];
  kw_shape result = row->shape;
  result.dims[result.rank - 1] = row->samples;
  c->arg_count = 3;
  kw_case_set_tensor(c, 0, c->key, &row->shape, layout);
  /* Zeros where never all of a row are. */
  bool zeros = row->replacement && row->shape.dims[row->shape.rank - 1] >= 9 && c->class != KW_CLASS_STRIDE0;
  c->tensors[0].domain = zeros ? KW_DOMAIN_PROBABILITY : KW_DOMAIN_WEIGHT;
  kw_case_give(c, 1, kw_arg_int(row->samples));
  kw_case_give(c, 2, kw_arg_bool(row->replacement));
  kw_case_set_result(c, 0, KW_I64, &result, kw_case_out_layout(c));
  return true;
}

/* ---- randperm ---------------------------------------------------------------------------------------------------- */

static bool make_permutation(kw_case *c) {
  static const int64_t primes[] = {2, 3, 4, 5, 7, 13, 64, 101, 127, 131, 255, 256, 257, 1021, 2049, 4099};
  static const int64_t ones[] = {1}, none[] = {0}, many[] = {65537}, outputs[] = {61, 64, 67, 101};
  const int64_t *counts = c->class == KW_CLASS_PRIME   ? primes
                          : c->class == KW_CLASS_ONE   ? ones
                          : c->class == KW_CLASS_EMPTY ? none
                          : c->class == KW_CLASS_LARGE ? many
                                                       : outputs;
  uint32_t numbers = c->class == KW_CLASS_PRIME ? COUNT(primes) : c->class == KW_CLASS_OUTPUTS ? COUNT(outputs) : 1;
  bool has = c->class == KW_CLASS_PRIME || c->class == KW_CLASS_ONE || c->class == KW_CLASS_EMPTY ||
             c->class == KW_CLASS_LARGE || c->class == KW_CLASS_OUTPUTS;
  if (!has || c->number >= numbers) return false;
  int64_t n = counts[c->number];
  if (!kw_element_holds_integers(c->key, 0, n > 0 ? n - 1 : 0)) n = 1 + n % 100; /* as many as the dtype counts */
  const kw_shape shape = {1, {n}};
  c->arg_count = 1;
  kw_case_give(c, 0, kw_arg_int(n));
  if (c->key != KW_I64 || c->number % 4 > 1) kw_case_give(c, 1, kw_arg_dtype(c->key));
  kw_case_set_result(c, 0, c->key, &shape, kw_case_out_layout(c));
  return true;
}

/* ---- native_dropout ---------------------------------------------------------------------------------------------- */

static bool make_dropout(kw_case *c) {
  static const double probabilities[] = {0.5, 0.1, 0, 1, 0.3, 0.999, 0x1p-24};
  const bool attrs = c->class == KW_CLASS_ATTRS, special = c->class == KW_CLASS_SPECIAL;
  kw_shape shape;
  kw_layout layout = KW_LAYOUT_DENSE;
  if (special ? c->number > 1 : !kw_case_random_shape(c, &shape)) return false;
  if (attrs && c->number >= 3 * COUNT(probabilities)) return false;
  if (special) shape = (kw_shape){1, {3 * (int64_t)kw_value_special_count(c->key)}};
  if (!kw_case_pick_layout(c->class, c->number, 0, 1, &layout)) return false;
  c->arg_count = 3;
  kw_case_set_tensor(c, 0, c->key, &shape, layout);
  c->tensors[0].domain = special ? KW_DOMAIN_SPECIAL : KW_DOMAIN_ANY;
  kw_case_give(c, 1, kw_arg_float(probabilities[c->number % COUNT(probabilities)]));
  uint32_t train = attrs ? c->number / COUNT(probabilities) : c->number % 2;
  if (train < 2) kw_case_give(c, 2, kw_arg_bool(train == 0 || !attrs));
  kw_case_set_result(c, 0, c->key, &shape, kw_case_out_layout(c));
  kw_case_set_result(c, 1, KW_BOOL, &shape, kw_case_out_layout(c));
  return true;
}

bool kw_case_make_sample(kw_case *c) {
  if (c->op->row.shape == KW_SHAPE_MULTINOMIAL) return make_multinomial(c);
  return c->op->row.shape == KW_SHAPE_COUNT ? make_permutation(c) : make_dropout(c);
}
