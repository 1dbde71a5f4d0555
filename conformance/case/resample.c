/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of upsampling, grid_sampler_2d and their gradients. Where a result jumps (the nearest element, the derivative
 * of a weight) no case comes near the jump: sizes are such that f32 chooses the same elements by any formula, and grids
 * hold odd sixteenths over odd sizes below 16, which lead to no integer and no half.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <string.h>

#define SPATIAL 3

typedef struct resample_row {
  int64_t batch, channels, in[SPATIAL], out[SPATIAL];
} resample_row;

typedef struct resample_rows {
  const resample_row *rows;
  uint32_t count;
} resample_rows;

#define ROWS(array) \
  { array, COUNT(array) }

/* The rows of a class, as pick_row has them in case_norm.c. */
static bool pick_row(const kw_case *c, const resample_rows *rows, resample_row *out) {
  const resample_rows *mine = &rows[c->class];
  bool wide = c->class == KW_CLASS_LARGE && c->key != KW_F32; /* one large dtype is enough */
  if (mine->count == 0 || wide || (!kw_case_about_layouts(c->class) && c->number >= mine->count)) return false;
  *out = mine->rows[c->number % mine->count];
  return true;
}

/* ---- Upsampling -------------------------------------------------------------------------------------------------- */

static bool is_nearest(const kw_case *c) {
  return strstr(c->op->base, "nearest") != NULL;
}

/* The digit in the op's name. */
static uint32_t dims_of(const kw_case *c) {
  return (uint32_t)(c->op->base[strcspn(c->op->base, "123")] - '0');
}

/* Sizes in one to three dimensions: the first ones of these. */
static const resample_row up_empty[] = {{0, 3, {3, 4, 2}, {5, 8, 2}}, {2, 0, {3, 4, 2}, {5, 8, 2}}};
static const resample_row up_one[] = {
    {1, 1, {1, 1, 1}, {1, 1, 1}}, {1, 1, {1, 1, 1}, {5, 3, 2}}, {2, 1, {6, 5, 3}, {1, 1, 1}}};
static const resample_row up_prime[] = {
    {2, 3, {5, 7, 3}, {10, 14, 6}},
    {1, 2, {7, 5, 4}, {3, 7, 4}},
    {1, 2, {3, 11, 5}, {7, 13, 3}},
    {2, 2, {13, 9, 3}, {11, 4, 8}},
    {1, 3, {8, 6, 2}, {12, 9, 5}},
    {3, 1, {2, 10, 7}, {13, 16, 5}},
    {1, 1, {31, 17, 6}, {8, 5, 3}},
    {1, 5, {12, 4, 3}, {8, 16, 12}},
    /* what has a fast path: a copy, one dimension only, whole factors, many channels */
    {2, 3, {5, 7, 3}, {5, 7, 3}},
    {1, 4, {6, 5, 2}, {12, 5, 2}},
    {2, 2, {4, 6, 3}, {4, 18, 3}},
    {1, 8, {6, 9, 4}, {2, 3, 2}},
    {1, 67, {3, 2, 2}, {6, 4, 4}},
    {3, 1, {5, 5, 2}, {1, 5, 2}},
    /* UP_FIELDS */
    {1, 1, {2, 2, 2}, {512, 1, 2}},
    {1, 1, {2, 2, 2}, {1, 512, 2}},
    {1, 1, {512, 2, 2}, {2, 2, 2}},
    {1, 1, {2, 512, 2}, {2, 2, 2}},
};
/* Sizes and factors that small fields do not hold, powers of two, which f32 divides by; then one past 16 bits. */
enum { UP_FIELDS = 4 };
static const resample_row up_far = {1, 1, {4}, {65536}};
static const resample_row up_layout[] = {{2, 3, {4, 5, 3}, {8, 7, 5}}};
static const resample_row up_exact[] = {{2, 3, {4, 5, 3}, {8, 10, 6}}, {1, 2, {8, 6, 4}, {4, 3, 2}}};
static const resample_row up_few[] = {{1, 3, {7, 6, 4}, {14, 9, 6}}, {2, 2, {9, 5, 3}, {4, 8, 5}}};
static const resample_row up_outputs[] = {{2, 2, {5, 3, 2}, {7, 8, 3}},
                                          {2, 2, {5, 3, 2}, {7, 8, 3}},
                                          {2, 2, {5, 3, 2}, {7, 8, 3}},
                                          {2, 3, {4, 6, 2}, {8, 3, 4}},
                                          {2, 3, {4, 6, 2}, {8, 3, 4}}};
static const resample_row up_large[SPATIAL] = {
    {1, 17, {1021}, {4084}}, {1, 1, {64, 129}, {256, 258}}, {1, 1, {16, 16, 17}, {64, 32, 34}}};

/* How far a scale that is given is from output over input. */
static const double scales[] = {0, 1, 1.125, 0.75};

static int64_t at_most(int64_t size, int64_t limit) {
  return size < limit ? size : limit;
}

/* In three dimensions, where sixty-four elements are around each, small sizes do. */
static void cut(resample_row *row) {
  row->batch = at_most(row->batch, 1);
  row->channels = at_most(row->channels, 2);
  for (int d = 0; d < SPATIAL; d++) row->in[d] = at_most(row->in[d], 5), row->out[d] = at_most(row->out[d], 6);
}

static bool pick_upsample(const kw_case *c, resample_row *out) {
  static const resample_rows rows[KW_CLASS_COUNT] = {
      [KW_CLASS_EMPTY] = ROWS(up_empty),    [KW_CLASS_ONE] = ROWS(up_one),
      [KW_CLASS_PRIME] = ROWS(up_prime),    [KW_CLASS_TRANSPOSED] = ROWS(up_layout),
      [KW_CLASS_SLICED] = ROWS(up_layout),  [KW_CLASS_STRIDE0] = ROWS(up_layout),
      [KW_CLASS_EXACT] = ROWS(up_exact),    [KW_CLASS_SPECIAL] = ROWS(up_few),
      [KW_CLASS_OUTPUTS] = ROWS(up_outputs)};
  if (c->class == KW_CLASS_LARGE) {
    *out = c->number ? up_far : up_large[dims_of(c) - 1];
    return c->number < (dims_of(c) == 1 ? 2 : 1) && c->key == KW_F32;
  }
  const bool slow = c->key == KW_F64 || dims_of(c) == 3; /* the oracle of f64 is; in three dimensions sizes are cut */
  if (c->class == KW_CLASS_PRIME && slow && c->number >= COUNT(up_prime) - UP_FIELDS) return false;
  bool attrs = c->class == KW_CLASS_ATTRS;
  if (attrs) *out = up_prime[c->number / (2 * COUNT(scales)) % COUNT(up_prime)];
  const uint32_t shapes = dims_of(c) == 3 ? 2 : 4;
  if (attrs ? c->number >= shapes * 2 * COUNT(scales) : !pick_row(c, rows, out)) return false;
  if (dims_of(c) == 3 && c->class != KW_CLASS_EXACT) cut(out);
  return true;
}

/* The sizes that everything follows from, or those of a shrunken case. */
static void resize(kw_case *c, resample_row *row, uint32_t dims) {
  kw_shape sizes = {2 + 2 * dims, {row->batch, row->channels}};
  memcpy(sizes.dims + 2, row->in, dims * sizeof(int64_t));
  memcpy(sizes.dims + 2 + dims, row->out, dims * sizeof(int64_t));
  kw_case_resize(c, &sizes);
  row->batch = sizes.dims[0], row->channels = sizes.dims[1];
  memcpy(row->in, sizes.dims + 2, dims * sizeof(int64_t));
  memcpy(row->out, sizes.dims + 2 + dims, dims * sizeof(int64_t));
}

static kw_shape make_shape(const resample_row *row, uint32_t dims, const int64_t *spatial) {
  kw_shape shape = {2 + dims, {row->batch, row->channels}};
  memcpy(shape.dims + 2, spatial, dims * sizeof(int64_t));
  return shape;
}

/* align_corners, where the op has it, and scales, from argument `first` on. */
static void give_rest(kw_case *c, uint32_t first, const resample_row *row, uint32_t dims) {
  bool chooses = !is_nearest(c), attrs = c->class == KW_CLASS_ATTRS;
  /* exact weights: no corners where sizes double */
  bool align = c->class != KW_CLASS_EXACT && c->number % 2 == 1;
  if (chooses) kw_case_give(c, first, (kw_value){.tag = KW_TAG_BOOL, .u.b = align});
  double factor = attrs ? scales[c->number / 2 % COUNT(scales)] : 0;
  for (uint32_t d = 0; d < dims && factor > 0; d++) {
    double scale = (double)row->out[d] / (double)row->in[d] * factor;
    kw_case_give(c, first + chooses + d, (kw_value){.tag = KW_TAG_FLOAT, .u.f = scale});
  }
}

bool kw_case_make_upsample(kw_case *c) {
  resample_row row;
  const uint32_t dims = dims_of(c);
  if (!pick_upsample(c, &row)) return false;
  resize(c, &row, dims);
  kw_shape small = make_shape(&row, dims, row.in), large = make_shape(&row, dims, row.out);
  if (!kw_case_set_images(c, 0, 1, &small)) return false;
  if (c->class == KW_CLASS_SPECIAL) c->tensors[0].domain = is_nearest(c) ? KW_DOMAIN_SPECIAL_RAW : KW_DOMAIN_FEW;
  c->tensors[0].value_stride = 1;
  kw_case_give_ints(c, 1, row.out, dims);
  give_rest(c, 2, &row, dims);
  c->terms = 1; /* bounds are their own */
  kw_case_set_result(c, 0, c->key, &large, kw_case_image_layout(c));
  return true;
}

bool kw_case_make_upsample_backward(kw_case *c) {
  resample_row row;
  const uint32_t dims = dims_of(c);
  if (!pick_upsample(c, &row)) return false;
  resize(c, &row, dims);
  kw_shape small = make_shape(&row, dims, row.in), large = make_shape(&row, dims, row.out);
  if (!kw_case_set_images(c, 0, 1, &large)) return false;
  if (c->class == KW_CLASS_SPECIAL) c->tensors[0].domain = KW_DOMAIN_FEW;
  kw_case_give_ints(c, 1, row.out, dims);
  kw_case_give_ints(c, 2, small.dims, small.rank);
  give_rest(c, 3, &row, dims);
  c->terms = 1;
  kw_case_set_result(c, 0, c->key, &small, kw_case_image_layout(c));
  return true;
}

/* ---- grid_sampler_2d --------------------------------------------------------------------------------------------- */

static const resample_row grid_empty[] = {{0, 3, {3, 5}, {4, 2}}, {2, 0, {3, 5}, {4, 2}}, {2, 3, {3, 5}, {0, 2}}};
static const resample_row grid_one[] = {{1, 1, {1, 1}, {1, 1}}, {1, 1, {1, 1}, {3, 2}}, {1, 1, {3, 5}, {1, 1}}};
static const resample_row grid_prime[] = {
    {2, 3, {5, 7}, {4, 6}},  {1, 2, {3, 13}, {7, 5}}, {1, 1, {11, 9}, {13, 11}}, {3, 1, {7, 7}, {5, 5}},
    {1, 5, {5, 3}, {2, 17}}, {2, 2, {13, 5}, {3, 3}}, {1, 67, {3, 3}, {5, 2}},   {2, 1, {9, 11}, {31, 2}},
    {1, 3, {5, 5}, {9, 8}},  {1, 2, {3, 7}, {1, 29}}, {2, 3, {7, 3}, {6, 4}},    {1, 1, {15, 15}, {16, 16}},
};
static const resample_row grid_large[] = {{1, 1, {13, 9}, {257, 263}}};
static const resample_row grid_layout[] = {{2, 3, {5, 7}, {4, 3}}};
static const resample_row grid_exact[] = {{2, 3, {3, 5}, {4, 6}}, {1, 2, {5, 9}, {7, 5}}, {1, 9, {7, 3}, {5, 5}}};
static const resample_row grid_attrs[] = {{1, 2, {5, 7}, {6, 7}}};

enum { GRID_CHOICES = 18 }; /* 3 modes, 3 paddings, corners aligned or not */

static bool pick_grid(const kw_case *c, resample_row *out) {
  static const resample_rows rows[KW_CLASS_COUNT] = {
      [KW_CLASS_EMPTY] = ROWS(grid_empty),       [KW_CLASS_ONE] = ROWS(grid_one),
      [KW_CLASS_PRIME] = ROWS(grid_prime),       [KW_CLASS_LARGE] = ROWS(grid_large),
      [KW_CLASS_TRANSPOSED] = ROWS(grid_layout), [KW_CLASS_SLICED] = ROWS(grid_layout),
      [KW_CLASS_STRIDE0] = ROWS(grid_layout),    [KW_CLASS_EXACT] = ROWS(grid_exact),
      [KW_CLASS_SPECIAL] = ROWS(grid_exact)};
  if (c->class == KW_CLASS_OUTPUTS) {
    *out = grid_layout[0];
    return c->number <= KW_CASE_OUT_LAYOUTS;
  }
  if (c->class == KW_CLASS_ATTRS) {
    *out = grid_attrs[0];
    return c->number < GRID_CHOICES;
  }
  return pick_row(c, rows, out);
}

/* Input and grid from argument `first` on, the choices behind them. A size that a shrunken case makes even is one less.
 */
static bool set_grid(kw_case *c, const resample_row *row, uint32_t first, bool smooth) {
  kw_shape input = {4, {row->batch, row->channels, row->in[0], row->in[1]}};
  kw_shape grid = {4, {row->batch, row->out[0], row->out[1], 2}}, result = input;
  result.dims[2] = row->out[0], result.dims[3] = row->out[1];
  kw_shape shapes[] = {result, input, grid};
  if (!kw_case_set_images(c, 0, 2 + first, first ? shapes : shapes + 1)) return false;
  int64_t mode = c->number % (c->exact ? 2 : 3); /* a cubic's weights have too many bits to be exact */
  bool anywhere = smooth && mode != 1 && c->class != KW_CLASS_EXACT;
  c->tensors[first + 1].domain = anywhere ? KW_DOMAIN_NEAR : KW_DOMAIN_SIXTEENTH;
  for (uint32_t i = 0; i <= first && c->class == KW_CLASS_SPECIAL; i++) c->tensors[i].domain = KW_DOMAIN_FEW;
  kw_case_give(c, first + 2, (kw_value){.tag = KW_TAG_INT, .u.i = mode});
  kw_case_give(c, first + 3, (kw_value){.tag = KW_TAG_INT, .u.i = c->number / 3 % 3});
  kw_case_give(c, first + 4, (kw_value){.tag = KW_TAG_BOOL, .u.b = c->number / 9 % 2});
  c->terms = 1;
  return true;
}

static void resize_grid(kw_case *c, resample_row *row) {
  resize(c, row, 2);
  for (int d = 0; d < 2; d++) row->in[d] -= row->in[d] % 2 == 0;
}

bool kw_case_make_grid_sampler(kw_case *c) {
  resample_row row;
  if (!pick_grid(c, &row)) return false;
  resize_grid(c, &row);
  if (!set_grid(c, &row, 0, true)) return false;
  kw_shape result = make_shape(&row, 2, row.out);
  kw_case_set_result(c, 0, c->key, &result, kw_case_image_layout(c));
  return true;
}

bool kw_case_make_grid_sampler_backward(kw_case *c) {
  resample_row row;
  if (!pick_grid(c, &row)) return false;
  resize_grid(c, &row);
  if (!set_grid(c, &row, 1, false)) return false;
  kw_shape input = make_shape(&row, 2, row.in), grid = {4, {row.batch, row.out[0], row.out[1], 2}};
  int64_t bits = c->class == KW_CLASS_ATTRS ? c->number % 4 : 3;
  kw_case_give_ints(c, 6, (int64_t[]){bits & 1, bits >> 1}, 2);
  if (bits & 1) kw_case_set_result(c, 0, c->key, &input, kw_case_image_layout(c));
  if (bits & 2) kw_case_set_result(c, 1, c->key, &grid, kw_case_image_layout(c));
  return true;
}
