/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products: a tile of the result for each group.
 */
#include "ops/matmul.h"

#include "kernel_sources.h"
#include "lower/lowering.h"
#include "ops/families.h"

#include "kernels/mm_args.kw"

static const kw_gpu_module matmul_module = {
    "matmul",
    KW_GPU_BY_DTYPE,
    KW_DTYPES_NUM,
    {kw_gpu_source_mm_args, kw_gpu_source_block, kw_gpu_source_tile, kw_gpu_source_mm}};
static const kw_gpu_kernel product_kernel = {&matmul_module, "kw_product_kernel"};

/* The matrices of up to four operands, as elements of tensors that lack the last two dimensions. */
static void lower_batch(const kw_gpu_tensor *const operands[4], kw_elementwise *out) {
  kw_tensor_ref refs[4];
  const kw_tensor_ref *pointers[4] = {NULL};
  for (int k = 0; k < 4; ++k) {
    if (!operands[k]) continue;
    refs[k] = operands[k]->ref;
    refs[k].rank = (uint8_t)(refs[k].rank - 2);
    pointers[k] = &refs[k];
  }
  kw_gpu_lower_elementwise(pointers, 4, out);
}

/* Operands and block; *out_groups is the number of tiles of `tile` rows and columns. */
static kw_gpu_step *add_step(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype,
                             const kw_gpu_tensor *const operands[4], int64_t tile, int64_t *out_groups) {
  const kw_tensor_ref *a = &operands[1]->ref, *b = &operands[2]->ref;
  kw_product block = {.rows = a->shape[a->rank - 2], .cols = b->shape[b->rank - 1], .depth = a->shape[a->rank - 1]};
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, dtype);
  lower_batch(operands, &block.batch);
  for (int k = 0; k < 4; ++k) {
    kw_gpu_step_operand(step, operands[k]);
    if (!operands[k]) continue;
    const kw_tensor_ref *ref = &operands[k]->ref;
    for (int d = 0; d < 2; ++d) block.stride[k][d] = ref->strides[ref->rank - 2 + d];
  }
  kw_gpu_step_block(step, &block, sizeof block);
  *out_groups = block.batch.numel * ((block.rows + tile - 1) / tile) * ((block.cols + tile - 1) / tile);
  return step;
}

kw_gpu_step *kw_gpu_step_tiled(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype,
                               const kw_gpu_tensor *const operands[4]) {
  int64_t groups;
  kw_gpu_step *step = add_step(plan, kernel, dtype, operands, KW_TILE, &groups);
  kw_gpu_step_grid(step, KW_TILE, KW_TILE, groups, 1);
  return step;
}

void kw_gpu_step_product(kw_gpu_plan *plan, kw_dtype dtype, const kw_gpu_product *product) {
  const kw_gpu_tensor *operands[4] = {product->out, product->a, product->b, product->self};
  int64_t groups;
  kw_gpu_step *step = add_step(plan, &product_kernel, dtype, operands, KW_PRODUCT_TILE, &groups);
  int32_t wide = 0;
  kw_gpu_step_grid(step, KW_LOCAL_PRODUCT, 1, groups, 1);
  for (int k = 0; k < 4; ++k)
    if (operands[k] && operands[k]->ref.dtype != dtype) wide |= 1 << k;
  kw_gpu_step_scalar(plan, step, product->alpha, 1);
  kw_gpu_step_scalar(plan, step, product->beta, product->self ? 1 : 0);
  kw_gpu_step_int(step, wide);
}

/* mm, bmm and _int_mm: the result has the key dtype or its compute dtype. */
static void lower_mm(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), a = kw_gpu_input(plan, 0), b = kw_gpu_input(plan, 1);
  kw_gpu_step_product(plan, a.ref.dtype, &(kw_gpu_product){.out = &out, .a = &a, .b = &b});
}

static void lower_addmm(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), a = kw_gpu_input(plan, 1), b = kw_gpu_input(plan, 2);
  kw_gpu_tensor given = kw_gpu_input(plan, 0), self = kw_gpu_expand(&given, out.ref.rank, out.ref.shape);
  kw_gpu_step_product(plan, out.ref.dtype,
                      &(kw_gpu_product){.out = &out,
                                        .a = &a,
                                        .b = &b,
                                        .self = &self,
                                        .alpha = kw_gpu_argument(plan, 4),
                                        .beta = kw_gpu_argument(plan, 3)});
}

static const kw_gpu_op ops[] = {
    {"mm", lower_mm, 0, 0, KW_DTYPES_NUM},
    {"bmm", lower_mm, 0, 0, KW_DTYPES_NUM},
    {"addmm", lower_addmm, 0, 0, KW_DTYPES_NUM},
    {"_int_mm", lower_mm, 0, 0, KW_DTYPE_BIT(KW_I8)},
    {0},
};

const kw_gpu_family kw_gpu_matmul_family = {ops, {&matmul_module}};
