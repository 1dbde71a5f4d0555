/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside inference: what the rules of the op table share. Entry points are in op.h.
 */
#ifndef KEYWAY_CORE_INFER_H
#define KEYWAY_CORE_INFER_H

#include "base/ref.h"
#include "op/op.h"

typedef struct kw_infer_dims {
  uint32_t rank;
  int64_t sizes[KW_MAX_RANK];
} kw_infer_dims;

/* KW_ERR_INVALID_ARGUMENT, "op: argument 'name': ...". */
kw_status kw_infer_fail(const kw_op *op, uint32_t index, const char *format, ...) __attribute__((format(printf, 3, 4)));

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

/* Result rules (dtype.c). */
kw_status kw_infer_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);
kw_dtype kw_infer_result_dtype(const kw_op *op, const kw_value *args, kw_dtype key, uint32_t result);
/* The arguments that are cast to the key dtype before a kernel sees them, as a mask. */
uint32_t kw_infer_casts(const kw_op *op, const kw_value *args, kw_dtype key);
/* KW_OK when the op is defined for this dtype. The message blames the argument that brings it; `why` goes behind its
 * name. */
kw_status kw_infer_check_dtype(const kw_op *op, const kw_value *args, kw_dtype dtype, const char *why);

/* What single ops demand beyond the rules (rules.c). */
kw_status kw_infer_check_rules(const kw_op *op, const kw_value *args, kw_dtype key);

/* A shape rule: the shape of every result, KW_MAX_RESULTS at most. *out_expand: tensor arguments are to be expanded to
 * result 0. */
typedef kw_status kw_infer_shape_fn(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
#define KW_SHAPE_RULE(name, infer, cases, text) kw_infer_shape_fn kw_infer_##infer;
#include "shape_rules.def"

/* What random ops demand of the numbers they are given (random.c); KW_OK for other ops. */
kw_status kw_infer_check_random(const kw_op *op, const kw_value *args, kw_dtype key);

/* Normalisation and softmax (norm.c). */
/* That "normalized_shape" names the last dimensions of "input", the first of them *out_outer, and that "weight" and
 * "bias" have that shape. */
kw_status kw_infer_check_normalized(const kw_op *op, const kw_value *args, uint32_t *out_outer);
kw_status kw_infer_softmax_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);
kw_status kw_infer_softmax_backward_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);

/* Normalisation of channels, backwards of all (channel.c). */
kw_status kw_infer_stats_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);
kw_dtype kw_infer_stats_dtype(const kw_op *op, const kw_value *args, kw_dtype key, uint32_t result);

/* Embedding bags (bag.c). */
kw_status kw_infer_bag_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);

/* Attention (attention.c). */
kw_status kw_infer_attention_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);

/* Quantisation (quantize.c). Tensors of these ops have one dtype or dtypes of their own, and are not cast. */
bool kw_infer_is_quant(const kw_op *op);
kw_status kw_infer_quant_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);

/* Optimisers, scaled gradients, metrics (training.c). */
kw_status kw_infer_own_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);

/* The shape of every result by the op's shape rule (shape.c). */
kw_infer_shape_fn kw_infer_shape;

#endif /* KEYWAY_CORE_INFER_H */
