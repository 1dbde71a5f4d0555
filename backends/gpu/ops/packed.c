/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear layers whose weights are packed or sparse.
 */
#include "kernel_sources.h"
#include "ops/families.h"
#include "ops/matmul.h"

#include "kernels/packed_args.kw"

static const kw_gpu_module packed_module = {
    "packed", KW_GPU_BY_DTYPE, KW_DTYPES_FLOAT32, {kw_gpu_source_packed_args, kw_gpu_source_packed}};
static const kw_gpu_module int4_pack_module = {"int4_pack", KW_GPU_BY_NOTHING, KW_GPU_ONE, {kw_gpu_source_int4_pack}};
static const kw_gpu_kernel int4_pack_kernel = {&int4_pack_module, "kw_int4_pack_kernel"};
static const kw_gpu_kernel int4_unpack_kernel = {&packed_module, "kw_int4_unpack_kernel"};
static const kw_gpu_kernel sparse24_pack_kernel = {&packed_module, "kw_sparse24_pack_kernel"};
static const kw_gpu_kernel sparse24_kernel = {&packed_module, "kw_sparse24_kernel"};
static const kw_gpu_kernel bsr_check_kernel = {&packed_module, "kw_bsr_check_kernel"};
static const kw_gpu_kernel bsr_kernel = {&packed_module, "kw_bsr_kernel"};

/* A step that begins with these operands. */
static kw_gpu_step *step_of(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype,
                            const kw_gpu_tensor *const *operands, uint32_t count) {
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, dtype);
  for (uint32_t k = 0; k < count; ++k) kw_gpu_step_operand(step, operands[k]);
  return step;
}

/* The last strides of a tensor, `count` of them. */
static void copy_strides(kw_i64 *to, const kw_gpu_tensor *tensor, uint32_t count) {
  for (uint32_t d = 0; d < count; ++d) to[d] = tensor->ref.strides[tensor->ref.rank - count + d];
}

/* Groups of KW_TILE x KW_TILE items for a matrix. */
static void step_tiles(kw_gpu_step *step, const kw_gpu_tensor *matrix) {
  int64_t down = (matrix->ref.shape[0] + KW_TILE - 1) / KW_TILE,
          across = (matrix->ref.shape[1] + KW_TILE - 1) / KW_TILE;
  kw_gpu_step_grid(step, KW_TILE, KW_TILE, down * across, 1);
}

/* ---- Codes of four bits ------------------------------------------------------------------------------------------ */

static void lower_int4_pack(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  const uint32_t last = in.ref.rank - 1u;
  kw_gpu_tensor low = in, high;
  low.ref.shape[last] /= 2;
  low.ref.strides[last] *= 2;
  high = low;
  high.at.offset += (uint64_t)in.ref.strides[last];
  kw_gpu_step_stretched(plan, &int4_pack_kernel, KW_U8, &out, (const kw_gpu_tensor *[]){&low, &high}, 2);
}

/* The weights in f32 first: rounding them to the input's dtype could overflow. */
static void lower_int4_linear(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), input = kw_gpu_input(plan, 0), codes = kw_gpu_input(plan, 1),
                scales = kw_gpu_input(plan, 2), zeros = kw_gpu_input(plan, 3), bias = kw_gpu_input(plan, 4);
  const int64_t shape[2] = {codes.ref.shape[0], input.ref.shape[1]}, groups = scales.ref.shape[1];
  kw_gpu_tensor weights = kw_gpu_temporary(plan, KW_F32, 2, shape);
  kw_int4 block = {.rows = shape[0], .cols = shape[1], .group = groups > 0 ? shape[1] / groups : 1};
  copy_strides(block.code_stride, &codes, 2);
  copy_strides(block.scale_stride, &scales, 2);
  copy_strides(block.zero_stride, &zeros, 2);
  kw_gpu_step *step = step_of(plan, &int4_unpack_kernel, input.ref.dtype,
                              (const kw_gpu_tensor *[]){&weights, &codes, &scales, &zeros}, 4);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_items(step, weights.ref.numel);

  kw_gpu_tensor turned = kw_gpu_transpose(&weights), self;
  const bool has_bias = kw_gpu_present(&bias);
  if (has_bias) self = kw_gpu_expand(&bias, 2, out.ref.shape);
  kw_gpu_step_product(plan, input.ref.dtype,
                      &(kw_gpu_product){.out = &out, .a = &input, .b = &turned, .self = has_bias ? &self : NULL});
}

/* ---- Two of four ------------------------------------------------------------------------------------------------- */

static void lower_sparse24_compress(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor values = kw_gpu_output(plan, 0), meta = kw_gpu_output(plan, 1), in = kw_gpu_input(plan, 0);
  kw_sparse24_pack block = {.rows = in.ref.shape[0], .fours = in.ref.shape[1] / 4};
  copy_strides(block.value_stride, &values, 2);
  copy_strides(block.meta_stride, &meta, 2);
  copy_strides(block.in_stride, &in, 2);
  kw_gpu_step *step =
      step_of(plan, &sparse24_pack_kernel, in.ref.dtype, (const kw_gpu_tensor *[]){&values, &meta, &in}, 3);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_items(step, meta.ref.numel);
}

static void lower_sparse24_linear(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), input = kw_gpu_input(plan, 0), values = kw_gpu_input(plan, 1),
                meta = kw_gpu_input(plan, 2), bias = kw_gpu_input(plan, 3);
  const bool has_bias = kw_gpu_present(&bias);
  kw_sparse24 block = {.rows = out.ref.shape[0], .cols = out.ref.shape[1], .depth = values.ref.shape[1]};
  copy_strides(block.out_stride, &out, 2);
  copy_strides(block.in_stride, &input, 2);
  copy_strides(block.value_stride, &values, 2);
  copy_strides(block.meta_stride, &meta, 2);
  if (has_bias) copy_strides(&block.bias_stride, &bias, 1);
  kw_gpu_step *step =
      step_of(plan, &sparse24_kernel, out.ref.dtype, (const kw_gpu_tensor *[]){&out, &input, &values, &meta, &bias}, 5);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_int(step, has_bias);
  step_tiles(step, &out);
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* The check and the product take the same parameters. */
static kw_gpu_step *bsr_step(kw_gpu_plan *plan, const kw_gpu_kernel *kernel) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), input = kw_gpu_input(plan, 0), starts = kw_gpu_input(plan, 1),
                columns = kw_gpu_input(plan, 2), values = kw_gpu_input(plan, 3), bias = kw_gpu_input(plan, 4);
  const bool has_bias = kw_gpu_present(&bias);
  kw_bsr block = {.rows = out.ref.shape[0],
                  .cols = out.ref.shape[1],
                  .blocks = values.ref.shape[0],
                  .height = values.ref.shape[1],
                  .width = values.ref.shape[2]};
  block.columns = block.width > 0 ? input.ref.shape[1] / block.width : 0;
  copy_strides(block.out_stride, &out, 2);
  copy_strides(block.in_stride, &input, 2);
  copy_strides(&block.start_stride, &starts, 1);
  copy_strides(&block.column_stride, &columns, 1);
  copy_strides(block.value_stride, &values, 3);
  if (has_bias) copy_strides(&block.bias_stride, &bias, 1);
  kw_gpu_step *step = step_of(plan, kernel, out.ref.dtype,
                              (const kw_gpu_tensor *[]){&out, &input, &starts, &columns, &values, &bias}, 6);
  kw_gpu_step_errors(step);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_int(step, (has_bias ? KW_BSR_BIAS : 0) | (starts.ref.dtype == KW_I64 ? KW_BSR_START_LONG : 0) |
                            (columns.ref.dtype == KW_I64 ? KW_BSR_COLUMN_LONG : 0));
  kw_gpu_step_error_code(step);
  return step;
}

static void lower_bsr_linear(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), starts = kw_gpu_input(plan, 1), columns = kw_gpu_input(plan, 2);
  const int64_t most = starts.ref.numel > columns.ref.numel ? starts.ref.numel : columns.ref.numel;
  kw_gpu_step_items(bsr_step(plan, &bsr_check_kernel), most);
  step_tiles(bsr_step(plan, &bsr_kernel), &out);
}

static const kw_gpu_op ops[] = {
    {"keyway::int4_linear", lower_int4_linear, 0, 0, KW_DTYPES_FLOAT32},
    {"keyway::int4_pack", lower_int4_pack, 0, 0, KW_DTYPE_BIT(KW_U8)},
    {"keyway::sparse24_compress", lower_sparse24_compress, 0, 0, KW_DTYPES_FLOAT32},
    {"keyway::sparse24_linear", lower_sparse24_linear, 0, 0, KW_DTYPES_FLOAT32},
    {"keyway::bsr_linear", lower_bsr_linear, 0, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT32},
    {0},
};

const kw_gpu_family kw_gpu_packed_family = {ops, {&packed_module, &int4_pack_module}};
