/* SPDX-License-Identifier: Apache-2.0
 *
 * Result shapes, by the shape rules of the op table.
 */
#include "op/infer/infer.h"
#include "base/error.h"
#include "base/promote.h"
#include "base/scalar.h"
#include "tensor/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *kw_shape_text(uint32_t rank, const int64_t *sizes, char text[KW_SHAPE_TEXT]) {
  size_t used = 0;
  text[used++] = '[';
  for (uint32_t i = 0; i < rank; ++i) {
    used += (size_t)snprintf(text + used, KW_SHAPE_TEXT - used, i ? ", %" PRId64 : "%" PRId64, sizes[i]);
  }
  text[used++] = ']';
  text[used] = '\0';
  return text;
}

kw_status kw_infer_broadcast(const kw_op *op, uint32_t index, const kw_tensor_ref *tensor, const char *fixed,
                             kw_infer_dims *to) {
  char a[KW_SHAPE_TEXT], b[KW_SHAPE_TEXT];
  kw_infer_dims joint = *to;
  bool changed = tensor->rank > to->rank;
  if (changed) {
    uint32_t more = tensor->rank - to->rank;
    memmove(joint.sizes + more, joint.sizes, to->rank * sizeof(int64_t));
    for (uint32_t i = 0; i < more; ++i) joint.sizes[i] = 1;
    joint.rank = tensor->rank;
  }
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    int64_t *size = &joint.sizes[joint.rank - 1 - i], other = tensor->shape[tensor->rank - 1 - i];
    if (*size == other || other == 1) continue;
    changed = true;
    if (*size != 1 && !fixed) {
      return kw_infer_fail(
          op, index, "shapes %s and %s do not broadcast: %" PRId64 " and %" PRId64 " differ and neither is 1",
          kw_shape_text(to->rank, to->sizes, a), kw_shape_text(tensor->rank, tensor->shape, b), *size, other);
    }
    *size = other;
  }
  if (fixed && changed) {
    return kw_infer_fail(op, index, "shape %s does not broadcast to %s, the shape of '%s'",
                         kw_shape_text(tensor->rank, tensor->shape, b), kw_shape_text(to->rank, to->sizes, a), fixed);
  }
  *to = joint;
  return KW_OK;
}

static bool has_shape(const kw_tensor_ref *tensor, const kw_infer_dims *s) {
  return tensor->rank == s->rank && memcmp(tensor->shape, s->sizes, s->rank * sizeof(int64_t)) == 0;
}

static kw_status infer_broadcast(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  const bool like_first = op->row.shape == KW_SHAPE_INPLACE || op->row.shape == KW_SHAPE_LIKE;
  const char *fixed = like_first ? op->schema.args[0].name : NULL;
  bool first = true;
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    if (args[i].tag != KW_TAG_TENSOR) continue;
    kw_status status = KW_OK;
    if (first) {
      out->rank = args[i].u.tensor->rank;
      memcpy(out->sizes, args[i].u.tensor->shape, sizeof out->sizes);
    } else {
      status = kw_infer_broadcast(op, i, args[i].u.tensor, fixed, out);
    }
    if (status != KW_OK) return status;
    first = false;
  }
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    *out_expand = *out_expand || (args[i].tag == KW_TAG_TENSOR && !has_shape(args[i].u.tensor, out));
  }
  return KW_OK;
}

/* Marks dimension `dim` (negative from the end; a scalar has one of size 1) in *mask. */
kw_status kw_infer_mark_dim(const kw_op *op, uint32_t index, const kw_tensor_ref *self, int64_t dim, uint32_t *mask) {
  int64_t rank = self->rank ? self->rank : 1, at = dim < 0 ? dim + rank : dim;
  if (at < 0 || at >= rank) {
    return kw_infer_fail(op, index,
                         "dimension %" PRId64 " is outside [%" PRId64 ", %" PRId64 "] of a tensor of rank %u", dim,
                         -rank, rank - 1, self->rank);
  }
  if (*mask >> at & 1) return kw_infer_fail(op, index, "dimension %" PRId64 " appears twice", at);
  *mask |= 1u << at;
  return KW_OK;
}

/* The dimensions that a reduction removes, as a mask; "dim" none or empty = all, but an empty list of any.dims = none.
 */
static kw_status reduced_dims(const kw_op *op, const kw_value *args, uint32_t *out_mask) {
  const kw_tensor_ref *self = args[0].u.tensor;
  const kw_value *dim = kw_infer_find_arg(op, args, "dim");
  const bool is_list = dim && dim->tag == KW_TAG_INT_LIST, is_int = dim && dim->tag == KW_TAG_INT;
  kw_status status = KW_OK;
  uint32_t mask = 0;
  if (is_int) status = kw_infer_mark_dim(op, kw_infer_arg_index(args, dim), self, dim->u.i, &mask);
  for (uint32_t i = 0; is_list && i < dim->count && status == KW_OK; ++i) {
    status = kw_infer_mark_dim(op, kw_infer_arg_index(args, dim), self, dim->u.ints[i], &mask);
  }
  const bool said = is_int || (is_list && (dim->count || op->row.result == KW_RESULT_ANY));
  *out_mask = said ? mask : (1u << self->rank) - 1;
  return status;
}

static bool has_identity(const kw_op *op) {
  return op->row.result == KW_RESULT_SUM || op->row.result == KW_RESULT_MEAN || op->row.result == KW_RESULT_ANY ||
         op->row.result == KW_RESULT_FLOAT;
}

/* All results have the dims of the first. */
static void repeat_dims(const kw_op *op, kw_infer_dims *out) {
  for (uint32_t i = 1; i < op->schema.result_count; ++i) out[i] = out[0];
}

static kw_status infer_reduction(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  uint32_t mask;
  kw_status status = reduced_dims(op, args, &mask);
  if (status != KW_OK) return status;
  const kw_value *keepdim = kw_infer_find_arg(op, args, "keepdim");
  out->rank = 0;
  for (uint32_t i = 0; i < self->rank; ++i) {
    bool reduced = mask >> i & 1;
    if (reduced && self->shape[i] == 0 && !has_identity(op)) {
      char text[KW_SHAPE_TEXT];
      return kw_infer_fail(op, 0, "shape %s has no elements along dimension %u, so there is nothing to choose from",
                           kw_shape_text(self->rank, self->shape, text), i);
    }
    if (!reduced) out->sizes[out->rank++] = self->shape[i];
    if (reduced && keepdim && keepdim->u.b) out->sizes[out->rank++] = 1;
  }
  repeat_dims(op, out);
  return KW_OK;
}

static kw_status infer_scan(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  const kw_value *dim = kw_infer_find_arg(op, args, "dim");
  uint32_t mask = 0;
  out->rank = self->rank;
  memcpy(out->sizes, self->shape, self->rank * sizeof(int64_t));
  repeat_dims(op, out);
  return kw_infer_mark_dim(op, kw_infer_arg_index(args, dim), self, dim->u.i, &mask);
}

/* The product of arguments `first` and `first` + 1: matrices, or with `batch` lists of matrices, as many in both. */
static kw_status infer_product(const kw_op *op, const kw_value *args, uint32_t first, bool batch, kw_infer_dims *out) {
  const kw_tensor_ref *a = args[first].u.tensor, *b = args[first + 1].u.tensor;
  const uint32_t rank = batch ? 3 : 2;
  char text_a[KW_SHAPE_TEXT], text_b[KW_SHAPE_TEXT];
  for (uint32_t i = first; i < first + 2; ++i) {
    const kw_tensor_ref *tensor = args[i].u.tensor;
    if (tensor->rank != rank) {
      return kw_infer_fail(
          op, i,
          batch ? "expected rank 3, matrices one after the other, got shape %s" : "expected a matrix, got shape %s",
          kw_shape_text(tensor->rank, tensor->shape, text_a));
    }
  }
  if (batch && a->shape[0] != b->shape[0]) {
    return kw_infer_fail(op, first + 1, "shapes %s and %s cannot be multiplied: %" PRId64 " matrices meet %" PRId64,
                         kw_shape_text(rank, a->shape, text_a), kw_shape_text(rank, b->shape, text_b), a->shape[0],
                         b->shape[0]);
  }
  if (a->shape[rank - 1] != b->shape[rank - 2]) {
    return kw_infer_fail(op, first + 1,
                         "shapes %s and %s cannot be multiplied: %" PRId64 " columns meet %" PRId64 " rows",
                         kw_shape_text(rank, a->shape, text_a), kw_shape_text(rank, b->shape, text_b),
                         a->shape[rank - 1], b->shape[rank - 2]);
  }
  out->rank = rank;
  memcpy(out->sizes, a->shape, (rank - 1) * sizeof(int64_t));
  out->sizes[rank - 1] = b->shape[rank - 1];
  return KW_OK;
}

static kw_status infer_mm(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  return infer_product(op, args, 0, false, out);
}

static kw_status infer_bmm(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  return infer_product(op, args, 0, true, out);
}

static kw_status infer_addmm(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = infer_product(op, args, 1, false, out);
  return status == KW_OK ? kw_infer_broadcast(op, 0, args[0].u.tensor, "mat1 @ mat2", out) : status;
}

static kw_status infer_size(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_value *size = kw_infer_find_arg(op, args, "size");
  const uint32_t index = kw_infer_arg_index(args, size);
  if (size->count > KW_MAX_RANK) {
    return kw_infer_fail(op, index, "rank %u is over the maximum of %d", size->count, KW_MAX_RANK);
  }
  for (uint32_t d = 0; d < size->count; ++d) {
    if (size->u.ints[d] < 0) {
      return kw_infer_fail(op, index, "size %" PRId64 " of dimension %u is negative", size->u.ints[d], d);
    }
  }
  out->rank = size->count;
  if (size->count > 0) memcpy(out->sizes, size->u.ints, size->count * sizeof(int64_t)); /* an empty list may be NULL */
  return KW_OK;
}

static int64_t as_integer(const kw_value *scalar) {
  return scalar->kind == KW_SCALAR_BOOL ? scalar->u.b : scalar->u.i;
}

/* In integers without overflow: the distance and the step as unsigned numbers. */
static kw_status count_integers(const kw_op *op, const kw_value *args, uint64_t *out_count) {
  const int64_t start = as_integer(&args[0]), end = as_integer(&args[1]), step = as_integer(&args[2]);
  if (step == 0) return kw_infer_fail(op, 2, "the step is 0");
  if (step > 0 ? start > end : start < end) {
    return kw_infer_fail(op, 2, "steps of %" PRId64 " do not lead from %" PRId64 " to %" PRId64, step, start, end);
  }
  const uint64_t distance = step > 0 ? (uint64_t)end - (uint64_t)start : (uint64_t)start - (uint64_t)end;
  const uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
  *out_count = distance / stride + (distance % stride != 0);
  return KW_OK;
}

/* In f64, as ATen counts. */
static kw_status count_reals(const kw_op *op, const kw_value *args, uint64_t *out_count) {
  double number[3];
  for (uint32_t i = 0; i < 3; ++i) {
    number[i] = kw_scalar_real(&args[i]);
    if (args[i].kind == KW_SCALAR_C128) return kw_infer_fail(op, i, "a complex number has no order");
    if (!isfinite(number[i])) return kw_infer_fail(op, i, "%g is not finite", number[i]);
  }
  if (number[2] == 0) return kw_infer_fail(op, 2, "the step is 0");
  if (number[2] > 0 ? number[0] > number[1] : number[0] < number[1]) {
    return kw_infer_fail(op, 2, "steps of %g do not lead from %g to %g", number[2], number[0], number[1]);
  }
  const double count = ceil((number[1] - number[0]) / number[2]);
  *out_count = count < 0x1p63 ? (uint64_t)count : UINT64_MAX;
  return KW_OK;
}

/* Arguments 0 to 2: start, end, step. */
static kw_status infer_arange(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  bool integers = true;
  for (uint32_t i = 0; i < 3; ++i) integers = integers && args[i].kind <= KW_SCALAR_I64;
  uint64_t count = 0;
  kw_status status = integers ? count_integers(op, args, &count) : count_reals(op, args, &count);
  if (status != KW_OK) return status;
  if (count > INT64_MAX) return kw_infer_fail(op, 1, "in steps of 'step' there would be more than 2^63 - 1 elements");
  *out = (kw_infer_dims){1, {(int64_t)count}};
  return KW_OK;
}

typedef kw_status (*shape_fn)(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);

static const shape_fn shape_rules[] = {
    [KW_SHAPE_BROADCAST] = infer_broadcast,
    [KW_SHAPE_INPLACE] = infer_broadcast,
    [KW_SHAPE_LIKE] = infer_broadcast,
    [KW_SHAPE_REDUCE_ALL] = infer_reduction,
    [KW_SHAPE_REDUCE_DIMS] = infer_reduction,
    [KW_SHAPE_REDUCE_DIM] = infer_reduction,
    [KW_SHAPE_MM] = infer_mm,
    [KW_SHAPE_NORM] = kw_infer_norm,
    [KW_SHAPE_BATCH_NORM] = kw_infer_batch_norm,
    [KW_SHAPE_GROUP_NORM] = kw_infer_group_norm,
    [KW_SHAPE_BATCH_NORM_BACKWARD] = kw_infer_batch_norm_backward,
    [KW_SHAPE_GROUP_NORM_BACKWARD] = kw_infer_group_norm_backward,
    [KW_SHAPE_NORM_BACKWARD] = kw_infer_norm_backward,
    [KW_SHAPE_SOFTMAX_BACKWARD] = kw_infer_softmax_backward,
    [KW_SHAPE_LOSS] = kw_infer_loss,
    [KW_SHAPE_LOSS_BACKWARD] = kw_infer_loss_backward,
    [KW_SHAPE_POOL] = kw_infer_pool,
    [KW_SHAPE_ADAPTIVE_POOL] = kw_infer_adaptive_pool,
    [KW_SHAPE_POOL_BACKWARD] = kw_infer_pool_backward,
    [KW_SHAPE_QUANTIZE] = kw_infer_quantize,
    [KW_SHAPE_LINEAR] = kw_infer_linear,
    [KW_SHAPE_INT4_LINEAR] = kw_infer_int4_linear,
    [KW_SHAPE_SPARSE24_LINEAR] = kw_infer_sparse24_linear,
    [KW_SHAPE_BSR_LINEAR] = kw_infer_bsr_linear,
    [KW_SHAPE_INT4_PACK] = kw_infer_int4_pack,
    [KW_SHAPE_SPARSE24_COMPRESS] = kw_infer_sparse24_compress,
    [KW_SHAPE_NLL_LOSS] = kw_infer_nll_loss,
    [KW_SHAPE_NLL_LOSS_BACKWARD] = kw_infer_nll_loss_backward,
    [KW_SHAPE_CROSS_ENTROPY] = kw_infer_cross_entropy,
    [KW_SHAPE_EMBEDDING_BACKWARD] = kw_infer_embedding_backward,
    [KW_SHAPE_LISTS] = kw_infer_lists,
    [KW_SHAPE_ACCUMULATE_MEAN] = kw_infer_accumulate_mean,
    [KW_SHAPE_ACCUMULATE_CONFUSION] = kw_infer_accumulate_confusion,
    [KW_SHAPE_CAT] = kw_infer_cat,
    [KW_SHAPE_EMBEDDING] = kw_infer_embedding,
    [KW_SHAPE_INDEX_SELECT] = kw_infer_index_select,
    [KW_SHAPE_GATHER] = kw_infer_gather,
    [KW_SHAPE_SCATTER] = kw_infer_scatter,
    [KW_SHAPE_INDEX] = kw_infer_indexing,
    [KW_SHAPE_INDEX_PUT] = kw_infer_index_put,
    [KW_SHAPE_MASKED_SELECT] = kw_infer_masked_select,
    [KW_SHAPE_MASKED_SCATTER] = kw_infer_masked_scatter,
    [KW_SHAPE_TOPK] = kw_infer_topk,
    [KW_SHAPE_NONZERO] = kw_infer_nonzero,
    [KW_SHAPE_CONVOLUTION] = kw_infer_convolution,
    [KW_SHAPE_CONVOLUTION_BACKWARD] = kw_infer_convolution_backward,
    [KW_SHAPE_IM2COL] = kw_infer_im2col,
    [KW_SHAPE_COL2IM] = kw_infer_col2im,
    [KW_SHAPE_UPSAMPLE] = kw_infer_upsample,
    [KW_SHAPE_UPSAMPLE_BACKWARD] = kw_infer_upsample_backward,
    [KW_SHAPE_GRID_SAMPLER] = kw_infer_grid_sampler,
    [KW_SHAPE_GRID_SAMPLER_BACKWARD] = kw_infer_grid_sampler_backward,
    [KW_SHAPE_SIZE] = infer_size,
    [KW_SHAPE_ARANGE] = infer_arange,
    [KW_SHAPE_SCAN] = infer_scan,
    [KW_SHAPE_BMM] = infer_bmm,
    [KW_SHAPE_ADDMM] = infer_addmm,
    [KW_SHAPE_REPEAT] = kw_infer_repeat,
    [KW_SHAPE_FLIP] = kw_infer_flip,
    [KW_SHAPE_ROLL] = kw_infer_roll,
    [KW_SHAPE_TRIANGLE] = kw_infer_triangle,
    [KW_SHAPE_SELECT_SCATTER] = kw_infer_select_scatter,
    [KW_SHAPE_SLICE_SCATTER] = kw_infer_slice_scatter,
    [KW_SHAPE_PAD] = kw_infer_pad,
    [KW_SHAPE_PAD_REFLECT] = kw_infer_pad_border,
    [KW_SHAPE_PAD_REPLICATE] = kw_infer_pad_border,
    [KW_SHAPE_PAD_BACKWARD] = kw_infer_pad_backward,
    [KW_SHAPE_SCATTER_REDUCE] = kw_infer_scatter_reduce,
    [KW_SHAPE_INDEX_ADD] = kw_infer_index_add,
    [KW_SHAPE_BOX_PAIRS] = kw_infer_box_pairs,
    [KW_SHAPE_NMS] = kw_infer_nms,
    [KW_SHAPE_ROI_ALIGN] = kw_infer_roi_align,
    [KW_SHAPE_ROI_ALIGN_BACKWARD] = kw_infer_roi_align_backward,
    [KW_SHAPE_CDIST] = kw_infer_cdist,
    [KW_SHAPE_PDIST] = kw_infer_pdist,
    [KW_SHAPE_FFT] = kw_infer_fft,
    [KW_SHAPE_GLU] = kw_infer_glu,
    [KW_SHAPE_GLU_BACKWARD] = kw_infer_glu_backward,
    [KW_SHAPE_COUNT] = kw_infer_count,
    [KW_SHAPE_MULTINOMIAL] = kw_infer_multinomial,
    [KW_SHAPE_SAME] = kw_infer_same,
    [KW_SHAPE_ROPE] = kw_infer_rope,
    [KW_SHAPE_EMBEDDING_BAG] = kw_infer_embedding_bag,
    [KW_SHAPE_SDPA] = kw_infer_sdpa,
    [KW_SHAPE_ATTENTION] = kw_infer_attention,
    [KW_SHAPE_ATTENTION_VARLEN] = kw_infer_attention_varlen,
    [KW_SHAPE_ATTENTION_PAGED] = kw_infer_attention_paged,
    [KW_SHAPE_ATTENTION_BACKWARD] = kw_infer_attention_backward,
};

kw_status kw_infer_shape(const kw_op *op, const kw_value *args, kw_infer_dims out_dims[KW_MAX_RESULTS],
                         bool *out_expand) {
  return shape_rules[op->row.shape](op, args, out_dims, out_expand);
}
