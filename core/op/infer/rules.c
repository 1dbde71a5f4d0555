/* SPDX-License-Identifier: Apache-2.0
 *
 * What single ops demand of their arguments, by the arguments' names.
 */
#include "op/infer/rules.h"

#include "base/dtype.h"
#include "base/error.h"
#include "base/scalar.h"
#include "op/infer/dtype.h"
#include "op/infer/random.h"

#include <inttypes.h>
#include <string.h>

static kw_status check_text(const kw_op *op, const kw_value *args, const char *name, const char *one,
                            const char *other) {
  const kw_value *arg = kw_infer_find_arg(op, args, name);
  if (!arg || arg->tag != KW_TAG_STRING || strcmp(arg->u.s, one) == 0 || strcmp(arg->u.s, other) == 0) return KW_OK;
  return kw_op_fail(op, kw_infer_arg_index(args, arg), "'%s' is not known; it is '%s' or '%s'", arg->u.s, one, other);
}

/* A factor takes no part in promotion, so it must not be of a higher kind than what it multiplies. */
static kw_status check_factor(const kw_op *op, const kw_value *args, const char *name, kw_dtype key) {
  const kw_value *factor = kw_infer_find_arg(op, args, name);
  if (!factor || factor->tag != KW_TAG_SCALAR) return KW_OK;
  const uint32_t index = kw_infer_arg_index(args, factor);
  if (factor->kind == KW_SCALAR_C128)
    return kw_op_fail(op, index, "a complex number does not fit results of %s", kw_dtype_name(key));
  if (factor->kind == KW_SCALAR_F64 && kw_dtype_is_integral(key)) {
    return kw_op_fail(op, index, "results of %s need an integer, not %g", kw_dtype_name(key), factor->u.f);
  }
  if (factor->kind == KW_SCALAR_BOOL && key != KW_BOOL) {
    return kw_op_fail(op, index, "a bool goes with bool results only, not with %s", kw_dtype_name(key));
  }
  return KW_OK;
}

static kw_status check_exponent(const kw_op *op, const kw_value *args, kw_dtype key) {
  const kw_value *exponent = kw_infer_find_arg(op, args, "exponent");
  if (!exponent || exponent->tag != KW_TAG_SCALAR || !kw_dtype_is_integral(key) || kw_scalar_real(exponent) >= 0) {
    return KW_OK;
  }
  return kw_op_fail(op, kw_infer_arg_index(args, exponent),
                    "%g is negative, and %s has no fractions; cast 'self' to a float first", kw_scalar_real(exponent),
                    kw_dtype_name(key));
}

/* The power of ten that a number is scaled by must be one in the type that the op computes in. */
static kw_status check_decimals(const kw_op *op, const kw_value *args, kw_dtype key) {
  const kw_value *decimals = kw_infer_find_arg(op, args, "decimals");
  const int64_t most = key == KW_F64 ? 308 : 38;
  if (!decimals || (decimals->u.i >= -most && decimals->u.i <= most)) return KW_OK;
  return kw_op_fail(op, kw_infer_arg_index(args, decimals),
                    "%" PRId64 " is outside [-%" PRId64 ", %" PRId64 "], the powers of ten that %s can be scaled by",
                    decimals->u.i, most, most, kw_dtype_name(key));
}

/* The factors, and the limits and values that an op takes in the dtype of what it computes with; a `value` that is
 * stored converts (check_fill). */
static kw_status check_factors(const kw_op *op, const kw_value *args, kw_dtype key) {
  static const char *const names[] = {"alpha", "beta", "threshold", "min_val", "max_val", "weight", "value"};
  const bool stores = op->row.result == KW_RESULT_SELF || op->row.shape != KW_SHAPE_BROADCAST;
  const size_t count = sizeof names / sizeof names[0] - stores;
  kw_status status = KW_OK;
  for (size_t i = 0; i < count && status == KW_OK; ++i) status = check_factor(op, args, names[i], key);
  return status;
}

static kw_status check_condition(const kw_op *op, const kw_value *args) {
  const kw_value *condition = kw_infer_find_arg(op, args, "condition"), *mask = kw_infer_find_arg(op, args, "mask");
  const kw_value *given = condition ? condition : mask;
  if (!given) return KW_OK;
  kw_dtype dtype = given->u.tensor->dtype;
  if (dtype == KW_BOOL || (condition && dtype == KW_U8)) return KW_OK;
  return kw_op_fail(op, kw_infer_arg_index(args, given),
                    condition ? "expected bool or u8, got %s" : "expected bool, got %s", kw_dtype_name(dtype));
}

/* On which side of 0 the input was cannot be told from a result that a negative slope has turned round. */
static kw_status check_slope(const kw_op *op, const kw_value *args, const char *flag, const char *slope) {
  const kw_value *from_result = kw_infer_find_arg(op, args, flag), *factor = kw_infer_find_arg(op, args, slope);
  if (!from_result || !from_result->u.b || kw_scalar_real(factor) >= 0) return KW_OK;
  return kw_op_fail(op, kw_infer_arg_index(args, factor),
                    "%g is negative, and with '%s' the sign of the input is read off the result; pass the input",
                    kw_scalar_real(factor), flag);
}

static kw_status check_limits(const kw_op *op, const kw_value *args) {
  const kw_value *min = kw_infer_find_arg(op, args, "min"), *max = kw_infer_find_arg(op, args, "max");
  if (!min || !max || min->tag != KW_TAG_NONE || max->tag != KW_TAG_NONE) return KW_OK;
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: both 'min' and 'max' are none; give at least one of them",
                 op->schema.name);
}

/* Of what is stored: a number that the result's dtype holds, and one only. */
static kw_status check_fill(const kw_op *op, const kw_value *args, kw_dtype key) {
  if (op->row.result == KW_RESULT_ATTENTION) return KW_OK; /* its value is no filling */
  const kw_value *value = kw_infer_find_arg(op, args, "value");
  const kw_dtype self = kw_infer_result_dtype(op, args, key, 0);
  if (!value) value = kw_infer_find_arg(op, args, "fill_value");
  if (!value) return KW_OK;
  const uint32_t index = kw_infer_arg_index(args, value);
  bool complex =
      value->tag == KW_TAG_SCALAR ? value->kind == KW_SCALAR_C128 : kw_dtype_is_complex(value->u.tensor->dtype);
  if (complex && !kw_dtype_is_complex(self)) {
    return kw_op_fail(op, index, "a complex number does not fit a tensor of %s", kw_dtype_name(self));
  }
  if (value->tag == KW_TAG_TENSOR && value->u.tensor->rank != 0) {
    return kw_op_fail(op, index, "expected a tensor of rank 0, got rank %u", value->u.tensor->rank);
  }
  return KW_OK;
}

kw_status kw_infer_check_rules(const kw_op *op, const kw_value *args, kw_dtype key) {
  if (op->row.level == KW_LEVEL_VENDOR) return KW_OK;
  kw_status status = check_text(op, args, "rounding_mode", "trunc", "floor");
  if (status == KW_OK) status = check_text(op, args, "approximate", "none", "tanh");
  if (status == KW_OK) status = check_factors(op, args, key);
  if (status == KW_OK) status = check_exponent(op, args, key);
  if (status == KW_OK) status = check_decimals(op, args, key);
  if (status == KW_OK) status = check_condition(op, args);
  if (status == KW_OK) status = check_slope(op, args, "self_is_result", "negative_slope");
  if (status == KW_OK) status = check_slope(op, args, "is_result", "alpha");
  if (status == KW_OK) status = check_limits(op, args);
  if (status == KW_OK) status = check_fill(op, args, key);
  if (status == KW_OK) status = kw_infer_check_random(op, args, key);
  return status;
}
