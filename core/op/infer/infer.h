/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside inference: what the rules of the op table share. Entry points are in op.h.
 */
#ifndef KEYWAY_CORE_INFER_H
#define KEYWAY_CORE_INFER_H

#include "op/op.h"

typedef struct kw_infer_dims {
  uint32_t rank;
  int64_t sizes[KW_MAX_RANK];
} kw_infer_dims;

/* KW_ERR_INVALID_ARGUMENT, "op: argument 'name': ...". */
kw_status kw_infer_fail(const kw_op *op, uint32_t index, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* "[2, 3]" */
#define KW_SHAPE_TEXT (KW_MAX_RANK * 22 + 3)
const char *kw_shape_text(uint32_t rank, const int64_t *sizes, char text[KW_SHAPE_TEXT]);

/* The same of a tensor argument: "expected WANTED, got [2, 3]". */
kw_status kw_infer_fail_shape(const kw_op *op, const kw_value *args, uint32_t index, const char *wanted);

/* The argument with this name, or NULL. */
const kw_value *kw_infer_find_arg(const kw_op *op, const kw_value *args, const char *name);
static inline uint32_t kw_infer_arg_index(const kw_value *args, const kw_value *arg) {
  return (uint32_t)(arg - args);
}

/* Marks dimension `dim` (negative from the end; a scalar has one of size 1) in *mask. */
kw_status kw_infer_mark_dim(const kw_op *op, uint32_t index, const kw_tensor_ref *self, int64_t dim, uint32_t *mask);

/* Broadcasts `to` and a tensor, right-aligned, into `to`. With `fixed`, `to` is the shape of what that names ("self")
 * and must not change. */
kw_status kw_infer_broadcast(const kw_op *op, uint32_t index, const kw_tensor_ref *tensor, const char *fixed,
                             kw_infer_dims *to);

/* The shape of a tensor as dims. */
void kw_infer_take_shape(const kw_tensor_ref *tensor, kw_infer_dims *out);
/* Argument "dim" as a dimension of `self`. */
kw_status kw_infer_find_dim(const kw_op *op, const kw_value *args, const kw_tensor_ref *self, uint32_t *out_dim);
/* Indices that can choose among `size` elements. */
kw_status kw_infer_check_indices(const kw_op *op, uint32_t arg, const kw_tensor_ref *indices, int64_t size);

/* Result rules (infer_dtype.c). */
kw_status kw_infer_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);
kw_dtype kw_infer_result_dtype(const kw_op *op, const kw_value *args, kw_dtype key, uint32_t result);
/* The arguments that are cast to the key dtype before a kernel sees them, as a mask. */
uint32_t kw_infer_casts(const kw_op *op, const kw_value *args, kw_dtype key);
/* KW_OK when the op is defined for this dtype. The message blames the argument that brings it; `why` goes behind its
 * name. */
kw_status kw_infer_check_dtype(const kw_op *op, const kw_value *args, kw_dtype dtype, const char *why);

/* What single ops demand beyond the rules (infer_rules.c). */
kw_status kw_infer_check_rules(const kw_op *op, const kw_value *args, kw_dtype key);

/* Shape rules of the ops that join, choose and place elements (infer_index.c), as infer_shape.c has them. */
kw_status kw_infer_cat(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_embedding(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_embedding_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_index_select(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_gather(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_scatter(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_indexing(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_index_put(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);

/* Selection by masks, and topk (infer_select.c). */
kw_status kw_infer_masked_select(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_masked_scatter(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_topk(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_nonzero(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_scatter_reduce(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_index_add(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);

/* Distances and Fourier transforms (infer_transform.c). */
kw_status kw_infer_cdist(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_pdist(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_fft(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);

/* Shape rules of the ops that place elements elsewhere (infer_place.c). */
kw_status kw_infer_repeat(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_flip(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_roll(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_triangle(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_select_scatter(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_slice_scatter(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_pad(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_pad_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_pad_border(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);

/* What random ops demand of the numbers they are given (infer_random.c); KW_OK for other ops. */
kw_status kw_infer_check_random(const kw_op *op, const kw_value *args, kw_dtype key);
kw_status kw_infer_count(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_multinomial(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);

/* Convolution and columns (infer_conv.c). */
kw_status kw_infer_convolution(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_convolution_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_im2col(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_col2im(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);

/* Resampling (infer_resample.c). */
kw_status kw_infer_upsample(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_upsample_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_grid_sampler(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_grid_sampler_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);

/* Normalisation and softmax (infer_norm.c). */
kw_status kw_infer_norm(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
/* That "normalized_shape" names the last dimensions of "input", the first of them *out_outer, and that "weight" and
 * "bias" have that shape. */
kw_status kw_infer_check_normalized(const kw_op *op, const kw_value *args, uint32_t *out_outer);
kw_status kw_infer_softmax_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);
kw_status kw_infer_softmax_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_softmax_backward_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);

/* Normalisation of channels, backwards of all (infer_channel.c). */
kw_status kw_infer_batch_norm(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_batch_norm_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_group_norm(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_group_norm_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_norm_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_stats_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);
kw_dtype kw_infer_stats_dtype(const kw_op *op, const kw_value *args, kw_dtype key, uint32_t result);

/* Losses and their backwards (infer_loss.c). */
kw_status kw_infer_loss(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_loss_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_nll_loss(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_nll_loss_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_cross_entropy(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);

/* Pools (infer_pooling.c). */
kw_status kw_infer_pool(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_adaptive_pool(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_pool_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
/* Gated activations and rotary positions (infer_gated.c). */
kw_status kw_infer_glu(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_glu_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_same(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_rope(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);

/* Embedding bags (infer_bag.c). */
kw_status kw_infer_bag_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);
kw_status kw_infer_embedding_bag(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);

/* Object detection (infer_detection.c). */
kw_status kw_infer_box_pairs(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_nms(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_roi_align(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_roi_align_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);

/* Attention (infer_attention.c). */
kw_status kw_infer_attention_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);
kw_status kw_infer_sdpa(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_attention(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_attention_varlen(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_attention_paged(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_attention_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
/* Quantisation (infer_quant.c). Tensors of these ops have one dtype or dtypes of their own, and are not cast. */
bool kw_infer_is_quant(const kw_op *op);
kw_status kw_infer_quant_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);
kw_status kw_infer_quantize(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);

/* Linear layers with packed, scaled or sparse weights (infer_linear.c). */
kw_status kw_infer_linear(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_int4_linear(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_sparse24_linear(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_bsr_linear(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_int4_pack(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_sparse24_compress(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);

/* Optimisers, scaled gradients, metrics (infer_training.c). */
kw_status kw_infer_own_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);
kw_status kw_infer_lists(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_accumulate_mean(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
kw_status kw_infer_accumulate_confusion(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);

/* Shape rules (infer_shape.c): the dims of every result; *out_expand: tensor arguments are to be expanded to result 0.
 */
kw_status kw_infer_shape(const kw_op *op, const kw_value *args, kw_infer_dims out_dims[KW_MAX_RESULTS],
                         bool *out_expand);

#endif /* KEYWAY_CORE_INFER_H */
