/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of quantisation: to integers and back, with one scale or with one per channel.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <string.h>

/* Scale, zero point and codes that a case is about. Ranges of i32 are such that f32 holds their ends. */
typedef struct grid {
  double scale;
  int64_t zero;
  kw_dtype dtype;
  int64_t low, high;
} grid;

static const grid grids[] = {
    {0.05, 3, KW_I8, -128, 127},
    {0.37, 128, KW_U8, 0, 255},
    {3e-3, -70, KW_I16, -32768, 32767},
    {1e-7, 1000, KW_I32, -1 - (int64_t)0x7fffffff, 0x7fffffff},
    {1, 0, KW_I8, -127, 127},
    {2.5, 7, KW_U8, 0, 15},
    {0.5, -1, KW_I8, -8, 7},
    {1e-6, -70001, KW_I32, -(1 << 24), 1 << 24},
    {0.1, 5, KW_U8, 5, 5}, /* one code */
    {17, -300, KW_I8, -128, 127},
    {0.02, 40000, KW_I16, 100, 32767},
};

/* Quotients that are exact, every other one halfway between two integers. */
static const grid exact_grids[] = {
    {2, 3, KW_I8, -128, 127}, {2, -2, KW_U8, 0, 255}, {4, 1, KW_I16, -2, 2}, {0.5, 5, KW_I32, -100, 100}};

/* The grid of a case; when the input has codes, of their dtype. */
static grid pick_grid(const kw_case *c, bool from_codes) {
  static const grid full[] = {{0, 0, KW_U8, 0, 255},
                              {0, 0, KW_I8, -128, 127},
                              {0, 0, KW_I16, -32768, 32767},
                              {0, 0, KW_I32, -1 - (int64_t)0x7fffffff, 0x7fffffff}};
  bool exact = c->class == KW_CLASS_EXACT;
  grid picked = exact ? exact_grids[c->number % COUNT(exact_grids)] : grids[c->number % COUNT(grids)];
  for (uint32_t i = 0; from_codes && i < COUNT(full); i++) {
    if (full[i].dtype != c->key) continue;
    picked.dtype = c->key;
    picked.low = full[i].low;
    picked.high = full[i].high;
  }
  return picked;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

static const kw_shape scalar[] = {{0, {0}}, {0, {0}}};
static const kw_shape empty[] = {{1, {0}}, {2, {0, 3}}, {3, {2, 3, 0}}};
static const kw_shape one[] = {{1, {1}}, {3, {1, 1, 1}}};
static const kw_shape prime[] = {{1, {7}},      {2, {13, 5}}, {3, {3, 5, 7}},    {1, {1021}},
                                 {2, {5, 131}}, {2, {67, 3}}, {4, {2, 3, 5, 7}}, {5, {2, 1, 3, 2, 5}}};
static const kw_shape large[] = {{2, {257, 263}}, {1, {65537}}};
static const kw_shape layout[] = {{2, {6, 5}}, {3, {4, 3, 5}}, {2, {17, 29}}};
static const kw_shape usual[] = {{2, {11, 7}}};

static bool pick_shape(const kw_case *c, kw_shape *out) {
  static const struct {
    const kw_shape *shapes;
    uint32_t shape_count, count; /* numbers from 0 to count - 1; shapes repeat */
  } rows[KW_CLASS_COUNT] = {
      [KW_CLASS_SCALAR] = {scalar, COUNT(scalar), COUNT(scalar)},
      [KW_CLASS_EMPTY] = {empty, COUNT(empty), COUNT(empty)},
      [KW_CLASS_ONE] = {one, COUNT(one), COUNT(one)},
      [KW_CLASS_PRIME] = {prime, COUNT(prime), COUNT(prime)},
      [KW_CLASS_LARGE] = {large, COUNT(large), COUNT(large)},
      [KW_CLASS_TRANSPOSED] = {layout, COUNT(layout), UINT32_MAX}, /* as many as there are layouts */
      [KW_CLASS_SLICED] = {layout, COUNT(layout), UINT32_MAX},
      [KW_CLASS_STRIDE0] = {layout, COUNT(layout), UINT32_MAX},
      [KW_CLASS_ATTRS] = {usual, 1, 3 * COUNT(grids)},
      [KW_CLASS_SPECIAL] = {usual, 1, 4},
      [KW_CLASS_EXACT] = {usual, 1, 2 * COUNT(exact_grids)},
      [KW_CLASS_OUTPUTS] = {layout, COUNT(layout), KW_CASE_OUT_LAYOUTS}};
  if (c->number >= rows[c->class].count) return false;
  *out = rows[c->class].shapes[c->number % rows[c->class].shape_count];
  return true;
}

/* Every code or every 16-bit float once. */
static bool all_values(const kw_case *c, kw_shape *out) {
  size_t size = kw_element_size(c->key);
  *out = (kw_shape){2, {size == 1 ? 16 : 256, size == 1 ? 16 : 256}};
  return c->number == 0 && size <= 2;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

/* Argument 1 or 2 as a tensor. Not all dtypes of zero points are in all cases. */
static bool set_parameter(kw_case *c, uint32_t arg, const kw_shape *shape) {
  kw_layout how = KW_LAYOUT_DENSE;
  kw_dtype zero_dtype = c->number % 2 ? KW_I64 : KW_I32;
  if (!kw_case_pick_layout(c->class, c->number, arg, 3, &how)) return false;
  kw_case_set_tensor(c, arg, arg == 1 ? KW_F32 : zero_dtype, shape, how);
  c->tensors[arg].domain = arg == 2 ? KW_DOMAIN_SMALL : c->exact ? KW_DOMAIN_EXACT_FACTOR : KW_DOMAIN_POWER_BASE;
  return true;
}

/* Arguments 1 and 2, and the axis where there is one. */
static bool set_scales(kw_case *c, const kw_shape *shape, const grid *g, bool per_channel) {
  const bool tensors = c->op->args[1].tag == KW_TAG_TENSOR;
  kw_shape parameter = {c->number % 2, {1}}; /* one element: of rank 0 or 1 */
  if (!tensors) {
    kw_case_give(c, 1, (kw_value){.tag = KW_TAG_FLOAT, .u.f = g->scale});
    kw_case_give(c, 2, (kw_value){.tag = KW_TAG_INT, .u.i = g->zero});
    return true;
  }
  if (per_channel) {
    int64_t axis = (int64_t)((c->number + c->number / 3) % shape->rank);
    parameter = (kw_shape){1, {shape->dims[axis]}};
    kw_case_give(c, 3, (kw_value){.tag = KW_TAG_INT, .u.i = c->number % 4 == 3 ? axis - (int64_t)shape->rank : axis});
  }
  if (!set_parameter(c, 1, &parameter)) return false;
  return (c->op->args[2].optional && c->number % 3 == 2) || set_parameter(c, 2, &parameter);
}

/* What the input holds. */
static void set_values(kw_case *c) {
  static const kw_domain special[] = {KW_DOMAIN_SPECIAL, KW_DOMAIN_FEW, KW_DOMAIN_HUGE, KW_DOMAIN_SPECIAL};
  kw_domain domain = c->number % 2 ? KW_DOMAIN_ANY : KW_DOMAIN_NEAR;
  if (c->class == KW_CLASS_SPECIAL) domain = special[c->number % COUNT(special)];
  if (c->class == KW_CLASS_EXACT) domain = KW_DOMAIN_SMALL;
  if (c->class == KW_CLASS_EXHAUSTIVE) domain = KW_DOMAIN_BITS;
  c->tensors[0].domain = domain;
}

bool kw_case_make_quantize(kw_case *c) {
  const bool from_codes = c->op->row.result == KW_RESULT_OUT_DTYPE;
  const bool per_channel = kw_suite_op_find_arg(c->op, "axis") >= 0;
  const uint32_t codes = per_channel ? 4 : 3; /* quant_min, quant_max, dtype, out_dtype */
  static const kw_dtype out_dtypes[] = {KW_DTYPE_NONE, KW_F16, KW_BF16, KW_F32};
  kw_shape shape;
  kw_layout how = KW_LAYOUT_DENSE;
  bool found = c->class == KW_CLASS_EXHAUSTIVE ? all_values(c, &shape) : pick_shape(c, &shape);
  if (!found || (per_channel && shape.rank == 0)) return false;
  const uint32_t tensors = c->op->args[1].tag == KW_TAG_TENSOR ? 3 : 1;
  if (!kw_case_pick_layout(c->class, c->number, 0, tensors, &how)) return false;

  c->exact = c->class == KW_CLASS_EXACT;
  grid g = pick_grid(c, from_codes);
  kw_case_resize(c, &shape);
  kw_case_set_tensor(c, 0, c->key, &shape, how);
  if (!set_scales(c, &shape, &g, per_channel)) return false;
  set_values(c);
  kw_case_give(c, codes, (kw_value){.tag = KW_TAG_INT, .u.i = g.low});
  kw_case_give(c, codes + 1, (kw_value){.tag = KW_TAG_INT, .u.i = g.high});
  kw_case_give(c, codes + 2, (kw_value){.tag = KW_TAG_DTYPE, .u.dtype = g.dtype});
  kw_dtype out_dtype = from_codes ? out_dtypes[c->number % 4] : g.dtype;
  if (from_codes && out_dtype != KW_DTYPE_NONE) {
    kw_case_give(c, codes + 3, (kw_value){.tag = KW_TAG_DTYPE, .u.dtype = out_dtype});
  }
  c->terms = 1;
  kw_case_set_result(c, 0, out_dtype == KW_DTYPE_NONE ? KW_F32 : out_dtype, &shape, kw_case_out_layout(c));
  return true;
}
