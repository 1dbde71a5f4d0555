/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of Fourier transforms.
 */
#include "case/makers.h"
#include "case/parts.h"

/* A shape, of the real side where there is one, and the dimensions that are transformed. */
typedef struct fft_row {
  kw_shape shape;
  uint32_t count;
  int64_t dims[3];
} fft_row;

typedef struct fft_rows {
  const fft_row *rows;
  uint32_t count;
} fft_rows;

#define ROWS(array) \
  { array, COUNT(array) }

static bool pick_row(kw_case *c, fft_row *out) {
  static const fft_row empty[] = {{{2, {0, 8}}, 1, {1}}, {{3, {4, 0, 3}}, 2, {0, 2}}};
  static const fft_row one[] = {{{1, {1}}, 1, {0}}, {{2, {3, 1}}, 1, {1}}, {{1, {2}}, 1, {0}}, {{1, {3}}, 1, {-1}}};
  static const fft_row prime[] = {{{1, {7}}, 1, {0}},
                                  {{1, {8}}, 1, {0}},
                                  {{2, {13, 5}}, 1, {1}},
                                  {{2, {13, 5}}, 1, {0}},
                                  {{3, {3, 5, 7}}, 2, {0, 2}},
                                  {{3, {4, 6, 10}}, 3, {0, 1, 2}},
                                  {{1, {64}}, 1, {0}},
                                  {{1, {127}}, 1, {0}},
                                  {{2, {2, 60}}, 1, {1}},
                                  {{3, {9, 4, 2}}, 2, {2, 0}},
                                  {{1, {243}}, 1, {0}},
                                  {{1, {509}}, 1, {0}},
                                  {{5, {5, 2, 3, 2, 4}}, 1, {0}},
                                  {{6, {2, 5, 2, 3, 2, 4}}, 3, {-1, 3, -5}}};
  static const fft_row large[] = {{{1, {70000}}, 1, {0}}, {{2, {256, 264}}, 2, {0, 1}}};
  static const fft_row deep = {{6, {2, 5, 2, 3, 2, 4}}, 2, {3, 1}};
  static const fft_row layout[] = {{{2, {6, 5}}, 1, {1}}, {{3, {4, 3, 10}}, 2, {1, 2}}, {{2, {12, 7}}, 1, {0}}};
  static const fft_row attrs[] = {
      {{3, {4, 5, 6}}, 1, {0}},       {{3, {4, 5, 6}}, 1, {1}},       {{3, {4, 5, 6}}, 1, {-1}},
      {{3, {4, 5, 6}}, 2, {0, 1}},    {{3, {4, 5, 6}}, 2, {-1, -3}},  {{3, {4, 5, 6}}, 2, {2, 1}},
      {{3, {4, 5, 6}}, 3, {0, 1, 2}}, {{3, {4, 5, 6}}, 3, {2, 1, 0}}, {{3, {4, 5, 6}}, 1, {-2}},
      {{3, {4, 5, 6}}, 1, {2}},       {{3, {4, 5, 6}}, 1, {0}},       {{3, {4, 5, 6}}, 1, {1}}};
  static const fft_row outputs[] = {{{2, {6, 5}}, 1, {1}}, {{3, {4, 3, 10}}, 2, {1, 2}}};
  static const fft_rows classes[KW_CLASS_COUNT] = {
      [KW_CLASS_EMPTY] = ROWS(empty),    [KW_CLASS_ONE] = ROWS(one),           [KW_CLASS_PRIME] = ROWS(prime),
      [KW_CLASS_LARGE] = ROWS(large),    [KW_CLASS_TRANSPOSED] = ROWS(layout), [KW_CLASS_SLICED] = ROWS(layout),
      [KW_CLASS_STRIDE0] = ROWS(layout), [KW_CLASS_ATTRS] = ROWS(attrs),       [KW_CLASS_OUTPUTS] = ROWS(outputs)};
  const fft_rows *mine = &classes[c->class];
  uint32_t count = c->class == KW_CLASS_OUTPUTS ? KW_CASE_OUT_LAYOUTS : mine->count;
  if (count == 0 || (c->number >= count && !kw_case_about_layouts(c->class))) return false;
  if (c->class == KW_CLASS_LARGE && c->key != KW_F32 && c->key != KW_C64) return false;
  *out = kw_case_is_deep(c, 1) ? deep : mine->rows[c->number % mine->count];
  kw_case_resize(c, &out->shape);
  return true;
}

static kw_dtype complex_of(kw_dtype part) {
  return part == KW_F64 ? KW_C128 : KW_C64;
}

bool kw_case_make_fft(kw_case *c) {
  fft_row row;
  kw_layout layout;
  if (!pick_row(c, &row) || !kw_case_pick_deep_layout(c, 0, 1, &layout)) return false;
  const bool to_complex = kw_element_is_float(c->key), to_real = kw_suite_op_find_arg(c->op, "last_dim_size") >= 0;
  const int64_t given = row.dims[row.count - 1], last = given < 0 ? given + row.shape.rank : given;
  const bool flag = c->number / 3 % 2; /* in all combinations with the three normalizations */
  kw_shape self = row.shape, result = row.shape;
  if (to_real) self.dims[last] = self.dims[last] / 2 + 1;
  if (to_complex && flag) result.dims[last] = result.dims[last] / 2 + 1;
  kw_case_set_tensor(c, 0, c->key, &self, layout);
  /* Equal terms may all be rounded the same way, and no bound on errors that are spread allows that. */
  c->tensors[0].domain = c->class == KW_CLASS_STRIDE0 ? KW_DOMAIN_EXACT_FACTOR
                         : c->number % 3 == 1         ? KW_DOMAIN_ANY
                                                      : KW_DOMAIN_UNIT;
  kw_case_give_ints(c, 1, row.dims, row.count);
  kw_case_give(c, 2, (kw_value){.tag = KW_TAG_INT, .u.i = c->number % 3});
  kw_value bool_flag = {.tag = KW_TAG_BOOL, .u.b = flag}, size = {.tag = KW_TAG_INT, .u.i = row.shape.dims[last]};
  kw_case_give(c, 3, to_real ? size : bool_flag);
  c->terms = 1;
  kw_dtype dtype = to_complex ? complex_of(c->key) : to_real ? kw_element_part(c->key) : c->key;
  kw_case_set_result(c, 0, dtype, &result, kw_case_out_layout(c));
  return true;
}
