/* SPDX-License-Identifier: Apache-2.0
 *
 * Losses and their backwards: shapes, and what they demand of their arguments.
 */
#include "op/infer/shape_rules.h"

#include <inttypes.h>
#include <string.h>

/* Losses are given per element, or as their mean or sum. */
enum { REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM };

static kw_status check_reduction(const kw_op *op, const kw_value *args) {
  const kw_value *reduction = kw_infer_find_arg(op, args, "reduction");
  if (!reduction || (reduction->u.i >= REDUCE_NONE && reduction->u.i <= REDUCE_SUM)) return KW_OK;
  return kw_op_fail(op, kw_infer_arg_index(args, reduction),
                    "%" PRId64 " is not known; it is 0 (none), 1 (mean) or 2 (sum)", reduction->u.i);
}

static kw_status check_delta(const kw_op *op, const kw_value *args) {
  const kw_value *delta = kw_infer_find_arg(op, args, "delta");
  if (!delta || delta->u.f > 0) return KW_OK;
  return kw_op_fail(op, kw_infer_arg_index(args, delta), "%g is not greater than 0", delta->u.f);
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

/* ---- Over classes ------------------------------------------------------------------------------------------------ */

/* Scores are [classes], [n, classes] or [n, classes, ...]; the others of their dimensions are those of the targets. */
static uint32_t class_dim(const kw_tensor_ref *scores) {
  return scores->rank > 1;
}

static void take_places(const kw_tensor_ref *scores, kw_infer_dims *out) {
  out->rank = 0;
  for (uint32_t d = 0; d < scores->rank; ++d) {
    if (d != class_dim(scores)) out->sizes[out->rank++] = scores->shape[d];
  }
}

static kw_status check_shape(const kw_op *op, uint32_t arg, const kw_tensor_ref *tensor, const kw_infer_dims *wanted,
                             const char *why) {
  if (tensor->rank == wanted->rank && memcmp(tensor->shape, wanted->sizes, wanted->rank * sizeof(int64_t)) == 0) {
    return KW_OK;
  }
  char got[KW_SHAPE_TEXT], text[KW_SHAPE_TEXT];
  return kw_op_fail(op, arg, "expected shape %s, %s, got %s", kw_shape_text(wanted->rank, wanted->sizes, text), why,
                    kw_shape_text(tensor->rank, tensor->shape, got));
}

/* Ranks that nll_loss and nll_loss2d take; any from 1 on otherwise. */
static kw_status check_scores(const kw_op *op, const kw_value *args, uint32_t arg, uint32_t low, uint32_t high) {
  const kw_tensor_ref *scores = args[arg].u.tensor;
  char text[KW_SHAPE_TEXT];
  if (scores->rank < low || scores->rank > high) {
    return kw_op_fail(op, arg, "expected %s, got shape %s",
                      low == 4              ? "[n, classes, height, width]"
                      : high == KW_MAX_RANK ? "at least a dimension of classes"
                                            : "[n, classes] or [classes]",
                      kw_shape_text(scores->rank, scores->shape, text));
  }
  const int64_t classes = scores->shape[class_dim(scores)];
  if (classes == 0) return kw_op_fail(op, arg, "dimension %u, that of the classes, is empty", class_dim(scores));
  const kw_value *weight = kw_infer_find_arg(op, args, "weight");
  if (weight->tag == KW_TAG_NONE) return KW_OK;
  const kw_infer_dims wanted = {1, {classes}};
  return check_shape(op, kw_infer_arg_index(args, weight), weight->u.tensor, &wanted, "one number for each class");
}

/* One class for each place. */
static kw_status check_targets(const kw_op *op, const kw_value *args, const kw_tensor_ref *scores) {
  const kw_value *target = kw_infer_find_arg(op, args, "target");
  const uint32_t arg = kw_infer_arg_index(args, target);
  const kw_dtype dtype = target->u.tensor->dtype;
  if (dtype != KW_I64 && dtype != KW_I32) {
    return kw_op_fail(op, arg, "classes are i64 or i32, not %s; cast them", kw_dtype_name(dtype));
  }
  kw_infer_dims places;
  take_places(scores, &places);
  return check_shape(op, arg, target->u.tensor, &places, "that of 'self' without its classes");
}

static kw_status check_nll(const kw_op *op, const kw_value *args, uint32_t self) {
  const bool images = strstr(op->schema.name, "2d") != NULL;
  kw_status status = check_reduction(op, args);
  if (status == KW_OK) status = check_scores(op, args, self, images ? 4 : 1, images ? 4 : 2);
  return status == KW_OK ? check_targets(op, args, args[self].u.tensor) : status;
}

kw_status kw_infer_nll_loss(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  out[1].rank = 0;
  take_places(args[0].u.tensor, &out[0]);
  kw_status status = check_nll(op, args, 0);
  if (status == KW_OK && reduces(op, args)) out[0].rank = 0;
  return status;
}

kw_status kw_infer_nll_loss_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_infer_dims point = {0, {0}};
  kw_infer_dims places;
  take_shape(args[1].u.tensor, out);
  take_places(args[1].u.tensor, &places);
  kw_status status = check_nll(op, args, 1);
  const bool reduced = status == KW_OK && reduces(op, args);
  if (status == KW_OK) {
    status = check_shape(op, 0, args[0].u.tensor, reduced ? &point : &places,
                         reduced ? "for the gradient of one loss" : "one number for each target");
  }
  const kw_value *total = kw_infer_find_arg(op, args, "total_weight");
  if (status != KW_OK) return status;
  return check_shape(op, kw_infer_arg_index(args, total), total->u.tensor, &point, "for one number");
}

/* The targets are classes, or as floats with a dimension of classes their probabilities. */
kw_status kw_infer_cross_entropy(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor, *target = args[1].u.tensor;
  kw_status status = check_reduction(op, args);
  if (status == KW_OK) status = check_scores(op, args, 0, 1, KW_MAX_RANK);
  if (status != KW_OK) return status;
  const double smoothing = args[5].u.f;
  if (!(smoothing >= 0 && smoothing <= 1)) return kw_op_fail(op, 5, "%g is outside [0, 1]", smoothing);
  if (target->dtype == KW_I64 || target->dtype == KW_I32) {
    status = check_targets(op, args, self);
  } else if (target->dtype != self->dtype) {
    status = kw_op_fail(op, 1, "expected classes, i64 or i32, or probabilities in %s, got %s",
                        kw_dtype_name(self->dtype), kw_dtype_name(target->dtype));
  } else {
    kw_infer_dims scores;
    take_shape(self, &scores);
    status = check_shape(op, 1, target, &scores, "that of 'self', for probabilities");
    if (status == KW_OK && args[4].u.i >= 0) {
      return kw_op_fail(op, 4, "%" PRId64 " names a class, but 'target' holds probabilities", args[4].u.i);
    }
  }
  take_places(self, out);
  if (status == KW_OK && reduces(op, args)) out->rank = 0;
  return status;
}
