/* SPDX-License-Identifier: Apache-2.0
 *
 * Which tests of the suite scale there are, and with which effort they are made.
 */
#include "contract/scale/scale.h"

/* Ops whose rows do not know of each other, and the arguments that have rows: a bit each. The dimension along which
 * they go is the last one. Quantized results are not here: another way to a number may round to the next quantum. */
static const struct {
  const char *op;
  uint32_t arguments;
} rows[] = {
    {"fill_.Scalar", 1},
    {"copy_", 3},
    {"sum.dim_IntList", 1},
    {"mean.dim", 1},
    {"prod.dim_int", 1},
    {"amax", 1},
    {"amin", 1},
    {"argmax", 1},
    {"argmin", 1},
    {"any.dim", 1},
    {"any.dims", 1},
    {"all.dim", 1},
    {"all.dims", 1},
    {"max.dim", 1},
    {"min.dim", 1},
    {"var.dim", 1},
    {"var.correction", 1},
    {"var_mean.correction", 1},
    {"logsumexp", 1},
    {"cumsum", 1},
    {"cumprod", 1},
    {"sort", 1},
    {"sort.stable", 1},
    {"mm", 1},
    {"_int_mm", 1},
    {"bmm", 3},
    {"addmm", 3},
    {"embedding", 2},
    {"index_select", 1},
    {"gather", 5},
    {"scatter.value", 5},
    {"scatter_add", 13},
    {"scatter_reduce.two", 13},
    {"index_add", 9},
    {"repeat", 1},
    {"flip", 1},
    {"roll", 1},
    {"select_scatter", 3},
    {"slice_scatter", 3},
    {"constant_pad_nd", 1},
    {"reflection_pad1d", 1},
    {"reflection_pad2d", 1},
    {"reflection_pad3d", 1},
    {"replication_pad1d", 1},
    {"replication_pad2d", 1},
    {"replication_pad3d", 1},
    {"reflection_pad1d_backward", 3},
    {"reflection_pad2d_backward", 3},
    {"reflection_pad3d_backward", 3},
    {"replication_pad1d_backward", 3},
    {"replication_pad2d_backward", 3},
    {"replication_pad3d_backward", 3},
    {"_cdist_forward", 1},
    {"_fft_r2c", 1},
    {"_fft_c2r", 1},
    {"_fft_c2c", 1},
    {"_softmax", 1},
    {"_log_softmax", 1},
    {"_softmax_backward_data", 3},
    {"_log_softmax_backward_data", 3},
    {"native_layer_norm", 1},
    {"rms_norm", 1},
    {"_fused_rms_norm", 1},
    {"_native_batch_norm_legit_no_training", 1},
    {"scaled_dot_product_attention", 1},
    {"keyway::attention", 7},
    {"keyway::attention_decode", 15},
    {"keyway::attention_backward", 63},
    {"keyway::rope", 9},
    {"glu", 1},
    {"keyway::swiglu_backward", 7},
    {"convolution", 1},
    {"im2col", 1},
    {"col2im", 1},
    {"upsample_nearest1d", 1},
    {"upsample_nearest2d", 1},
    {"upsample_nearest3d", 1},
    {"_upsample_nearest_exact2d", 1},
    {"upsample_linear1d", 1},
    {"upsample_bilinear2d", 1},
    {"upsample_trilinear3d", 1},
    {"upsample_bicubic2d", 1},
    {"grid_sampler_2d", 3},
    {"grid_sampler_2d_backward", 7},
    {"avg_pool2d", 1},
    {"avg_pool3d", 1},
    {"max_pool2d_with_indices", 1},
    {"max_pool3d_with_indices", 1},
    {"_adaptive_avg_pool2d", 1},
    {"_adaptive_avg_pool3d", 1},
    {"adaptive_max_pool2d", 1},
    {"adaptive_max_pool3d", 1},
    {"avg_pool2d_backward", 3},
    {"avg_pool3d_backward", 3},
    {"_adaptive_avg_pool2d_backward", 3},
    {"_adaptive_avg_pool3d_backward", 3},
    {"adaptive_max_pool2d_backward", 7},
    {"adaptive_max_pool3d_backward", 7},
    {"mse_loss_backward", 7},
    {"nll_loss_backward", 7},
    {"nll_loss2d_backward", 7},
    {"quantized_decomposed::dequantize_per_tensor", 1},
    {"quantized_decomposed::dequantize_per_tensor.tensor", 1},
    {"keyway::int8_linear", 1},
    {"keyway::f8_linear", 1},
    {"keyway::int4_linear", 1},
    {"keyway::int4_pack", 1},
    {"keyway::sparse24_compress", 1},
    {"keyway::sparse24_linear", 1},
    {"keyway::bsr_linear", 1},
    {"keyway::box_iou", 1},
    {"keyway::generalized_box_iou", 1},
    {"torchvision::roi_align", 2},
};

uint32_t kw_scale_rows_of(const char *op) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (strcmp(rows[i].op, op) == 0) return rows[i].arguments;
  }
  return 0;
}

bool kw_scale_is_random(const kw_op *op) {
  kw_arg_info arg = {.struct_size = sizeof arg};
  for (uint32_t i = 0; kw_op_get_arg(op, i, &arg) == KW_OK; i++) {
    if (arg.tag == KW_TAG_GENERATOR) return true;
  }
  kw_error_clear(); /* past the last argument */
  return false;
}

static bool wants_op(const char *test, const kw_op *op) {
  kw_op_info info = {.struct_size = sizeof info};
  if (kw_op_get_info(op, &info) != KW_OK || kw_scale_is_random(op)) return false;
  if (strcmp(test, "pointwise") == 0) return info.pointwise;
  if (strcmp(test, "rows") == 0) return kw_scale_rows_of(info.name) != 0;
  kw_scale_kind unused;
  return kw_scale_line_kind(info.name, &unused);
}

bool kw_scale_is_drawn(const char *test, uint32_t wanted) {
  uint64_t claimed = 0, word = 0;
  for (uint32_t i = 0; i < kw_op_count(); i++) {
    const kw_op *op = kw_op_at(i);
    if (!wants_op(test, op)) continue;
    kw_support support = KW_SUPPORT_NONE;
    for (int k = 0; k < KW_TEST_KINDS; k++) support |= kw_op_support(op, kw_contract.device, kw_test_kinds[k]);
    claimed += support != KW_SUPPORT_NONE;
    if (op == kw_contract.op) kw_test_pattern(&word, sizeof word, i);
  }
  return claimed <= wanted || word % claimed < wanted;
}

/* What is made with each effort, and what only thoroughly: gigabytes that are touched, 2^31 elements. */
static const struct {
  const char *test;
  kw_effort effort;
} efforts[] = {
    {"copies", KW_EFFORT_QUICK},
    {"placed_beyond_2_gib", KW_EFFORT_QUICK},
    {"placed_beyond_8_gib", KW_EFFORT_THOROUGH},
    {"many_beyond_8_gib", KW_EFFORT_THOROUGH},
    {"copies_beyond_4_gib", KW_EFFORT_THOROUGH},
    {"fill_beyond_4_gib", KW_EFFORT_THOROUGH},
    {"plugin_fill_beyond_4_gib", KW_EFFORT_THOROUGH},
    {"sum_beyond_31_bits", KW_EFFORT_THOROUGH},
    {"extreme_beyond_31_bits", KW_EFFORT_THOROUGH},
    {"index_beyond_31_bits", KW_EFFORT_THOROUGH},
    {"broadcast_beyond_31_bits", KW_EFFORT_THOROUGH},
    {"elements_beyond_31_bits", KW_EFFORT_THOROUGH},
    {"cat_beyond_31_bits", KW_EFFORT_THOROUGH},
};

bool kw_scale_wants(const char *test, const kw_op *op, kw_effort *out_effort) {
  *out_effort = KW_EFFORT_NORMAL;
  for (size_t i = 0; i < sizeof efforts / sizeof efforts[0]; i++) {
    if (strcmp(efforts[i].test, test) == 0) *out_effort = efforts[i].effort;
  }
  return !op || wants_op(test, op);
}
