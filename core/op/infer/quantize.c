/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantisation: which integers, scales and zero points go together.
 */
#include "base/dtype.h"
#include "op/infer/common.h"
#include "op/infer/result_rules.h"
#include "op/infer/shape_rules.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

/* Arguments that are of dtypes of their own, whatever argument 0 is; by the op's name without overload. */
static const struct {
  const char *base, *arg;
  uint64_t dtypes;
} own_dtypes[] = {
    {"quantized_decomposed::quantize_per_tensor", "scale", KW_DTYPE_BIT(KW_F32)},
    {"quantized_decomposed::quantize_per_tensor", "zero_point", KW_DTYPES_INDEX},
    {"quantized_decomposed::quantize_per_channel", "scales", KW_DTYPE_BIT(KW_F32)},
    {"quantized_decomposed::quantize_per_channel", "zero_points", KW_DTYPES_INDEX},
    {"quantized_decomposed::dequantize_per_tensor", "scale", KW_DTYPE_BIT(KW_F32)},
    {"quantized_decomposed::dequantize_per_tensor", "zero_point", KW_DTYPES_INDEX},
    {"quantized_decomposed::dequantize_per_channel", "scales", KW_DTYPE_BIT(KW_F32)},
    {"quantized_decomposed::dequantize_per_channel", "zero_points", KW_DTYPES_INDEX},
    {"keyway::int8_linear", "input_scale", KW_DTYPE_BIT(KW_F32)},
    {"keyway::int8_linear", "weight_scale", KW_DTYPE_BIT(KW_F32)},
    {"keyway::int8_linear", "bias", KW_DTYPES_FLOAT32},
    {"keyway::f8_linear", "weight", KW_DTYPES_F8},
    {"keyway::f8_linear", "input_scale", KW_DTYPE_BIT(KW_F32)},
    {"keyway::f8_linear", "weight_scale", KW_DTYPE_BIT(KW_F32)},
    {"keyway::f8_linear", "bias", KW_DTYPES_FLOAT32},
    {"keyway::int4_linear", "weight", KW_DTYPES_U8},
    {"keyway::sparse24_linear", "meta", KW_DTYPES_U8},
    {"keyway::bsr_linear", "crow_indices", KW_DTYPES_INDEX},
    {"keyway::bsr_linear", "col_indices", KW_DTYPES_INDEX},
};

/* 0: the argument has none. */
static uint64_t find_own_dtypes(const kw_op *op, uint32_t arg) {
  const char *name = op->schema.name;
  const size_t length = strcspn(name, ".");
  for (size_t i = 0; i < sizeof own_dtypes / sizeof own_dtypes[0]; ++i) {
    const bool same = strlen(own_dtypes[i].base) == length && memcmp(own_dtypes[i].base, name, length) == 0;
    if (same && strcmp(own_dtypes[i].arg, op->schema.args[arg].name) == 0) return own_dtypes[i].dtypes;
  }
  return 0;
}

static kw_status check_dtype(const kw_op *op, const kw_value *args, uint32_t arg, kw_dtype key) {
  const kw_dtype dtype = args[arg].u.tensor->dtype;
  const uint64_t own = find_own_dtypes(op, arg);
  char list[160];
  if (own ? kw_dtype_is_among(dtype, own) : dtype == key) return KW_OK;
  if (own) {
    return kw_op_fail(op, arg, "dtype %s is not one it may have: %s", kw_dtype_name(dtype),
                      kw_dtype_list(own, list, sizeof list));
  }
  return kw_op_fail(op, arg, "expected %s, the dtype of '%s', got %s; cast one of them first", kw_dtype_name(key),
                    op->schema.args[0].name, kw_dtype_name(dtype));
}

kw_status kw_infer_key_quantize(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  const kw_value *to = kw_infer_find_arg(op, args, "out_dtype");
  const kw_dtype key = *out_key = args[0].u.tensor->dtype;
  kw_status status = KW_OK;
  for (uint32_t i = 1; i < op->schema.arg_count && status == KW_OK; ++i) {
    if (args[i].tag == KW_TAG_TENSOR) status = check_dtype(op, args, i, key);
  }
  if (status == KW_OK) status = kw_infer_check_dtype(op, args, key, "");
  if (status != KW_OK || !to || to->tag != KW_TAG_DTYPE || kw_dtype_is_among(to->u.dtype, KW_DTYPES_FLOAT32))
    return status;
  return kw_op_fail(op, kw_infer_arg_index(args, to), "%s is none of f16, bf16 and f32", kw_dtype_name(to->u.dtype));
}

/* ---- Scales and codes -------------------------------------------------------------------------------------------- */

/* The integers that codes are of. */
static kw_status check_codes(const kw_op *op, const kw_value *args) {
  static const struct {
    kw_dtype dtype;
    int64_t low, high;
  } ranges[] = {{KW_U8, 0, UINT8_MAX},
                {KW_I8, INT8_MIN, INT8_MAX},
                {KW_I16, INT16_MIN, INT16_MAX},
                {KW_I32, INT32_MIN, INT32_MAX}};
  const kw_value *dtype = kw_infer_find_arg(op, args, "dtype"), *low = kw_infer_find_arg(op, args, "quant_min"),
                 *high = kw_infer_find_arg(op, args, "quant_max");
  const char *name = kw_dtype_name(dtype->u.dtype);
  uint32_t i = 0;
  while (i < 4 && ranges[i].dtype != dtype->u.dtype) ++i;
  if (i == 4) return kw_op_fail(op, kw_infer_arg_index(args, dtype), "%s is none of u8, i8, i16 and i32", name);
  if (op->row.result == KW_RESULT_OUT_DTYPE && dtype->u.dtype != args[0].u.tensor->dtype) {
    return kw_op_fail(op, kw_infer_arg_index(args, dtype), "it is %s, but 'input' is %s", name,
                      kw_dtype_name(args[0].u.tensor->dtype));
  }
  if (low->u.i < ranges[i].low || low->u.i > ranges[i].high) {
    return kw_op_fail(op, kw_infer_arg_index(args, low), "%s does not hold %" PRId64, name, low->u.i);
  }
  if (high->u.i < low->u.i || high->u.i > ranges[i].high) {
    return kw_op_fail(op, kw_infer_arg_index(args, high), "%" PRId64 " is not from %" PRId64 " (quant_min) to %" PRId64,
                      high->u.i, low->u.i, ranges[i].high);
  }
  return KW_OK;
}

static kw_status check_single(const kw_op *op, const kw_value *args, uint32_t index) {
  const kw_tensor_ref *tensor = args[index].u.tensor;
  char text[KW_SHAPE_TEXT];
  if (tensor->numel == 1) return KW_OK;
  return kw_op_fail(op, index, "expected one element, got shape %s", kw_shape_text(tensor->rank, tensor->shape, text));
}

/* One scale and one zero point for all, as numbers or as tensors of one element. As f32 the scale has to be something
 * to divide by. */
static kw_status check_grid(const kw_op *op, const kw_value *args) {
  const kw_value *scale = &args[1], *zero = &args[2];
  if (scale->tag == KW_TAG_TENSOR) {
    kw_status status = check_single(op, args, 1);
    return status == KW_OK ? check_single(op, args, 2) : status;
  }
  const float divisor = (float)scale->u.f;
  if (!(divisor > 0) || !isfinite(divisor)) {
    return kw_op_fail(op, 1, "%g is, as f32, not a positive finite number", scale->u.f);
  }
  if (zero->u.i < INT32_MIN || zero->u.i > INT32_MAX) {
    return kw_op_fail(op, 2, "%" PRId64 " does not fit in 32 bits", zero->u.i);
  }
  return KW_OK;
}

/* As many scales and zero points as the input has indices along "axis". */
static kw_status check_channels(const kw_op *op, const kw_value *args) {
  const kw_tensor_ref *input = args[0].u.tensor;
  uint32_t mask = 0;
  if (input->rank == 0) return kw_op_fail(op, 0, "a tensor of rank 0 has no channels");
  kw_status status = kw_infer_mark_dim(op, 3, input, args[3].u.i, &mask);
  if (status != KW_OK) return status;
  const uint32_t axis = (uint32_t)__builtin_ctz(mask);
  for (uint32_t i = 1; i <= 2; ++i) {
    const kw_tensor_ref *parameter = args[i].tag == KW_TAG_TENSOR ? args[i].u.tensor : NULL;
    if (!parameter || (parameter->rank == 1 && parameter->shape[0] == input->shape[axis])) continue;
    char text[KW_SHAPE_TEXT];
    return kw_op_fail(op, i, "expected shape [%" PRId64 "], the size of dimension %u of 'input', got %s",
                      input->shape[axis], axis, kw_shape_text(parameter->rank, parameter->shape, text));
  }
  return KW_OK;
}

kw_status kw_infer_quantize(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *input = args[0].u.tensor;
  out->rank = input->rank;
  memcpy(out->sizes, input->shape, input->rank * sizeof(int64_t));
  kw_status status = check_codes(op, args);
  if (status != KW_OK) return status;
  return kw_infer_find_arg(op, args, "axis") ? check_channels(op, args) : check_grid(op, args);
}
