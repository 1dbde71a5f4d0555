/* SPDX-License-Identifier: Apache-2.0
 *
 * The key dtype and the dtypes of results, by the result rules of the op table.
 */
#include "op/infer/dtype.h"

#include "base/dtype.h"
#include "base/error.h"
#include "op/infer/result_rules.h"

#include <string.h>

/* In the op table a mask, a copy's source, a factor and a limit have no say in the dtype. A vendor's names mean nothing
 * to us. */
static bool promotes(const kw_op *op, uint32_t index) {
  static const struct {
    const char *name;
    kw_tag tag;
  } silent[] = {{"condition", KW_TAG_TENSOR}, {"mask", KW_TAG_TENSOR},    {"src", KW_TAG_TENSOR},
                {"alpha", KW_TAG_SCALAR},     {"beta", KW_TAG_SCALAR},    {"value", KW_TAG_SCALAR},
                {"threshold", KW_TAG_SCALAR}, {"min_val", KW_TAG_SCALAR}, {"max_val", KW_TAG_SCALAR}};
  if (op->row.level == KW_LEVEL_VENDOR) return true;
  const kw_schema_arg *arg = &op->schema.args[index];
  for (size_t i = 0; i < sizeof silent / sizeof silent[0]; ++i) {
    if (arg->tag == silent[i].tag && strcmp(arg->name, silent[i].name) == 0) return false;
  }
  return true;
}

static void add_tensors(const kw_op *op, const kw_value *args, kw_promotion *promotion) {
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    if (!promotes(op, i)) continue;
    if (args[i].tag == KW_TAG_TENSOR) kw_promotion_add_tensor(promotion, args[i].u.tensor);
    for (uint32_t k = 0; args[i].tag == KW_TAG_TENSOR_LIST && k < args[i].count; ++k) {
      if (args[i].u.tensors[k]) kw_promotion_add_tensor(promotion, args[i].u.tensors[k]);
    }
  }
}

static kw_status refuse_promotion(const kw_op *op, const kw_value *args, const kw_promotion *promotion) {
  if (promotion->refused[0] == KW_DTYPE_NONE) return kw_op_fail(op, 0, "there is no tensor; give at least one");
  return kw_fail(KW_ERR_INVALID_ARGUMENT,
                 "%s: argument '%s': %s and %s do not promote to a common dtype; cast one of them", op->schema.name,
                 kw_infer_culprit(op, args, promotion->refused[1]), kw_dtype_name(promotion->refused[0]),
                 kw_dtype_name(promotion->refused[1]));
}

/* Tensors and Scalars promoted. */
kw_status kw_infer_key_promoted(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  kw_promotion promotion = KW_PROMOTION_INIT;
  add_tensors(op, args, &promotion);
  kw_dtype tensors = kw_promotion_result(&promotion);
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    if (promotes(op, i) && args[i].tag == KW_TAG_SCALAR) kw_promotion_add_scalar(&promotion, &args[i]);
  }
  kw_dtype key = kw_promotion_result(&promotion);
  if (key == KW_DTYPE_NONE) return refuse_promotion(op, args, &promotion);
  kw_status status = kw_infer_check_dtype(op, args, tensors, "");
  if (status == KW_OK) status = kw_infer_check_dtype(op, args, key, ", which tensors and Scalars promote to,");
  *out_key = key;
  return status;
}

/* A vendor's op with an infer callback. Operands that do not promote (f8 data, f32 scales) leave the first one's dtype.
 * KW_DTYPE_NONE when there are no tensors. */
static kw_status custom_key(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  kw_promotion promotion = KW_PROMOTION_INIT;
  add_tensors(op, args, &promotion);
  *out_key = kw_promotion_result(&promotion);
  if (promotion.refused[0] != KW_DTYPE_NONE) *out_key = promotion.refused[0];
  return *out_key == KW_DTYPE_NONE ? KW_OK : kw_infer_check_dtype(op, args, *out_key, "");
}

kw_status kw_infer_key_sum(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  const kw_dtype self = args[0].u.tensor->dtype;
  kw_status status = kw_infer_check_dtype(op, args, self, "");
  if (status != KW_OK) return status;
  const kw_value *dtype = kw_infer_find_arg(op, args, "dtype");
  if (dtype->tag == KW_TAG_DTYPE) {
    *out_key = dtype->u.dtype;
    return kw_infer_check_dtype(op, args, *out_key, "");
  }
  *out_key = kw_dtype_is_integral(self) ? KW_I64 : self;
  return KW_OK;
}

/* An integer has no mean of its own dtype, but one in a float's. */
kw_status kw_infer_key_mean(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  const kw_dtype self = args[0].u.tensor->dtype;
  const kw_value *dtype = kw_infer_find_arg(op, args, "dtype");
  *out_key = self;
  if (dtype->tag != KW_TAG_DTYPE) return kw_infer_check_dtype(op, args, self, ", without a float as 'dtype',");
  if (!(KW_DTYPES_REAL >> self & 1)) return kw_infer_check_dtype(op, args, self, "");
  *out_key = dtype->u.dtype;
  return kw_infer_check_dtype(op, args, *out_key, "");
}

/* No promotion: all tensors have the op's own dtypes. */
kw_status kw_infer_key_int_mm(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  *out_key = KW_I8;
  kw_status status = kw_infer_check_dtype(op, args, args[0].u.tensor->dtype, "");
  return status == KW_OK ? kw_infer_check_dtype(op, args, args[1].u.tensor->dtype, "") : status;
}

/* The numbers among the arguments promoted, and f32 where there are none. */
kw_status kw_infer_key_factory(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  const kw_value *dtype = kw_infer_find_arg(op, args, "dtype");
  if (dtype->tag == KW_TAG_DTYPE) {
    *out_key = dtype->u.dtype;
    return kw_infer_check_dtype(op, args, *out_key, "");
  }
  kw_promotion promotion = KW_PROMOTION_INIT;
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    kw_value number = args[i];
    if (number.tag == KW_TAG_INT) number = (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = number.u.i};
    if (number.tag == KW_TAG_SCALAR) kw_promotion_add_scalar(&promotion, &number);
  }
  *out_key = kw_promotion_result(&promotion);
  if (*out_key == KW_DTYPE_NONE) *out_key = KW_F32;
  if (*out_key == KW_BOOL && !(op->row.dtypes & KW_DTYPES_BOOL)) *out_key = KW_I64;
  return kw_infer_check_dtype(op, args, *out_key, ", which the arguments promote to,");
}

kw_status kw_infer_key_inplace(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  const kw_value *source = kw_infer_find_arg(op, args, "src");
  bool copies = source && op->row.level != KW_LEVEL_VENDOR;
  *out_key = copies ? source->u.tensor->dtype : args[0].u.tensor->dtype;
  kw_status status = kw_infer_check_dtype(op, args, *out_key, "");
  return status == KW_OK ? kw_infer_check_dtype(op, args, args[0].u.tensor->dtype, "") : status;
}

/* Indices and masks. */
static bool selects(const kw_op *op, uint32_t arg) {
  const char *name = op->schema.args[arg].name;
  return strcmp(name, "index") == 0 || strcmp(name, "indices") == 0 || strcmp(name, "mask") == 0 ||
         strcmp(name, "target") == 0;
}

/* Nothing is promoted: tensors are of one dtype, those that select apart. */
kw_status kw_infer_key_shared(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  const kw_dtype key = args[0].u.tensor->dtype;
  for (uint32_t i = 1; i < op->schema.arg_count; ++i) {
    if (args[i].tag != KW_TAG_TENSOR || selects(op, i) || args[i].u.tensor->dtype == key) continue;
    return kw_op_fail(op, i, "expected %s, the dtype of '%s', got %s; cast one of them first", kw_dtype_name(key),
                      op->schema.args[0].name, kw_dtype_name(args[i].u.tensor->dtype));
  }
  *out_key = key;
  return kw_infer_check_dtype(op, args, key, "");
}

kw_status kw_infer_key_first(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  *out_key = args[0].u.tensor->dtype;
  return kw_infer_check_dtype(op, args, *out_key, "");
}

kw_status kw_infer_key_promoted_to_float(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  kw_status status = kw_infer_key_promoted(op, args, out_key);
  if (status == KW_OK && kw_dtype_is_integral(*out_key)) *out_key = KW_F32;
  return status;
}

/* Without a rounding mode integers divide to a float. */
kw_status kw_infer_key_promoted_to_divide(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  return kw_infer_find_arg(op, args, "rounding_mode")->tag == KW_TAG_NONE
             ? kw_infer_key_promoted_to_float(op, args, out_key)
             : kw_infer_key_promoted(op, args, out_key);
}

/* ---- Dtypes of results ------------------------------------------------------------------------------------------- */

#define RESULT_DTYPE(rule) \
  kw_dtype kw_infer_dtype_##rule(const kw_op *op, const kw_value *args, kw_dtype key, uint32_t result)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
RESULT_DTYPE(key) {
  return key;
}

RESULT_DTYPE(compute) {
  return key == KW_F64 ? KW_F64 : KW_F32;
}

RESULT_DTYPE(bool) {
  return KW_BOOL;
}

RESULT_DTYPE(i32) {
  return KW_I32;
}

RESULT_DTYPE(i64) {
  return KW_I64;
}

RESULT_DTYPE(self) {
  return args[0].u.tensor->dtype;
}

RESULT_DTYPE(choice) {
  return result == 0 ? key : KW_I64;
}

RESULT_DTYPE(compress) {
  return result == 0 ? key : KW_U8;
}

RESULT_DTYPE(dropout) {
  return result == 0 ? key : KW_BOOL;
}

RESULT_DTYPE(norm) {
  return result == 0 ? key : kw_infer_dtype_compute(op, args, key, result);
}

RESULT_DTYPE(any) {
  return key == KW_U8 ? KW_U8 : KW_BOOL;
}

RESULT_DTYPE(attention) {
  return result == 1 && op->schema.result_count == 2 && key != KW_F64 ? KW_F32 : key;
}

RESULT_DTYPE(other_parts) {
  if (key == KW_C64) return KW_F32;
  if (key == KW_C128) return KW_F64;
  return key == KW_F64 ? KW_C128 : KW_C64;
}

RESULT_DTYPE(cast) {
  const kw_value *dtype = kw_infer_find_arg(op, args, "dtype");
  return dtype->tag == KW_TAG_DTYPE ? dtype->u.dtype : args[0].u.tensor->dtype;
}

RESULT_DTYPE(quantize) {
  return kw_infer_find_arg(op, args, "dtype")->u.dtype;
}

RESULT_DTYPE(out_dtype) {
  const kw_value *to = kw_infer_find_arg(op, args, "out_dtype");
  return to->tag == KW_TAG_DTYPE ? to->u.dtype : KW_F32;
}

RESULT_DTYPE(softmax) {
  return kw_infer_find_arg(op, args, "half_to_float")->u.b ? KW_F32 : key;
}

RESULT_DTYPE(softmax_backward) {
  return kw_infer_find_arg(op, args, "input_dtype")->u.dtype;
}
#pragma GCC diagnostic pop

/* ---- By the op's rule -------------------------------------------------------------------------------------------- */

static const struct {
  kw_infer_key_fn *key;
  kw_infer_dtype_fn *dtype;
  bool casts;
} rules[] = {
#define KW_RESULT_RULE(name, key, dtype, casts, text) \
  [KW_RESULT_##name] = {kw_infer_key_##key, kw_infer_dtype_##dtype, casts},
#include "result_rules.def"
    [KW_RESULT_CUSTOM] = {custom_key, kw_infer_dtype_key, false},
};

kw_status kw_infer_key(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  return rules[op->row.result].key(op, args, out_key);
}

kw_dtype kw_infer_result_dtype(const kw_op *op, const kw_value *args, kw_dtype key, uint32_t result) {
  if (op->counted && result == op->schema.result_count - 1) return KW_I64;
  return rules[op->row.result].dtype(op, args, key, result);
}

static bool differs(const kw_value *arg, kw_dtype key) {
  if (arg->tag == KW_TAG_TENSOR) return arg->u.tensor->dtype != key;
  bool any = false;
  for (uint32_t k = 0; arg->tag == KW_TAG_TENSOR_LIST && k < arg->count; ++k) {
    any = any || (arg->u.tensors[k] && arg->u.tensors[k]->dtype != key);
  }
  return any;
}

uint32_t kw_infer_casts(const kw_op *op, const kw_value *args, kw_dtype key) {
  if (!rules[op->row.result].casts) return 0;
  uint32_t cast = 0;
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    const bool shape_only = op->row.shape == KW_SHAPE_LIKE && i == 0; /* its elements are read as they are, or not */
    if (op->schema.args[i].mutated || shape_only || !promotes(op, i)) continue;
    if (differs(&args[i], key)) cast |= 1u << i;
  }
  return cast;
}
