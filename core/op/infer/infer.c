/* SPDX-License-Identifier: Apache-2.0
 *
 * From arguments to results: the rules of the op table in order.
 */
#include "op/infer/infer.h"

#include "base/error.h"
#include "op/infer/dtype.h"
#include "op/infer/rules.h"
#include "op/infer/shape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static kw_status set_result(const kw_op *op, const kw_value *args, uint32_t index, kw_dtype dtype,
                            const kw_infer_dims *s, kw_tensor_ref *out) {
  const int32_t alias = op->schema.results[index].alias_of;
  if (alias >= 0) {
    if (args[alias].tag != KW_TAG_TENSOR) {
      return kw_op_fail(op, (uint32_t)alias, "it is none, but result %u is this tensor", index);
    }
    *out = *args[alias].u.tensor;
    return KW_OK;
  }
  *out = (kw_tensor_ref){.struct_size = sizeof *out, .dtype = dtype, .rank = (uint8_t)s->rank};
  memcpy(out->shape, s->sizes, s->rank * sizeof(int64_t));
  char what[96];
  if (op->row.shape == KW_SHAPE_SIZE) { /* the argument is at fault, not the result */
    snprintf(what, sizeof what, "%s: argument 'size'", op->schema.name);
  } else {
    snprintf(what, sizeof what, "%s: result %u", op->schema.name, index);
  }
  kw_status status = kw_shape_check(what, dtype, s->rank, out->shape, &out->numel);
  if (status == KW_OK) kw_shape_contiguous_strides(s->rank, out->shape, out->strides);
  return status;
}

/* The vendor's callback fills dtype, rank and shape; everything else it wrote is dropped. */
static kw_status infer_custom(const kw_op *op, const kw_value *args, kw_inference *out) {
  kw_tensor_ref told[KW_MAX_RESULTS], *pointers[KW_MAX_RESULTS];
  memset(told, 0, sizeof told);
  for (uint32_t i = 0; i < out->result_count; ++i) {
    told[i].struct_size = sizeof told[i];
    told[i].dtype = KW_DTYPE_NONE;
    pointers[i] = &told[i];
  }
  kw_status status = op->infer(op->user, args, op->schema.arg_count, pointers, out->result_count);
  if (status != KW_OK)
    return kw_from_plugin(status, "%s: the vendor's shape inference refused the call", op->schema.name);
  for (uint32_t i = 0; i < out->result_count && status == KW_OK; ++i) {
    if (out->absent >> i & 1) continue;
    if (op->schema.results[i].alias_of < 0 && (told[i].dtype >= KW_DTYPE_COUNT || told[i].rank > KW_MAX_RANK)) {
      return kw_fail(KW_ERR_INTERNAL,
                     "%s: the vendor's shape inference left result %u with dtype %u and rank %u; it must set both",
                     op->schema.name, i, told[i].dtype, told[i].rank);
    }
    kw_infer_dims s = {told[i].rank <= KW_MAX_RANK ? told[i].rank : 0, {0}};
    memcpy(s.sizes, told[i].shape, sizeof s.sizes);
    status = set_result(op, args, i, told[i].dtype, &s, &out->results[i]);
  }
  if (status == KW_OK && out->key == KW_DTYPE_NONE) out->key = out->results[0].dtype;
  return status;
}

static uint32_t absent_results(const kw_op *op, const kw_value *args) {
  uint32_t absent = 0;
  if (op->schema.output_mask < 0) return absent;
  const int64_t *wanted = args[op->schema.output_mask].u.ints;
  for (uint32_t i = 0; i < op->schema.result_count; ++i) absent |= (uint32_t)(wanted[i] == 0) << i;
  return absent;
}

kw_status kw_infer(const kw_op *op, const kw_value *args, kw_inference *out_inference) {
  kw_inference *out = out_inference;
  memset(out, 0, sizeof *out);
  out->result_count = op->schema.result_count;
  out->absent = absent_results(op, args);
  kw_status status = kw_infer_key(op, args, &out->key);
  if (status != KW_OK) return status;
  out->cast = kw_infer_casts(op, args, out->key);
  if (op->row.shape == KW_SHAPE_CUSTOM) return infer_custom(op, args, out);

  kw_infer_dims dims[KW_MAX_RESULTS];
  memset(dims, 0, sizeof dims);
  status = kw_infer_check_rules(op, args, out->key);
  if (status == KW_OK) status = kw_infer_shape(op, args, dims, &out->broadcast);
  for (uint32_t i = 0; i < out->result_count && status == KW_OK; ++i) {
    if (out->absent >> i & 1) continue;
    status = set_result(op, args, i, kw_infer_result_dtype(op, args, out->key, i), &dims[i], &out->results[i]);
  }
  return status;
}
