/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products.
 */
#include "lowering.h"
#include "plan.h"

extern const char kw_gpu_source_mm[];

static const kw_gpu_module matmul = {"matmul", KW_GPU_BY_DTYPE, {kw_gpu_source_mm}};
static const kw_gpu_kernel mm_kernel = {&matmul, "kw_mm_kernel"};

static void lower_mm(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), a = kw_gpu_input(plan, 0), b = kw_gpu_input(plan, 1);
  kw_matmul block;
  kw_gpu_lower_matmul(&out.ref, &a.ref, &b.ref, &block);
  kw_gpu_step *step = kw_gpu_step_add(plan, &mm_kernel, out.ref.dtype);
  kw_gpu_step_operand(step, &out);
  kw_gpu_step_operand(step, &a);
  kw_gpu_step_operand(step, &b);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_grid(step, KW_TILE, KW_TILE, (block.cols + KW_TILE - 1) / KW_TILE, (block.rows + KW_TILE - 1) / KW_TILE);
}

const kw_gpu_op kw_gpu_matmul_ops[] = {
    {"mm", lower_mm, 0, 0, KW_GPU_NUMBER},
    {0},
};
