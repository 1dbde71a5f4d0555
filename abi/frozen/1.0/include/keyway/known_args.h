/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway: how many arguments each op of the op table has in this version, for kw_kernel_desc.known_args. Made from
 * ops.def by scripts/known_args.py.
 */
#ifndef KEYWAY_KNOWN_ARGS_H
#define KEYWAY_KNOWN_ARGS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(op, arguments), by the op's name. */
#define KW_KNOWN_ARGS_LIST(X)                                \
  X("_adaptive_avg_pool2d", 2)                               \
  X("_adaptive_avg_pool2d_backward", 2)                      \
  X("_adaptive_avg_pool3d", 2)                               \
  X("_adaptive_avg_pool3d_backward", 2)                      \
  X("_amp_foreach_non_finite_check_and_unscale_", 3)         \
  X("_amp_update_scale_", 6)                                 \
  X("_cdist_forward", 4)                                     \
  X("_embedding_bag", 9)                                     \
  X("_fft_c2c", 4)                                           \
  X("_fft_c2r", 4)                                           \
  X("_fft_r2c", 4)                                           \
  X("_fused_adam_", 15)                                      \
  X("_fused_adamw_", 15)                                     \
  X("_fused_rms_norm", 4)                                    \
  X("_fused_rms_norm_backward", 6)                           \
  X("_fused_sgd_", 12)                                       \
  X("_int_mm", 2)                                            \
  X("_log_softmax", 3)                                       \
  X("_log_softmax_backward_data", 4)                         \
  X("_native_batch_norm_legit", 8)                           \
  X("_native_batch_norm_legit.no_stats", 6)                  \
  X("_native_batch_norm_legit_no_training", 7)               \
  X("_pdist_forward", 2)                                     \
  X("_softmax", 3)                                           \
  X("_softmax_backward_data", 4)                             \
  X("_to_copy", 3)                                           \
  X("_upsample_nearest_exact2d", 4)                          \
  X("abs", 1)                                                \
  X("acos", 1)                                               \
  X("acosh", 1)                                              \
  X("adaptive_avg_pool1d", 2)                                \
  X("adaptive_max_pool1d", 2)                                \
  X("adaptive_max_pool2d", 2)                                \
  X("adaptive_max_pool2d_backward", 3)                       \
  X("adaptive_max_pool3d", 2)                                \
  X("adaptive_max_pool3d_backward", 3)                       \
  X("add.Scalar", 3)                                         \
  X("add.Tensor", 3)                                         \
  X("addcdiv", 4)                                            \
  X("addcmul", 4)                                            \
  X("addmm", 5)                                              \
  X("all", 1)                                                \
  X("all.dim", 3)                                            \
  X("all.dims", 3)                                           \
  X("amax", 3)                                               \
  X("amin", 3)                                               \
  X("any", 1)                                                \
  X("any.dim", 3)                                            \
  X("any.dims", 3)                                           \
  X("arange.start_step", 4)                                  \
  X("argmax", 3)                                             \
  X("argmin", 3)                                             \
  X("asin", 1)                                               \
  X("asinh", 1)                                              \
  X("atan", 1)                                               \
  X("atan2", 2)                                              \
  X("atanh", 1)                                              \
  X("avg_pool1d", 6)                                         \
  X("avg_pool2d", 7)                                         \
  X("avg_pool2d_backward", 8)                                \
  X("avg_pool3d", 7)                                         \
  X("avg_pool3d_backward", 8)                                \
  X("bernoulli", 2)                                          \
  X("bernoulli_.float", 3)                                   \
  X("binary_cross_entropy_with_logits", 5)                   \
  X("bitwise_and.Scalar", 2)                                 \
  X("bitwise_and.Tensor", 2)                                 \
  X("bitwise_left_shift.Tensor", 2)                          \
  X("bitwise_left_shift.Tensor_Scalar", 2)                   \
  X("bitwise_not", 1)                                        \
  X("bitwise_or.Scalar", 2)                                  \
  X("bitwise_or.Tensor", 2)                                  \
  X("bitwise_right_shift.Tensor", 2)                         \
  X("bitwise_right_shift.Tensor_Scalar", 2)                  \
  X("bitwise_xor.Scalar", 2)                                 \
  X("bitwise_xor.Tensor", 2)                                 \
  X("bmm", 2)                                                \
  X("cat", 2)                                                \
  X("ceil", 1)                                               \
  X("clamp", 3)                                              \
  X("clamp.Tensor", 3)                                       \
  X("clone", 1)                                              \
  X("col2im", 6)                                             \
  X("constant_pad_nd", 3)                                    \
  X("convolution", 9)                                        \
  X("convolution_backward", 11)                              \
  X("copy", 3)                                               \
  X("copy_", 3)                                              \
  X("cos", 1)                                                \
  X("cosh", 1)                                               \
  X("cross_entropy_loss", 6)                                 \
  X("cumprod", 3)                                            \
  X("cumsum", 3)                                             \
  X("div.Scalar", 2)                                         \
  X("div.Scalar_mode", 3)                                    \
  X("div.Tensor", 2)                                         \
  X("div.Tensor_mode", 3)                                    \
  X("elu", 4)                                                \
  X("elu_backward", 6)                                       \
  X("embedding", 5)                                          \
  X("embedding_dense_backward", 5)                           \
  X("eq.Scalar", 2)                                          \
  X("eq.Tensor", 2)                                          \
  X("erf", 1)                                                \
  X("exp", 1)                                                \
  X("exp2", 1)                                               \
  X("expm1", 1)                                              \
  X("fill.Scalar", 2)                                        \
  X("fill_.Scalar", 2)                                       \
  X("fill_.Tensor", 2)                                       \
  X("flip", 2)                                               \
  X("floor", 1)                                              \
  X("fmod.Scalar", 2)                                        \
  X("fmod.Tensor", 2)                                        \
  X("full", 3)                                               \
  X("full_like", 3)                                          \
  X("gather", 4)                                             \
  X("ge.Scalar", 2)                                          \
  X("ge.Tensor", 2)                                          \
  X("gelu", 2)                                               \
  X("gelu_backward", 3)                                      \
  X("glu", 2)                                                \
  X("glu_backward", 3)                                       \
  X("grid_sampler_2d", 5)                                    \
  X("grid_sampler_2d_backward", 7)                           \
  X("gt.Scalar", 2)                                          \
  X("gt.Tensor", 2)                                          \
  X("hardswish", 1)                                          \
  X("hardtanh", 3)                                           \
  X("hardtanh_backward", 4)                                  \
  X("huber_loss", 4)                                         \
  X("im2col", 5)                                             \
  X("index.Tensor", 2)                                       \
  X("index_add", 5)                                          \
  X("index_put", 4)                                          \
  X("index_select", 3)                                       \
  X("isinf", 1)                                              \
  X("isnan", 1)                                              \
  X("keyway::accumulate_confusion_", 4)                      \
  X("keyway::accumulate_mean_", 3)                           \
  X("keyway::attention", 8)                                  \
  X("keyway::attention_backward", 11)                        \
  X("keyway::attention_decode", 7)                           \
  X("keyway::attention_paged", 10)                           \
  X("keyway::attention_varlen", 9)                           \
  X("keyway::box_iou", 2)                                    \
  X("keyway::bsr_linear", 5)                                 \
  X("keyway::clip_grad_norm_", 3)                            \
  X("keyway::f8_linear", 6)                                  \
  X("keyway::generalized_box_iou", 2)                        \
  X("keyway::int4_linear", 5)                                \
  X("keyway::int4_pack", 1)                                  \
  X("keyway::int8_linear", 6)                                \
  X("keyway::rope", 5)                                       \
  X("keyway::sparse24_compress", 1)                          \
  X("keyway::sparse24_linear", 4)                            \
  X("keyway::swiglu", 2)                                     \
  X("keyway::swiglu_backward", 3)                            \
  X("le.Scalar", 2)                                          \
  X("le.Tensor", 2)                                          \
  X("leaky_relu", 2)                                         \
  X("leaky_relu_backward", 4)                                \
  X("lerp.Scalar", 3)                                        \
  X("lerp.Tensor", 3)                                        \
  X("log", 1)                                                \
  X("log10", 1)                                              \
  X("log1p", 1)                                              \
  X("log2", 1)                                               \
  X("logical_and", 2)                                        \
  X("logical_not", 1)                                        \
  X("logical_or", 2)                                         \
  X("logical_xor", 2)                                        \
  X("logsumexp", 3)                                          \
  X("lt.Scalar", 2)                                          \
  X("lt.Tensor", 2)                                          \
  X("masked_fill.Scalar", 3)                                 \
  X("masked_fill.Tensor", 3)                                 \
  X("masked_scatter", 3)                                     \
  X("masked_select", 2)                                      \
  X("max", 1)                                                \
  X("max.dim", 3)                                            \
  X("max_pool1d_with_indices", 6)                            \
  X("max_pool2d_with_indices", 6)                            \
  X("max_pool2d_with_indices_backward", 8)                   \
  X("max_pool3d_with_indices", 6)                            \
  X("max_pool3d_with_indices_backward", 8)                   \
  X("maximum", 2)                                            \
  X("mean", 2)                                               \
  X("mean.dim", 4)                                           \
  X("min", 1)                                                \
  X("min.dim", 3)                                            \
  X("minimum", 2)                                            \
  X("mm", 2)                                                 \
  X("mse_loss", 3)                                           \
  X("mse_loss_backward", 4)                                  \
  X("mul.Scalar", 2)                                         \
  X("mul.Tensor", 2)                                         \
  X("multinomial", 4)                                        \
  X("native_batch_norm_backward", 10)                        \
  X("native_dropout", 4)                                     \
  X("native_dropout_backward", 3)                            \
  X("native_group_norm", 8)                                  \
  X("native_group_norm_backward", 10)                        \
  X("native_layer_norm", 5)                                  \
  X("native_layer_norm_backward", 8)                         \
  X("ne.Scalar", 2)                                          \
  X("ne.Tensor", 2)                                          \
  X("neg", 1)                                                \
  X("nll_loss2d_backward", 7)                                \
  X("nll_loss2d_forward", 5)                                 \
  X("nll_loss_backward", 7)                                  \
  X("nll_loss_forward", 5)                                   \
  X("nonzero", 1)                                            \
  X("normal_", 4)                                            \
  X("pow.Scalar", 2)                                         \
  X("pow.Tensor_Scalar", 2)                                  \
  X("pow.Tensor_Tensor", 2)                                  \
  X("prod", 2)                                               \
  X("prod.dim_int", 4)                                       \
  X("quantized_decomposed::dequantize_per_channel", 8)       \
  X("quantized_decomposed::dequantize_per_tensor", 7)        \
  X("quantized_decomposed::dequantize_per_tensor.tensor", 7) \
  X("quantized_decomposed::quantize_per_channel", 7)         \
  X("quantized_decomposed::quantize_per_tensor", 6)          \
  X("quantized_decomposed::quantize_per_tensor.tensor", 6)   \
  X("rand", 3)                                               \
  X("randint", 4)                                            \
  X("randint.low", 5)                                        \
  X("randn", 3)                                              \
  X("random_.from", 4)                                       \
  X("randperm", 3)                                           \
  X("reciprocal", 1)                                         \
  X("reflection_pad1d", 2)                                   \
  X("reflection_pad1d_backward", 3)                          \
  X("reflection_pad2d", 2)                                   \
  X("reflection_pad2d_backward", 3)                          \
  X("reflection_pad3d", 2)                                   \
  X("reflection_pad3d_backward", 3)                          \
  X("relu", 1)                                               \
  X("remainder.Scalar", 2)                                   \
  X("remainder.Scalar_Tensor", 2)                            \
  X("remainder.Tensor", 2)                                   \
  X("repeat", 2)                                             \
  X("replication_pad1d", 2)                                  \
  X("replication_pad1d_backward", 3)                         \
  X("replication_pad2d", 2)                                  \
  X("replication_pad2d_backward", 3)                         \
  X("replication_pad3d", 2)                                  \
  X("replication_pad3d_backward", 3)                         \
  X("rms_norm", 4)                                           \
  X("roll", 3)                                               \
  X("round", 1)                                              \
  X("round.decimals", 2)                                     \
  X("rsqrt", 1)                                              \
  X("scaled_dot_product_attention", 8)                       \
  X("scatter.src", 4)                                        \
  X("scatter.value", 4)                                      \
  X("scatter_add", 4)                                        \
  X("scatter_reduce.two", 6)                                 \
  X("searchsorted.Tensor", 6)                                \
  X("select_scatter", 4)                                     \
  X("sigmoid", 1)                                            \
  X("sigmoid_backward", 2)                                   \
  X("sign", 1)                                               \
  X("silu", 1)                                               \
  X("silu_backward", 2)                                      \
  X("sin", 1)                                                \
  X("sinh", 1)                                               \
  X("slice_scatter", 6)                                      \
  X("softplus", 3)                                           \
  X("softplus_backward", 4)                                  \
  X("sort", 3)                                               \
  X("sort.stable", 4)                                        \
  X("sqrt", 1)                                               \
  X("sub.Scalar", 3)                                         \
  X("sub.Tensor", 3)                                         \
  X("sum", 2)                                                \
  X("sum.dim_IntList", 4)                                    \
  X("tan", 1)                                                \
  X("tanh", 1)                                               \
  X("tanh_backward", 2)                                      \
  X("threshold", 3)                                          \
  X("threshold_backward", 3)                                 \
  X("topk", 5)                                               \
  X("torchvision::_roi_align_backward", 11)                  \
  X("torchvision::nms", 3)                                   \
  X("torchvision::roi_align", 7)                             \
  X("tril", 2)                                               \
  X("triu", 2)                                               \
  X("trunc", 1)                                              \
  X("uniform_", 4)                                           \
  X("upsample_bicubic2d", 5)                                 \
  X("upsample_bilinear2d", 5)                                \
  X("upsample_bilinear2d_backward", 6)                       \
  X("upsample_linear1d", 4)                                  \
  X("upsample_nearest1d", 3)                                 \
  X("upsample_nearest2d", 4)                                 \
  X("upsample_nearest2d_backward", 5)                        \
  X("upsample_nearest3d", 5)                                 \
  X("upsample_trilinear3d", 6)                               \
  X("var.correction", 4)                                     \
  X("var.dim", 4)                                            \
  X("var_mean.correction", 4)                                \
  X("where.self", 3)

/* How many arguments an op of the table has in these headers; 0 for another. For kernels that take all of them: a host
 * of a later version, whose schema has more, calls them where those have their defaults. */
static inline uint32_t kw_known_args(const char *op) {
  static const struct {
    const char *op;
    uint32_t count;
  } ops[] = {
#define KW_KNOWN_ARGS_ROW(op, count) {op, count},
      KW_KNOWN_ARGS_LIST(KW_KNOWN_ARGS_ROW)
#undef KW_KNOWN_ARGS_ROW
  };
  size_t low = 0, high = sizeof ops / sizeof ops[0];
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const char *a = op, *b = ops[middle].op;
    while (*a != 0 && *a == *b) a++, b++;
    if (*a == *b) return ops[middle].count;
    if ((unsigned char)*a < (unsigned char)*b) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* KEYWAY_KNOWN_ARGS_H */
