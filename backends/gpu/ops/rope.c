/* SPDX-License-Identifier: Apache-2.0
 *
 * Rotary position embedding.
 */
#include "kernel_sources.h"
#include "lower/lowering.h"
#include "ops/families.h"

#include "kernels/rope_args.kw"

#include <string.h>

static const kw_gpu_module rope_module = {
    "rope", KW_GPU_BY_DTYPE, KW_DTYPES_FLOAT, {kw_gpu_source_rope_args, kw_gpu_source_rope}};
static const kw_gpu_kernel rope_kernel = {&rope_module, "kw_rope_kernel"};

/* A tensor without its last dimension. */
static kw_tensor_ref rows_of(const kw_tensor_ref *tensor) {
  kw_tensor_ref rows = *tensor;
  rows.rank -= 1;
  if (tensor->shape[rows.rank] > 0) rows.numel /= tensor->shape[rows.rank];
  return rows;
}

/* Steps through the rows as their numbers do: one where the last dimension moves, none elsewhere. */
static kw_tensor_ref numbers_of(const kw_tensor_ref *rows) {
  kw_tensor_ref numbers = *rows;
  memset(numbers.strides, 0, sizeof numbers.strides);
  numbers.strides[rows->rank - 1] = 1;
  return numbers;
}

static void lower_rope(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0), positions = kw_gpu_input(plan, 3);
  kw_gpu_tensor tables[2] = {kw_gpu_input(plan, 1), kw_gpu_input(plan, 2)};
  uint32_t last = in.ref.rank - 1u;
  kw_tensor_ref out_rows = rows_of(&out.ref), in_rows = rows_of(&in.ref), position_rows = numbers_of(&in_rows);
  kw_rope block = {.width = in.ref.shape[last],
                   .pairs = tables[0].ref.shape[1],
                   .table_rows = tables[0].ref.shape[0],
                   .step = {out.ref.strides[last], in.ref.strides[last]}};
  int32_t flags = kw_gpu_bool(plan, 4, false) ? KW_ROPE_INTERLEAVED : 0;
  for (uint32_t t = 0; t < 2; ++t) {
    memcpy(block.table_stride[t], tables[t].ref.strides, sizeof block.table_stride[t]);
    if (tables[t].ref.dtype != in.ref.dtype) flags |= t == 0 ? KW_ROPE_WIDE_COS : KW_ROPE_WIDE_SIN;
  }
  if (kw_gpu_present(&positions)) {
    position_rows = kw_gpu_expand(&positions, last, in.ref.shape).ref;
    flags |= positions.ref.dtype == KW_I64 ? KW_ROPE_I64 : KW_ROPE_I32;
  }
  kw_gpu_lower_elementwise((const kw_tensor_ref *[]){&out_rows, &in_rows, &position_rows}, 3, &block.rows);

  kw_gpu_step *step = kw_gpu_step_add(plan, &rope_kernel, in.ref.dtype);
  kw_gpu_step_operand(step, &out);
  kw_gpu_step_operand(step, &in);
  kw_gpu_step_operand(step, &tables[0]);
  kw_gpu_step_operand(step, &tables[1]);
  kw_gpu_step_operand(step, &positions);
  kw_gpu_step_errors(step);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_int(step, flags);
  kw_gpu_step_error_code(step);
  const kw_gpu_device *device = plan->call->device;
  if (device->vector_bytes > 0 && in.ref.numel > 0) {
    kw_gpu_step_parts(step, block.rows.numel, KW_ROPE_ROWS(block.width));
  } else {
    kw_gpu_step_items(step, in.ref.numel);
  }
}

static const kw_gpu_op ops[] = {
    {"keyway::rope", lower_rope, 0, KW_KERNEL_MIXED_DTYPES | KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_rope_family = {ops, {&rope_module}};
