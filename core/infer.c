/* SPDX-License-Identifier: Apache-2.0
 *
 * From arguments to results: normalisation against the schema, the key dtype, the shapes.
 */
#include "op.h"
#include "error.h"
#include "promote.h"
#include "tensor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHAPE_TEXT (KW_MAX_RANK * 22 + 3)

static kw_status fail_arg(const kw_op *op, uint32_t index, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static kw_status fail_arg(const kw_op *op, uint32_t index, const char *format, ...) {
  char text[2 * SHAPE_TEXT + 256];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument '%s': %s", op->schema.name, op->schema.args[index].name, text);
}

/* ---- Normalisation ----------------------------------------------------------------------------------------------- */

static const char *tag_name(kw_tag tag) {
  static const char *const names[KW_TAG_COUNT] = {
      [KW_TAG_NONE] = "none",       [KW_TAG_TENSOR] = "Tensor",  [KW_TAG_TENSOR_LIST] = "Tensor[]",
      [KW_TAG_INT] = "int",         [KW_TAG_INT_LIST] = "int[]", [KW_TAG_FLOAT] = "float",
      [KW_TAG_BOOL] = "bool",       [KW_TAG_STRING] = "str",     [KW_TAG_SCALAR] = "Scalar",
      [KW_TAG_DTYPE] = "ScalarType"};
  return tag < KW_TAG_COUNT ? names[tag] : "an unknown tag";
}

static kw_status check_tensor(const kw_op *op, uint32_t index, const kw_tensor_ref *tensor) {
  if (!tensor) return fail_arg(op, index, "the tensor is NULL; create it first");
  if (tensor->dtype >= KW_DTYPE_COUNT || tensor->rank > KW_MAX_RANK) {
    return fail_arg(op, index, "this is no tensor descriptor (dtype %u, rank %u)", tensor->dtype, tensor->rank);
  }
  return KW_OK;
}

static kw_status check_tensor_list(const kw_op *op, uint32_t index, const kw_value *value) {
  if (value->count && !value->u.tensors)
    return fail_arg(op, index, "the list is NULL but has %u entries", value->count);
  for (uint32_t i = 0; i < value->count; ++i) {
    if (!value->u.tensors[i] && op->schema.args[index].list_optional) continue;
    kw_status status = check_tensor(op, index, value->u.tensors[i]);
    if (status != KW_OK) return kw_wrap(status, "%s: entry %u of a list", op->schema.name, i);
  }
  return KW_OK;
}

/* An int, float or bool where the schema says Scalar. */
static bool to_scalar(const kw_value *given, kw_value *out) {
  out->u = given->u;
  switch (given->tag) {
    case KW_TAG_INT:
      out->kind = KW_SCALAR_I64;
      return true;
    case KW_TAG_FLOAT:
      out->kind = KW_SCALAR_F64;
      return true;
    case KW_TAG_BOOL:
      out->kind = KW_SCALAR_BOOL;
      return true;
    case KW_TAG_SCALAR:
      out->kind = given->kind;
      return given->kind <= KW_SCALAR_C128;
    default:
      return false;
  }
}

/* `out` is zeroed but for its tag, which is the schema's. */
static kw_status convert(const kw_op *op, uint32_t index, const kw_value *given, kw_value *out, int64_t *scratch) {
  const kw_schema_arg *arg = &op->schema.args[index];
  if (arg->tag == KW_TAG_SCALAR && to_scalar(given, out)) return KW_OK;
  if (arg->tag == KW_TAG_FLOAT && given->tag == KW_TAG_INT) {
    out->u.f = (double)given->u.i;
    return KW_OK;
  }
  if (arg->tag == KW_TAG_INT_LIST && arg->list_size && given->tag == KW_TAG_INT) {
    *scratch = given->u.i;
    out->u.ints = scratch;
    out->count = 1;
    return KW_OK;
  }
  if (given->tag != arg->tag || arg->tag == KW_TAG_SCALAR) {
    return fail_arg(op, index, "expected %s%s, got %s", tag_name(arg->tag), arg->optional ? " or none" : "",
                    given->tag == KW_TAG_SCALAR && arg->tag == KW_TAG_SCALAR ? "a Scalar of an unknown kind"
                                                                             : tag_name(given->tag));
  }
  out->u = given->u;
  out->count = arg->tag == KW_TAG_INT_LIST || arg->tag == KW_TAG_TENSOR_LIST ? given->count : 0;
  switch (arg->tag) {
    case KW_TAG_TENSOR:
      return check_tensor(op, index, given->u.tensor);
    case KW_TAG_TENSOR_LIST:
      return check_tensor_list(op, index, given);
    case KW_TAG_INT_LIST:
      if (given->count && !given->u.ints)
        return fail_arg(op, index, "the list is NULL but has %u entries", given->count);
      return KW_OK;
    case KW_TAG_STRING:
      return given->u.s ? KW_OK : fail_arg(op, index, "the text is NULL");
    case KW_TAG_DTYPE:
      return given->u.dtype < KW_DTYPE_COUNT ? KW_OK : fail_arg(op, index, "unknown dtype %u", given->u.dtype);
    default:
      return KW_OK;
  }
}

static bool is_absent(const kw_schema_arg *arg, const kw_value *given) {
  if (given->tag == KW_TAG_NONE) return true;
  return given->tag == KW_TAG_DTYPE && given->u.dtype == KW_DTYPE_NONE && arg->tag == KW_TAG_DTYPE;
}

kw_status kw_op_normalize(const kw_op *op, const kw_value *args, uint32_t arg_count, kw_value out_args[KW_MAX_ARGS],
                          int64_t scratch[KW_MAX_ARGS]) {
  const kw_schema *schema = &op->schema;
  if (arg_count > schema->arg_count) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: %u arguments given, it takes at most %u: %s", schema->name, arg_count,
                   schema->arg_count, schema->text);
  }
  if (arg_count < schema->required_count) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument '%s' is missing: %s", schema->name,
                   schema->args[arg_count].name, schema->text);
  }
  for (uint32_t i = 0; i < schema->arg_count; ++i) {
    const kw_schema_arg *arg = &schema->args[i];
    out_args[i] = (kw_value){0};
    if (i >= arg_count) {
      out_args[i] = arg->default_value;
    } else if (is_absent(arg, &args[i])) {
      if (!arg->optional) return fail_arg(op, i, "expected %s, got none", tag_name(arg->tag));
    } else {
      out_args[i].tag = arg->tag;
      kw_status status = convert(op, i, &args[i], &out_args[i], &scratch[i]);
      if (status != KW_OK) return status;
    }
  }
  return KW_OK;
}

/* ---- The key dtype ----------------------------------------------------------------------------------------------- */

/* The argument with this name, or NULL. */
static const kw_value *find_arg(const kw_op *op, const kw_value *args, const char *name) {
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    if (strcmp(op->schema.args[i].name, name) == 0) return &args[i];
  }
  return NULL;
}

static uint32_t arg_index(const kw_value *args, const kw_value *arg) {
  return (uint32_t)(arg - args);
}

/* In the op table a mask, a copy's source and a factor have no say in the dtype. A vendor's names mean nothing to us.
 */
static bool promotes(const kw_op *op, uint32_t index) {
  static const char *const silent[] = {"condition", "src", "alpha"};
  if (op->row.level == KW_LEVEL_VENDOR) return true;
  for (size_t i = 0; i < sizeof silent / sizeof silent[0]; ++i) {
    if (strcmp(op->schema.args[index].name, silent[i]) == 0) return false;
  }
  return true;
}

static kw_status check_dtype(const kw_op *op, kw_dtype dtype, const char *why) {
  if (dtype < KW_DTYPE_COUNT && (op->row.dtypes >> dtype & 1)) return KW_OK;
  char list[160];
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: dtype %s%s is not one the op is defined for: %s", op->schema.name,
                 kw_dtype_name(dtype), why, kw_dtype_list(op->row.dtypes, list, sizeof list));
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

static kw_status refuse_promotion(const kw_op *op, const kw_promotion *promotion) {
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: %s and %s do not promote to a common dtype; cast one of them",
                 op->schema.name, kw_dtype_name(promotion->refused[0]), kw_dtype_name(promotion->refused[1]));
}

/* Tensors and Scalars promoted. */
static kw_status promote_operands(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  kw_promotion promotion = KW_PROMOTION_INIT;
  add_tensors(op, args, &promotion);
  kw_dtype tensors = kw_promotion_result(&promotion);
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    if (promotes(op, i) && args[i].tag == KW_TAG_SCALAR) kw_promotion_add_scalar(&promotion, &args[i]);
  }
  kw_dtype key = kw_promotion_result(&promotion);
  if (key == KW_DTYPE_NONE) return refuse_promotion(op, &promotion);
  kw_status status = check_dtype(op, tensors, "");
  if (status == KW_OK) status = check_dtype(op, key, ", which tensors and Scalars promote to,");
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
  return *out_key == KW_DTYPE_NONE ? KW_OK : check_dtype(op, *out_key, "");
}

static kw_status sum_key(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  const kw_dtype self = args[0].u.tensor->dtype;
  kw_status status = check_dtype(op, self, "");
  if (status != KW_OK) return status;
  const kw_value *dtype = find_arg(op, args, "dtype");
  if (dtype->tag == KW_TAG_DTYPE) {
    *out_key = dtype->u.dtype;
    return check_dtype(op, *out_key, ", given as 'dtype',");
  }
  *out_key = kw_dtype_is_integral(self) ? KW_I64 : self;
  return KW_OK;
}

static kw_status inplace_key(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  const kw_value *source = find_arg(op, args, "src");
  bool copies = source && op->row.level != KW_LEVEL_VENDOR;
  *out_key = copies ? source->u.tensor->dtype : args[0].u.tensor->dtype;
  kw_status status = check_dtype(op, *out_key, "");
  return status == KW_OK ? check_dtype(op, args[0].u.tensor->dtype, "") : status;
}

static bool divides_to_float(const kw_op *op, const kw_value *args) {
  if (op->row.result == KW_RESULT_FLOAT) return true;
  return op->row.result == KW_RESULT_DIV_MODE && find_arg(op, args, "rounding_mode")->tag == KW_TAG_NONE;
}

static kw_status find_key(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  switch (op->row.result) {
    case KW_RESULT_I64:
      *out_key = args[0].u.tensor->dtype;
      return check_dtype(op, *out_key, "");
    case KW_RESULT_SUM:
      return sum_key(op, args, out_key);
    case KW_RESULT_SELF:
      return inplace_key(op, args, out_key);
    case KW_RESULT_CUSTOM:
      return custom_key(op, args, out_key);
    default:
      break;
  }
  kw_status status = promote_operands(op, args, out_key);
  if (status == KW_OK && divides_to_float(op, args) && kw_dtype_is_integral(*out_key)) *out_key = KW_F32;
  return status;
}

static kw_dtype result_dtype(const kw_op *op, const kw_value *args, kw_dtype key) {
  switch (op->row.result) {
    case KW_RESULT_BOOL:
      return KW_BOOL;
    case KW_RESULT_I64:
      return KW_I64;
    case KW_RESULT_SELF:
      return args[0].u.tensor->dtype;
    default:
      return key;
  }
}

/* ---- Rules of single ops, by the names of their arguments -------------------------------------------------------- */

static double scalar_value(const kw_value *scalar) {
  switch (scalar->kind) {
    case KW_SCALAR_BOOL:
      return scalar->u.b;
    case KW_SCALAR_I64:
      return (double)scalar->u.i;
    case KW_SCALAR_F64:
      return scalar->u.f;
    default:
      return scalar->u.c[0];
  }
}

static kw_status check_text(const kw_op *op, const kw_value *args, const char *name, const char *one,
                            const char *other) {
  const kw_value *arg = find_arg(op, args, name);
  if (!arg || arg->tag != KW_TAG_STRING || strcmp(arg->u.s, one) == 0 || strcmp(arg->u.s, other) == 0) return KW_OK;
  return fail_arg(op, arg_index(args, arg), "'%s' is not known; it is '%s' or '%s'", arg->u.s, one, other);
}

/* A factor takes no part in promotion, so it must not be of a higher kind than what it multiplies. */
static kw_status check_alpha(const kw_op *op, const kw_value *args, kw_dtype key) {
  const kw_value *alpha = find_arg(op, args, "alpha");
  if (!alpha) return KW_OK;
  const uint32_t index = arg_index(args, alpha);
  if (alpha->kind == KW_SCALAR_C128)
    return fail_arg(op, index, "a complex number does not fit results of %s", kw_dtype_name(key));
  if (alpha->kind == KW_SCALAR_F64 && kw_dtype_is_integral(key)) {
    return fail_arg(op, index, "results of %s need an integer, not %g", kw_dtype_name(key), alpha->u.f);
  }
  if (alpha->kind == KW_SCALAR_BOOL && key != KW_BOOL) {
    return fail_arg(op, index, "a bool goes with bool results only, not with %s", kw_dtype_name(key));
  }
  return KW_OK;
}

static kw_status check_exponent(const kw_op *op, const kw_value *args, kw_dtype key) {
  const kw_value *exponent = find_arg(op, args, "exponent");
  if (!exponent || exponent->tag != KW_TAG_SCALAR || !kw_dtype_is_integral(key) || scalar_value(exponent) >= 0) {
    return KW_OK;
  }
  return fail_arg(op, arg_index(args, exponent),
                  "%g is negative, and %s has no fractions; cast 'self' to a float first", scalar_value(exponent),
                  kw_dtype_name(key));
}

static kw_status check_condition(const kw_op *op, const kw_value *args) {
  const kw_value *condition = find_arg(op, args, "condition");
  if (!condition) return KW_OK;
  kw_dtype dtype = condition->u.tensor->dtype;
  if (dtype == KW_BOOL || dtype == KW_U8) return KW_OK;
  return fail_arg(op, arg_index(args, condition), "expected bool or u8, got %s", kw_dtype_name(dtype));
}

static kw_status check_limits(const kw_op *op, const kw_value *args) {
  const kw_value *min = find_arg(op, args, "min"), *max = find_arg(op, args, "max");
  if (!min || !max || min->tag != KW_TAG_NONE || max->tag != KW_TAG_NONE) return KW_OK;
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: both 'min' and 'max' are none; give at least one of them",
                 op->schema.name);
}

static kw_status check_fill(const kw_op *op, const kw_value *args) {
  const kw_value *value = find_arg(op, args, "value");
  if (!value) return KW_OK;
  const kw_dtype self = args[0].u.tensor->dtype;
  const uint32_t index = arg_index(args, value);
  bool complex =
      value->tag == KW_TAG_SCALAR ? value->kind == KW_SCALAR_C128 : kw_dtype_is_complex(value->u.tensor->dtype);
  if (complex && !kw_dtype_is_complex(self)) {
    return fail_arg(op, index, "a complex number does not fit a tensor of %s", kw_dtype_name(self));
  }
  if (value->tag == KW_TAG_TENSOR && value->u.tensor->rank != 0) {
    return fail_arg(op, index, "expected a tensor of rank 0, got rank %u", value->u.tensor->rank);
  }
  return KW_OK;
}

static kw_status check_op_rules(const kw_op *op, const kw_value *args, kw_dtype key) {
  if (op->row.level == KW_LEVEL_VENDOR) return KW_OK;
  kw_status status = check_text(op, args, "rounding_mode", "trunc", "floor");
  if (status == KW_OK) status = check_text(op, args, "approximate", "none", "tanh");
  if (status == KW_OK) status = check_alpha(op, args, key);
  if (status == KW_OK) status = check_exponent(op, args, key);
  if (status == KW_OK) status = check_condition(op, args);
  if (status == KW_OK) status = check_limits(op, args);
  if (status == KW_OK) status = check_fill(op, args);
  return status;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

typedef struct shape {
  uint32_t rank;
  int64_t sizes[KW_MAX_RANK];
} shape;

/* "[2, 3]" */
static const char *shape_text(uint32_t rank, const int64_t *sizes, char text[SHAPE_TEXT]) {
  size_t used = 0;
  text[used++] = '[';
  for (uint32_t i = 0; i < rank; ++i) {
    used += (size_t)snprintf(text + used, SHAPE_TEXT - used, i ? ", %" PRId64 : "%" PRId64, sizes[i]);
  }
  text[used++] = ']';
  text[used] = '\0';
  return text;
}

/* Broadcasts `to` and the tensor, right-aligned, into `to`. With `fixed`, `to` must not change. */
static kw_status broadcast_one(const kw_op *op, uint32_t index, const kw_tensor_ref *tensor, bool fixed, shape *to) {
  char a[SHAPE_TEXT], b[SHAPE_TEXT];
  shape joint = *to;
  if (tensor->rank > to->rank) {
    uint32_t more = tensor->rank - to->rank;
    memmove(joint.sizes + more, joint.sizes, to->rank * sizeof(int64_t));
    for (uint32_t i = 0; i < more; ++i) joint.sizes[i] = 1;
    joint.rank = tensor->rank;
  }
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    int64_t *size = &joint.sizes[joint.rank - 1 - i], other = tensor->shape[tensor->rank - 1 - i];
    if (*size == other || other == 1) continue;
    if (*size == 1) {
      *size = other;
      continue;
    }
    return fail_arg(op, index, "shapes %s and %s do not broadcast: %" PRId64 " and %" PRId64 " differ and neither is 1",
                    shape_text(to->rank, to->sizes, a), shape_text(tensor->rank, tensor->shape, b), *size, other);
  }
  bool changed = joint.rank != to->rank || memcmp(joint.sizes, to->sizes, joint.rank * sizeof(int64_t)) != 0;
  if (fixed && changed) {
    return fail_arg(op, index, "shape %s does not broadcast to %s, the shape of '%s'",
                    shape_text(tensor->rank, tensor->shape, a), shape_text(to->rank, to->sizes, b),
                    op->schema.args[0].name);
  }
  *to = joint;
  return KW_OK;
}

static bool has_shape(const kw_tensor_ref *tensor, const shape *s) {
  return tensor->rank == s->rank && memcmp(tensor->shape, s->sizes, s->rank * sizeof(int64_t)) == 0;
}

static kw_status infer_broadcast(const kw_op *op, const kw_value *args, bool inplace, shape *out, bool *out_expand) {
  bool first = true;
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    if (args[i].tag != KW_TAG_TENSOR) continue;
    kw_status status = KW_OK;
    if (first) {
      out->rank = args[i].u.tensor->rank;
      memcpy(out->sizes, args[i].u.tensor->shape, sizeof out->sizes);
    } else {
      status = broadcast_one(op, i, args[i].u.tensor, inplace, out);
    }
    if (status != KW_OK) return status;
    first = false;
  }
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    *out_expand = *out_expand || (args[i].tag == KW_TAG_TENSOR && !has_shape(args[i].u.tensor, out));
  }
  return KW_OK;
}

/* Marks dimension `dim` (negative from the end; a scalar has one of size 1) in *mask. */
static kw_status mark_dim(const kw_op *op, uint32_t index, const kw_tensor_ref *self, int64_t dim, uint32_t *mask) {
  int64_t rank = self->rank ? self->rank : 1, at = dim < 0 ? dim + rank : dim;
  if (at < 0 || at >= rank) {
    return fail_arg(op, index, "dimension %" PRId64 " is outside [%" PRId64 ", %" PRId64 "] of a tensor of rank %u",
                    dim, -rank, rank - 1, self->rank);
  }
  if (*mask >> at & 1) return fail_arg(op, index, "dimension %" PRId64 " appears twice", at);
  *mask |= 1u << at;
  return KW_OK;
}

/* The dimensions that a reduction removes, as a mask; "dim" none or empty = all. */
static kw_status reduced_dims(const kw_op *op, const kw_value *args, uint32_t *out_mask) {
  const kw_tensor_ref *self = args[0].u.tensor;
  const kw_value *dim = find_arg(op, args, "dim");
  const bool is_list = dim && dim->tag == KW_TAG_INT_LIST, is_int = dim && dim->tag == KW_TAG_INT;
  kw_status status = KW_OK;
  uint32_t mask = 0;
  if (is_int) status = mark_dim(op, arg_index(args, dim), self, dim->u.i, &mask);
  for (uint32_t i = 0; is_list && i < dim->count && status == KW_OK; ++i) {
    status = mark_dim(op, arg_index(args, dim), self, dim->u.ints[i], &mask);
  }
  *out_mask = is_int || (is_list && dim->count) ? mask : (1u << self->rank) - 1;
  return status;
}

static kw_status infer_reduction(const kw_op *op, const kw_value *args, shape *out) {
  const kw_tensor_ref *self = args[0].u.tensor;
  uint32_t mask;
  kw_status status = reduced_dims(op, args, &mask);
  if (status != KW_OK) return status;
  const kw_value *keepdim = find_arg(op, args, "keepdim");
  out->rank = 0;
  for (uint32_t i = 0; i < self->rank; ++i) {
    bool reduced = mask >> i & 1;
    if (reduced && self->shape[i] == 0 && op->row.result != KW_RESULT_SUM) {
      char text[SHAPE_TEXT];
      return fail_arg(op, 0, "shape %s has no elements along dimension %u, so there is nothing to choose from",
                      shape_text(self->rank, self->shape, text), i);
    }
    if (!reduced) out->sizes[out->rank++] = self->shape[i];
    if (reduced && keepdim && keepdim->u.b) out->sizes[out->rank++] = 1;
  }
  return KW_OK;
}

static kw_status infer_mm(const kw_op *op, const kw_value *args, shape *out) {
  const kw_tensor_ref *a = args[0].u.tensor, *b = args[1].u.tensor;
  char text_a[SHAPE_TEXT], text_b[SHAPE_TEXT];
  for (uint32_t i = 0; i < 2; ++i) {
    const kw_tensor_ref *tensor = args[i].u.tensor;
    if (tensor->rank != 2) {
      return fail_arg(op, i, "expected a matrix, got shape %s", shape_text(tensor->rank, tensor->shape, text_a));
    }
  }
  if (a->shape[1] != b->shape[0]) {
    return fail_arg(op, 1, "shapes %s and %s cannot be multiplied: %" PRId64 " columns meet %" PRId64 " rows",
                    shape_text(2, a->shape, text_a), shape_text(2, b->shape, text_b), a->shape[1], b->shape[0]);
  }
  *out = (shape){2, {a->shape[0], b->shape[1]}};
  return KW_OK;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static kw_status set_result(const kw_op *op, const kw_value *args, uint32_t index, kw_dtype dtype, const shape *s,
                            kw_tensor_ref *out) {
  const int32_t alias = op->schema.results[index].alias_of;
  if (alias >= 0) {
    if (args[alias].tag != KW_TAG_TENSOR) {
      return fail_arg(op, (uint32_t)alias, "it is none, but result %u is this tensor", index);
    }
    *out = *args[alias].u.tensor;
    return KW_OK;
  }
  *out = (kw_tensor_ref){.struct_size = sizeof *out, .dtype = dtype, .rank = (uint8_t)s->rank};
  memcpy(out->shape, s->sizes, s->rank * sizeof(int64_t));
  char what[96];
  snprintf(what, sizeof what, "%s: result %u", op->schema.name, index);
  kw_status status = kw_shape_check(what, dtype, s->rank, out->shape, &out->numel);
  if (status == KW_OK) kw_shape_contiguous_strides(s->rank, out->shape, out->strides);
  return status;
}

/* The vendor's callback fills dtype, rank and shape; everything else it wrote is dropped. */
static kw_status infer_custom(const kw_op *op, const kw_value *args, kw_inference *out) {
  kw_tensor_ref told[KW_MAX_RESULTS];
  memset(told, 0, sizeof told);
  for (uint32_t i = 0; i < out->result_count; ++i) {
    told[i].struct_size = sizeof told[i];
    told[i].dtype = KW_DTYPE_NONE;
  }
  kw_status status = op->infer(args, op->schema.arg_count, told, out->result_count);
  if (status != KW_OK)
    return kw_from_plugin(status, "%s: the vendor's shape inference refused the call", op->schema.name);
  for (uint32_t i = 0; i < out->result_count && status == KW_OK; ++i) {
    if (op->schema.results[i].alias_of < 0 && (told[i].dtype >= KW_DTYPE_COUNT || told[i].rank > KW_MAX_RANK)) {
      return kw_fail(KW_ERR_INTERNAL,
                     "%s: the vendor's shape inference left result %u with dtype %u and rank %u; it must set both",
                     op->schema.name, i, told[i].dtype, told[i].rank);
    }
    shape s = {told[i].rank <= KW_MAX_RANK ? told[i].rank : 0, {0}};
    memcpy(s.sizes, told[i].shape, sizeof s.sizes);
    status = set_result(op, args, i, told[i].dtype, &s, &out->results[i]);
  }
  if (status == KW_OK && out->key == KW_DTYPE_NONE) out->key = out->results[0].dtype;
  return status;
}

/* The arguments that are cast to the key dtype before a kernel sees them. */
static uint32_t find_casts(const kw_op *op, const kw_value *args, kw_dtype key) {
  if (op->row.result == KW_RESULT_CUSTOM) return 0;
  uint32_t cast = 0;
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    if (args[i].tag != KW_TAG_TENSOR || op->schema.args[i].mutated || !promotes(op, i)) continue;
    if (args[i].u.tensor->dtype != key) cast |= 1u << i;
  }
  return cast;
}

static kw_status infer_shape(const kw_op *op, const kw_value *args, shape *out, bool *out_expand) {
  switch (op->row.shape) {
    case KW_SHAPE_REDUCE_ALL:
    case KW_SHAPE_REDUCE_DIMS:
    case KW_SHAPE_REDUCE_DIM:
      return infer_reduction(op, args, out);
    case KW_SHAPE_MM:
      return infer_mm(op, args, out);
    default:
      return infer_broadcast(op, args, op->row.shape == KW_SHAPE_INPLACE, out, out_expand);
  }
}

kw_status kw_op_infer(const kw_op *op, const kw_value *args, kw_inference *out_inference) {
  kw_inference *out = out_inference;
  out->result_count = op->schema.result_count;
  out->broadcast = false;
  kw_status status = find_key(op, args, &out->key);
  if (status != KW_OK) return status;
  out->cast = find_casts(op, args, out->key);
  if (op->row.shape == KW_SHAPE_CUSTOM) return infer_custom(op, args, out);

  shape result = {0};
  status = check_op_rules(op, args, out->key);
  if (status == KW_OK) status = infer_shape(op, args, &result, &out->broadcast);
  kw_dtype dtype = result_dtype(op, args, out->key);
  for (uint32_t i = 0; i < out->result_count && status == KW_OK; ++i) {
    status = set_result(op, args, i, dtype, &result, &out->results[i]);
  }
  return status;
}
