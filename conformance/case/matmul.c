/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of matrix products: mm and its like, bmm, addmm.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <keyway/keyway.h>

#include <string.h>

/* [n, k] x [k, m], `batch` times where the op takes several, with layouts and values by class. */
typedef struct product {
  uint32_t first; /* argument index of the first matrix; the second follows */
  bool batched;   /* matrices lie in tensors of rank 3 */
  int64_t batch;
  int64_t n, k, m;
  kw_layout layouts[2];
} product;

static const int64_t prime[][3] = {{7, 5, 3},    {17, 31, 13}, {64, 64, 64}, {65, 33, 129}, {1, 257, 129},
                                   {3, 4099, 5}, {127, 1, 31}, {16, 16, 16}, {48, 80, 32}}; /* n, k, m */
static const int64_t placed[][3] = {{19, 23, 29},
                                    {32, 64, 48}, /* multiples of 16: matrix units and vector loads take them whole */
                                    {19, 23, 1},
                                    {1, 23, 29},
                                    {19, 1, 29}}; /* vectors, for which there are kernels of their own */
static const int64_t empty[][3] = {{0, 5, 3}, {4, 0, 3}, {4, 5, 0}};
static const int64_t ends[] = {KW_VALUE_END_ROWS, 23, KW_VALUE_END_ROWS};
static const int64_t exact[][3] = {{7, 31, 5}, {33, 65, 17}, {5, 513, 3}};

static const kw_layout out_layouts[] = {KW_LAYOUT_TRANSPOSED, KW_LAYOUT_STEPPED, KW_LAYOUT_INNER, KW_LAYOUT_PITCHED};

/* What addmm's self can be, broadcast to the result. */
enum { SELF_SHAPES = 6 };

/* Numbers of the class SPECIAL: special values in rows of the first or the second matrix, equal values, and then a
 * matrix of subnormal numbers only, the first or the second; of integers, in their place, rows and columns of the least
 * and of the greatest: sums of two such products are what instructions of narrow lanes saturate. */
enum { EQUAL = 2, SUBNORMAL = 3, INTEGER_ENDS = SUBNORMAL };

static bool has_ends(const kw_case *c) {
  return c->class == KW_CLASS_SPECIAL && c->number == INTEGER_ENDS && kw_element_is_integer(c->key);
}

static kw_domain special_domain(uint32_t number, uint32_t matrix) {
  if (number == EQUAL) return KW_DOMAIN_FEW;
  const uint32_t marked = number < SUBNORMAL ? number : number - SUBNORMAL;
  return matrix != marked ? KW_DOMAIN_SMALL : number < SUBNORMAL ? KW_DOMAIN_SPECIAL_ROW : KW_DOMAIN_BELOW_NORMAL;
}

static void set_size(product *p, const int64_t size[3]) {
  p->n = size[0], p->k = size[1], p->m = size[2];
}

/* Behind the layouts that all ops have in SLICED: both matrices, the first or the second. */
static bool pick_pitched(const kw_case *c, product *p, uint32_t number) {
  if (c->class != KW_CLASS_SLICED || number > 2) return false;
  for (uint32_t i = 0; i < 2; i++) p->layouts[i] = number == 2 - i ? KW_LAYOUT_DENSE : KW_LAYOUT_PITCHED;
  return true;
}

/* Sizes and layouts; classes about attributes are the op's own. */
static bool pick_product(kw_case *c, product *p) {
  uint32_t n = c->number, count = 1;
  p->batch = p->batched ? 3 : 1;
  set_size(p, (int64_t[]){19, 23, 29});
  switch (c->class) {
    case KW_CLASS_EMPTY:
      count = COUNT(empty) + p->batched; /* and no matrix at all */
      if (n < COUNT(empty)) set_size(p, empty[n]);
      if (n == COUNT(empty)) p->batch = 0;
      break;
    case KW_CLASS_ONE:
      p->batch = 1;
      set_size(p, (int64_t[]){1, 1, 1});
      break;
    case KW_CLASS_PRIME:
      count = COUNT(prime);
      if (n < count) set_size(p, prime[n]);
      if (n == 4) p->batch = 1;
      break;
    case KW_CLASS_LARGE:
      count = p->batched ? 2 : 1;
      set_size(p, (int64_t[]){257, 19, 263});
      if (p->batched && n == 0) p->batch = 1;
      if (n == 1) {
        p->batch = 4099;
        set_size(p, (int64_t[]){4, 3, 5});
      }
      break;
    case KW_CLASS_TRANSPOSED: /* each layout in each of these sizes */
    case KW_CLASS_SLICED:
      set_size(p, placed[n % COUNT(placed)]);
      n /= COUNT(placed);
      if (n >= kw_case_layout_count(c->class, 2)) return pick_pitched(c, p, n - kw_case_layout_count(c->class, 2));
      /* fallthrough */
    case KW_CLASS_STRIDE0:
      for (uint32_t i = 0; i < 2; i++) {
        if (!kw_case_pick_layout(c->class, n, i, 2, &p->layouts[i])) return false;
      }
      return true;
    case KW_CLASS_EXACT:
      count = COUNT(exact);
      if (n < count) set_size(p, exact[n]);
      c->exact = true;
      break;
    case KW_CLASS_SPECIAL:
      count = kw_element_is_float(c->key)     ? SUBNORMAL + 2
              : kw_element_is_integer(c->key) ? INTEGER_ENDS + 1
                                              : SUBNORMAL;
      if (has_ends(c)) set_size(p, ends);
      break;
    case KW_CLASS_OUTPUTS:
      count = COUNT(out_layouts);
      break;
    case KW_CLASS_ALIASING:
      set_size(p, (int64_t[]){23, 23, 23});
      break;
    case KW_CLASS_MIXED:
    case KW_CLASS_BROADCAST:
    case KW_CLASS_ATTRS: /* a square, too, where a column is as long as a row */
      set_size(p, (int64_t[]){11, 7, c->class == KW_CLASS_BROADCAST && n >= SELF_SHAPES ? 11 : 13});
      return true;
    default:
      return false;
  }
  return n < count;
}

/* Sizes and layouts, or the sizes of a shrunken case. A matrix that is used twice stays square. */
static bool make_product(kw_case *c, product *p) {
  if (!pick_product(c, p)) return false;
  if (c->class == KW_CLASS_ALIASING) return true;
  kw_shape sizes = {3, {p->n, p->k, p->m, p->batch}};
  sizes.rank += p->batched;
  kw_case_resize(c, &sizes);
  set_size(p, sizes.dims);
  if (p->batched) p->batch = sizes.dims[3];
  return true;
}

/* The two matrices, the result, and how many terms a result element has. */
static void set_product(kw_case *c, const product *p) {
  kw_shape shapes[3] = {{3, {p->batch, p->n, p->k}}, {3, {p->batch, p->k, p->m}}, {3, {p->batch, p->n, p->m}}};
  for (uint32_t i = 0; i < 3 && !p->batched; i++) {
    shapes[i] = (kw_shape){2, {shapes[i].dims[1], shapes[i].dims[2]}};
  }
  kw_domain domain = c->exact ? KW_DOMAIN_SMALL : KW_DOMAIN_UNIT;
  for (uint32_t i = 0; i < 2; i++) {
    kw_case_set_tensor(c, p->first + i, c->key, &shapes[i], p->layouts[i]);
    kw_case_tensor *tensor = &c->tensors[p->first + i];
    tensor->domain = c->class == KW_CLASS_SPECIAL ? special_domain(c->number, i) : domain;
    tensor->value_stride = (uint32_t)(p->k > 0 ? p->k : 1);
    if (has_ends(c)) kw_case_set_ends(tensor, tensor->rank - 1 - i);
    c->promoted |= 1u << (p->first + i);
  }
  if (c->class == KW_CLASS_ALIASING) c->tensors[p->first + 1].share = (int)p->first;
  kw_dtype dtype = c->op->row.result == KW_RESULT_INT_MM ? KW_I32 : c->key;
  kw_layout layout = c->class == KW_CLASS_OUTPUTS ? out_layouts[c->number] : KW_LAYOUT_DENSE;
  kw_case_set_result(c, 0, dtype, &shapes[2], layout);
  c->terms = (uint64_t)p->k;
}

/* Tensors that promote to the key: one of a lower dtype for each tensor of the product in turn. */
static bool set_mixed(kw_case *c, uint32_t first, uint32_t count) {
  kw_dtype lower = kw_element_is_integer(c->key) ? KW_U8 : KW_I32;
  if (c->op->row.result != KW_RESULT_KEY || c->number >= count) return false;
  if (kw_dtype_promote(lower, c->key) != c->key || lower == c->key) return false;
  c->tensors[first + c->number].dtype = lower;
  c->tensors[first + c->number].domain = KW_DOMAIN_SMALL;
  return true;
}

/* mm, _int_mm, bmm. */
bool kw_case_make_mm(kw_case *c) {
  product p = {.batched = c->op->row.shape == KW_SHAPE_BMM};
  if (c->class == KW_CLASS_BROADCAST || c->class == KW_CLASS_ATTRS || !make_product(c, &p)) return false;
  set_product(c, &p);
  return c->class != KW_CLASS_MIXED || set_mixed(c, 0, 2);
}

/* ---- addmm ------------------------------------------------------------------------------------------------------- */

/* Factors: beta, alpha. Integers where the key is; 0 takes self out of the sum. */
static const int64_t int_factors[][2] = {{1, 1}, {0, 1}, {2, 3}, {1, 0}, {-1, 1}, {0, 5}, {3, -2}, {0, 0}};
static const double float_factors[][2] = {{0.5, 2}, {0.1, -1.5}, {0, 0.1}, {-2.7, 1}, {1e-3, 3.141592653589793}};

static bool set_factors(kw_case *c, uint32_t number) {
  uint32_t ints = COUNT(int_factors), floats = kw_element_is_float(c->key) ? COUNT(float_factors) : 0;
  if (c->class == KW_CLASS_ATTRS && c->key == KW_I64 && number - ints < KW_CASE_WIDE_SCALARS) {
    kw_case_give(c, 3, kw_arg_scalar_i64(kw_case_wide_scalar(number - ints)));
    kw_case_give(c, 4, kw_arg_scalar_i64(kw_case_wide_scalar(number - ints + 3)));
    return true;
  }
  if (number >= ints + floats) return false;
  for (uint32_t i = 0; i < 2; i++) {
    kw_value factor =
        number < ints ? kw_arg_scalar_i64(int_factors[number][i]) : kw_arg_scalar_f64(float_factors[number - ints][i]);
    kw_case_give(c, 3 + i, factor);
  }
  return true;
}

bool kw_case_make_addmm(kw_case *c) {
  /* The third with beta = 0: nothing of self shows. */
  static const uint32_t special_factors[] = {0, 2, 1, 0, 2};
  product p = {.first = 1};
  if (!make_product(c, &p)) return false;
  const kw_shape shapes[1 + SELF_SHAPES] = {{2, {p.n, p.m}}, {1, {p.m}}, {2, {p.n, 1}}, {2, {1, p.m}},
                                            {0, {0}},        {1, {1}},   {2, {1, 1}}};
  if (c->class == KW_CLASS_BROADCAST && c->number >= 2 * SELF_SHAPES) return false;
  const uint32_t which = c->class == KW_CLASS_BROADCAST ? 1 + c->number % SELF_SHAPES
                         : c->class == KW_CLASS_PRIME   ? c->number % 2
                                                        : 0;
  kw_case_set_tensor(c, 0, c->key, &shapes[which],
                     kw_case_about_layouts(c->class) ? p.layouts[c->number % 2] : KW_LAYOUT_DENSE);
  c->promoted = 1;
  set_product(c, &p);
  c->terms = (uint64_t)p.k + 2; /* two factors and self */
  c->tensors[0].domain = c->exact ? KW_DOMAIN_SMALL : KW_DOMAIN_UNIT;
  if (c->class == KW_CLASS_SPECIAL) {
    c->tensors[0].domain = c->number == EQUAL      ? KW_DOMAIN_SPECIAL
                           : c->number < SUBNORMAL ? KW_DOMAIN_SMALL
                                                   : KW_DOMAIN_BELOW_NORMAL;
  }
  if (c->class == KW_CLASS_SPECIAL) return set_factors(c, special_factors[c->number]);
  if (c->class == KW_CLASS_ATTRS) return set_factors(c, c->number);
  if (c->class == KW_CLASS_EXACT) return set_factors(c, c->number * 2);
  return c->class != KW_CLASS_MIXED || set_mixed(c, 0, 3);
}
