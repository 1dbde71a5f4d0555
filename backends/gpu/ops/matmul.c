/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products: a tile of the result for each group, or on devices that compute in vectors a strip of rows and a
 * vector of columns for each item.
 */
#include "ops/matmul.h"

#include "kernel_sources.h"
#include "lower/lowering.h"
#include "ops/families.h"
#include "ops/moves.h"
#include "program/dtype.h"

#include <string.h>

#include "kernels/mm_args.kw"

static const kw_gpu_module matmul_module = {
    "matmul",
    KW_GPU_BY_DTYPE,
    KW_DTYPES_NUM,
    {kw_gpu_source_mm_args, kw_gpu_source_block, kw_gpu_source_tile, kw_gpu_source_product, kw_gpu_source_mm}};
static const kw_gpu_module panels_module = {
    "panels",
    KW_GPU_RUNS_BY_DTYPE,
    KW_DTYPES_NUM | KW_GPU_VECTORS,
    {kw_gpu_source_mm_args, kw_gpu_source_product, kw_gpu_source_multiply, kw_gpu_source_panels}};
static const kw_gpu_module dot_module = {"dot",
                                         KW_GPU_RUNS_BY_DTYPE,
                                         KW_DTYPES_NUM | KW_GPU_VECTORS,
                                         {kw_gpu_source_mm_args, kw_gpu_source_product, kw_gpu_source_multiply,
                                          kw_gpu_source_reduction, kw_gpu_source_terms, kw_gpu_source_dot}};
static const kw_gpu_module matrix_module = {"matrix",
                                            KW_GPU_BY_DTYPE,
                                            KW_DTYPES_FLOAT32 | KW_DTYPES_F8 | KW_DTYPE_BIT(KW_I8),
                                            {kw_gpu_source_mm_args, kw_gpu_source_product, kw_gpu_source_matrix}};
static const kw_gpu_kernel product_kernel = {&matmul_module, "kw_product_kernel"};
static const kw_gpu_kernel matrix_kernel = {&matrix_module, "kw_matrix_kernel"};
static const kw_gpu_kernel pack_kernel = {&panels_module, "kw_panel_pack_kernel"};
static const kw_gpu_kernel panel_kernel = {&panels_module, "kw_panel_product_kernel"};
static const kw_gpu_kernel dot_kernel = {&dot_module, "kw_dot_kernel"};
static const kw_gpu_kernel wide_kernel = {&dot_module, "kw_wide_kernel"};

/* Rows of a result up to which laying out the second matrix as panels costs more than it saves: where its columns are
 * together in memory, which have to be turned for that, and where its rows are. */
#define FEW_ROWS_OF_COLUMNS 48
#define FEW_ROWS 24

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

/* Of out, a, b and a fourth operand or NULL. */
static kw_product block_of(const kw_gpu_tensor *const operands[4]) {
  const kw_tensor_ref *a = &operands[1]->ref, *b = &operands[2]->ref;
  kw_product block = {.rows = a->shape[a->rank - 2], .cols = b->shape[b->rank - 1], .depth = a->shape[a->rank - 1]};
  lower_batch(operands, &block.batch);
  for (int k = 0; k < 4; ++k) {
    if (!operands[k]) continue;
    const kw_tensor_ref *ref = &operands[k]->ref;
    for (int d = 0; d < 2; ++d) block.stride[k][d] = ref->strides[ref->rank - 2 + d];
  }
  return block;
}

/* Operands and block. */
static kw_gpu_step *add_step(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype,
                             const kw_gpu_tensor *const operands[4], const kw_product *block) {
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, dtype);
  for (int k = 0; k < 4; ++k) kw_gpu_step_operand(step, operands[k]);
  kw_gpu_step_block(step, block, sizeof *block);
  return step;
}

/* A group for each tile of so many rows and columns. */
static int64_t tiles_of(const kw_product *block, int64_t rows, int64_t cols) {
  return block->batch.numel * ((block->rows + rows - 1) / rows) * ((block->cols + cols - 1) / cols);
}

kw_gpu_step *kw_gpu_step_tiled(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype,
                               const kw_gpu_tensor *const operands[4]) {
  const kw_product block = block_of(operands);
  kw_gpu_step *step = add_step(plan, kernel, dtype, operands, &block);
  kw_gpu_step_grid(step, KW_TILE, KW_TILE, tiles_of(&block, KW_TILE, KW_TILE), 1);
  return step;
}

/* The values of a product. */
static void step_values(kw_gpu_plan *plan, kw_gpu_step *step, kw_dtype dtype, const kw_gpu_product *product) {
  const kw_gpu_tensor *operands[4] = {product->out, product->a, product->b, product->self};
  int32_t wide = 0;
  for (int k = 0; k < 4; ++k)
    if (operands[k] && operands[k]->ref.dtype != dtype) wide |= 1 << k;
  kw_gpu_step_scalar(plan, step, product->alpha, 1);
  kw_gpu_step_scalar(plan, step, product->beta, product->self ? 1 : 0);
  kw_gpu_step_int(step, wide);
}

static void step_tiles(kw_gpu_plan *plan, kw_dtype dtype, const kw_gpu_product *product) {
  const kw_gpu_tensor *operands[4] = {product->out, product->a, product->b, product->self};
  const kw_product block = block_of(operands);
  kw_gpu_step *step = add_step(plan, &product_kernel, dtype, operands, &block);
  kw_gpu_step_grid(step, KW_LOCAL_PRODUCT, 1, tiles_of(&block, KW_PRODUCT_TILE, KW_PRODUCT_TILE), 1);
  step_values(plan, step, dtype, product);
}

static void step_matrix(kw_gpu_plan *plan, kw_dtype dtype, const kw_gpu_product *product) {
  const kw_gpu_tensor *operands[4] = {product->out, product->a, product->b, product->self};
  const kw_product block = block_of(operands);
  if (product->a->ref.dtype != dtype || product->b->ref.dtype != dtype) {
    kw_gpu_refuse(plan, "by matrix instructions wants two matrices of one dtype");
    return;
  }
  kw_gpu_step *step = add_step(plan, &matrix_kernel, dtype, operands, &block);
  kw_gpu_step_grid(step, KW_LOCAL_MATRIX, 1, tiles_of(&block, KW_MATRIX_ROWS, KW_MATRIX_COLS), 1);
  step_values(plan, step, dtype, product);
}

/* ---- On devices that compute in vectors -------------------------------------------------------------------------- */

static void step_dots(kw_gpu_plan *plan, kw_dtype dtype, const kw_gpu_product *product) {
  const kw_gpu_tensor *operands[4] = {product->out, product->a, product->b, product->self};
  const kw_product block = block_of(operands);
  kw_gpu_step *step = add_step(plan, &dot_kernel, dtype, operands, &block);
  kw_gpu_step_grid(step, KW_LOCAL_ROWS, 1, (block.batch.numel * block.cols + KW_LOCAL_ROWS - 1) / KW_LOCAL_ROWS, 1);
  step_values(plan, step, dtype, product);
}

static void step_wide(kw_gpu_plan *plan, kw_dtype dtype, const kw_gpu_product *product, int64_t lanes) {
  const kw_gpu_tensor *operands[4] = {product->out, product->a, product->b, product->self};
  const kw_product block = block_of(operands);
  kw_gpu_step *step = add_step(plan, &wide_kernel, dtype, operands, &block);
  const int64_t strip = KW_WIDE_RUNS * lanes;
  kw_gpu_step_grid(step, 1, 1, block.batch.numel * ((block.cols + strip - 1) / strip), 1);
  step_values(plan, step, dtype, product);
}

/* A matrix as panels: [.., panels, depth * lanes], with one for all matrices that repeat. */
static kw_gpu_tensor pack(kw_gpu_plan *plan, kw_dtype dtype, const kw_gpu_tensor *matrix, int64_t lanes) {
  const uint32_t rank = matrix->ref.rank;
  kw_gpu_tensor in = *matrix;
  int64_t shape[KW_MAX_RANK];
  for (uint32_t d = 0; d + 2 < rank; ++d)
    if (in.ref.strides[d] == 0 && in.ref.shape[d] > 1) in = kw_gpu_part(&in, d, 0, 1);
  memcpy(shape, in.ref.shape, rank * sizeof shape[0]);
  kw_product block = {.cols = shape[rank - 1], .depth = shape[rank - 2]};
  shape[rank - 2] = (block.cols + lanes - 1) / lanes;
  shape[rank - 1] = block.depth * lanes;
  const kw_gpu_tensor out = kw_gpu_temporary(plan, kw_gpu_compute_dtype(dtype), rank, shape);
  const int64_t parts = (block.depth + KW_PANEL_TERMS - 1) / KW_PANEL_TERMS;
  kw_gpu_step *step = kw_gpu_step_add(plan, &pack_kernel, dtype);
  lower_batch((const kw_gpu_tensor *[]){&out, &in, NULL, NULL}, &block.batch);
  kw_gpu_step_operand(step, &out);
  kw_gpu_step_operand(step, &in);
  for (int d = 0; d < 2; ++d) block.stride[1][d] = in.ref.strides[rank - 2 + (uint32_t)d];
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_int(step, in.ref.dtype != dtype);
  kw_gpu_step_grid(step, 1, 1, block.batch.numel * shape[rank - 2] * parts, 1);
  memcpy(shape, matrix->ref.shape, (rank - 2) * sizeof shape[0]);
  return kw_gpu_expand(&out, rank, shape);
}

int64_t kw_gpu_panel_columns(const kw_gpu_plan *plan, kw_dtype dtype) {
  const kw_gpu_device *device = plan->call->device;
  return kw_gpu_lanes(&panels_module, dtype, device->vector_bytes);
}

void kw_gpu_step_panel_product(kw_gpu_plan *plan, kw_dtype dtype, const kw_gpu_product *product, int64_t cols) {
  const kw_gpu_tensor *operands[4] = {product->out, product->a, product->b, product->self};
  const int64_t lanes = kw_gpu_panel_columns(plan, dtype);
  kw_product block = block_of(operands);
  block.cols = cols;
  kw_gpu_step *step = add_step(plan, &panel_kernel, dtype, operands, &block);
  const int64_t strips = (block.rows + KW_PANEL_STRIP - 1) / KW_PANEL_STRIP, panels = (cols + lanes - 1) / lanes;
  kw_gpu_step_grid(step, 1, 1, block.batch.numel * strips * panels, 1);
  step_values(plan, step, dtype, product);
}

static void step_panels(kw_gpu_plan *plan, kw_dtype dtype, const kw_gpu_product *product, int64_t lanes) {
  const kw_dtype computed = kw_gpu_compute_dtype(dtype);
  const kw_tensor_ref *in = &product->b->ref;
  kw_gpu_product how = *product;
  kw_gpu_tensor a = *product->a, b;
  if (a.ref.dtype != computed) a = kw_gpu_contiguous(plan, &a, computed);
  b = pack(plan, dtype, product->b, lanes);
  how.a = &a;
  how.b = &b;
  kw_gpu_step_panel_product(plan, dtype, &how, in->shape[in->rank - 1]);
}

/* Whether elements of the dtype lie side by side along a dimension, counted from the last. */
static bool lies_along(const kw_gpu_tensor *tensor, uint32_t from_last, kw_dtype dtype) {
  return tensor->ref.dtype == dtype && tensor->ref.strides[tensor->ref.rank - from_last] == 1;
}

void kw_gpu_step_product(kw_gpu_plan *plan, kw_dtype dtype, const kw_gpu_product *product) {
  const int64_t lanes = kw_gpu_panel_columns(plan, dtype);
  const kw_tensor_ref *a = &product->a->ref;
  const int64_t rows = a->dtype == dtype ? a->shape[a->rank - 2] : INT64_MAX;
  if (lanes == 1) {
    step_tiles(plan, dtype, product);
  } else if (rows <= FEW_ROWS_OF_COLUMNS && lies_along(product->a, 1, dtype) && lies_along(product->b, 2, dtype)) {
    step_dots(plan, dtype, product);
  } else if (rows <= FEW_ROWS && lies_along(product->b, 1, dtype)) {
    step_wide(plan, dtype, product, lanes);
  } else {
    step_panels(plan, dtype, product, lanes);
  }
}

void kw_gpu_step_product_of(kw_gpu_plan *plan, const kw_gpu_op *op, kw_dtype dtype, const kw_gpu_product *product) {
  (op->flags & KW_GPU_MATRIX ? step_matrix : kw_gpu_step_product)(plan, dtype, product);
}

/* mm, bmm and _int_mm: the result has the key dtype or its compute dtype. */
static void lower_mm(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), a = kw_gpu_input(plan, 0), b = kw_gpu_input(plan, 1);
  kw_gpu_step_product_of(plan, op, a.ref.dtype, &(kw_gpu_product){.out = &out, .a = &a, .b = &b});
}

static void lower_addmm(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), a = kw_gpu_input(plan, 1), b = kw_gpu_input(plan, 2);
  kw_gpu_tensor given = kw_gpu_input(plan, 0), self = kw_gpu_expand(&given, out.ref.rank, out.ref.shape);
  kw_gpu_step_product_of(plan, op, out.ref.dtype,
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

#define HALVES (KW_DTYPE_BIT(KW_F16) | KW_DTYPE_BIT(KW_BF16))
const kw_gpu_op kw_gpu_matrix_products[] = {
    {"mm", lower_mm, KW_MATH_HIGHEST, KW_GPU_MATRIX, HALVES},
    {"bmm", lower_mm, KW_MATH_HIGHEST, KW_GPU_MATRIX, HALVES},
    {"addmm", lower_addmm, KW_MATH_HIGHEST, KW_GPU_MATRIX, HALVES},
    {"mm", lower_mm, KW_MATH_TF32, KW_GPU_MATRIX, KW_DTYPES_F32},
    {"bmm", lower_mm, KW_MATH_TF32, KW_GPU_MATRIX, KW_DTYPES_F32},
    {"addmm", lower_addmm, KW_MATH_TF32, KW_GPU_MATRIX, KW_DTYPES_F32},
    {"_int_mm", lower_mm, KW_MATH_HIGHEST, KW_GPU_MATRIX, KW_DTYPE_BIT(KW_I8)},
    {0},
};

const kw_gpu_family kw_gpu_matmul_family = {ops, {&matmul_module, &matrix_module, &panels_module, &dot_module}};
