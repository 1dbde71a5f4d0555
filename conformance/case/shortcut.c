/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers beside tensors for which drivers take a shorter way. Each such way is right for ordinary elements and may
 * not be for special ones: sqrt(x) is not x to the power of one half where x is minus infinity.
 */
#include "case/shortcut.h"

#include "case/parts.h"

#include <math.h>
#include <string.h>

#define ROW_VALUES 3

/* Ops whose shortcuts are their own: numbers for `count` arguments from `first` on. Of an integer op infinities are the
 * ends of the dtype; an optional argument is left out where the number is NaN. */
static const struct {
  const char *op;
  uint32_t first, count, rows;
  double values[16][ROW_VALUES];
} own_rows[] = {
    {"add.Tensor", 2, 1, 1, {{-1}}},
    {"sub.Tensor", 2, 1, 1, {{-1}}},
    {"pow.Tensor_Scalar",
     1,
     1,
     16,
     {{0.5},
      {-0.5},
      {0},
      {-2},
      {1.5},
      {-1},
      {3},
      {1},
      {-0.0},
      {-1.5},
      {2.5},
      {4},
      {1.0 / 3},
      {INFINITY},
      {-INFINITY},
      {NAN}}},
    {"pow.Scalar", 0, 1, 10, {{0}, {1}, {-0.0}, {-1}, {0.5}, {10}, {INFINITY}, {-INFINITY}, {NAN}, {-2}}},
    {"clamp", 1, 2, 8, {{0, NAN}, {NAN, 0}, {0, 6}, {NAN, 1}, {1, -1}, {-INFINITY, INFINITY}, {INFINITY, NAN}, {2, 2}}},
    {"hardtanh", 1, 2, 5, {{0, 6}, {1, -1}, {2, 2}, {-INFINITY, INFINITY}, {0, INFINITY}}},
    {"leaky_relu", 1, 1, 4, {{0}, {1}, {-0.5}, {2}}},
    {"elu", 1, 3, 6, {{0, 1, 1}, {-1, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, 1, -1}, {1.6732632, 1.050701, 1}}},
    {"softplus", 1, 2, 5, {{1, 0}, {2, 20}, {-1, 20}, {0.5, 3}, {10, -1}}},
    {"threshold", 1, 2, 6, {{1, 20}, {0, NAN}, {0, INFINITY}, {-INFINITY, 3}, {INFINITY, 3}, {-0.0, -1}}},
    {"lerp.Scalar", 2, 1, 5, {{0}, {1}, {0.5}, {-0.5}, {2}}},
    {"threshold_backward", 2, 1, 3, {{1}, {INFINITY}, {-INFINITY}}},
    {"leaky_relu_backward", 2, 1, 2, {{0}, {1}}},
    {"elu_backward", 1, 3, 2, {{0, 1, 1}, {1.6732632, 1.050701, 1}}},
    {"hardtanh_backward", 2, 2, 3, {{0, 6}, {-INFINITY, INFINITY}, {2, 2}}},
    {"softplus_backward", 2, 2, 2, {{1, 0}, {2, 20}}},
    {"native_dropout_backward", 2, 1, 2, {{1}, {0}}},
};

/* The index of the op's rows, or -1. */
static int find_own(const kw_suite_op *op) {
  for (size_t i = 0; i < COUNT(own_rows); i++) {
    if (strcmp(own_rows[i].op, op->name) == 0) return (int)i;
  }
  return -1;
}

/* Integers from the least of the dtype to its greatest. */
static int64_t greatest_of(kw_dtype key) {
  const int bits = 8 * (int)kw_element_size(key) - (key == KW_U8 ? 0 : 1);
  return (int64_t)((UINT64_C(1) << bits) - 1);
}

static int64_t least_of(kw_dtype key) {
  return key == KW_U8 ? 0 : -greatest_of(key) - 1;
}

/* A number as the op takes it; the odd rows have integers where they can. */
static kw_value number_value(const kw_case *c, uint32_t arg, uint32_t row, double number) {
  if (c->op->args[arg].tag == KW_TAG_FLOAT) return (kw_value){.tag = KW_TAG_FLOAT, .u.f = number};
  if (kw_element_is_integer(c->key)) {
    if (isinf(number)) return kw_arg_scalar_i64(number > 0 ? greatest_of(c->key) : least_of(c->key));
    return kw_arg_scalar_i64(isnan(number) ? 0 : (int64_t)number);
  }
  const bool whole = number == trunc(number) && fabs(number) < 0x1p53 && !(number == 0 && signbit(number));
  return whole && row % 2 ? kw_arg_scalar_i64((int64_t)number) : kw_arg_scalar_f64(number);
}

/* Neutral and absorbing numbers, powers of two, and ends of the range of what the op computes in: the inverse of the
 * least is infinite, that of the greatest subnormal. */
static bool any_float(kw_dtype key, uint32_t row, double *out) {
  const kw_float_format format = kw_element_format(kw_element_compute(key));
  const double numbers[] = {0,         1,         -0.0, -1,       0.5,
                            4,         NAN,       3,    INFINITY, kw_element_pow2(format.emin - format.precision + 4),
                            -INFINITY, format.max};
  if (row >= COUNT(numbers)) return false;
  *out = numbers[row];
  return true;
}

/* The same of integers. To shift by are numbers of bits, to raise to small powers that are not negative. */
static bool any_integer(const kw_case *c, uint32_t row, int64_t *out) {
  const int64_t least = least_of(c->key), greatest = greatest_of(c->key), bits = 8 * (int64_t)kw_element_size(c->key);
  const int64_t numbers[] = {0, -1, 4, -4, least, greatest}, powers[] = {0, 1, 3, 4, 63, 64};
  const int64_t naturals[] = {0, 1, 4, 128, 255, 254}, shifts[] = {0, bits - 1, bits, -1, 1, 64};
  const bool shift = strstr(c->op->base, "_shift") != NULL, power = strcmp(c->op->name, "pow.Tensor_Scalar") == 0;
  if (row >= COUNT(numbers)) return false;
  *out = power ? powers[row] : shift ? shifts[row] : c->key == KW_U8 ? naturals[row] : numbers[row];
  return true;
}

/* The Scalar that the op has to be given, or -1. */
static int required_scalar(const kw_suite_op *op) {
  for (uint32_t i = 0; i < op->arg_count; i++) {
    if (op->args[i].tag == KW_TAG_SCALAR && !op->args[i].has_default && !op->args[i].optional) return (int)i;
  }
  return -1;
}

static bool set_any(kw_case *c, uint32_t row, uint32_t number) {
  const int arg = required_scalar(c->op), alpha = kw_suite_op_find_arg(c->op, "alpha");
  double real;
  int64_t integer;
  if (arg < 0) return false;
  if (kw_element_is_integer(c->key)) {
    if (!any_integer(c, number, &integer)) return false;
    kw_case_give(c, (uint32_t)arg, kw_arg_scalar_i64(integer));
  } else {
    if (!any_float(c->key, number, &real)) return false;
    kw_case_give(c, (uint32_t)arg, number_value(c, (uint32_t)arg, row, real));
  }
  if (alpha > arg && number % 3 == 1) kw_case_give(c, (uint32_t)alpha, number_value(c, (uint32_t)alpha, row, -1));
  return true;
}

static bool set_own(kw_case *c, int which, uint32_t row, uint32_t number) {
  if (number >= own_rows[which].rows) return false;
  for (uint32_t i = 0; i < own_rows[which].count; i++) {
    const uint32_t arg = own_rows[which].first + i;
    const double value = own_rows[which].values[number][i];
    const bool left_out = c->op->args[arg].optional && isnan(value);
    kw_case_give(c, arg, left_out ? (kw_value){0} : number_value(c, arg, row, value));
  }
  return true;
}

/* Ops that store a Scalar compute nothing with it. */
static bool stores(const kw_suite_op *op) {
  return op->row.compare == KW_CMP_BITS && op->row.result != KW_RESULT_BOOL && op->row.dtypes & KW_DTYPE_BIT(KW_F32);
}

bool kw_case_is_by_element(const kw_case *c) {
  return strcmp(c->op->name, "pow.Tensor_Tensor") == 0;
}

bool kw_case_set_shortcut(kw_case *c, uint32_t row) {
  const kw_suite_op *op = c->op;
  if (kw_case_is_by_element(c)) return row == 0;
  const bool integer = kw_element_is_integer(c->key);
  if (!integer && !kw_element_is_float(c->key)) return false;
  const uint32_t number = c->number;
  c->number = row;
  const bool there = kw_case_set_attrs(c);
  c->number = number;
  if (!there || stores(op)) return false;
  /* With each of the op's modes, which take turns. */
  const bool has_result = kw_suite_op_find_arg(op, "is_result") >= 0 || kw_suite_op_find_arg(op, "self_is_result") >= 0;
  const bool has_mode = kw_suite_op_find_arg(op, "rounding_mode") >= 0;
  const uint32_t modes = has_mode ? integer ? 2 : 3 : has_result ? 2 : 1;
  const int own = find_own(op);
  const bool by_power = own >= 0 && integer && strcmp(op->name, "pow.Tensor_Scalar") == 0;
  return own < 0 || by_power ? set_any(c, row, row / modes) : set_own(c, own, row, row / modes);
}
