/* SPDX-License-Identifier: Apache-2.0
 *
 * Index tensors to offsets in the tensor that they index, and which of several writes to one element stays.
 */
#include "ops/index.h"

#include "kernel_sources.h"
#include "ops/families.h"
#include "ops/moves.h"

static const kw_gpu_module index_module = {
    "index", KW_GPU_BY_NOTHING, KW_GPU_ONE, {kw_gpu_source_index_row, kw_gpu_source_index}};

static const kw_gpu_kernel offsets_kernel = {&index_module, "kw_index_offsets_kernel"};
static const kw_gpu_kernel owners_kernel = {&index_module, "kw_index_owners_kernel"};

static int32_t flags_of(const kw_gpu_index *index) {
  return index->flags | (index->tensor.ref.dtype == KW_I32 ? KW_INDEX_NARROW : 0);
}

void kw_gpu_step_index(kw_gpu_step *step, const kw_gpu_index *index) {
  kw_gpu_step_long(step, index->size);
  kw_gpu_step_long(step, index->step);
  kw_gpu_step_int(step, flags_of(index));
  kw_gpu_step_int(step, (int32_t)index->argument);
  kw_gpu_step_error_code(step);
}

void kw_gpu_index_offsets(kw_gpu_plan *plan, const kw_gpu_tensor *offsets, const kw_gpu_index *index,
                          const int64_t *base) {
  if (offsets->ref.numel == 0) return;
  static const int64_t nowhere[KW_MAX_RANK] = {0};
  const kw_gpu_tensor seen = kw_gpu_strided(offsets, offsets->ref.rank, offsets->ref.shape, base ? base : nowhere);
  kw_gpu_step *step = kw_gpu_step_stretched(plan, &offsets_kernel, KW_I64, offsets,
                                            (const kw_gpu_tensor *[]){&index->tensor, &seen}, 2);
  kw_gpu_step_errors(step);
  kw_gpu_step_long(step, index->size);
  kw_gpu_step_long(step, index->step);
  kw_gpu_step_long(step, index->skip);
  kw_gpu_step_int(step, flags_of(index));
  kw_gpu_step_int(step, (int32_t)index->argument);
  kw_gpu_step_error_code(step);
}

kw_gpu_tensor kw_gpu_index_offsets_along(kw_gpu_plan *plan, const kw_gpu_tensor *index, uint32_t argument,
                                         const kw_gpu_tensor *table, uint32_t dim) {
  const kw_gpu_tensor dense = kw_gpu_reshape(table, table->ref.rank, table->ref.shape);
  const bool scalar = table->ref.rank == 0;
  int64_t base[KW_MAX_RANK] = {0};
  for (uint32_t d = 0; d < index->ref.rank && !scalar; ++d) base[d] = d == dim ? 0 : dense.ref.strides[d];
  kw_gpu_tensor offsets = kw_gpu_temporary(plan, KW_I64, index->ref.rank, index->ref.shape);
  kw_gpu_index_offsets(plan, &offsets,
                       &(kw_gpu_index){.tensor = *index,
                                       .argument = argument,
                                       .size = scalar ? 1 : table->ref.shape[dim],
                                       .step = scalar ? 0 : dense.ref.strides[dim],
                                       .skip = -1},
                       base);
  return offsets;
}

kw_gpu_tensor kw_gpu_owners(kw_gpu_plan *plan, const kw_gpu_tensor *offsets, int64_t count) {
  kw_gpu_tensor owners = kw_gpu_temporary(plan, KW_I32, 1, &count);
  if (offsets->ref.numel >= UINT32_MAX) kw_gpu_refuse(plan, "writes to fewer than 2^32 - 1 elements at once");
  kw_gpu_fill(plan, &owners, 0);
  const kw_gpu_tensor all = kw_gpu_strided(&owners, offsets->ref.rank, offsets->ref.shape, (int64_t[KW_MAX_RANK]){0});
  kw_gpu_step_elementwise(plan, &owners_kernel, KW_I64, offsets, (const kw_gpu_tensor *[]){&all}, 1);
  return owners;
}

const kw_gpu_family kw_gpu_index_family = {.modules = {&index_module}};
