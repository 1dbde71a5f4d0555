/* SPDX-License-Identifier: Apache-2.0
 *
 * Object detection: overlaps of boxes, their suppression, regions of images.
 */
#include "kernel_sources.h"
#include "lower/dialect.h"
#include "ops/families.h"
#include "ops/moves.h"
#include "ops/sort.h"
#include "program/dtype.h"

#include "kernels/detection_args.kw"

static const kw_gpu_module boxes_module = {"boxes",
                                           KW_GPU_BY_DTYPE,
                                           KW_DTYPES_FLOAT,
                                           {kw_gpu_source_detection_args, kw_gpu_source_items, kw_gpu_source_boxes}};
static const kw_gpu_module regions_module = {
    "regions", KW_GPU_BY_DTYPE, KW_DTYPES_FLOAT, {kw_gpu_source_detection_args, kw_gpu_source_regions}};

static const kw_gpu_kernel pairs_kernel = {&boxes_module, "kw_box_pairs_kernel"};
static const kw_gpu_kernel order_kernel = {&boxes_module, "kw_nms_order_kernel"};
static const kw_gpu_kernel mask_kernel = {&boxes_module, "kw_nms_mask_kernel"};
static const kw_gpu_kernel walk_kernel = {&boxes_module, "kw_nms_walk_kernel"};
static const kw_gpu_kernel regions_kernel = {&regions_module, "kw_regions_kernel"};
static const kw_gpu_kernel align_kernel = {&regions_module, "kw_roi_align_kernel"};
static const kw_gpu_kernel align_backward_kernel = {&regions_module, "kw_roi_align_backward_kernel"};

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

static void lower_box_pairs(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), boxes1 = kw_gpu_input(plan, 0), boxes2 = kw_gpu_input(plan, 1);
  const kw_gpu_tensor *operands[] = {&out, &boxes1, &boxes2};
  kw_gpu_step *step = kw_gpu_step_add(plan, &pairs_kernel, out.ref.dtype);
  kw_box_pairs block = {.rows = out.ref.shape[0], .cols = out.ref.shape[1]};
  for (int k = 0; k < 3; ++k) {
    kw_gpu_step_operand(step, operands[k]);
    for (int d = 0; d < 2; ++d) block.stride[k][d] = operands[k]->ref.strides[d];
  }
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_int(step, op->code);
  kw_gpu_step_items(step, out.ref.numel);
}

/* Boxes of one round: their bits are in memory at a time, a bit for each later box. */
#define ROUND 4096

static void lower_nms(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), count = kw_gpu_output(plan, 1), dets = kw_gpu_input(plan, 0),
                scores = kw_gpu_input(plan, 1);
  const kw_dtype dtype = dets.ref.dtype;
  const int64_t n = dets.ref.shape[0], words = (n + 63) / 64, round = n < ROUND ? n : ROUND;
  kw_gpu_tensor items = kw_gpu_sort_order(plan, &scores, 0, true);
  kw_gpu_tensor order = kw_gpu_temporary(plan, KW_I64, 1, (int64_t[]){n});
  kw_gpu_tensor sorted = kw_gpu_temporary(plan, kw_gpu_compute_dtype(dtype), 2, (int64_t[]){n, 4});
  kw_gpu_tensor gone = kw_gpu_temporary(plan, KW_I64, 1, (int64_t[]){words});
  kw_gpu_tensor mask = kw_gpu_temporary(plan, KW_I64, 2, (int64_t[]){round, words});
  kw_suppression block = {.count = n,
                          .words = words,
                          .box_stride = {dets.ref.strides[0], dets.ref.strides[1]},
                          .out_stride = out.ref.strides[0]};
  kw_gpu_step *step = kw_gpu_step_add(plan, &order_kernel, dtype);
  kw_gpu_step_operand(step, &order);
  kw_gpu_step_operand(step, &sorted);
  kw_gpu_step_operand(step, &dets);
  kw_gpu_step_operand(step, &items);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_int(step, items.ref.dtype != KW_I64);
  kw_gpu_step_items(step, n);
  kw_gpu_fill(plan, &gone, 0);
  kw_gpu_fill(plan, &count, 0);
  for (block.first = 0; block.first < n; block.first = block.end) {
    block.end = n - block.first < ROUND ? n : block.first + ROUND;
    step = kw_gpu_step_add(plan, &mask_kernel, dtype);
    kw_gpu_step_operand(step, &mask);
    kw_gpu_step_operand(step, &sorted);
    kw_gpu_step_operand(step, &gone);
    kw_gpu_step_block(step, &block, sizeof block);
    kw_gpu_step_number(step, kw_gpu_real(plan, 2, 0));
    kw_gpu_step_items(step, (block.end - block.first) * words);
    step = kw_gpu_step_add(plan, &walk_kernel, dtype);
    kw_gpu_step_operand(step, &out);
    kw_gpu_step_operand(step, &count);
    kw_gpu_step_operand(step, &order);
    kw_gpu_step_operand(step, &mask);
    kw_gpu_step_operand(step, &gone);
    kw_gpu_step_block(step, &block, sizeof block);
    kw_gpu_step_grid(step, KW_LOCAL_ELEMENTWISE, 1, 1, 1);
  }
}

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

/* `images` and `bins`: the tensor of each shape, one of them the result. `last` is the argument sampling_ratio. */
static void align(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, const kw_gpu_tensor *images,
                  const kw_gpu_tensor *bins, uint32_t last) {
  const bool back = kernel == &align_backward_kernel;
  const kw_gpu_tensor *out = back ? images : bins, *in = back ? bins : images;
  const kw_gpu_tensor rois = kw_gpu_input(plan, 1);
  const kw_dtype dtype = rois.ref.dtype;
  const int64_t count = rois.ref.shape[0], ratio = kw_gpu_int(plan, last, 0);
  const bool aligned = kw_gpu_bool(plan, last + 1, false);
  kw_gpu_tensor read = kw_gpu_temporary(plan, kw_gpu_compute_dtype(dtype), 2, (int64_t[]){count, 4});
  kw_gpu_tensor counts = kw_gpu_temporary(plan, KW_I64, 2, (int64_t[]){count, 3});
  kw_regions block = {.regions = count,
                      .channels = images->ref.shape[1],
                      .images = images->ref.shape[0],
                      .size = {images->ref.shape[2], images->ref.shape[3]},
                      .pooled = {bins->ref.shape[2], bins->ref.shape[3]},
                      .roi_stride = {rois.ref.strides[0], rois.ref.strides[1]}};
  for (int d = 0; d < 4; ++d) {
    block.image_stride[d] = images->ref.strides[d];
    block.bin_stride[d] = bins->ref.strides[d];
  }
  kw_gpu_step *step = kw_gpu_step_add(plan, &regions_kernel, dtype);
  kw_gpu_step_operand(step, &read);
  kw_gpu_step_operand(step, &counts);
  kw_gpu_step_operand(step, &rois);
  kw_gpu_step_errors(step);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_number(step, kw_gpu_real(plan, 2, 1));
  kw_gpu_step_number(step, ratio > 0 ? (double)ratio : 0);
  kw_gpu_step_int(step, aligned);
  kw_gpu_step_error_code(step);
  kw_gpu_step_items(step, count);
  step = kw_gpu_step_add(plan, kernel, dtype);
  kw_gpu_step_operand(step, out);
  kw_gpu_step_operand(step, in);
  kw_gpu_step_operand(step, &read);
  kw_gpu_step_operand(step, &counts);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_items(step, out->ref.numel);
}

static void lower_roi_align(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), input = kw_gpu_input(plan, 0);
  align(plan, &align_kernel, &input, &out, 5);
}

static void lower_roi_align_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), grad = kw_gpu_input(plan, 0);
  align(plan, &align_backward_kernel, &out, &grad, 9);
}

static const kw_gpu_op ops[] = {
    {"keyway::box_iou", lower_box_pairs, 0, 0, KW_DTYPES_FLOAT},
    {"keyway::generalized_box_iou", lower_box_pairs, 1, 0, KW_DTYPES_FLOAT},
    {"torchvision::nms", lower_nms, 0, 0, KW_DTYPES_FLOAT},
    {"torchvision::roi_align", lower_roi_align, 0, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {"torchvision::_roi_align_backward", lower_roi_align_backward, 0, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_detection_family = {ops, {&boxes_module, &regions_module}};
