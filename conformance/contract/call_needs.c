/* SPDX-License-Identifier: Apache-2.0
 *
 * What arguments of ops need besides being square tensors, as tables: a row an op and argument.
 */
#include "call_needs.h"

#include <fnmatch.h>
#include <string.h>

/* A row with `op` is for that op only and comes before the general one. */
static const struct {
  const char *op;
  const char *arg;
  kw_need need;
} needs[] = {
    {"fill_.Tensor", "value", KW_NEED_POINT},
    {"topk", "k", KW_NEED_EDGE},
    {"keyway::attention_paged", "lengths", KW_NEED_CAPACITY},
    {NULL, "block_table", KW_NEED_TABLE},
    {NULL, "lengths", KW_NEED_LENGTHS},
    {NULL, "cu_seqlens_q", KW_NEED_ENDS},
    {NULL, "cu_seqlens_k", KW_NEED_ENDS},
    {NULL, "logsumexp", KW_NEED_ROWS},
    {NULL, "positions", KW_NEED_INDEX},
    {NULL, "offsets", KW_NEED_LENGTHS},
    {NULL, "cos", KW_NEED_HALF_ROWS},
    {NULL, "sin", KW_NEED_HALF_ROWS},
    {"glu_backward", "grad_output", KW_NEED_HALF},
    /* A kernel of 3 inside a margin of 1 has as many places as the input is large. */
    {"convolution", "weight", KW_NEED_TRIPLES},
    {"convolution", "padding", KW_NEED_ONE},
    {"convolution", "groups", KW_NEED_ONE},
    {"convolution_backward", "weight", KW_NEED_TRIPLES},
    {"convolution_backward", "padding", KW_NEED_ONE},
    {"convolution_backward", "groups", KW_NEED_ONE},
    {"upsample_nearest2d_backward", "input_size", KW_NEED_SHAPE},
    {"upsample_bilinear2d_backward", "input_size", KW_NEED_SHAPE},
    {"col2im", "output_size", KW_NEED_COLUMN},
    {"multinomial", "self", KW_NEED_WEIGHTS},
    {"multinomial", "num_samples", KW_NEED_ONE},
    {NULL, "grid", KW_NEED_PAIRS},
    {"nll_loss_forward", "target", KW_NEED_CLASS},
    {"nll_loss2d_forward", "target", KW_NEED_CLASS},
    {"nll_loss_backward", "target", KW_NEED_CLASS},
    {"nll_loss2d_backward", "target", KW_NEED_CLASS},
    {"nll_loss_backward", "grad_output", KW_NEED_SLICE},
    {"nll_loss2d_backward", "grad_output", KW_NEED_SLICE},
    {"cross_entropy_loss", "target", KW_NEED_CLASS},
    {"_native_batch_norm_legit_no_training", "running_mean", KW_NEED_LINE},
    {"_native_batch_norm_legit_no_training", "running_var", KW_NEED_LINE},
    {"native_batch_norm_backward", "running_mean", KW_NEED_LINE},
    {"native_batch_norm_backward", "running_var", KW_NEED_LINE},
    {"native_batch_norm_backward", "save_mean", KW_NEED_LINE},
    {"native_batch_norm_backward", "save_invstd", KW_NEED_LINE},
    {"native_batch_norm_backward", "weight", KW_NEED_LINE},
    {"_native_batch_norm_legit", "running_mean", KW_NEED_LINE},
    {"_native_batch_norm_legit", "running_var", KW_NEED_LINE},
    {"_native_batch_norm_legit", "training", KW_NEED_TRUE},
    {"_native_batch_norm_legit", "momentum", KW_NEED_ONE}, /* a second call changes nothing */
    {"_native_batch_norm_legit.no_stats", "training", KW_NEED_TRUE},
    {"native_layer_norm_backward", "mean", KW_NEED_THIN},
    {"native_layer_norm_backward", "rstd", KW_NEED_THIN},
    {"_fused_rms_norm_backward", "rstd", KW_NEED_THIN},
    {NULL, "state_steps", KW_NEED_UNIT},
    {NULL, "grad_scale", KW_NEED_UNIT},
    {NULL, "found_inf", KW_NEED_UNIT},
    {NULL, "inv_scale", KW_NEED_UNIT},
    {NULL, "growth_tracker", KW_NEED_COUNT},
    {NULL, "growth_interval", KW_NEED_ONE},
    {"_amp_update_scale_", "self", KW_NEED_POINT},
    {"keyway::accumulate_mean_", "sum", KW_NEED_POINT},
    {"keyway::accumulate_mean_", "count", KW_NEED_TALLY},
    {"keyway::accumulate_confusion_", "prediction", KW_NEED_INDEX},
    {"keyway::accumulate_confusion_", "target", KW_NEED_INDEX},
    {NULL, "N", KW_NEED_EDGE},
    {NULL, "C", KW_NEED_EDGE},
    {NULL, "HxW", KW_NEED_ONE},
    {NULL, "group", KW_NEED_EDGE},
    {NULL, "total_weight", KW_NEED_POINT},
    {NULL, "num_weights", KW_NEED_EDGE},
    {"masked_fill.Tensor", "value", KW_NEED_POINT},
    {NULL, "condition", KW_NEED_MASK},
    {NULL, "mask", KW_NEED_MASK},
    {NULL, "index", KW_NEED_INDEX},
    {NULL, "indices", KW_NEED_INDEX},
    {NULL, "col_indices", KW_NEED_INDEX},
    {NULL, "sorter", KW_NEED_INDEX},
    {NULL, "size", KW_NEED_SHAPE},
    {NULL, "normalized_shape", KW_NEED_LAST_SIZE},
    {NULL, "kernel_size", KW_NEED_ONE}, /* of windows */
    {NULL, "stride", KW_NEED_ONE},
    {NULL, "dilation", KW_NEED_ONE},
    {NULL, "output_size", KW_NEED_LAST_SIZE},
    {NULL, "high", KW_NEED_EDGE},
    {NULL, "end", KW_NEED_EDGE},
    {NULL, "output_mask", KW_NEED_ALL},
    {NULL, "input_dtype", KW_NEED_DTYPE},
    {"full", "dtype", KW_NEED_DTYPE}, /* these have no tensor to say it */
    {"arange.start_step", "dtype", KW_NEED_DTYPE},
    {"randperm", "dtype", KW_NEED_DTYPE},
    {"select_scatter", "src", KW_NEED_SLICE},
    {NULL, "repeats", KW_NEED_TWICE},
    {NULL, "pad", KW_NEED_NOTHING},
    {NULL, "reduce", KW_NEED_SUM},
    {NULL, "last_dim_size", KW_NEED_WHOLE},
    {"torchvision::_roi_align_backward", "pooled_height", KW_NEED_EDGE},
    {"torchvision::_roi_align_backward", "pooled_width", KW_NEED_EDGE},
    {NULL, "batch_size", KW_NEED_EDGE},
    {NULL, "channels", KW_NEED_EDGE},
    {NULL, "height", KW_NEED_EDGE},
    {NULL, "width", KW_NEED_EDGE},
    {NULL, "pooled_height", KW_NEED_ONE},
    {NULL, "pooled_width", KW_NEED_ONE},
    {"quantized_decomposed::dequantize_per_tensor", "dtype", KW_NEED_DTYPE},
    {"quantized_decomposed::dequantize_per_tensor.tensor", "dtype", KW_NEED_DTYPE},
    {"quantized_decomposed::dequantize_per_channel", "dtype", KW_NEED_DTYPE},
};

/* Ops whose indices point into planes of so many dimensions. */
static const struct {
  const char *op;
  int dims;
} planes[] = {
    {"max_pool2d_with_indices_backward", 2},
    {"max_pool3d_with_indices_backward", 3},
    {"adaptive_max_pool2d_backward", 2},
    {"adaptive_max_pool3d_backward", 3},
};

int64_t kw_need_places(const char *op, int64_t edge) {
  int64_t places = edge;
  for (size_t i = 0; i < sizeof planes / sizeof planes[0]; i++) {
    for (int d = 1; strcmp(planes[i].op, op) == 0 && d < planes[i].dims; d++) places *= edge;
  }
  return places;
}

bool kw_need_find(const char *op, const char *arg, kw_need *out_need) {
  for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
    if ((needs[i].op && strcmp(needs[i].op, op) != 0) || strcmp(needs[i].arg, arg) != 0) continue;
    *out_need = needs[i].need;
    return true;
  }
  return false;
}

static const kw_companion companions[] = {
    {"torchvision::nms", "dets", KW_DTYPE_NONE, "n4"},
    {"torchvision::nms", "scores", KW_DTYPE_NONE, "n"},
    {"keyway::*box_iou", "boxes1", KW_DTYPE_NONE, "n4"},
    {"keyway::*box_iou", "boxes2", KW_DTYPE_NONE, "n4"},
    {"torchvision::*roi_align*", "rois", KW_DTYPE_NONE, "n5"},
    {"quantized_decomposed::*", "scale", KW_F32, ""},
    {"quantized_decomposed::*", "zero_point", KW_I64, ""},
    {"quantized_decomposed::*", "scales", KW_F32, "n"},
    {"quantized_decomposed::*", "zero_points", KW_I32, "n"},
    {"quantized_decomposed::quantize_*", "dtype", KW_I8, NULL},
    {"keyway::*_linear", "input_scale", KW_F32, ""},
    {"keyway::*_linear", "weight_scale", KW_F32, "n"},
    {"keyway::int4_linear", "weight", KW_U8, "n2"},
    {"keyway::sparse24_linear", "values", KW_DTYPE_NONE, "n2"},
    {"keyway::sparse24_linear", "meta", KW_U8, "n8"},
    {"keyway::bsr_linear", "crow_indices", KW_I64, "+"},
    {"keyway::bsr_linear", "values", KW_DTYPE_NONE, "n11"},
};

const kw_companion *kw_companion_find(const char *op, const char *arg) {
  for (size_t i = 0; i < sizeof companions / sizeof companions[0]; i++) {
    const kw_companion *row = &companions[i];
    if (strcmp(row->arg, arg) == 0 && fnmatch(row->op, op, 0) == 0) return row;
  }
  return NULL;
}

bool kw_test_is_index(const char *op, const kw_arg_info *arg) {
  kw_need special;
  bool tensors = arg->tag == KW_TAG_TENSOR || arg->tag == KW_TAG_TENSOR_LIST;
  return tensors && kw_need_find(op, arg->name, &special) &&
         (special == KW_NEED_INDEX || special == KW_NEED_TABLE || special == KW_NEED_CLASS);
}
