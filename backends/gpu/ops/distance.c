/* SPDX-License-Identifier: Apache-2.0
 *
 * Distances between rows of matrices.
 */
#include "kernel_sources.h"
#include "ops/families.h"
#include "ops/matmul.h"

#include <string.h>

static const kw_gpu_module distance_module = {
    "distance", KW_GPU_BY_DTYPE, KW_DTYPES_WIDE_FLOAT, {kw_gpu_source_mm_args, kw_gpu_source_distance}};
static const kw_gpu_kernel distance_kernel = {&distance_module, "kw_distance_kernel"};

static void step(kw_gpu_plan *plan, const kw_gpu_tensor *out, const kw_gpu_tensor *x, const kw_gpu_tensor *y, double p,
                 bool own) {
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

const kw_gpu_family kw_gpu_distance_family = {ops, {&distance_module}};
