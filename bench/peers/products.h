/* SPDX-License-Identifier: Apache-2.0
 *
 * What peers share that multiply matrices on the host: a call of mm, addmm or bmm in f32 as one or several row-major
 * products, with memory for them.
 */
#ifndef KEYWAY_BENCH_PRODUCTS_H
#define KEYWAY_BENCH_PRODUCTS_H

#include "../peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct kw_peer_matrix {
  bool transposed; /* its columns are dense */
  int64_t step;    /* elements from one row, or column, to the next */
  float *at;
} kw_peer_matrix;

typedef struct kw_peer_products {
  int64_t count, rows, depth, columns; /* products of [rows, depth] and [depth, columns] */
  kw_peer_matrix left, right;          /* of the first product; the others' follow */
  float *out;
  float *added; /* a row that is put into all rows of the result first, or NULL */
} kw_peer_products;

static inline float *kw_peer_numbers(int64_t count) {
  float *numbers = aligned_alloc(64, ((size_t)count * sizeof *numbers / 64 + 1) * 64);
  for (int64_t i = 0; numbers && i < count; ++i) numbers[i] = (float)(i % 251 + 1) / 252;
  return numbers;
}

static inline bool kw_peer_matrix_of(const kw_tensor_ref *tensor, kw_peer_matrix *out) {
  const int64_t *strides = &tensor->strides[tensor->rank - 2], *shape = &tensor->shape[tensor->rank - 2];
  out->transposed = strides[1] != 1 && shape[1] != 1;
  out->step = out->transposed ? strides[1] : strides[0];
  return tensor->dtype == KW_F32 && (out->transposed ? strides[0] == 1 || shape[0] == 1 : true);
}

static inline void kw_peer_products_free(kw_peer_products *products) {
  free(products->left.at);
  free(products->right.at);
  free(products->out);
  free(products->added);
  free(products);
}

static inline kw_peer_products *kw_peer_products_make(const kw_call *call, char *why, size_t size) {
  const bool adds = strcmp(call->op, "addmm") == 0;
  kw_peer_products *products = NULL;
  snprintf(why, size, "it multiplies dense f32 matrices: mm, bmm and addmm");
  if (!adds && strcmp(call->op, "mm") != 0 && strcmp(call->op, "bmm") != 0) return NULL;
  const kw_tensor_ref *left = call->args[adds].u.tensor, *right = call->args[adds + 1].u.tensor;
  kw_peer_matrix a, b;
  if (!kw_peer_matrix_of(left, &a) || !kw_peer_matrix_of(right, &b)) return NULL;
  products = calloc(1, sizeof *products);
  if (!products) return NULL;
  products->count = left->rank == 3 ? left->shape[0] : 1;
  products->rows = left->shape[left->rank - 2];
  products->depth = left->shape[left->rank - 1];
  products->columns = right->shape[right->rank - 1];
  products->left = a;
  products->right = b;
  products->left.at = kw_peer_numbers(left->numel);
  products->right.at = kw_peer_numbers(right->numel);
  products->out = kw_peer_numbers(products->count * products->rows * products->columns);
  if (adds) products->added = kw_peer_numbers(products->columns);
  if (products->left.at && products->right.at && products->out && (products->added || !adds)) return products;
  snprintf(why, size, "no memory");
  kw_peer_products_free(products);
  return NULL;
}

/* What is added, put into the results; true when there is something. */
static inline bool kw_peer_products_begin(const kw_peer_products *products) {
  for (int64_t row = 0; products->added && row < products->rows; ++row)
    memcpy(products->out + row * products->columns, products->added, (size_t)products->columns * sizeof(float));
  return products->added != NULL;
}

#endif /* KEYWAY_BENCH_PRODUCTS_H */
