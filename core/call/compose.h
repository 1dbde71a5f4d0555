/* SPDX-License-Identifier: Apache-2.0
 *
 * A composition: one call that is made of others, one after the other, with the tensors that lie between them. The
 * first failure ends it: what comes after does nothing, and makes NULL.
 */
#ifndef KEYWAY_CORE_COMPOSE_H
#define KEYWAY_CORE_COMPOSE_H

#include "tensor/tensor.h"

#define KW_COMPOSITION_MAX 160

typedef struct kw_composition {
  kw_stream *stream;
  kw_dtype key;            /* that the call computes on */
  kw_dtype dtype;          /* that its parts compute on: key, or f32 in its place */
  const kw_value *args;    /* of the call */
  uint32_t cast;           /* bit i: a kernel would have argument i in the key dtype */
  const kw_op *const *ops; /* that its row names (op/decompositions.def), ended by NULL */
  kw_status status;
  uint32_t count;
  kw_tensor *made[KW_COMPOSITION_MAX]; /* released at the end */
} kw_composition;

/* The first op that its row names. */
const char *kw_compose_first(const kw_composition *c);

/* Releases what was made; the status of the first failure. */
kw_status kw_compose_end(kw_composition *c);

/* Calls an op with `results` results, all of them into outs or, where those are NULL, into new tensors that are the
 * caller's. outs NULL: no result. Returns c->status. */
kw_status kw_compose_call(kw_composition *c, const char *op, const kw_value *args, uint32_t count, kw_tensor **outs);
kw_status kw_compose_calls(kw_composition *c, const char *op, const kw_value *args, uint32_t count, kw_tensor **outs,
                           uint32_t results);

/* The functions below return tensors that are the composition's. */

/* The one result of a call. */
kw_tensor *kw_compose_op(kw_composition *c, const char *op, uint32_t count, const kw_value *args);
/* KW_OP(c, "add.Tensor", T(x), T(y)) */
#define KW_OP(c, op, ...) \
  kw_compose_op(c, op, sizeof((kw_value[]){__VA_ARGS__}) / sizeof(kw_value), (kw_value[]){__VA_ARGS__})

/* A call whose one result goes into `out`; by a copy where that is a float of another dtype than the parts compute on.
 */
void kw_compose_into(kw_composition *c, kw_tensor *out, const char *op, uint32_t count, const kw_value *args);
#define KW_INTO(c, out, op, ...) \
  kw_compose_into(c, out, op, sizeof((kw_value[]){__VA_ARGS__}) / sizeof(kw_value), (kw_value[]){__VA_ARGS__})

/* kw_compose_into, or kw_compose_op where `out` is NULL. */
kw_tensor *kw_compose_last(kw_composition *c, kw_tensor *out, const char *op, uint32_t count, const kw_value *args);

/* A tensor argument as its value; none where the tensor was not made. */
static inline kw_value T(const kw_tensor *tensor) {
  return tensor ? kw_arg_tensor(tensor) : kw_arg_none();
}

/* The calls that most compositions are made of. */
static inline kw_tensor *kw_compose_sum(kw_composition *c, kw_tensor *a, kw_tensor *b) {
  return KW_OP(c, "add.Tensor", T(a), T(b));
}
static inline kw_tensor *kw_compose_difference(kw_composition *c, kw_tensor *a, kw_tensor *b) {
  return KW_OP(c, "add.Tensor", T(a), T(b), kw_arg_scalar_i64(-1));
}
static inline kw_tensor *kw_compose_product(kw_composition *c, kw_tensor *a, kw_tensor *b) {
  return KW_OP(c, "mul.Tensor", T(a), T(b));
}
static inline kw_tensor *kw_compose_quotient(kw_composition *c, kw_tensor *a, kw_tensor *b) {
  return KW_OP(c, "div.Tensor", T(a), T(b));
}
static inline kw_tensor *kw_compose_le(kw_composition *c, kw_tensor *a, kw_tensor *b) {
  return KW_OP(c, "le.Tensor", T(a), T(b));
}
static inline kw_tensor *kw_compose_and(kw_composition *c, kw_tensor *a, kw_tensor *b) {
  return KW_OP(c, "bitwise_and.Tensor", T(a), T(b));
}
static inline kw_tensor *kw_compose_where(kw_composition *c, kw_tensor *mask, kw_tensor *a, kw_tensor *b) {
  return KW_OP(c, "where.self", T(mask), T(a), T(b));
}

/* Takes what a function of views has made: kw_compose_take(c, kw_tensor_slice(.., &view), view). */
kw_tensor *kw_compose_take(kw_composition *c, kw_status status, kw_tensor *tensor);
/* Releases what was made since there were `since`, but for `kept` and `also`, which may be NULL. */
void kw_compose_drop(kw_composition *c, uint32_t since, const kw_tensor *kept, const kw_tensor *also);

kw_tensor *kw_compose_new(kw_composition *c, kw_dtype dtype, uint32_t rank, const int64_t *shape);
/* Rank 0. */
kw_tensor *kw_compose_number(kw_composition *c, kw_dtype dtype, kw_value scalar);
static inline kw_tensor *kw_compose_real(kw_composition *c, double number) {
  return kw_compose_number(c, c->dtype, kw_arg_scalar_f64(number));
}
static inline kw_tensor *kw_compose_integer(kw_composition *c, kw_dtype dtype, int64_t number) {
  return kw_compose_number(c, dtype, kw_arg_scalar_i64(number));
}
/* The tensor itself, or converted. */
kw_tensor *kw_compose_cast(kw_composition *c, kw_tensor *tensor, kw_dtype dtype);
/* An argument, a tensor or a number, in the dtype that the parts compute on; NULL where it is none. */
kw_tensor *kw_compose_arg(kw_composition *c, const kw_value *arg);
/* All elements in a row: a view, or of a copy. */
kw_tensor *kw_compose_flat(kw_composition *c, kw_tensor *tensor);
/* In another shape of as many elements; what cannot be seen in that shape is copied. */
kw_tensor *kw_compose_view(kw_composition *c, kw_tensor *tensor, uint32_t rank, const int64_t *shape);
/* A dimension's number, counted from the start. */
static inline int64_t kw_compose_dim(int64_t dim, uint32_t rank) {
  return dim < 0 ? dim + (rank > 0 ? (int64_t)rank : 1) : dim;
}
/* How many elements of x go into one of a result of its reduction; 0 where that has none. */
static inline int64_t kw_compose_terms(const kw_tensor *x, const kw_tensor *out) {
  return out->ref.numel > 0 ? x->ref.numel / out->ref.numel : 0;
}
kw_tensor *kw_compose_expand(kw_composition *c, kw_tensor *tensor, uint32_t rank, const int64_t *shape);
kw_tensor *kw_compose_unsqueeze(kw_composition *c, kw_tensor *tensor, int64_t dim);
kw_tensor *kw_compose_select(kw_composition *c, kw_tensor *tensor, int64_t dim, int64_t index);
/* A row along one of `rank` dimensions, of which the others have size 1. */
kw_tensor *kw_compose_along(kw_composition *c, kw_tensor *row, uint32_t dim, uint32_t rank);
/* Elements [start, end) of a dimension. */
kw_tensor *kw_compose_slice(kw_composition *c, kw_tensor *tensor, int64_t dim, int64_t start, int64_t end);
/* 0, 1 .. count - 1 in i64, by adding what is there to its next part: "add.Tensor/i64". */
kw_tensor *kw_compose_iota(kw_composition *c, int64_t count);

/* Fills all of a tensor, strided ones by a copy. */
void kw_compose_fill(kw_composition *c, kw_tensor *tensor, kw_value scalar);
/* Copies; an `out` that is NULL is not wanted. */
void kw_compose_put(kw_composition *c, kw_tensor *out, kw_tensor *tensor);

/* Parts that many compositions have. */
kw_tensor *kw_compose_not(kw_composition *c, kw_tensor *mask); /* "le.Tensor/bool" */
/* |x| into `out`, or a new tensor: "add.Tensor where.self le.Tensor" */
kw_tensor *kw_compose_magnitude(kw_composition *c, kw_tensor *x, kw_tensor *out);
/* The sum or another reduction over `dims`, which stay with size 1. */
kw_tensor *kw_compose_reduce(kw_composition *c, const char *op, kw_tensor *x, const int64_t *dims, uint32_t count);

#endif /* KEYWAY_CORE_COMPOSE_H */
