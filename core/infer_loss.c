/* SPDX-License-Identifier: Apache-2.0
 *
 * Losses and their backwards: shapes, and what they demand of their arguments.
 */
#include "infer.h"

#include <inttypes.h>
#include <string.h>

/* Losses are given per element, or as their mean or sum. */
enum { REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM };

static kw_status check_reduction(const kw_op *op, const kw_value *args) {
  const kw_value *reduction = kw_infer_find_arg(op, args, "reduction");
  if (!reduction || (reduction->u.i >= REDUCE_NONE && reduction->u.i <= REDUCE_SUM)) return KW_OK;
  return kw_infer_fail(op, kw_infer_arg_index(args, reduction),
                       "%" PRId64 " is not known; it is 0 (none), 1 (mean) or 2 (sum)", reduction->u.i);
}

static kw_status check_delta(const kw_op *op, const kw_value *args) {
  const kw_value *delta = kw_infer_find_arg(op, args, "delta");
  if (!delta || delta->u.f > 0) return KW_OK;
  return kw_infer_fail(op, kw_infer_arg_index(args, delta), "%g is not greater than 0", delta->u.f);
}

static bool reduces(const kw_op *op, const kw_value *args) {
  return kw_infer_find_arg(op, args, "reduction")->u.i != REDUCE_NONE;
}

static void take_shape(const kw_tensor_ref *tensor, kw_infer_dims *out) {
  out->rank = tensor->rank;
  memcpy(out->sizes, tensor->shape, sizeof out->sizes);
}

/* ---- Element by element ------------------------------------------------------------------------------------------ */

kw_status kw_infer_loss(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = check_reduction(op, args);
  if (status == KW_OK) status = check_delta(op, args);
  take_shape(args[0].u.tensor, out);
  for (uint32_t i = 1; i < op->schema.arg_count && status == KW_OK; ++i) {
    if (args[i].tag == KW_TAG_TENSOR) status = kw_infer_broadcast(op, i, args[i].u.tensor, NULL, out);
  }
  if (status == KW_OK && reduces(op, args)) out->rank = 0;
  return status;
}

kw_status kw_infer_loss_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = check_reduction(op, args);
  take_shape(kw_infer_find_arg(op, args, "self")->u.tensor, out);
  for (uint32_t i = 0; i < op->schema.arg_count && status == KW_OK; ++i) {
    if (args[i].tag == KW_TAG_TENSOR) status = kw_infer_broadcast(op, i, args[i].u.tensor, "self", out);
  }
  return status;
}
