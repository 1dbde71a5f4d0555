/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of a call as the schema has them.
 */
#include "op/normalize.h"

#include "base/dtype.h"
#include "base/error.h"
#include "op/fail.h"

#include <inttypes.h>

static const char *tag_name(kw_tag tag) {
  static const char *const names[] = {
      [KW_TAG_NONE] = "none",        [KW_TAG_TENSOR] = "Tensor",      [KW_TAG_TENSOR_LIST] = "Tensor[]",
      [KW_TAG_INT] = "int",          [KW_TAG_INT_LIST] = "int[]",     [KW_TAG_FLOAT] = "float",
      [KW_TAG_BOOL] = "bool",        [KW_TAG_STRING] = "str",         [KW_TAG_SCALAR] = "Scalar",
      [KW_TAG_DTYPE] = "ScalarType", [KW_TAG_GENERATOR] = "Generator"};
  if (tag == KW_TAG_META || tag == KW_TAG_META_LIST) return "a descriptor without memory (kw_arg_meta)";
  return tag < sizeof names / sizeof names[0] ? names[tag] : "an unknown tag";
}

/* Of those there are. */
static kw_status check_dtype(const kw_op *op, uint32_t index, kw_dtype dtype) {
  if (kw_dtype_is_among(dtype, KW_DTYPES_ANY)) return KW_OK;
  return kw_fail(
      KW_ERR_NOT_IMPLEMENTED,
      "%s: argument '%s': no op computes on %s yet; it can be moved and shared, and seen as another dtype of "
      "its size (kw_tensor_reinterpret)",
      op->schema.name, op->schema.args[index].name, kw_dtype_name(dtype));
}

static kw_status check_tensor(const kw_op *op, uint32_t index, const kw_tensor_ref *tensor) {
  if (!tensor) return kw_op_fail(op, index, "the tensor is NULL; create it first");
  if (tensor->dtype >= KW_DTYPE_COUNT || tensor->rank > KW_MAX_RANK) {
    return kw_op_fail(op, index, "this is no tensor descriptor (dtype %u, rank %u)", tensor->dtype, tensor->rank);
  }
  if (tensor->layout != 0) {
    return kw_fail(KW_ERR_NOT_IMPLEMENTED,
                   "%s: argument '%s' has layout %u, which no kernel of this version takes; give a tensor of layout 0",
                   op->schema.name, op->schema.args[index].name, tensor->layout);
  }
  return check_dtype(op, index, tensor->dtype);
}

static kw_status check_tensor_list(const kw_op *op, uint32_t index, const kw_value *value) {
  if (value->count && !value->u.tensors)
    return kw_op_fail(op, index, "the list is NULL but has %u entries", value->count);
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

static kw_status check_bools(const kw_op *op, uint32_t index, const kw_value *list) {
  const uint32_t count = (uint32_t)op->schema.args[index].bool_count;
  if (list->count != count) return kw_op_fail(op, index, "expected a list of %u bools, got %u", count, list->count);
  for (uint32_t i = 0; i < count; ++i) {
    if (list->u.ints[i] != 0 && list->u.ints[i] != 1) {
      return kw_op_fail(op, index, "entry %u is %" PRId64 "; a bool in a list is 0 or 1", i, list->u.ints[i]);
    }
  }
  return KW_OK;
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
    return kw_op_fail(op, index, "expected %s%s, got %s", tag_name(arg->tag), arg->optional ? " or none" : "",
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
        return kw_op_fail(op, index, "the list is NULL but has %u entries", given->count);
      return arg->bool_count ? check_bools(op, index, given) : KW_OK;
    case KW_TAG_STRING:
      return given->u.s ? KW_OK : kw_op_fail(op, index, "the text is NULL");
    case KW_TAG_DTYPE:
      return given->u.dtype < KW_DTYPE_COUNT ? check_dtype(op, index, given->u.dtype)
                                             : kw_op_fail(op, index, "unknown dtype %u", given->u.dtype);
    default:
      return KW_OK;
  }
}

static bool is_absent(const kw_schema_arg *arg, const kw_value *given) {
  if (given->tag == KW_TAG_NONE) return true;
  if (given->tag == KW_TAG_GENERATOR && arg->tag == KW_TAG_GENERATOR && !given->u.generator) return true;
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
      if (!arg->optional) return kw_op_fail(op, i, "expected %s, got none", tag_name(arg->tag));
    } else {
      out_args[i].tag = arg->tag;
      kw_status status = convert(op, i, &args[i], &out_args[i], &scratch[i]);
      if (status != KW_OK) return status;
    }
  }
  return KW_OK;
}
