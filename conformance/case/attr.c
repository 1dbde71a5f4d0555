/* SPDX-License-Identifier: Apache-2.0
 *
 * Domains of inputs and values of attributes, per op.
 */
#include "case/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ops by base name whose inputs are not KW_DOMAIN_ANY; one domain per tensor argument, the last one for all after it.
 */
static const struct {
  const char *base;
  kw_domain domains[3];
} domains[] = {
    {"sqrt", {KW_DOMAIN_POSITIVE}},
    {"rsqrt", {KW_DOMAIN_POSITIVE}},
    {"log", {KW_DOMAIN_POSITIVE}},
    {"exp", {KW_DOMAIN_EXPONENT}},
    {"sin", {KW_DOMAIN_ANGLE}},
    {"cos", {KW_DOMAIN_ANGLE}},
    {"tanh", {KW_DOMAIN_NEAR}},
    {"sigmoid", {KW_DOMAIN_NEAR}},
    {"erf", {KW_DOMAIN_NEAR}},
    {"gelu", {KW_DOMAIN_NEAR}},
    {"silu", {KW_DOMAIN_NEAR}},
    {"relu", {KW_DOMAIN_NEAR}},
    {"div", {KW_DOMAIN_ANY, KW_DOMAIN_NONZERO}},
    {"where", {KW_DOMAIN_MASK, KW_DOMAIN_ANY, KW_DOMAIN_ANY}},
    {"acos", {KW_DOMAIN_UNIT}},
    {"acosh", {KW_DOMAIN_ABOVE_ONE}},
    {"asin", {KW_DOMAIN_UNIT}},
    {"asinh", {KW_DOMAIN_NEAR}},
    {"atan", {KW_DOMAIN_ANGLE}},
    {"atanh", {KW_DOMAIN_UNIT}},
    {"sinh", {KW_DOMAIN_NEAR}},
    {"cosh", {KW_DOMAIN_NEAR}},
    {"tan", {KW_DOMAIN_ANGLE}},
    {"log1p", {KW_DOMAIN_POSITIVE}},
    {"expm1", {KW_DOMAIN_NEAR}},
    {"log2", {KW_DOMAIN_POSITIVE}},
    {"log10", {KW_DOMAIN_POSITIVE}},
    {"exp2", {KW_DOMAIN_EXPONENT}},
    {"ceil", {KW_DOMAIN_HALVES}},
    {"floor", {KW_DOMAIN_HALVES}},
    {"round", {KW_DOMAIN_HALVES}},
    {"trunc", {KW_DOMAIN_HALVES}},
    {"fmod", {KW_DOMAIN_ANY, KW_DOMAIN_NONZERO}},
    {"remainder", {KW_DOMAIN_ANY, KW_DOMAIN_NONZERO}},
    {"bitwise_left_shift", {KW_DOMAIN_ANY, KW_DOMAIN_SHIFT}},
    {"bitwise_right_shift", {KW_DOMAIN_ANY, KW_DOMAIN_SHIFT}},
    {"sum", {KW_DOMAIN_UNIT}},
    {"mean", {KW_DOMAIN_UNIT}},
    {"cumsum", {KW_DOMAIN_UNIT}},
    {"prod", {KW_DOMAIN_FACTOR}},
    {"var", {KW_DOMAIN_UNIT}},
    {"var_mean", {KW_DOMAIN_UNIT}},
    {"logsumexp", {KW_DOMAIN_NEAR}},
    {"leaky_relu", {KW_DOMAIN_NEAR}},
    {"elu", {KW_DOMAIN_NEAR}},
    {"softplus", {KW_DOMAIN_NEAR}},
    {"hardswish", {KW_DOMAIN_NEAR}},
    {"hardtanh", {KW_DOMAIN_NEAR}},
    {"threshold", {KW_DOMAIN_NEAR}},
    {"addcdiv", {KW_DOMAIN_ANY, KW_DOMAIN_ANY, KW_DOMAIN_NONZERO}},
    {"lerp", {KW_DOMAIN_ANY, KW_DOMAIN_ANY, KW_DOMAIN_UNIT}},
    {"masked_fill", {KW_DOMAIN_ANY, KW_DOMAIN_BOOL, KW_DOMAIN_ANY}},
    {"sigmoid_backward", {KW_DOMAIN_ANY, KW_DOMAIN_PROBABILITY}},
    {"tanh_backward", {KW_DOMAIN_ANY, KW_DOMAIN_UNIT}},
    {"gelu_backward", {KW_DOMAIN_ANY, KW_DOMAIN_NEAR}},
    {"silu_backward", {KW_DOMAIN_ANY, KW_DOMAIN_NEAR}},
    {"threshold_backward", {KW_DOMAIN_ANY, KW_DOMAIN_NEAR}},
    {"leaky_relu_backward", {KW_DOMAIN_ANY, KW_DOMAIN_NEAR}},
    {"elu_backward", {KW_DOMAIN_ANY, KW_DOMAIN_NEAR, KW_DOMAIN_NEAR}},
    {"hardtanh_backward", {KW_DOMAIN_ANY, KW_DOMAIN_NEAR}},
    {"softplus_backward", {KW_DOMAIN_ANY, KW_DOMAIN_NEAR}},
    {"cumprod", {KW_DOMAIN_FACTOR}},
    {"any", {KW_DOMAIN_SPARSE}},
    {"all", {KW_DOMAIN_DENSE}},
    {"native_dropout_backward", {KW_DOMAIN_ANY, KW_DOMAIN_BOOL}},
    {"keyway::swiglu", {KW_DOMAIN_NEAR, KW_DOMAIN_ANY}},
};

/* Ops where equal values matter: every other case draws from few values. */
static const char *const tied[] = {
    "eq",      "ne",      "lt",    "le",   "gt",   "ge",     "logical_and", "logical_or", "logical_xor", "logical_not",
    "maximum", "minimum", "clamp", "amax", "amin", "argmax", "argmin",      "max",        "min"};

/* Some are exact in every float dtype, some in none: an op converts its Scalar to its compute type. The tied ops draw
 * from KW_DOMAIN_FEW where the number is even, so integers are among those. */
static const double float_scalars[] = {2, -1.5, 0, -2.7, 1, 0.1, 0.5, 1e-3, 3.141592653589793, 3, -0.25, 96};
static const int64_t int_scalars[] = {2, 3, 0, 1, 7, 100, -1, -3};

/* Attributes of comparisons with a Scalar, beyond these, with KW_DOMAIN_FEW: beside an element, and that element or
 * not, depending on the type that is compared in. As f32 the first two are 1 and -2. */
static const double close_scalars[] = {1 + 0x1p-40, -2 + 0x1p-40, 1 + 0x1p-20, 2 - 0x1p-20};

static bool takes_close_scalars(const kw_case *c) {
  return c->class == KW_CLASS_ATTRS && c->op->row.result == KW_RESULT_BOOL && c->op->arg_count == 2 &&
         c->op->args[1].tag == KW_TAG_SCALAR && kw_element_is_float(c->key);
}

/* Attributes of ops on i64, beyond these: Scalars of which 32 bits, or what a double holds, are another number. */
#define BEYOND_DOUBLE ((INT64_C(1) << 53) + 1)
static const int64_t wide_scalars[] = {
    (INT64_C(1) << 32) + 3, -(INT64_C(5) << 40) - 1, BEYOND_DOUBLE, -BEYOND_DOUBLE, INT64_MIN, INT64_MAX};

_Static_assert(COUNT(wide_scalars) == KW_CASE_WIDE_SCALARS, "attr.h says how many there are");

void kw_case_set_ends(kw_case_tensor *tensor, int64_t dim) {
  const int64_t d = dim < 0 ? dim + tensor->rank : dim;
  tensor->domain = KW_DOMAIN_ENDS;
  tensor->limit = tensor->shape[d];
  tensor->value_stride = (uint32_t)tensor->strides[d];
}

kw_case_small_row kw_case_small(uint32_t index) {
  static const kw_case_small_row rows[KW_CASE_SMALL_ROWS] = {
      {KW_DOMAIN_SPARSE, 1u << 30, 1e-30}, {KW_DOMAIN_TINY, 1, 0}, {KW_DOMAIN_SPARSE, 1u << 30, 0}};
  return rows[index];
}

int64_t kw_case_wide_scalar(uint32_t index) {
  return wide_scalars[index % COUNT(wide_scalars)];
}

/* Halfway between two neighbours of the format and a little off, by less than an f32 tells: rounded to one of those
 * first, and then to the format, each ends on the wrong side. Two beside 1, one past the largest number and one below
 * the least. */
double kw_case_tie_scalar(kw_dtype dtype, uint32_t index) {
  const kw_float_format format = kw_element_format(dtype);
  const double half = kw_element_pow2(-format.precision), little = 0x1p-40;
  const double past = format.max + kw_element_pow2(format.emax - format.precision);
  const bool even = dtype == KW_F8E4M3FN; /* its largest number is, and a tie goes there */
  const double ties[] = {1 + half + little, -1 - 3 * half + little, past * (even ? 1 + little : 1 - little),
                         -kw_element_pow2(format.emin - format.precision) * (1 + little)};
  return ties[index % COUNT(ties)];
}

_Static_assert(KW_CASE_TIE_SCALARS == 4, "as many as kw_case_tie_scalar has");

bool kw_case_takes_tie_scalars(kw_dtype dtype) {
  return kw_element_is_float(dtype) && kw_element_format(dtype).precision < 24;
}

/* Ops on i64 whose Scalars are computed with as they are. */
static bool takes_wide_scalars(const kw_case *c) {
  return c->class == KW_CLASS_ATTRS && c->key == KW_I64 && c->op->row.shape == KW_SHAPE_BROADCAST;
}

kw_domain kw_case_domain(const kw_case *c, uint32_t arg) {
  const char *base = c->op->base;
  if (strcmp(base, "pow") == 0) {
    return strcmp(c->op->args[arg].name, "exponent") == 0 ? KW_DOMAIN_POWER : KW_DOMAIN_POWER_BASE;
  }
  for (size_t i = 0; i < sizeof tied / sizeof tied[0]; i++) {
    bool few = c->number % 2 == 0 || (takes_close_scalars(c) && c->number >= COUNT(float_scalars));
    if (strcmp(tied[i], base) == 0) return few ? KW_DOMAIN_FEW : KW_DOMAIN_ANY;
  }
  for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++) {
    if (strcmp(domains[i].base, base) == 0) return domains[i].domains[arg < 3 ? arg : 2];
  }
  return KW_DOMAIN_ANY;
}

/* ---- Scalars ----------------------------------------------------------------------------------------------------- */

static kw_value scalar_i64(int64_t i) {
  kw_value v = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64};
  v.u.i = i;
  return v;
}

static kw_value scalar_f64(double f) {
  kw_value v = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_F64};
  v.u.f = f;
  return v;
}

static kw_value scalar_bool(bool b) {
  kw_value v = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_BOOL};
  v.u.b = b;
  return v;
}

static uint32_t scalar_count(kw_dtype key) {
  if (key == KW_BOOL) return 2;
  return kw_element_is_integer(key) ? COUNT(int_scalars) : COUNT(float_scalars);
}

/* Of a power the exponent is not negative where it is a Scalar and the base an integer. */
static kw_value wide_scalar(const kw_case *c, uint32_t index) {
  const int64_t wide = kw_case_wide_scalar(index);
  const bool negative = wide < 0 && strcmp(c->op->name, "pow.Tensor_Scalar") == 0;
  return scalar_i64(negative ? -(wide + 1) : wide);
}

/* A Scalar that leaves the key dtype what it is. */
static kw_value pick_scalar(const kw_case *c, uint32_t index) {
  if (c->key == KW_BOOL) return scalar_bool(index % 2 == 0);
  uint32_t i = index % scalar_count(c->key);
  if (kw_element_is_integer(c->key)) {
    bool positive = c->key == KW_U8 || strcmp(c->op->name, "pow.Tensor_Scalar") == 0;
    return scalar_i64(positive ? llabs(int_scalars[i]) : int_scalars[i]);
  }
  double value = float_scalars[i];
  return value == floor(value) && c->number % 2 ? scalar_i64((int64_t)value) : scalar_f64(value);
}

/* ---- Attributes of one op ---------------------------------------------------------------------------------------- */

static kw_value string_value(const char *text) {
  kw_value v = {.tag = KW_TAG_STRING};
  v.u.s = text;
  return v;
}

static kw_value scalar_c128(double real, double imaginary) {
  kw_value v = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_C128};
  v.u.c[0] = real;
  v.u.c[1] = imaginary;
  return v;
}

/* What is stored: in-range integers, floats that saturate, and in i64 integers that only it holds. */
static bool set_fill(kw_case *c, uint32_t arg) {
  static const double floats[] = {2.75, -1.5, 0.1, 1e30, -1e30, INFINITY, NAN, -0.0};
  uint32_t plain = scalar_count(c->key);
  if (c->class != KW_CLASS_ATTRS) {
    kw_case_give(c, arg, pick_scalar(c, c->number));
  } else if (c->number < plain) {
    kw_case_give(c, arg, pick_scalar(c, c->number));
  } else if (c->number - plain < COUNT(floats)) {
    kw_case_give(c, arg, scalar_f64(floats[c->number - plain]));
  } else if (c->key == KW_I64 && c->number - plain - COUNT(floats) < COUNT(wide_scalars)) {
    kw_case_give(c, arg, scalar_i64(wide_scalars[c->number - plain - COUNT(floats)]));
  } else if (c->number == plain + COUNT(floats) && kw_element_is_complex(c->key)) {
    kw_case_give(c, arg, scalar_c128(0.1, -2.7));
  } else if (kw_case_takes_tie_scalars(c->key) && c->number - plain - COUNT(floats) < KW_CASE_TIE_SCALARS) {
    kw_case_give(c, arg, scalar_f64(kw_case_tie_scalar(c->key, c->number - plain - COUNT(floats))));
  } else {
    return false;
  }
  return true;
}

static bool set_clamp(kw_case *c) {
  static const struct {
    double min, max;
    bool has_min, has_max;
  } bounds[] = {
      {1, 2, true, true}, {1, 0, true, false}, {0, 1, false, true},
      {3, 1, true, true}, {0, 0, true, true},  {-1000, 70000, true, true}, /* past the range of small integers */
  };
  static const double float_bounds[][2] = {{-0.5, NAN}, {-2.7, 0.1}, {1e-3, 3.141592653589793}};
  /* Where the number is even the elements are few and small: only the second is met. */
  static const int64_t int_bounds[][2] = {{INT64_MIN, INT64_MAX}, {-BEYOND_DOUBLE, BEYOND_DOUBLE}};
  uint32_t i = c->class == KW_CLASS_ATTRS ? c->number : c->number % 3;
  bool is_float = kw_element_is_float(c->key);
  if (is_float && i >= COUNT(bounds) && i - COUNT(bounds) < COUNT(float_bounds)) {
    kw_case_give(c, 1, scalar_f64(float_bounds[i - COUNT(bounds)][0]));
    kw_case_give(c, 2, scalar_f64(float_bounds[i - COUNT(bounds)][1]));
    return true;
  }
  if (c->key == KW_I64 && i - COUNT(bounds) < COUNT(int_bounds)) {
    kw_case_give(c, 1, scalar_i64(int_bounds[i - COUNT(bounds)][0]));
    kw_case_give(c, 2, scalar_i64(int_bounds[i - COUNT(bounds)][1]));
    return true;
  }
  if (i >= COUNT(bounds)) return false;
  double shift = is_float ? 0.5 : 0;
  if (bounds[i].has_min)
    kw_case_give(c, 1, is_float ? scalar_f64(bounds[i].min - shift) : scalar_i64((int64_t)bounds[i].min));
  if (bounds[i].has_max)
    kw_case_give(c, 2, is_float ? scalar_f64(bounds[i].max + shift) : scalar_i64((int64_t)bounds[i].max));
  return true;
}

static bool set_rounding(kw_case *c, uint32_t arg) {
  static const char *const modes[] = {"floor", "trunc"};
  if (kw_element_is_float(c->key)) {
    uint32_t i = c->number % 3;
    kw_case_give(c, arg, i == 2 ? (kw_value){0} : string_value(modes[i]));
  } else {
    kw_case_give(c, arg, string_value(modes[c->number % 2]));
  }
  return true;
}

/* Numbers that some ops need in place of those that serve any Scalar: rows of values for arguments from `first` on. The
 * classes take them in turn, the first with special values. With an integer key fractions are cut off. */
#define ROW_VALUES 3
static const struct {
  const char *op;
  uint32_t first, count; /* arguments; count 1 to ROW_VALUES */
  uint32_t rows;
  double values[8][ROW_VALUES];
} number_rows[] = {
    {"hardtanh", 1, 2, 6, {{-1, 1}, {0, 6}, {-2.7, 0.1}, {1, -1}, {2, 2}, {-300, 300}}},
    {"leaky_relu", 1, 1, 5, {{0.01}, {0.2}, {0}, {-0.5}, {1.5}}},
    {"elu", 1, 3, 5, {{1, 1, 1}, {1.6732632, 1.050701, 1}, {0.5, 2, 0.3}, {-1, 1, 2}, {1, 1, 0}}},
    {"softplus", 1, 2, 5, {{1, 20}, {2, 20}, {0.5, 3}, {10, 1}, {1, 0}}},
    {"threshold", 1, 2, 5, {{0, 0}, {1, 20}, {0.1, -1.5}, {-3, 7}, {2, 2}}},
    {"lerp.Scalar", 2, 1, 8, {{0.25}, {0.5}, {0.75}, {0}, {1}, {-0.5}, {2}, {0.1}}},
    {"threshold_backward", 2, 1, 4, {{0}, {1}, {-2.5}, {0.1}}},
    {"leaky_relu_backward", 2, 1, 4, {{-0.5}, {0.01}, {0.2}, {0}}}, /* from the result where the number is odd */
    {"elu_backward", 1, 3, 6, {{1, 1, 1}, {1, 1, 1}, {-1, 1, 2}, {1.6732632, 1.050701, 1}, {0.5, 2, 0.3}, {2, 3, 0.5}}},
    {"hardtanh_backward", 2, 2, 4, {{-1, 1}, {0, 6}, {-2.5, 0.1}, {1, -1}}},
    {"softplus_backward", 2, 2, 4, {{1, 20}, {2, 20}, {0.5, 3}, {10, 1}}},
    {"round.decimals", 1, 1, 8, {{0}, {1}, {-1}, {2}, {3}, {-2}, {5}, {-4}}},
    {"native_dropout_backward", 2, 1, 5, {{2}, {1}, {0}, {1.25}, {10}}},
};

/* The argument whose value an op stores in elements, or -1: fill, full and masked_fill in all their forms. */
static int find_fill(const kw_suite_op *op) {
  static const char *const ops[] = {"fill_.Scalar", "full", "fill.Scalar", "full_like", "masked_fill.Scalar"};
  bool here = false;
  for (size_t i = 0; i < COUNT(ops); i++) here |= strcmp(ops[i], op->name) == 0;
  int value = kw_suite_op_find_arg(op, "value");
  return !here ? -1 : value >= 0 ? value : kw_suite_op_find_arg(op, "fill_value");
}

/* The index of the op's row, or -1. */
static int find_numbers(const kw_suite_op *op) {
  for (size_t i = 0; i < COUNT(number_rows); i++) {
    if (strcmp(number_rows[i].op, op->name) == 0) return (int)i;
  }
  return -1;
}

static kw_value number_value(const kw_case *c, kw_tag tag, double number) {
  kw_value v = {.tag = tag};
  bool integer = tag == KW_TAG_INT || kw_element_is_integer(c->key);
  if (tag == KW_TAG_SCALAR) return integer ? scalar_i64((int64_t)number) : scalar_f64(number);
  if (tag == KW_TAG_FLOAT) {
    v.u.f = number;
  } else {
    v.u.i = (int64_t)number;
  }
  return v;
}

/* How many rows of numbers the class ATTRS has: on i64 one more for limits, with numbers that no double is. */
static uint32_t number_row_count(const kw_case *c, int which) {
  return number_rows[which].rows + (c->key == KW_I64 && c->op->row.result == KW_RESULT_FIRST);
}

static void set_numbers(kw_case *c, int which) {
  const uint32_t rows = number_rows[which].rows, first = number_rows[which].first;
  const double *values = number_rows[which].values[c->number % rows];
  if (c->class == KW_CLASS_ATTRS && c->number == rows && c->op->args[first].tag == KW_TAG_SCALAR) {
    for (uint32_t i = 0; i < number_rows[which].count; i++) {
      kw_case_give(c, first + i, scalar_i64(i == 0 ? -BEYOND_DOUBLE : BEYOND_DOUBLE));
    }
    return;
  }
  for (uint32_t i = 0; i < number_rows[which].count; i++) {
    uint32_t arg = number_rows[which].first + i;
    kw_case_give(c, arg, number_value(c, c->op->args[arg].tag, values[i]));
  }
}

bool kw_case_set_attrs(kw_case *c) {
  const kw_suite_op *op = c->op;
  bool attrs = c->class == KW_CLASS_ATTRS;
  const int fill = find_fill(op);
  if (fill >= 0) return set_fill(c, (uint32_t)fill);
  if (strcmp(op->name, "clamp") == 0) return set_clamp(c);
  const int numbers = find_numbers(op);
  if (numbers >= 0) set_numbers(c, numbers);
  uint32_t combinations = numbers < 0 ? 0 : number_row_count(c, numbers);
  for (uint32_t i = 0; i < op->arg_count; i++) {
    const kw_suite_arg *arg = &op->args[i];
    uint32_t count = 0;
    if (c->args[i].value.tag != KW_TAG_NONE) {
      count = combinations;
    } else if (arg->tag == KW_TAG_SCALAR && !arg->has_default) {
      const uint32_t plain = scalar_count(c->key), beyond = c->number - plain;
      const bool close = takes_close_scalars(c), wide = takes_wide_scalars(c);
      count = plain + (close ? COUNT(close_scalars) : wide ? COUNT(wide_scalars) : 0);
      kw_case_give(c, i,
                   c->number < plain || c->number >= count ? pick_scalar(c, c->number)
                   : close                                 ? scalar_f64(close_scalars[beyond])
                                                           : wide_scalar(c, beyond));
    } else if (arg->tag == KW_TAG_SCALAR) { /* alpha; shifted against a required scalar */
      const uint32_t plain = scalar_count(c->key), shift = op->args[1].tag == KW_TAG_SCALAR ? 3 : 0;
      const bool wide = takes_wide_scalars(c) && c->number >= plain;
      count = plain + (takes_wide_scalars(c) ? COUNT(wide_scalars) : 0);
      if (attrs) {
        kw_case_give(c, i, wide ? wide_scalar(c, c->number - plain + shift) : pick_scalar(c, c->number + shift));
      }
      const kw_value none = c->key == KW_BOOL ? scalar_bool(false) : number_value(c, KW_TAG_SCALAR, 0);
      if (c->class == KW_CLASS_SPECIAL && c->number == 1) kw_case_give(c, i, none);
    } else if (strcmp(arg->name, "rounding_mode") == 0) {
      count = 3;
      set_rounding(c, i);
    } else if (strcmp(arg->name, "approximate") == 0) {
      count = 2;
      if (attrs || c->number % 2) kw_case_give(c, i, string_value(c->number % 2 ? "tanh" : "none"));
    } else if (arg->tag == KW_TAG_BOOL) {
      count = 2;
      kw_value v = {.tag = KW_TAG_BOOL};
      v.u.b = c->number % 2;
      if (attrs || !arg->has_default) kw_case_give(c, i, v);
    } else if (arg->tag == KW_TAG_TENSOR && strcmp(arg->name, "condition") == 0) {
      count = 4; /* bool and u8 in turn */
    }
    if (count > combinations) combinations = count;
  }
  return !attrs || c->number < combinations;
}
