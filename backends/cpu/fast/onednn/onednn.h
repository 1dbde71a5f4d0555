/* SPDX-License-Identifier: Apache-2.0
 *
 * oneDNN, of whichever major version there is: f32 products and convolutions. It is opened when something asks for it
 * the first time, never linked, and never closed: it keeps code that it has generated.
 *
 * Everything here computes on the calling thread alone, whatever OpenMP would do, and leaves what that thread has set
 * for OpenMP as it was. So the bits of a result follow from the sizes of what is computed.
 */
#ifndef KEYWAY_CPU_FAST_ONEDNN_H
#define KEYWAY_CPU_FAST_ONEDNN_H

#include <keyway/types.h>

#include <stdbool.h>

/* Whether there is a oneDNN that can be used: one that computes on the CPU only, with OpenMP or serially. Never in a
 * process that was forked from one that had it open, nor in a build for ThreadSanitizer. Opens it. */
bool kw_onednn_is_there(void);

/* A matrix in memory: dense rows or, transposed, dense columns, `step` elements apart. */
typedef struct kw_onednn_matrix {
  bool transposed;
  int64_t step;
  const float *at;
} kw_onednn_matrix;

/* out = alpha * (a @ b) + beta * out, [rows, k] x [k, columns]; beta 0 does not read out, whose rows are dense. */
kw_status kw_onednn_product(int64_t rows, int64_t k, int64_t columns, float alpha, kw_onednn_matrix a,
                            kw_onednn_matrix b, float beta, float *out, int64_t out_step);

/* ---- Convolution ------------------------------------------------------------------------------------------------- */

/* The three tensors of a convolution and its gradients, as conv.inc names them: the window moves over the field
 * [n, b, position...]; there are places [n, a, place...] and a weight [a, b / groups, tap...], or with several groups
 * [groups, a / groups, b / groups, tap...]. */
typedef enum kw_onednn_operand {
  KW_ONEDNN_FIELD,
  KW_ONEDNN_WEIGHT,
  KW_ONEDNN_PLACES,
  KW_ONEDNN_OPERANDS
} kw_onednn_operand;

#define KW_ONEDNN_RANK 6
#define KW_ONEDNN_SPATIAL 3

typedef struct kw_onednn_tensor {
  uint32_t rank;
  int64_t shape[KW_ONEDNN_RANK];
  int64_t strides[KW_ONEDNN_RANK]; /* elements */
} kw_onednn_tensor;

typedef struct kw_onednn_conv_info {
  kw_onednn_operand result; /* which of the three is computed from the others */
  bool has_bias;            /* of places that are the result */
  kw_onednn_tensor tensors[KW_ONEDNN_OPERANDS];
  int64_t stride[KW_ONEDNN_SPATIAL], dilation[KW_ONEDNN_SPATIAL]; /* dilation as oneDNN has it: 0 is none */
  int64_t padding[KW_ONEDNN_SPATIAL], padding_end[KW_ONEDNN_SPATIAL];
} kw_onednn_conv_info;

typedef struct kw_onednn_conv kw_onednn_conv;

/* KW_ERR_NOT_IMPLEMENTED: oneDNN has no such convolution, or only one that multiplies what lies outside the field. */
kw_status kw_onednn_conv_create(const kw_onednn_conv_info *info, kw_onednn_conv **out_conv);
void kw_onednn_conv_destroy(kw_onednn_conv *conv);

/* An operand as the convolution wants it: bytes of that, 0 where it is taken as it lies or is the result; and making it
 * so. */
size_t kw_onednn_conv_packed_size(const kw_onednn_conv *conv, kw_onednn_operand operand);
kw_status kw_onednn_conv_pack(const kw_onednn_conv *conv, kw_onednn_operand operand, const float *from,
                              void *out_packed);

/* Computes. `packed`: operands that are already as they are wanted, a weight among them if it has a packed size; NULL
 * for others. `room`: kw_onednn_conv_room bytes. Any number of threads. */
size_t kw_onednn_conv_room(const kw_onednn_conv *conv);
kw_status kw_onednn_conv_run(const kw_onednn_conv *conv, float *const at[KW_ONEDNN_OPERANDS],
                             const void *const packed[KW_ONEDNN_OPERANDS], const float *bias, void *room);

#endif /* KEYWAY_CPU_FAST_ONEDNN_H */
