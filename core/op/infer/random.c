/* SPDX-License-Identifier: Apache-2.0
 *
 * What random ops demand of the numbers they are given.
 */
#include "op/infer/random.h"

#include <float.h>
#include <inttypes.h>

/* ---- Integers ---------------------------------------------------------------------------------------------------- */

kw_integer_range kw_infer_exact_integers(kw_dtype dtype) {
  static const kw_integer_range ranges[] = {[KW_BOOL] = {0, 1},
                                            [KW_U8] = {0, UINT8_MAX},
                                            [KW_I8] = {INT8_MIN, INT8_MAX},
                                            [KW_I16] = {INT16_MIN, INT16_MAX},
                                            [KW_I32] = {INT32_MIN, INT32_MAX},
                                            [KW_I64] = {INT64_MIN, INT64_MAX},
                                            [KW_F16] = {-(INT64_C(1) << 11), INT64_C(1) << 11},
                                            [KW_BF16] = {-(INT64_C(1) << 8), INT64_C(1) << 8},
                                            [KW_F32] = {-(INT64_C(1) << 24), INT64_C(1) << 24},
                                            [KW_F64] = {-(INT64_C(1) << 53), INT64_C(1) << 53}};
  return ranges[dtype];
}

/* [from, to): not empty, and of values that the dtype holds. `from` none: 0; `to` none: as far as the dtype goes. */
static kw_status check_integers(const kw_op *op, const kw_value *args, kw_dtype key, const kw_value *from,
                                const kw_value *to) {
  const kw_integer_range range = kw_infer_exact_integers(key);
  const bool ends = to->tag == KW_TAG_INT;
  const int64_t first = from ? from->u.i : 0;
  if (ends && first >= to->u.i) {
    return kw_op_fail(op, kw_infer_arg_index(args, to),
                      "it is %" PRId64 ", and the first integer is %" PRId64 "; give a larger one", to->u.i, first);
  }
  if (from && (first < range.low || first > range.high)) {
    return kw_op_fail(op, kw_infer_arg_index(args, from),
                      "%" PRId64 " is outside [%" PRId64 ", %" PRId64 "], whose integers %s holds exactly", first,
                      range.low, range.high, kw_dtype_name(key));
  }
  if (ends && to->u.i - 1 > range.high) {
    return kw_op_fail(op, kw_infer_arg_index(args, to),
                      "the last integer, %" PRId64 ", is outside [%" PRId64 ", %" PRId64
                      "], whose integers %s holds exactly",
                      to->u.i - 1, range.low, range.high, kw_dtype_name(key));
  }
  return KW_OK;
}

/* ---- Floats ------------------------------------------------------------------------------------------------------ */

static double largest_float(kw_dtype dtype) {
  switch (dtype) {
    case KW_F16:
      return 65504;
    case KW_BF16:
      return 0x1.fep127;
    case KW_F32:
      return FLT_MAX;
    default:
      return DBL_MAX;
  }
}

static kw_status check_bound(const kw_op *op, const kw_value *args, kw_dtype key, const kw_value *bound) {
  const double largest = largest_float(key);
  if (bound->u.f >= -largest && bound->u.f <= largest) return KW_OK; /* NaN is not */
  return kw_op_fail(op, kw_infer_arg_index(args, bound), "%g is not a number between -%g and %g, as %s has them",
                    bound->u.f, largest, largest, kw_dtype_name(key));
}

static kw_status check_interval(const kw_op *op, const kw_value *args, kw_dtype key, const kw_value *from,
                                const kw_value *to) {
  kw_status status = check_bound(op, args, key, from);
  if (status == KW_OK) status = check_bound(op, args, key, to);
  if (status != KW_OK) return status;
  if (from->u.f > to->u.f) {
    return kw_op_fail(op, kw_infer_arg_index(args, to), "it is %g, less than 'from', %g", to->u.f, from->u.f);
  }
  if (to->u.f - from->u.f > largest_float(key)) {
    return kw_op_fail(op, kw_infer_arg_index(args, to), "%g is farther from 'from', %g, than any %s", to->u.f,
                      from->u.f, kw_dtype_name(key));
  }
  return KW_OK;
}

/* ---- Result shapes ----------------------------------------------------------------------------------------------- */

kw_status kw_infer_count(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_value *n = kw_infer_find_arg(op, args, "n");
  if (n->u.i < 0) return kw_op_fail(op, kw_infer_arg_index(args, n), "%" PRId64 " is negative", n->u.i);
  *out = (kw_infer_dims){1, {n->u.i}};
  return KW_OK;
}

#define MOST_ENTRIES (INT64_C(1) << 24) /* more of them f32 cannot tell apart */

kw_status kw_infer_multinomial(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  const int64_t samples = args[1].u.i;
  char text[KW_SHAPE_TEXT];
  if (self->rank != 1 && self->rank != 2) {
    return kw_op_fail(op, 0, "expected weights [n] or rows of them [m, n], got shape %s",
                      kw_shape_text(self->rank, self->shape, text));
  }
  const int64_t entries = self->shape[self->rank - 1];
  if (entries == 0 || entries > MOST_ENTRIES) {
    return kw_op_fail(op, 0, "%" PRId64 " weights to choose from; there must be 1 to %" PRId64, entries, MOST_ENTRIES);
  }
  if (samples <= 0) return kw_op_fail(op, 1, "%" PRId64 " samples; there must be 1 at least", samples);
  if (!args[2].u.b && samples > entries) {
    return kw_op_fail(op, 1, "%" PRId64 " samples of %" PRId64 " entries, each once: with replacement=True they repeat",
                      samples, entries);
  }
  out->rank = self->rank;
  out->sizes[0] = self->shape[0];
  out->sizes[self->rank - 1] = samples;
  return KW_OK;
}

/* ---- By name ----------------------------------------------------------------------------------------------------- */

kw_status kw_infer_check_random(const kw_op *op, const kw_value *args, kw_dtype key) {
  if (op->generator < 0) return KW_OK;
  const kw_value *from = kw_infer_find_arg(op, args, "from"), *to = kw_infer_find_arg(op, args, "to");
  const kw_value *low = kw_infer_find_arg(op, args, "low"), *high = kw_infer_find_arg(op, args, "high");
  const kw_value *std = kw_infer_find_arg(op, args, "std"), *p = kw_infer_find_arg(op, args, "p");
  const kw_value *n = kw_infer_find_arg(op, args, "n");
  if (n && n->u.i > 0) { /* the last integer is n - 1 */
    return check_integers(op, args, key, NULL, n);
  }
  if (high) return check_integers(op, args, key, low, high);
  if (from && from->tag == KW_TAG_INT) return check_integers(op, args, key, from, to);
  if (from) return check_interval(op, args, key, from, to);
  if (std && !(std->u.f >= 0)) {
    return kw_op_fail(op, kw_infer_arg_index(args, std), "%g is no standard deviation; it is 0 or more", std->u.f);
  }
  if (p && !(p->u.f >= 0 && p->u.f <= 1)) {
    return kw_op_fail(op, kw_infer_arg_index(args, p), "%g is no probability; it is between 0 and 1", p->u.f);
  }
  return KW_OK;
}
