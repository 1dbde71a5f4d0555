/* SPDX-License-Identifier: Apache-2.0
 *
 * Object detection: shapes, and what the ops demand of their arguments.
 */
#include "op/infer/shape_rules.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The numbers of a region: its image, and two corners. */
enum { REGION_NUMBERS = 5, MAX_SAMPLES = 1 << 20 };

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

static kw_status check_boxes(const kw_op *op, const kw_value *args, uint32_t index) {
  const kw_tensor_ref *boxes = args[index].u.tensor;
  if (boxes->rank == 2 && boxes->shape[1] == 4) return KW_OK;
  return kw_infer_fail_shape(op, args, index, "boxes [n, 4]");
}

kw_status kw_infer_box_pairs(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = check_boxes(op, args, 0);
  if (status == KW_OK) status = check_boxes(op, args, 1);
  *out = (kw_infer_dims){2, {args[0].u.tensor->shape[0], args[1].u.tensor->shape[0]}};
  return status;
}

kw_status kw_infer_nms(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *dets = args[0].u.tensor, *scores = args[1].u.tensor;
  kw_status status = check_boxes(op, args, 0);
  if (status != KW_OK) return status;
  if (scores->rank != 1 || scores->shape[0] != dets->shape[0]) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "[%" PRId64 "], a score for each box", dets->shape[0]);
    return kw_infer_fail_shape(op, args, 1, wanted);
  }
  if (scores->dtype != dets->dtype) {
    return kw_op_fail(op, 1, "expected %s, the dtype of 'dets', got %s; cast one of them first",
                      kw_dtype_name(dets->dtype), kw_dtype_name(scores->dtype));
  }
  if (isnan(args[2].u.f)) return kw_op_fail(op, 2, "NaN is no threshold: expected a number, usually from 0 to 1");
  *out = (kw_infer_dims){1, {dets->shape[0]}};
  return KW_OK;
}

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

/* Regions, argument 1, and how they are cut: all but the sizes of the images. */
static kw_status check_regions(const kw_op *op, const kw_value *args) {
  const kw_tensor_ref *rois = args[1].u.tensor;
  const kw_value *ratio = kw_infer_find_arg(op, args, "sampling_ratio");
  if (rois->rank != 2 || rois->shape[1] != REGION_NUMBERS) {
    return kw_infer_fail_shape(op, args, 1, "regions [k, 5], each the number of its image, x1, y1, x2, y2");
  }
  if (!isfinite(args[2].u.f) || args[2].u.f <= 0) {
    return kw_op_fail(op, 2, "%g is no scale: expected a finite number greater than 0", args[2].u.f);
  }
  for (uint32_t i = 3; i < 5; ++i) {
    if (args[i].u.i < 1) return kw_op_fail(op, i, "%" PRId64 " bins are too few: the least is 1", args[i].u.i);
  }
  if (ratio->u.i > MAX_SAMPLES) {
    return kw_op_fail(op, kw_infer_arg_index(args, ratio),
                      "%" PRId64 " samples a bin are too many: the most is %d; 0 leaves their number to the region",
                      ratio->u.i, MAX_SAMPLES);
  }
  return KW_OK;
}

/* [k, c, pooled_height, pooled_width] */
static kw_infer_dims cut_regions(const kw_value *args, int64_t channels) {
  return (kw_infer_dims){4, {args[1].u.tensor->shape[0], channels, args[3].u.i, args[4].u.i}};
}

kw_status kw_infer_roi_align(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *input = args[0].u.tensor;
  if (input->rank != 4 || input->shape[2] < 1 || input->shape[3] < 1) {
    return kw_infer_fail_shape(op, args, 0, "[n, c, h, w] with h and w of at least 1");
  }
  *out = cut_regions(args, input->shape[1]);
  return check_regions(op, args);
}

kw_status kw_infer_roi_align_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = check_regions(op, args);
  if (status != KW_OK) return status;
  out->rank = 4;
  for (uint32_t d = 0; d < 4; ++d) { /* batch_size, channels, height, width */
    out->sizes[d] = args[5 + d].u.i;
    const int64_t least = d < 2 ? 0 : 1;
    if (out->sizes[d] >= least) continue;
    return kw_op_fail(op, 5 + d, "%" PRId64 " is too small: the least is %" PRId64, out->sizes[d], least);
  }
  const kw_tensor_ref *grad = args[0].u.tensor;
  const kw_infer_dims wanted = cut_regions(args, out->sizes[1]);
  if (grad->rank == 4 && memcmp(grad->shape, wanted.sizes, 4 * sizeof(int64_t)) == 0) return KW_OK;
  char text[KW_SHAPE_TEXT];
  return kw_infer_fail_shape(op, args, 0, kw_shape_text(4, wanted.sizes, text));
}
