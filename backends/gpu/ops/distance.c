/* SPDX-License-Identifier: Apache-2.0
 *
 * Distances between rows of matrices.
 */
#include "kernel_sources.h"
#include "ops/families.h"
#include "ops/matmul.h"
#include "ops/moves.h"

#include "kernels/distance_args.kw"

#include <math.h>
#include <string.h>

static const kw_gpu_module distance_module = {
    "distance", KW_GPU_BY_DTYPE, KW_DTYPES_WIDE_FLOAT, {kw_gpu_source_mm_args, kw_gpu_source_distance}};
static const kw_gpu_module run_module = {
    "distance_run",
    KW_GPU_RUNS_BY_DTYPE,
    KW_DTYPES_WIDE_FLOAT | KW_GPU_VECTORS,
    {kw_gpu_source_mm_args, kw_gpu_source_distance_args, kw_gpu_source_reduction, kw_gpu_source_distance_run}};
static const kw_gpu_kernel distance_kernel = {&distance_module, "kw_distance_kernel"};
static const kw_gpu_kernel run_kernel = {&run_module, "kw_distance_run_kernel"};

static int32_t kind_of(double p) {
  if (isinf(p)) return KW_DISTANCE_MOST;
  return p == 0 ? KW_DISTANCE_COUNT : p == 1 ? KW_DISTANCE_SUM : p == 2 ? KW_DISTANCE_SQUARES : KW_DISTANCE_POWERS;
}

/* Rows whose elements lie side by side: `rows` itself, or a copy. */
static kw_gpu_tensor side_by_side(kw_gpu_plan *plan, const kw_gpu_tensor *rows) {
  const uint32_t last = rows->ref.rank - 1u;
  if (rows->ref.shape[last] <= 1 || rows->ref.strides[last] == 1) return *rows;
  return kw_gpu_contiguous(plan, rows, rows->ref.dtype);
}

static void step(kw_gpu_plan *plan, const kw_gpu_tensor *out, const kw_gpu_tensor *x, const kw_gpu_tensor *y, double p,
                 bool own) {
  const kw_gpu_device *device = plan->call->device;
  if (device->vector_bytes > 0) {
    const kw_gpu_tensor left = side_by_side(plan, x), right = side_by_side(plan, y);
    const kw_gpu_tensor turned = kw_gpu_transpose(&right);
    kw_gpu_step *runs =
        kw_gpu_step_tiled(plan, &run_kernel, out->ref.dtype, (const kw_gpu_tensor *const[]){out, &left, &turned, NULL});
    const uint32_t rank = out->ref.rank;
    const int64_t cols = out->ref.shape[rank - 1], strips = (cols + KW_DISTANCE_COLS - 1) / KW_DISTANCE_COLS;
    int64_t rows = 1;
    for (uint32_t d = 0; d < rank - 1; ++d) rows *= out->ref.shape[d];
    kw_gpu_step_opcode(runs, kind_of(out->ref.dtype == KW_F32 ? (double)(float)p : p));
    kw_gpu_step_number(runs, p);
    kw_gpu_step_int(runs, own);
    kw_gpu_step_parts(runs, rows * strips, 1);
    return;
  }
  kw_gpu_tensor columns = kw_gpu_transpose(y);
  kw_gpu_step *tiled =
      kw_gpu_step_tiled(plan, &distance_kernel, out->ref.dtype, (const kw_gpu_tensor *const[]){out, x, &columns, NULL});
  kw_gpu_step_number(tiled, p);
  kw_gpu_step_int(tiled, own);
}

/* `rows` with the dimensions of `out` before its last two. */
static kw_gpu_tensor expand_batch(const kw_gpu_tensor *rows, const kw_gpu_tensor *out) {
  const uint32_t rank = out->ref.rank;
  int64_t shape[KW_MAX_RANK];
  memcpy(shape, out->ref.shape, sizeof shape);
  for (uint32_t d = 1; d <= 2; ++d) shape[rank - d] = rows->ref.shape[rows->ref.rank - d];
  return kw_gpu_expand(rows, rank, shape);
}

static void lower_cdist(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), x = kw_gpu_input(plan, 0), y = kw_gpu_input(plan, 1);
  x = expand_batch(&x, &out);
  y = expand_batch(&y, &out);
  step(plan, &out, &x, &y, kw_gpu_real(plan, 2, 2), false);
}

/* The result seen as a matrix, of which the kernel uses what is above the diagonal, row after row. */
static void lower_pdist(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), rows = kw_gpu_input(plan, 0);
  out.ref.strides[1] = 0;
  out.ref.shape[0] = out.ref.shape[1] = rows.ref.shape[0];
  out.ref.rank = 2;
  step(plan, &out, &rows, &rows, kw_gpu_real(plan, 1, 2), true);
}

static const kw_gpu_op ops[] = {
    {"_cdist_forward", lower_cdist, 0, 0, KW_DTYPES_WIDE_FLOAT},
    {"_pdist_forward", lower_pdist, 0, 0, KW_DTYPES_WIDE_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_distance_family = {ops, {&distance_module, &run_module}};
