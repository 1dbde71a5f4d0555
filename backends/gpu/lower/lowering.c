/* SPDX-License-Identifier: Apache-2.0
 *
 * Dimensions of several operands: ordered, joined where all step evenly, and written to argument blocks.
 */
#include "lower/lowering.h"

#include <string.h>

/* Some dimensions of several operands, outermost first. */
typedef struct dims {
  uint32_t rank;
  uint32_t operands;
  int64_t shape[KW_GPU_RANK];
  int64_t stride[KW_GPU_LOWER_OPERANDS][KW_GPU_RANK];
} dims;

/* Adds a dimension unless it has one element only. */
static void dims_add(dims *list, int64_t extent, const int64_t *strides) {
  if (extent == 1) return;
  list->shape[list->rank] = extent;
  for (uint32_t k = 0; k < list->operands; ++k) list->stride[k][list->rank] = strides[k];
  ++list->rank;
}

static void dims_swap(dims *list, uint32_t a, uint32_t b) {
  int64_t extent = list->shape[a];
  list->shape[a] = list->shape[b];
  list->shape[b] = extent;
  for (uint32_t k = 0; k < list->operands; ++k) {
    int64_t stride = list->stride[k][a];
    list->stride[k][a] = list->stride[k][b];
    list->stride[k][b] = stride;
  }
}

/* Whether dimension a steps further than b: by the first operand that tells. */
static bool dims_wider(const dims *list, uint32_t a, uint32_t b) {
  for (uint32_t k = 0; k < list->operands; ++k)
    if (list->stride[k][a] != list->stride[k][b]) return list->stride[k][a] > list->stride[k][b];
  return false;
}

/* Widest steps first; stable. */
static void dims_sort(dims *list) {
  for (uint32_t d = 1; d < list->rank; ++d)
    for (uint32_t e = d; e > 0 && dims_wider(list, e, e - 1); --e) dims_swap(list, e, e - 1);
}

/* Joins neighbours that every operand steps through evenly. */
static void dims_merge(dims *list) {
  uint32_t kept = 0;
  for (uint32_t d = 1; d < list->rank; ++d) {
    bool even = true;
    for (uint32_t k = 0; k < list->operands; ++k)
      even = even && list->stride[k][kept] == list->stride[k][d] * list->shape[d];
    if (even) {
      list->shape[kept] *= list->shape[d];
      for (uint32_t k = 0; k < list->operands; ++k) list->stride[k][kept] = list->stride[k][d];
    } else {
      ++kept;
      dims_swap(list, kept, d);
    }
  }
  if (list->rank > 0) list->rank = kept + 1;
}

static int64_t dims_numel(const dims *list) {
  int64_t numel = 1;
  for (uint32_t d = 0; d < list->rank; ++d) numel *= list->shape[d];
  return numel;
}

static uint32_t lower_dims(const kw_tensor_ref *const *operands, uint32_t count, bool ordered, kw_i64 *out_shape,
                           kw_i64 (*out_stride)[KW_GPU_RANK]) {
  dims list = {.operands = count};
  for (uint32_t d = 0; d < operands[0]->rank; ++d) {
    int64_t strides[KW_GPU_LOWER_OPERANDS];
    for (uint32_t k = 0; k < count; ++k) strides[k] = operands[k] ? operands[k]->strides[d] : 0;
    dims_add(&list, operands[0]->shape[d], strides);
  }
  if (!ordered) dims_sort(&list);
  dims_merge(&list);
  out_shape[0] = 1;
  for (uint32_t k = 0; k < count; ++k) out_stride[k][0] = 0;
  for (uint32_t d = 0; d < list.rank; ++d) {
    out_shape[d] = list.shape[d];
    for (uint32_t k = 0; k < count; ++k) out_stride[k][d] = list.stride[k][d];
  }
  return list.rank > 0 ? list.rank : 1;
}

uint32_t kw_gpu_lower_dims(const kw_tensor_ref *const *operands, uint32_t count, kw_i64 *out_shape,
                           kw_i64 (*out_stride)[KW_GPU_RANK]) {
  return lower_dims(operands, count, false, out_shape, out_stride);
}

static void lower_elements(const kw_tensor_ref *const *operands, uint32_t count, bool ordered,
                           kw_elementwise *out_block) {
  memset(out_block, 0, sizeof *out_block);
  out_block->rank = lower_dims(operands, count, ordered, out_block->shape, out_block->stride);
  out_block->numel = 1;
  for (kw_i64 d = 0; d < out_block->rank; ++d) out_block->numel *= out_block->shape[d];
  out_block->flat = out_block->rank == 1;
  for (uint32_t k = 0; k < count; ++k)
    if (operands[k] && out_block->numel > 1 && out_block->stride[k][0] != 1) out_block->flat = 0;
}

int64_t kw_gpu_items(const kw_gpu_device *device, const kw_gpu_module *module, kw_dtype dtype, int64_t numel) {
  const int64_t lanes = kw_gpu_lanes(module, dtype, device->vector_bytes);
  const int64_t each = lanes > 1 ? lanes * KW_RUNS_OF_ITEM : kw_gpu_pack(module, dtype, device->vector_bytes);
  return (numel + each - 1) / each;
}

void kw_gpu_lower_elementwise(const kw_tensor_ref *const *operands, uint32_t count, kw_elementwise *out_block) {
  lower_elements(operands, count, false, out_block);
}

void kw_gpu_lower_ordered(const kw_tensor_ref *const *operands, uint32_t count, kw_elementwise *out_block) {
  lower_elements(operands, count, true, out_block);
}

void kw_gpu_lower_reduction(const kw_tensor_ref *out, const kw_tensor_ref *in, uint32_t reduced, bool ordered,
                            kw_reduction *out_block) {
  dims outer = {.operands = 2}, inner = {.operands = 1};
  bool kept = out->rank == in->rank;
  uint32_t out_dim = 0;
  for (uint32_t d = 0; d < in->rank; ++d) {
    if (reduced & (1u << d)) {
      dims_add(&inner, in->shape[d], &in->strides[d]);
      if (kept) ++out_dim;
    } else {
      dims_add(&outer, in->shape[d], (int64_t[]){out->strides[out_dim++], in->strides[d]});
    }
  }
  dims_sort(&outer);
  dims_merge(&outer);
  if (!ordered) dims_sort(&inner);
  dims_merge(&inner);
  memset(out_block, 0, sizeof *out_block);
  out_block->outer_rank = outer.rank;
  out_block->inner_rank = inner.rank;
  for (uint32_t d = 0; d < outer.rank; ++d) {
    out_block->shape[d] = outer.shape[d];
    out_block->out_stride[d] = outer.stride[0][d];
    out_block->in_stride[d] = outer.stride[1][d];
  }
  for (uint32_t d = 0; d < inner.rank; ++d) {
    out_block->shape[outer.rank + d] = inner.shape[d];
    out_block->in_stride[outer.rank + d] = inner.stride[0][d];
  }
  out_block->inner_numel = dims_numel(&inner);
  out_block->outputs = dims_numel(&outer);
  out_block->count = out_block->inner_numel;
  out_block->chunk = out_block->inner_numel;
  out_block->chunks = 1;
}
