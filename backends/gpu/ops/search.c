/* SPDX-License-Identifier: Apache-2.0
 *
 * Positions of values in sorted rows.
 */
#include "kernel_sources.h"
#include "ops/families.h"
#include "ops/index.h"
#include "ops/moves.h"

static const kw_gpu_module search_module = {"search", KW_GPU_BY_DTYPE, KW_DTYPES_NUM, {kw_gpu_source_search}};
static const kw_gpu_kernel search_kernel = {&search_module, "kw_search_kernel"};

/* Where the row of each value begins: a tensor of one dimension is the row of all. */
static kw_gpu_tensor row_starts(const kw_gpu_tensor *rows, const kw_gpu_tensor *values) {
  int64_t strides[KW_MAX_RANK] = {0};
  for (uint32_t d = 0; d + 1 < rows->ref.rank; ++d) strides[d] = rows->ref.strides[d];
  return kw_gpu_strided(rows, values->ref.rank, values->ref.shape, strides);
}

static void lower_searchsorted(kw_gpu_plan *plan, const kw_gpu_op *op) {
  enum { SEQUENCE, SELF, OUT_INT32, RIGHT, SIDE, SORTER };
  static const char *const sides[] = {"left", "right", NULL};
  (void)op;
  kw_gpu_tensor rows = kw_gpu_input(plan, SEQUENCE), self = kw_gpu_input(plan, SELF), out = kw_gpu_output(plan, 0);
  kw_gpu_tensor sorter = kw_gpu_input(plan, SORTER), orders = sorter;
  const uint32_t last = rows.ref.rank - 1u;
  const bool sorted = kw_gpu_present(&sorter), named = kw_gpu_choice(plan, SIDE, sides) == 1;
  if (sorted) {
    const kw_gpu_tensor offsets = kw_gpu_index_offsets_along(plan, &sorter, SORTER, &rows, last);
    orders = row_starts(&offsets, &out);
    rows = kw_gpu_contiguous(plan, &rows, rows.ref.dtype);
  }
  const kw_gpu_tensor starts = row_starts(&rows, &out);
  kw_gpu_step *step = kw_gpu_step_elementwise(plan, &search_kernel, rows.ref.dtype, &out,
                                              (const kw_gpu_tensor *[]){&self, &starts, sorted ? &orders : NULL}, 3);
  kw_gpu_step_long(step, rows.ref.shape[last]);
  kw_gpu_step_long(step, rows.ref.strides[last]);
  kw_gpu_step_int(step, sorted);
  kw_gpu_step_int(step, named || kw_gpu_bool(plan, RIGHT, false));
  kw_gpu_step_int(step, out.ref.dtype == KW_I32);
}

static const kw_gpu_op ops[] = {
    {"searchsorted.Tensor", lower_searchsorted, 0, KW_KERNEL_DATA_ERRORS, KW_DTYPES_NUM},
    {0},
};

const kw_gpu_family kw_gpu_search_family = {ops, {&search_module}};
