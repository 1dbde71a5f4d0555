/* SPDX-License-Identifier: Apache-2.0
 *
 * Embedding bags: shapes, and what they demand of their arguments.
 */
#include "base/dtype.h"
#include "op/infer/common.h"
#include "op/infer/result_rules.h"
#include "op/infer/shape_rules.h"

#include <inttypes.h>

enum { MODE_SUM, MODE_MAX = 2 };

static kw_status check_index(const kw_op *op, const kw_value *args, uint32_t index) {
  const kw_tensor_ref *tensor = args[index].u.tensor;
  char text[KW_SHAPE_TEXT];
  if (tensor->rank != 1) {
    return kw_op_fail(op, index, "expected rank 1, got shape %s", kw_shape_text(tensor->rank, tensor->shape, text));
  }
  if (tensor->dtype == KW_I64 || tensor->dtype == KW_I32) return KW_OK;
  return kw_op_fail(op, index, "expected i64 or i32, got %s; cast it", kw_dtype_name(tensor->dtype));
}

static kw_status check_samples(const kw_op *op, const kw_value *args) {
  const kw_tensor_ref *samples = args[6].u.tensor, *weight = args[0].u.tensor;
  char text[KW_SHAPE_TEXT];
  if (args[4].u.i != MODE_SUM) return kw_op_fail(op, 6, "it goes with 'mode' 0, sum, only");
  if (samples->dtype != weight->dtype) {
    return kw_op_fail(op, 6, "expected %s, the dtype of 'weight', got %s", kw_dtype_name(weight->dtype),
                      kw_dtype_name(samples->dtype));
  }
  if (samples->rank == 1 && samples->shape[0] == args[1].u.tensor->shape[0]) return KW_OK;
  return kw_op_fail(op, 6, "expected one number for each of %" PRId64 " indices, got shape %s",
                    args[1].u.tensor->shape[0], kw_shape_text(samples->rank, samples->shape, text));
}

kw_status kw_infer_key_bag(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  *out_key = args[0].u.tensor->dtype;
  return kw_infer_check_dtype(op, args, *out_key, "");
}

kw_status kw_infer_embedding_bag(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *weight = args[0].u.tensor, *indices = args[1].u.tensor, *offsets = args[2].u.tensor;
  const int64_t mode = args[4].u.i, padding = args[8].u.i;
  char text[KW_SHAPE_TEXT];
  if (weight->rank != 2) {
    return kw_op_fail(op, 0, "expected a matrix, got shape %s", kw_shape_text(weight->rank, weight->shape, text));
  }
  kw_status status = check_index(op, args, 1);
  if (status == KW_OK) status = check_index(op, args, 2);
  if (status != KW_OK) return status;
  if (mode < MODE_SUM || mode > MODE_MAX) {
    return kw_op_fail(op, 4, "%" PRId64 " is none; it is 0 for sum, 1 for mean, 2 for max", mode);
  }
  if (args[6].tag == KW_TAG_TENSOR) status = check_samples(op, args);
  if (status != KW_OK) return status;
  if (padding < -1 || padding >= weight->shape[0]) {
    return kw_op_fail(op, 8, "%" PRId64 " is outside [-1, %" PRId64 "]; -1 is none", padding, weight->shape[0] - 1);
  }
  if (offsets->shape[0] == 0 && (args[7].u.b || indices->shape[0] > 0)) {
    return kw_op_fail(op, 2, "it is empty; the first bag begins at 0");
  }
  if (weight->shape[0] == 0 && indices->shape[0] > 0) {
    return kw_op_fail(op, 1, "'weight' has no rows, so there is no valid index");
  }
  const int64_t bags = offsets->shape[0] - args[7].u.b;
  out[0] = (kw_infer_dims){2, {bags, weight->shape[1]}};
  out[1] = (kw_infer_dims){1, {indices->shape[0]}};
  out[2] = (kw_infer_dims){1, {bags}};
  out[3] = mode == MODE_MAX ? out[0] : out[2];
  return KW_OK;
}
