/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of linear layers whose weights come in another form than a dense matrix, and of what puts them into it.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <string.h>

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

/* Input [m, k], result [m, n]; k and n are counted in units: groups of columns, fours, blocks. */
typedef struct linear {
  int64_t m, k, n;
  kw_layout layouts[2]; /* of the input, and of the tensor that holds the weights */
} linear;

static const int64_t empty[][3] = {{0, 5, 3}, {4, 0, 3}, {4, 5, 0}};
static const int64_t one[][3] = {{1, 1, 1}};
static const int64_t prime[][3] = {{7, 5, 3},   {17, 31, 13}, {33, 16, 29}, {1, 37, 65},
                                   {3, 257, 5}, {31, 1, 7},   {16, 16, 16}};
static const int64_t large[][3] = {{257, 5, 263}};
static const int64_t layout[][3] = {{11, 7, 13}, {5, 3, 17}};
static const int64_t usual[][3] = {{7, 6, 5}};
static const int64_t attrs[][3] = {
    {7, 6, 5}, {32, 64, 48}, {48, 32, 80}}; /* multiples of 16: whole tiles of a matrix unit */
static const int64_t exact[][3] = {{7, 31, 5}, {5, 129, 3}, {17, 8, 9}, {3, 65, 7}};

static bool pick_sizes(const kw_case *c, linear *out) {
  static const struct {
    const int64_t (*sizes)[3];
    uint32_t size_count, count; /* numbers from 0 to count - 1; sizes repeat */
  } rows[KW_CLASS_COUNT] = {
      [KW_CLASS_EMPTY] = {empty, COUNT(empty), COUNT(empty)},
      [KW_CLASS_ONE] = {one, COUNT(one), 2},
      [KW_CLASS_PRIME] = {prime, COUNT(prime), COUNT(prime)},
      [KW_CLASS_LARGE] = {large, COUNT(large), COUNT(large)},
      [KW_CLASS_TRANSPOSED] = {layout, COUNT(layout), UINT32_MAX}, /* as many as there are layouts */
      [KW_CLASS_SLICED] = {layout, COUNT(layout), UINT32_MAX},
      [KW_CLASS_STRIDE0] = {layout, COUNT(layout), UINT32_MAX},
      [KW_CLASS_ATTRS] = {attrs, COUNT(attrs), 48},
      [KW_CLASS_SPECIAL] = {usual, COUNT(usual), 3},
      [KW_CLASS_EXACT] = {exact, COUNT(exact), 8},
      [KW_CLASS_OUTPUTS] = {layout, COUNT(layout), KW_CASE_OUT_LAYOUTS}};
  if (c->number >= rows[c->class].count) return false;
  const int64_t *sizes = rows[c->class].sizes[c->number % rows[c->class].size_count];
  *out = (linear){.m = sizes[0], .k = sizes[1], .n = sizes[2]};
  for (uint32_t i = 0; i < 2; i++) {
    if (!kw_case_pick_layout(c->class, c->number, i, 2, &out->layouts[i])) return false;
  }
  return true;
}

static bool make_sizes(kw_case *c, linear *out) {
  if (!pick_sizes(c, out)) return false;
  kw_shape sizes = {3, {out->m, out->k, out->n}};
  kw_case_resize(c, &sizes);
  out->m = sizes.dims[0];
  out->k = sizes.dims[1];
  out->n = sizes.dims[2];
  c->exact = c->class == KW_CLASS_EXACT;
  c->terms = 1;
  return true;
}

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

/* Sums are exact: also where stride 0 makes all products one number, for then errors do not cancel. */
static bool sums_exactly(const kw_case *c) {
  return c->exact || c->class == KW_CLASS_STRIDE0;
}

/* A tensor of numbers that are multiplied: the input, or with `weights` what stands for them. Special values are in one
 * of the two. */
static void set_factor(kw_case *c, uint32_t arg, kw_dtype dtype, const kw_shape *shape, kw_layout how, bool weights) {
  kw_case_set_tensor(c, arg, dtype, shape, how);
  kw_case_tensor *t = &c->tensors[arg];
  const int64_t last = shape->dims[shape->rank - 1];
  t->domain = sums_exactly(c) ? KW_DOMAIN_SMALL : KW_DOMAIN_UNIT;
  if (c->class != KW_CLASS_SPECIAL) return;
  const bool special = (c->number == 1) == weights;
  t->domain = c->number == 2 ? KW_DOMAIN_FEW : special ? KW_DOMAIN_SPECIAL_ROW : KW_DOMAIN_SMALL;
  t->value_stride = (uint32_t)(last > 0 ? last : 1);
}

static void set_scale(kw_case *c, uint32_t arg, kw_dtype dtype, const kw_shape *shape) {
  kw_case_set_tensor(c, arg, dtype, shape, kw_case_beside_layout(c));
  c->tensors[arg].domain = sums_exactly(c) ? KW_DOMAIN_EXACT_FACTOR : KW_DOMAIN_POWER_BASE;
}

/* The bias where there is one, and the result. */
static void finish(kw_case *c, const linear *sizes, uint32_t bias, kw_dtype bias_dtype, kw_dtype out_dtype) {
  const kw_shape row = {1, {sizes->n}}, result = {2, {sizes->m, sizes->n}};
  if (c->class != KW_CLASS_ONE && (c->number + c->number / 4) % 2 == 0) {
    kw_case_set_tensor(c, bias, bias_dtype, &row, kw_case_beside_layout(c));
    c->tensors[bias].domain = c->exact ? KW_DOMAIN_SMALL : KW_DOMAIN_UNIT;
  }
  kw_case_set_result(c, 0, out_dtype, &result, kw_case_out_layout(c));
}

/* ---- Scaled products --------------------------------------------------------------------------------------------- */

bool kw_case_make_linear(kw_case *c) {
  static const kw_dtype floats[] = {KW_F32, KW_F16, KW_BF16};
  linear sizes;
  if (!make_sizes(c, &sizes)) return false;
  const bool f8 = c->key != KW_I8;
  const kw_dtype weight = f8 && (c->number + c->number / 8) % 2 ? KW_F8E5M2 : f8 ? KW_F8E4M3FN : c->key;
  const kw_shape input = {2, {sizes.m, sizes.k}}, weights = {2, {sizes.n, sizes.k}};
  const kw_shape point = {0, {0}}, rows = {1, {sizes.m}}, columns = {1, {sizes.n}};
  set_factor(c, 0, c->key, &input, sizes.layouts[0], false);
  set_factor(c, 1, weight, &weights, sizes.layouts[1], true);
  set_scale(c, 2, KW_F32, c->number % 3 == 1 ? &rows : &point);
  set_scale(c, 3, KW_F32, c->number % 4 == 3 ? &point : &columns);
  kw_dtype out_dtype = floats[(c->number + c->number / 3) % 3];
  finish(c, &sizes, 4, floats[c->number / 2 % 3], out_dtype);
  if (out_dtype != KW_F32 || c->number % 2) kw_case_give(c, 5, (kw_value){.tag = KW_TAG_DTYPE, .u.dtype = out_dtype});
  return true;
}

/* ---- Nibbles ----------------------------------------------------------------------------------------------------- */

bool kw_case_make_int4_linear(kw_case *c) {
  static const int64_t groups[] = {4, 2, 16, 8, 3, 5};
  linear sizes;
  if (!make_sizes(c, &sizes)) return false;
  const int64_t group = groups[c->number % COUNT(groups)];
  sizes.k += sizes.k * group % 2; /* of pairs; one of them may be in two groups */
  const int64_t k = sizes.k * group;
  const kw_shape input = {2, {sizes.m, k}}, bytes = {2, {sizes.n, k / 2}}, parameters = {2, {sizes.n, sizes.k}};
  set_factor(c, 0, c->key, &input, sizes.layouts[0], false);
  kw_case_set_tensor(c, 1, KW_U8, &bytes, sizes.layouts[1]);
  set_scale(c, 2, c->key, &parameters);
  kw_case_set_tensor(c, 3, c->key, &parameters, kw_case_beside_layout(c));
  c->tensors[3].domain = sums_exactly(c) || c->number % 2 ? KW_DOMAIN_SMALL : KW_DOMAIN_NEAR;
  finish(c, &sizes, 4, c->key, c->key);
  return true;
}

/* ---- Two of four ------------------------------------------------------------------------------------------------- */

bool kw_case_make_sparse24_linear(kw_case *c) {
  linear sizes;
  if (!make_sizes(c, &sizes)) return false;
  const kw_shape input = {2, {sizes.m, 4 * sizes.k}}, values = {2, {sizes.n, 2 * sizes.k}};
  const kw_shape meta = {2, {sizes.n, (sizes.k + 1) / 2}};
  set_factor(c, 0, c->key, &input, sizes.layouts[0], false);
  set_factor(c, 1, c->key, &values, sizes.layouts[1], true);
  kw_case_set_tensor(c, 2, KW_U8, &meta, sizes.layouts[1]);
  c->tensors[2].domain = KW_DOMAIN_PAIRS;
  finish(c, &sizes, 3, c->key, c->key);
  return true;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* About half of the blocks there could be; their columns may be the same. */
bool kw_case_make_bsr_linear(kw_case *c) {
  static const int64_t blocks[][2] = {{2, 3}, {1, 1}, {4, 4}, {3, 1}, {1, 8}};
  const int64_t height = blocks[c->number % COUNT(blocks)][0], width = blocks[c->number % COUNT(blocks)][1];
  linear sizes;
  if (!make_sizes(c, &sizes)) return false;
  const int64_t count = (sizes.n * sizes.k + 1) / 2;
  const kw_shape input = {2, {sizes.m, sizes.k * width}}, values = {3, {count, height, width}};
  const kw_shape rows = {1, {sizes.n + 1}}, columns = {1, {count}};
  set_factor(c, 0, c->key, &input, sizes.layouts[0], false);
  kw_case_set_tensor(c, 1, c->number % 2 ? KW_I64 : KW_I32, &rows, KW_LAYOUT_DENSE);
  c->tensors[1].domain = KW_DOMAIN_ROWS;
  c->tensors[1].limit = count;
  kw_case_set_tensor(c, 2, c->number % 3 ? KW_I32 : KW_I64, &columns, kw_case_beside_layout(c));
  kw_case_set_indices(c, 2, sizes.k, false, false, 1);
  set_factor(c, 3, c->key, &values, sizes.layouts[1], true);
  sizes.n *= height;
  finish(c, &sizes, 4, c->key, c->key);
  return true;
}

/* ---- Packing ----------------------------------------------------------------------------------------------------- */

typedef struct pack_row {
  uint32_t rank;
  int64_t dims[4]; /* the last in units */
} pack_row;

static const pack_row pack_empty[] = {{1, {0}}, {2, {3, 0}}, {2, {0, 5}}};
static const pack_row pack_one[] = {{1, {1}}, {2, {1, 1}}};
static const pack_row pack_prime[] = {{1, {7}},     {2, {13, 5}}, {2, {3, 131}},     {3, {3, 5, 7}},
                                      {2, {67, 3}}, {1, {1021}},  {4, {2, 3, 5, 7}}, {2, {1, 17}}};
static const pack_row pack_large[] = {{2, {257, 263}}};
static const pack_row pack_layout[] = {{2, {6, 5}}, {2, {11, 4}}, {2, {17, 29}}};
static const pack_row pack_usual[] = {{2, {16, 13}}};

/* The shape of what is packed, its last dimension `unit` times as many. Matrices only where `matrices`. */
static bool make_packed(kw_case *c, int64_t unit, bool matrices, kw_shape *out, kw_layout *out_layout) {
  static const struct {
    const pack_row *rows;
    uint32_t row_count, count;
  } classes[KW_CLASS_COUNT] = {[KW_CLASS_EMPTY] = {pack_empty, COUNT(pack_empty), COUNT(pack_empty)},
                               [KW_CLASS_ONE] = {pack_one, COUNT(pack_one), COUNT(pack_one)},
                               [KW_CLASS_PRIME] = {pack_prime, COUNT(pack_prime), COUNT(pack_prime)},
                               [KW_CLASS_LARGE] = {pack_large, COUNT(pack_large), COUNT(pack_large)},
                               [KW_CLASS_TRANSPOSED] = {pack_layout, COUNT(pack_layout), UINT32_MAX},
                               [KW_CLASS_SLICED] = {pack_layout, COUNT(pack_layout), UINT32_MAX},
                               [KW_CLASS_STRIDE0] = {pack_layout, COUNT(pack_layout), UINT32_MAX},
                               [KW_CLASS_SPECIAL] = {pack_usual, COUNT(pack_usual), 4},
                               [KW_CLASS_OUTPUTS] = {pack_layout, COUNT(pack_layout), KW_CASE_OUT_LAYOUTS}};
  if (c->number >= classes[c->class].count) return false;
  if (!kw_case_pick_layout(c->class, c->number, 0, 1, out_layout)) return false;
  const pack_row *row = &classes[c->class].rows[c->number % classes[c->class].row_count];
  *out = (kw_shape){row->rank, {0}};
  memcpy(out->dims, row->dims, sizeof row->dims);
  if (matrices && row->rank != 2) *out = (kw_shape){2, {3, row->dims[row->rank - 1]}};
  kw_case_resize(c, out);
  out->dims[out->rank - 1] *= unit;
  c->terms = 1;
  return true;
}

bool kw_case_make_int4_pack(kw_case *c) {
  kw_shape shape;
  kw_layout how;
  if (!make_packed(c, 2, false, &shape, &how)) return false;
  kw_case_set_tensor(c, 0, c->key, &shape, how);
  if (c->class == KW_CLASS_SPECIAL) c->tensors[0].domain = c->number % 2 ? KW_DOMAIN_BITS : KW_DOMAIN_SPECIAL;
  shape.dims[shape.rank - 1] /= 2;
  kw_case_set_result(c, 0, c->key, &shape, kw_case_out_layout(c));
  return true;
}

bool kw_case_make_sparse24_compress(kw_case *c) {
  static const kw_domain special[] = {KW_DOMAIN_SPECIAL_RAW, KW_DOMAIN_FEW, KW_DOMAIN_SPARSE, KW_DOMAIN_SPECIAL_ROW};
  kw_shape shape;
  kw_layout how;
  if (!make_packed(c, 4, true, &shape, &how)) return false;
  const int64_t n = shape.dims[0], fours = shape.dims[1] / 4;
  kw_case_set_tensor(c, 0, c->key, &shape, how);
  if (c->class == KW_CLASS_SPECIAL) {
    c->tensors[0].domain = special[c->number % COUNT(special)];
    c->tensors[0].value_stride = c->number == 3 ? 7 : c->number == 2 ? 3 : 1;
  }
  const kw_shape values = {2, {n, 2 * fours}}, meta = {2, {n, (fours + 1) / 2}};
  kw_case_set_result(c, 0, c->key, &values, kw_case_out_layout(c));
  kw_case_set_result(c, 1, KW_U8, &meta, kw_case_out_layout(c));
  return true;
}
