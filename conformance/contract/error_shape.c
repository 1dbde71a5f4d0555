/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite error, bad input to every op: tensors of other shapes.
 */
#include "error_shape.h"

#include "op_table.h"

#include <stdio.h>

/* A tensor in the place of argument `index`, of another shape; indices are 0, which is in range wherever there is a
 * range. The caller's to free: t->values holds it until reset. */
static kw_tensor *reshape(kw_trial *t, uint32_t index, uint32_t rank, const int64_t *shape, kw_tensor *list[2]) {
  const kw_test_arg *arg = &t->call.args[index];
  kw_dtype dtype = kw_tensor_describe(arg->tensors[0])->dtype;
  kw_tensor *odd = NULL;
  if (arg->role == KW_ROLE_INDEX) {
    KW_CHECK_OK(kw_tensor_create(kw_contract.device, dtype, rank, shape, &odd));
    void *zeros = kw_test_memory(kw_test_bytes_of(odd));
    KW_CHECK_OK(kw_tensor_write(odd, zeros));
    free(zeros);
  } else {
    odd = kw_test_tensor(kw_contract.device, dtype, rank, shape, 9);
  }
  list[0] = odd;
  list[1] = arg->tensors[1];
  t->values[index] =
      arg->info.tag == KW_TAG_TENSOR ? kw_arg_tensor(odd) : kw_arg_tensor_list(list, arg->tensors[1] ? 2 : 1);
  return odd;
}

/* Shapes that are surely wrong while the other tensors stay square: a last size one larger, or one dimension more. In
 * ops that broadcast any of several tensors is wrong with another last size; the others are listed. */
enum { WRONG_SIZE = 1, WRONG_RANK = 2 };
static const struct {
  const char *op, *arg;
  int wrong;
} wrong_shapes[] = {
    {"fill_.Tensor", "value", WRONG_RANK},
    {"copy_", "src", WRONG_RANK},
    {"copy", "src", WRONG_RANK},
    {"masked_fill.Tensor", "value", WRONG_RANK},
    {"mm", "self", WRONG_SIZE | WRONG_RANK},
    {"mm", "mat2", WRONG_RANK},
    {"bmm", "self", WRONG_SIZE | WRONG_RANK},
    {"bmm", "mat2", WRONG_RANK},
    {"_int_mm", "self", WRONG_SIZE | WRONG_RANK},
    {"_int_mm", "mat2", WRONG_RANK},
    {"addmm", "self", WRONG_SIZE | WRONG_RANK},
    {"addmm", "mat1", WRONG_SIZE | WRONG_RANK},
    {"addmm", "mat2", WRONG_RANK},
    {"native_layer_norm", "input", WRONG_SIZE},
    {"rms_norm", "input", WRONG_SIZE},
    {"_native_batch_norm_legit_no_training", "running_mean", WRONG_SIZE | WRONG_RANK},
    {"_native_batch_norm_legit_no_training", "running_var", WRONG_SIZE | WRONG_RANK},
    {"_native_batch_norm_legit", "running_mean", WRONG_SIZE | WRONG_RANK},
    {"_native_batch_norm_legit", "running_var", WRONG_SIZE | WRONG_RANK},
    {"native_group_norm", "input", WRONG_SIZE | WRONG_RANK},
    {"_fused_rms_norm", "input", WRONG_SIZE},
    {"native_layer_norm_backward", "grad_out", WRONG_SIZE | WRONG_RANK},
    {"native_layer_norm_backward", "input", WRONG_SIZE | WRONG_RANK},
    {"native_layer_norm_backward", "mean", WRONG_SIZE | WRONG_RANK},
    {"native_layer_norm_backward", "rstd", WRONG_SIZE | WRONG_RANK},
    {"_fused_rms_norm_backward", "grad_out", WRONG_SIZE | WRONG_RANK},
    {"_fused_rms_norm_backward", "input", WRONG_SIZE | WRONG_RANK},
    {"_fused_rms_norm_backward", "rstd", WRONG_SIZE | WRONG_RANK},
    {"native_group_norm_backward", "grad_out", WRONG_SIZE | WRONG_RANK},
    {"native_group_norm_backward", "input", WRONG_SIZE | WRONG_RANK},
    {"native_group_norm_backward", "mean", WRONG_SIZE | WRONG_RANK},
    {"native_group_norm_backward", "rstd", WRONG_SIZE | WRONG_RANK},
    {"native_batch_norm_backward", "grad_out", WRONG_SIZE | WRONG_RANK},
    {"native_batch_norm_backward", "running_mean", WRONG_SIZE | WRONG_RANK},
    {"native_batch_norm_backward", "running_var", WRONG_SIZE | WRONG_RANK},
    {"_softmax_backward_data", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"_softmax_backward_data", "output", WRONG_SIZE | WRONG_RANK},
    {"_log_softmax_backward_data", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"_log_softmax_backward_data", "output", WRONG_SIZE | WRONG_RANK},
    {"mse_loss", "self", WRONG_SIZE},
    {"mse_loss", "target", WRONG_SIZE},
    {"huber_loss", "self", WRONG_SIZE},
    {"huber_loss", "target", WRONG_SIZE},
    {"binary_cross_entropy_with_logits", "self", WRONG_SIZE},
    {"binary_cross_entropy_with_logits", "target", WRONG_SIZE},
    {"mse_loss_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"mse_loss_backward", "self", WRONG_SIZE},
    {"mse_loss_backward", "target", WRONG_SIZE | WRONG_RANK},
    {"reflection_pad1d_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"replication_pad1d_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"avg_pool2d_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"avg_pool2d_backward", "self", WRONG_SIZE | WRONG_RANK},
    {"max_pool2d_with_indices_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"max_pool2d_with_indices_backward", "self", WRONG_SIZE | WRONG_RANK},
    {"max_pool2d_with_indices_backward", "indices", WRONG_SIZE | WRONG_RANK},
    {"_adaptive_avg_pool2d_backward", "grad_output", WRONG_RANK},
    {"_adaptive_avg_pool2d_backward", "self", WRONG_RANK},
    {"adaptive_max_pool2d_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"adaptive_max_pool2d_backward", "indices", WRONG_SIZE | WRONG_RANK},
    {"adaptive_max_pool2d_backward", "self", WRONG_RANK},
    {"avg_pool3d_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"avg_pool3d_backward", "self", WRONG_SIZE | WRONG_RANK},
    {"max_pool3d_with_indices_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"max_pool3d_with_indices_backward", "self", WRONG_SIZE | WRONG_RANK},
    {"max_pool3d_with_indices_backward", "indices", WRONG_SIZE | WRONG_RANK},
    {"_adaptive_avg_pool3d_backward", "grad_output", WRONG_RANK},
    {"_adaptive_avg_pool3d_backward", "self", WRONG_RANK},
    {"adaptive_max_pool3d_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"adaptive_max_pool3d_backward", "indices", WRONG_SIZE | WRONG_RANK},
    {"adaptive_max_pool3d_backward", "self", WRONG_RANK},
    {"nll_loss_forward", "self", WRONG_RANK},
    {"nll_loss_forward", "target", WRONG_SIZE | WRONG_RANK},
    {"nll_loss_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"nll_loss_backward", "total_weight", WRONG_RANK},
    {"nll_loss_backward", "self", WRONG_RANK},
    {"nll_loss_backward", "target", WRONG_SIZE | WRONG_RANK},
    {"nll_loss2d_forward", "self", WRONG_RANK | WRONG_SIZE},
    {"nll_loss2d_forward", "target", WRONG_SIZE | WRONG_RANK},
    {"nll_loss2d_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"nll_loss2d_backward", "total_weight", WRONG_RANK},
    {"nll_loss2d_backward", "self", WRONG_RANK | WRONG_SIZE},
    {"nll_loss2d_backward", "target", WRONG_SIZE | WRONG_RANK},
    {"cross_entropy_loss", "self", WRONG_RANK},
    {"cross_entropy_loss", "target", WRONG_SIZE | WRONG_RANK},
    {"embedding_dense_backward", "grad_output", WRONG_RANK},
    {"embedding_dense_backward", "indices", WRONG_SIZE | WRONG_RANK},
    {"_fused_sgd_", "self", WRONG_SIZE | WRONG_RANK},
    {"_fused_sgd_", "grads", WRONG_SIZE | WRONG_RANK},
    {"_fused_sgd_", "momentum_buffer_list", WRONG_SIZE | WRONG_RANK},
    {"_fused_adam_", "self", WRONG_SIZE | WRONG_RANK},
    {"_fused_adam_", "exp_avgs", WRONG_SIZE | WRONG_RANK},
    {"_fused_adam_", "max_exp_avg_sqs", WRONG_SIZE | WRONG_RANK},
    {"_fused_adam_", "state_steps", WRONG_RANK},
    {"_fused_adamw_", "grads", WRONG_SIZE | WRONG_RANK},
    {"_fused_adamw_", "exp_avg_sqs", WRONG_SIZE | WRONG_RANK},
    {"_fused_adamw_", "state_steps", WRONG_RANK},
    {"_amp_foreach_non_finite_check_and_unscale_", "found_inf", WRONG_RANK},
    {"_amp_foreach_non_finite_check_and_unscale_", "inv_scale", WRONG_RANK},
    {"_amp_update_scale_", "self", WRONG_RANK},
    {"_amp_update_scale_", "growth_tracker", WRONG_RANK},
    {"_amp_update_scale_", "found_inf", WRONG_RANK},
    {"keyway::accumulate_mean_", "sum", WRONG_RANK},
    {"keyway::accumulate_mean_", "count", WRONG_RANK},
    {"keyway::accumulate_confusion_", "counts", WRONG_SIZE | WRONG_RANK},
    {"keyway::accumulate_confusion_", "prediction", WRONG_SIZE | WRONG_RANK},
    {"keyway::accumulate_confusion_", "target", WRONG_SIZE | WRONG_RANK},
    {"cat", "tensors", WRONG_SIZE | WRONG_RANK},
    {"embedding", "weight", WRONG_RANK},
    {"index_select", "index", WRONG_RANK},
    {"gather", "index", WRONG_SIZE | WRONG_RANK},
    {"scatter.src", "index", WRONG_SIZE | WRONG_RANK},
    {"scatter.src", "src", WRONG_RANK},
    {"scatter.value", "index", WRONG_SIZE | WRONG_RANK},
    {"index_put", "values", WRONG_SIZE},
    {"masked_select", "self", WRONG_SIZE},
    {"masked_select", "mask", WRONG_SIZE},
    {"masked_scatter", "self", WRONG_SIZE},
    {"masked_scatter", "mask", WRONG_SIZE},
    {"searchsorted.Tensor", "self", WRONG_RANK},
    {"searchsorted.Tensor", "sorter", WRONG_SIZE | WRONG_RANK},
    {"scatter_add", "index", WRONG_SIZE | WRONG_RANK},
    {"scatter_add", "src", WRONG_RANK},
    {"scatter_reduce.two", "index", WRONG_SIZE | WRONG_RANK},
    {"scatter_reduce.two", "src", WRONG_RANK},
    {"_cdist_forward", "x1", WRONG_SIZE},
    {"_cdist_forward", "x2", WRONG_SIZE},
    {"_pdist_forward", "self", WRONG_RANK},
    {"index_add", "index", WRONG_SIZE | WRONG_RANK},
    {"index_add", "source", WRONG_SIZE | WRONG_RANK},
    {"select_scatter", "src", WRONG_SIZE | WRONG_RANK},
    {"slice_scatter", "src", WRONG_SIZE | WRONG_RANK},
    {"glu_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"keyway::swiglu_backward", "gate", WRONG_SIZE | WRONG_RANK},
    {"keyway::swiglu_backward", "up", WRONG_SIZE | WRONG_RANK},
    {"keyway::rope", "cos", WRONG_SIZE | WRONG_RANK},
    {"keyway::rope", "sin", WRONG_SIZE | WRONG_RANK},
    {"_embedding_bag", "weight", WRONG_RANK},
    {"_embedding_bag", "offsets", WRONG_RANK},
    {"scaled_dot_product_attention", "query", WRONG_SIZE},
    {"scaled_dot_product_attention", "key", WRONG_SIZE},
    {"keyway::attention", "query", WRONG_SIZE | WRONG_RANK},
    {"keyway::attention", "key", WRONG_SIZE | WRONG_RANK},
    {"keyway::attention", "value", WRONG_RANK},
    {"keyway::attention_decode", "key", WRONG_SIZE | WRONG_RANK},
    {"keyway::attention_decode", "lengths", WRONG_SIZE | WRONG_RANK},
    {"keyway::attention_varlen", "key", WRONG_SIZE | WRONG_RANK},
    {"keyway::attention_varlen", "cu_seqlens_k", WRONG_SIZE | WRONG_RANK},
    {"keyway::attention_paged", "key", WRONG_SIZE | WRONG_RANK},
    {"keyway::attention_paged", "block_table", WRONG_RANK},
    {"keyway::attention_paged", "lengths", WRONG_SIZE | WRONG_RANK},
    {"keyway::attention_backward", "query", WRONG_SIZE | WRONG_RANK},
    {"keyway::attention_backward", "grad_out", WRONG_SIZE | WRONG_RANK},
    {"keyway::attention_backward", "logsumexp", WRONG_SIZE | WRONG_RANK},
    {"torchvision::nms", "dets", WRONG_SIZE | WRONG_RANK},
    {"torchvision::nms", "scores", WRONG_SIZE | WRONG_RANK},
    {"keyway::box_iou", "boxes1", WRONG_SIZE | WRONG_RANK},
    {"keyway::box_iou", "boxes2", WRONG_SIZE | WRONG_RANK},
    {"keyway::generalized_box_iou", "boxes1", WRONG_SIZE | WRONG_RANK},
    {"keyway::generalized_box_iou", "boxes2", WRONG_SIZE | WRONG_RANK},
    {"torchvision::roi_align", "input", WRONG_RANK},
    {"torchvision::roi_align", "rois", WRONG_SIZE | WRONG_RANK},
    {"torchvision::_roi_align_backward", "grad", WRONG_SIZE | WRONG_RANK},
    {"torchvision::_roi_align_backward", "rois", WRONG_SIZE | WRONG_RANK},
    {"convolution", "input", WRONG_RANK},
    {"convolution", "weight", WRONG_RANK},
    {"convolution_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"convolution_backward", "input", WRONG_RANK},
    {"convolution_backward", "weight", WRONG_RANK},
    {"col2im", "self", WRONG_SIZE},
    {"upsample_nearest1d", "self", WRONG_RANK},
    {"upsample_nearest2d", "self", WRONG_RANK},
    {"upsample_nearest3d", "self", WRONG_RANK},
    {"_upsample_nearest_exact2d", "self", WRONG_RANK},
    {"upsample_linear1d", "self", WRONG_RANK},
    {"upsample_bilinear2d", "self", WRONG_RANK},
    {"upsample_trilinear3d", "self", WRONG_RANK},
    {"upsample_bicubic2d", "self", WRONG_RANK},
    {"upsample_nearest2d_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"upsample_bilinear2d_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"grid_sampler_2d", "input", WRONG_RANK},
    {"grid_sampler_2d", "grid", WRONG_SIZE | WRONG_RANK},
    {"grid_sampler_2d_backward", "grad_output", WRONG_SIZE | WRONG_RANK},
    {"grid_sampler_2d_backward", "input", WRONG_RANK},
    {"grid_sampler_2d_backward", "grid", WRONG_SIZE | WRONG_RANK},
    {"quantized_decomposed::quantize_per_tensor.tensor", "scale", WRONG_RANK},
    {"quantized_decomposed::quantize_per_tensor.tensor", "zero_point", WRONG_RANK},
    {"quantized_decomposed::quantize_per_channel", "scales", WRONG_SIZE | WRONG_RANK},
    {"quantized_decomposed::quantize_per_channel", "zero_points", WRONG_SIZE | WRONG_RANK},
    {"quantized_decomposed::dequantize_per_channel", "scales", WRONG_SIZE | WRONG_RANK},
    {"keyway::int8_linear", "input", WRONG_SIZE | WRONG_RANK},
    {"keyway::int8_linear", "weight", WRONG_SIZE | WRONG_RANK},
    {"keyway::int8_linear", "weight_scale", WRONG_SIZE | WRONG_RANK},
    {"keyway::f8_linear", "input", WRONG_SIZE | WRONG_RANK},
    {"keyway::f8_linear", "weight", WRONG_SIZE | WRONG_RANK},
    {"keyway::f8_linear", "weight_scale", WRONG_SIZE | WRONG_RANK},
    {"keyway::int4_linear", "input", WRONG_SIZE | WRONG_RANK},
    {"keyway::int4_linear", "weight", WRONG_SIZE | WRONG_RANK},
    {"keyway::int4_linear", "scales", WRONG_SIZE | WRONG_RANK},
    {"keyway::int4_linear", "zeros", WRONG_SIZE | WRONG_RANK},
    {"keyway::int4_pack", "input", WRONG_SIZE},
    {"keyway::sparse24_compress", "input", WRONG_SIZE | WRONG_RANK},
    {"keyway::sparse24_linear", "input", WRONG_SIZE | WRONG_RANK},
    {"keyway::sparse24_linear", "values", WRONG_SIZE | WRONG_RANK},
    {"keyway::sparse24_linear", "meta", WRONG_SIZE | WRONG_RANK},
    {"keyway::bsr_linear", "input", WRONG_RANK},
    {"keyway::bsr_linear", "crow_indices", WRONG_RANK},
    {"keyway::bsr_linear", "col_indices", WRONG_SIZE | WRONG_RANK},
    {"keyway::bsr_linear", "values", WRONG_RANK},
};

static bool broadcasts(const kw_trial *t) {
  uint32_t tensors = 0;
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    const kw_tensor *tensor = t->call.args[i].tensors[0];
    tensors += tensor && kw_tensor_describe(tensor)->rank > 0;
  }
  for (uint32_t i = 0; i < kw_op_table_count; i++) {
    if (strcmp(kw_op_table[i].schema, t->call.info.schema) != 0) continue;
    kw_shape_rule rule = kw_op_table[i].shape;
    return tensors > 1 && (rule == KW_SHAPE_BROADCAST || rule == KW_SHAPE_INPLACE || rule == KW_SHAPE_LIKE);
  }
  return false;
}

static int wrong_shapes_of(const kw_trial *t, const char *arg) {
  int wrong = broadcasts(t) ? WRONG_SIZE : 0;
  for (size_t i = 0; i < sizeof wrong_shapes / sizeof wrong_shapes[0]; i++) {
    bool here = strcmp(wrong_shapes[i].op, t->call.info.name) == 0 && strcmp(wrong_shapes[i].arg, arg) == 0;
    if (here) wrong |= wrong_shapes[i].wrong;
  }
  return wrong;
}

void kw_trial_refuse_shapes(kw_trial *t, uint32_t index) {
  const kw_test_arg *arg = &t->call.args[index];
  if (!arg->tensors[0]) return;
  kw_tensor_ref ref = *kw_tensor_describe(arg->tensors[0]);
  int wrong = wrong_shapes_of(t, arg->info.name);
  kw_tensor *list[2], *odd;
  if ((wrong & WRONG_RANK) && ref.rank < KW_MAX_RANK) {
    ref.shape[ref.rank] = t->call.edge;
    odd = reshape(t, index, ref.rank + 1u, ref.shape, list);
    kw_trial_refuse(t, KW_TRIAL_ANY_ARGUMENT, "a tensor with a dimension more");
    kw_trial_reset(t);
    kw_tensor_release(odd);
  }
  if ((wrong & WRONG_SIZE) && ref.rank > 0) {
    ref.shape[ref.rank - 1]++;
    odd = reshape(t, index, ref.rank, ref.shape, list);
    kw_trial_refuse(t, KW_TRIAL_ANY_ARGUMENT, "a tensor whose last size is one larger");
    kw_trial_reset(t);
    kw_tensor_release(odd);
  }
}

void kw_trial_try_shapes(kw_trial *t, uint32_t index) {
  const kw_test_arg *arg = &t->call.args[index];
  if (!arg->tensors[0]) return;
  kw_stream *stream = kw_stream_default(kw_contract.device);
  const int64_t n = t->call.edge;
  const struct {
    uint32_t rank;
    int64_t shape[KW_MAX_RANK];
  } shapes[] = {
      {0, {0}},
      {1, {0}},
      {1, {1}},
      {1, {n}},
      {1, {n + 1}},
      {2, {n, n + 1}},
      {2, {n + 1, n}},
      {2, {0, n}},
      {2, {n, 0}},
      {3, {n, n, n}},
      {3, {1, n, n + 1}},
      {4, {n + 1, 1, 1, 1}},
      {16, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, n}},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    char what[64];
    snprintf(what, sizeof what, "odd shape number %zu of '%s'", i, arg->info.name);
    kw_tensor *list[2], *outs[KW_MAX_RESULTS] = {NULL};
    kw_tensor *odd = reshape(t, index, shapes[i].rank, shapes[i].shape, list);
    kw_error_clear();
    kw_status status = kw_op_call(t->call.op, stream, t->values, t->given, outs, t->call.info.result_count);
    if (status != KW_OK) kw_trial_check_refusal(t, status, KW_TRIAL_ANY_ARGUMENT, what);
    for (uint32_t r = 0; r < t->call.info.result_count; r++) kw_tensor_release(outs[r]);
    status = kw_stream_synchronize(stream);
    if (status != KW_OK)
      kw_trial_check_refusal(t, status, KW_TRIAL_ANY_ARGUMENT,
                             what); /* an index that the new shape puts out of range */
    kw_trial_reset(t);
    kw_tensor_release(odd);
  }
}
