/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of ops that make tensors out of numbers: full, arange.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <keyway/keyway.h>

/* What a number on its own is taken for, when no dtype is given. */
static kw_dtype natural_dtype(kw_value number) {
  static const kw_dtype dtypes[] = {KW_BOOL, KW_I64, KW_F32, KW_C64};
  return dtypes[number.kind];
}

/* The dtype argument, left out in every other case where the key dtype comes about without it. */
static void give_dtype(kw_case *c, uint32_t arg, kw_dtype natural) {
  if (natural != c->key || c->number % 2) kw_case_give(c, arg, kw_arg_dtype(c->key));
}

/* ---- full -------------------------------------------------------------------------------------------------------- */

bool kw_case_make_full(kw_case *c) {
  static const kw_shape empty[] = {{1, {0}}, {3, {2, 0, 3}}}, one[] = {{1, {1}}, {3, {1, 1, 1}}};
  static const kw_shape prime[] = {{1, {7}},          {1, {1021}},
                                   {2, {13, 5}},      {3, {3, 5, 7}},
                                   {4, {2, 3, 5, 7}}, {16, {1, 2, 1, 1, 2, 1, 1, 3, 1, 1, 1, 2, 1, 1, 2, 1}}};
  static const kw_shape large[] = {{2, {257, 263}}, {1, {65537}}}, plain[] = {{2, {7, 9}}}, scalar[] = {{0, {0}}};
  static const struct {
    const kw_shape *shapes;
    uint32_t count;
  } by_class[KW_CLASS_COUNT] = {
      [KW_CLASS_SCALAR] = {scalar, 1},
      [KW_CLASS_EMPTY] = {empty, COUNT(empty)},
      [KW_CLASS_ONE] = {one, COUNT(one)},
      [KW_CLASS_PRIME] = {prime, COUNT(prime)},
      [KW_CLASS_LARGE] = {large, COUNT(large)},
      [KW_CLASS_ATTRS] = {plain, UINT32_MAX},
      [KW_CLASS_OUTPUTS] = {prime, KW_CASE_OUT_LAYOUTS},
  };
  if (c->number >= by_class[c->class].count || !kw_case_set_attrs(c)) return false;
  bool first = c->class == KW_CLASS_ATTRS, outputs = c->class == KW_CLASS_OUTPUTS;
  const kw_shape *shape = &by_class[c->class].shapes[first ? 0 : outputs ? 2 + c->number % 2 : c->number];
  kw_case_give_ints(c, 0, shape->dims, shape->rank);
  give_dtype(c, 2, natural_dtype(c->args[1].value));
  kw_case_set_result(c, 0, c->key, shape, kw_case_out_layout(c));
  return true;
}

/* ---- arange ------------------------------------------------------------------------------------------------------ */

/* start, end, step, and how many there are. Numbers without a fraction are given as integers. */
typedef struct range {
  double start, end, step;
  int64_t count;
} range;

static const range empty_ranges[] = {{3, 3, 1, 0}, {-2, -2, -5, 0}};
static const range one_ranges[] = {{5, 6, 1, 1}, {0, -1, -100, 1}};
static const range prime_ranges[] = {{0, 7, 1, 7},        {0, 1021, 1, 1021},  {1, 40, 3, 13},
                                     {100, -29, -1, 129}, {-5, 4094, 1, 4099}, {7, 8, 2, 1}};
static const range large_ranges[] = {{0, 65537, 1, 65537}, {-7, 200003, 3, 66670}};
static const range exact_ranges[] = {{-100, 155, 1, 255}, {0, 2048, 16, 128}};
static const range int_ranges[] = {{0, 5, 2, 3}, {5, 0, -2, 3}, {-3, 3, 5, 2}, {0, 300, 7, 43}, {-130, 130, 10, 26}};
/* Fractions, for floats. Ends lie clear of the last element, so that no rounding decides how many there are. */
static const range real_ranges[] = {
    {0, 0.95, 0.1, 10},         {-5.5, 5, 2, 6},       {1, -1.1, -0.125, 17}, {0.1, 100, 3.141592653589793, 32},
    {-1e-3, 1e-3, 1.3e-5, 154}, {0, 409.85, 0.1, 4099}}; /* sums of steps are far off by then */
/* Fractions where the dtype is an integer's: numbers are cut before they are added, but counted as they are. */
static const range cut_ranges[] = {{0, 2.5, 1, 3}, {-5.5, 5, 2, 6}, {0, 2.5, 0.5, 5}, {7.9, -7.5, -3.5, 5}};

/* Ranges of i64, some of whose numbers no double is. */
#define BEYOND_DOUBLE ((INT64_C(1) << 53) + 1)
static const struct {
  int64_t start, end, step, count;
} wide_ranges[] = {{BEYOND_DOUBLE, BEYOND_DOUBLE + 20, 3, 7},
                   {-BEYOND_DOUBLE, -BEYOND_DOUBLE - 21, -5, 5},
                   {INT64_MAX - 10, INT64_MAX, 1, 10},
                   {INT64_MIN + 1, INT64_MIN, -1, 1},
                   {-5, 3 * BEYOND_DOUBLE, BEYOND_DOUBLE, 4}};

static bool pick_range(kw_case *c, range *out) {
  const range *ranges;
  uint32_t count, n = c->number;
  switch (c->class) {
    case KW_CLASS_EMPTY:
      ranges = empty_ranges, count = COUNT(empty_ranges);
      break;
    case KW_CLASS_ONE:
      ranges = one_ranges, count = COUNT(one_ranges);
      break;
    case KW_CLASS_PRIME:
      ranges = prime_ranges, count = COUNT(prime_ranges);
      break;
    case KW_CLASS_LARGE:
      ranges = large_ranges, count = COUNT(large_ranges);
      break;
    case KW_CLASS_EXACT:
      ranges = exact_ranges, count = COUNT(exact_ranges);
      c->exact = true;
      break;
    case KW_CLASS_ATTRS:
      ranges = int_ranges, count = COUNT(int_ranges);
      if (n >= count && kw_element_is_float(c->key)) {
        ranges = real_ranges, n -= count, count = COUNT(real_ranges);
      }
      break;
    case KW_CLASS_MIXED:
      if (kw_element_is_float(c->key)) return false;
      ranges = cut_ranges, count = COUNT(cut_ranges);
      break;
    case KW_CLASS_OUTPUTS:
      ranges = int_ranges, count = 2;
      break;
    default:
      return false;
  }
  if (n >= count) return false;
  *out = ranges[n];
  return true;
}

static kw_value number_of(double value) {
  return value == (double)(int64_t)value ? kw_arg_scalar_i64((int64_t)value) : kw_arg_scalar_f64(value);
}

/* The numbers of a range, and how many there are. */
static bool pick_numbers(kw_case *c, kw_value out[3], int64_t *out_count) {
  range r;
  if (pick_range(c, &r)) {
    out[0] = number_of(r.start);
    out[1] = number_of(r.end);
    out[2] = number_of(r.step);
    *out_count = r.count;
    return true;
  }
  const uint32_t wide = c->number - COUNT(int_ranges);
  if (c->class != KW_CLASS_ATTRS || c->key != KW_I64 || wide >= COUNT(wide_ranges)) return false;
  out[0] = kw_arg_scalar_i64(wide_ranges[wide].start);
  out[1] = kw_arg_scalar_i64(wide_ranges[wide].end);
  out[2] = kw_arg_scalar_i64(wide_ranges[wide].step);
  *out_count = wide_ranges[wide].count;
  return true;
}

bool kw_case_make_arange(kw_case *c) {
  static const kw_layout layouts[] = {KW_LAYOUT_STEPPED, KW_LAYOUT_INNER};
  kw_value numbers[3];
  int64_t count;
  if (!pick_numbers(c, numbers, &count)) return false;
  kw_dtype natural = KW_I64;
  for (uint32_t i = 0; i < 3; i++) {
    kw_case_give(c, i, numbers[i]);
    if (natural_dtype(numbers[i]) == KW_F32) natural = KW_F32;
  }
  give_dtype(c, 3, natural);
  kw_shape shape = {1, {count}};
  kw_case_set_result(c, 0, c->key, &shape, c->class == KW_CLASS_OUTPUTS ? layouts[c->number] : KW_LAYOUT_DENSE);
  return true;
}
