/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products as steps of a plan: for ops that come down to one.
 */
#ifndef KEYWAY_GPU_MATMUL_H
#define KEYWAY_GPU_MATMUL_H

#include "lower/plan.h"

/* out[.., rows, cols] = alpha * a[.., rows, depth] b[.., depth, cols] + beta * self[.., rows, cols]. All have the same
 * dimensions before the last two, and any strides, 0 where they repeat (kw_gpu_expand); `out` is none of the others,
 * but for `self`. */
typedef struct kw_gpu_product {
  const kw_gpu_tensor *out, *a, *b;
  const kw_gpu_tensor *self;    /* NULL: nothing is added */
  const kw_value *alpha, *beta; /* Scalars; NULL is 1. With a beta of 0 self is not read */
} kw_gpu_product;

/* Each tensor has elements of `dtype`, one of KW_DTYPES_REAL, or of its compute dtype, in which sums are taken (f32 for
 * f16 and bf16). */
void kw_gpu_step_product(kw_gpu_plan *plan, kw_dtype dtype, const kw_gpu_product *product);

/* The same by matrix instructions, for an op that says KW_GPU_MATRIX; else as above. `dtype` may also be f8 then, and
 * sums are f32. */
void kw_gpu_step_product_of(kw_gpu_plan *plan, const kw_gpu_op *op, kw_dtype dtype, const kw_gpu_product *product);

/* How many columns a panel of the second matrix has on a device that computes in vectors; 1 on others, which have none.
 */
int64_t kw_gpu_panel_columns(const kw_gpu_plan *plan, kw_dtype dtype);
/* The same product, of `cols` columns, from a second matrix that lies in panels: [.., panels, depth * columns of a
 * panel] in the compute dtype, as `a` is. */
void kw_gpu_step_panel_product(kw_gpu_plan *plan, kw_dtype dtype, const kw_gpu_product *product, int64_t cols);

/* A step of another kernel on the operands of a product (out, a, b, and a fourth or NULL), a group for each tile of
 * KW_TILE rows and columns of `out`: operands, block (kw_product) and grid; values follow. */
kw_gpu_step *kw_gpu_step_tiled(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype,
                               const kw_gpu_tensor *const operands[4]);

/* What keyway::int8_linear does with its sums, which the caller has put at the beginning of the workspace: i32,
 * contiguous, [m, n]. For kernels of a backend's own, beside the pack's (kw_gpu_plan_lower takes it as kw_call.user).
 */
extern const kw_gpu_op kw_gpu_rescale_op;

/* What kw_gpu_register_matrix registers; an op without a name ends each. */
extern const kw_gpu_op kw_gpu_matrix_products[], kw_gpu_matrix_linears[];

#endif /* KEYWAY_GPU_MATMUL_H */
