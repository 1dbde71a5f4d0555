/* SPDX-License-Identifier: Apache-2.0
 *
 * Scans: every element becomes what those up to it are together. Rows are cut into chunks of a work-group each; where
 * there are several, their totals are scanned first, and each chunk then starts from the total of all before it.
 * (Blelloch, Prefix Sums and Their Applications, section 1.)
 */
#include "ops/scan.h"

#include "kernel_sources.h"
#include "lower/lowering.h"
#include "ops/families.h"
#include "ops/moves.h"
#include "ops/reduce.h"
#include "program/dtype.h"

static const kw_gpu_module scan_module = {
    "scan", KW_GPU_RUNS_BY_DTYPE, KW_DTYPES_REAL, {kw_gpu_source_reduction, kw_gpu_source_scan}};
static const kw_gpu_kernel scan_kernel = {&scan_module, "kw_scan_kernel"};

/* A block of which every group scans a chunk. */
static kw_reduction chunked(const kw_gpu_tensor *out, const kw_gpu_tensor *in, uint32_t dim) {
  kw_reduction block;
  kw_gpu_lower_reduction(&out->ref, &in->ref, 1u << dim, true, &block);
  if (block.inner_rank > 0) block.out_stride[block.outer_rank] = out->ref.strides[dim];
  block.chunk = KW_SCAN_CHUNK;
  block.chunks = (block.inner_numel + KW_SCAN_CHUNK - 1) / KW_SCAN_CHUNK;
  return block;
}

void kw_gpu_scan(kw_gpu_plan *plan, int32_t opcode, const kw_gpu_tensor *out, const kw_gpu_tensor *in, uint32_t dim) {
  kw_dtype dtype = in->ref.dtype;
  kw_gpu_tensor totals = {.at.from = KW_GPU_NOTHING};
  if (in->ref.numel == 0) return;
  kw_reduction block = chunked(out, in, dim);
  if (block.chunks > 1) {
    totals = kw_gpu_temporary(plan, kw_gpu_compute_dtype(dtype), 2, (int64_t[]){block.outputs, block.chunks});
    kw_gpu_reduce_chunks(plan, opcode, &totals, in, &block);
    kw_gpu_scan(plan, opcode, &totals, &totals, 1);
  }
  kw_gpu_step *step = kw_gpu_step_add(plan, &scan_kernel, dtype);
  kw_gpu_step_operand(step, out);
  kw_gpu_step_operand(step, in);
  kw_gpu_step_operand(step, &totals);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_int(step, opcode);
  const kw_gpu_device *device = plan->call->device;
  if (device->vector_bytes > 0) {
    kw_gpu_step_parts(step, block.outputs * block.chunks, 1);
  } else {
    kw_gpu_step_groups(step, block.outputs * block.chunks);
  }
}

static void lower_scan(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  if (in.ref.rank == 0) {
    kw_gpu_copy(plan, &out, &in);
  } else {
    kw_gpu_scan(plan, op->code, &out, &in, kw_gpu_dim(plan, 1, in.ref.rank));
  }
}

static const kw_gpu_op ops[] = {
    {"cumsum", lower_scan, KW_REDUCE_SUM, 0, KW_DTYPES_REAL},
    {"cumprod", lower_scan, KW_REDUCE_PROD, 0, KW_DTYPES_REAL},
    {0},
};

const kw_gpu_family kw_gpu_scan_family = {ops, {&scan_module}};
