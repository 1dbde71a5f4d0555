/* SPDX-License-Identifier: Apache-2.0
 *
 * Scatter as steps: entries are sorted by row, and reduced block by block.
 */
#include "ops/scatter.h"

#include "kernel_sources.h"
#include "ops/families.h"
#include "ops/index.h"
#include "ops/moves.h"
#include "ops/sort.h"
#include "program/dtype.h"

#include <string.h>

static const kw_gpu_module scatter_module = {
    "scatter",
    KW_GPU_BY_DTYPE,
    KW_DTYPES_REAL,
    {kw_gpu_source_items, kw_gpu_source_scatter_args, kw_gpu_source_scatter_combine, kw_gpu_source_scatter}};

/* What computes in its own type. */
static const kw_gpu_module rows_module = {
    "scatter_rows",
    KW_GPU_BY_DTYPE,
    (KW_DTYPES_REAL & ~(KW_DTYPE_BIT(KW_F16) | KW_DTYPE_BIT(KW_BF16))) | KW_GPU_VECTORS,
    {kw_gpu_source_scatter_args, kw_gpu_source_scatter_combine, kw_gpu_source_scatter_rows}};

static const kw_gpu_kernel rows_kernel = {&rows_module, "kw_scatter_rows_kernel"};
static const kw_gpu_kernel blocks_kernel = {&scatter_module, "kw_scatter_blocks_kernel"};
static const kw_gpu_kernel scatter_kernel = {&scatter_module, "kw_scatter_kernel"};

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static kw_gpu_step *add_step(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, const kw_gpu_scatter *s,
                             const kw_gpu_groups *groups, const kw_gpu_tensor *partial, const kw_scattering *block) {
  const int32_t flags = (groups->wide ? KW_SCATTER_WIDE : 0) | (kw_gpu_present(&s->self) ? KW_SCATTER_SELF : 0) |
                        (s->with_self ? KW_SCATTER_WITH_SELF : 0) |
                        (kw_gpu_present(&s->weights) ? KW_SCATTER_WEIGHTS : 0) | (s->alpha ? KW_SCATTER_ALPHA : 0);
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, s->out.ref.dtype);
  kw_gpu_step_operand(step, &s->out);
  kw_gpu_step_operand(step, &s->self);
  kw_gpu_step_operand(step, &s->src);
  kw_gpu_step_operand(step, &groups->items);
  kw_gpu_step_operand(step, &groups->starts);
  kw_gpu_step_operand(step, partial);
  kw_gpu_step_operand(step, &s->weights);
  kw_gpu_step_block(step, block, sizeof *block);
  kw_gpu_step_int(step, s->op);
  kw_gpu_step_int(step, flags);
  kw_gpu_step_scalar(plan, step, s->alpha, 1);
  return step;
}

/* Entries from which on several items share the rows; and how many, where each looks at all entries, and where it does
 * at those of its lines. */
#define SHARED_ENTRIES 4096
#define SHARES 4
#define SHARES_OF_LINES 32

static void reduce_in_place(kw_gpu_plan *plan, const kw_gpu_scatter *s, const kw_scattering *block) {
  const int64_t whole = block->line ? block->line : 1, wholes = block->rows / whole;
  const int64_t shares = block->entries < SHARED_ENTRIES ? 1 : block->line ? SHARES_OF_LINES : SHARES;
  const int64_t width = (wholes + shares - 1) / shares * whole;
  const kw_gpu_groups groups = {.items = s->keys, .starts = kw_gpu_temporary(plan, KW_I32, 1, &block->rows)};
  const kw_dtype dtype = s->out.ref.dtype;
  const bool in_parts = (dtype == KW_F32 || dtype == KW_F64) && (s->op == KW_SCATTER_SUM || s->op == KW_SCATTER_MEAN);
  kw_gpu_tensor parts = {.at.from = KW_GPU_NOTHING};
  if (in_parts) parts = kw_gpu_temporary(plan, dtype, 1, &s->out.ref.numel);
  kw_gpu_step *step = add_step(plan, &rows_kernel, s, &groups, &parts, block);
  kw_gpu_step_int(step, in_parts);
  kw_gpu_step_long(step, width);
  kw_gpu_step_parts(step, s->out.ref.numel > 0 ? block->rows : 0, width > 0 ? width : 1);
}

/* For bool a sum is logical or, a product logical and. */
static int32_t op_of(int32_t op, kw_dtype dtype) {
  if (dtype != KW_BOOL) return op;
  return op == KW_SCATTER_SUM ? KW_SCATTER_MAX : op == KW_SCATTER_PROD ? KW_SCATTER_MIN : op;
}

void kw_gpu_scatter_rows(kw_gpu_plan *plan, const kw_gpu_scatter *scatter) {
  const kw_dtype dtype = scatter->out.ref.dtype;
  const int64_t entries = scatter->keys.ref.numel;
  if (entries == 0) {
    if (kw_gpu_present(&scatter->self)) {
      kw_gpu_copy(plan, &scatter->out, &scatter->self);
    } else {
      kw_gpu_fill(plan, &scatter->out, 0);
    }
    return;
  }
  kw_gpu_scatter s = *scatter;
  s.op = op_of(scatter->op, dtype);
  s.out = kw_gpu_staging(plan, &scatter->out, dtype);
  s.self = kw_gpu_contiguous(plan, &scatter->self, dtype);
  s.src = kw_gpu_contiguous(plan, &scatter->src, dtype);
  kw_scattering block = {.outer = s.outer,
                         .rows = s.rows,
                         .inner = s.inner,
                         .entries = entries,
                         .fan = s.fan ? s.fan : 1,
                         .line = s.line,
                         .line_entries = s.line_entries};
  const kw_gpu_device *device = plan->call->device;
  if (device->vector_bytes > 0 && kw_gpu_module_has(&rows_module, (unsigned)dtype) && entries < UINT32_MAX) {
    reduce_in_place(plan, &s, &block);
    kw_gpu_deliver(plan, &s.out, &scatter->out);
    return;
  }
  const kw_gpu_groups groups = kw_gpu_group(plan, &s.keys, s.rows);
  const int64_t columns = s.outer * s.inner;
  int64_t blocks = 0;
  for (int64_t left = entries / KW_SCATTER_BLOCK; left > 0; left /= KW_SCATTER_BLOCK, ++block.levels) blocks += left;
  kw_gpu_tensor partial =
      kw_gpu_temporary(plan, kw_gpu_compute_dtype(dtype), 2, (int64_t[]){blocks > 0 ? blocks : 1, columns});
  int64_t size = 1;
  for (int64_t level = 0; level < block.levels; ++level) {
    size *= KW_SCATTER_BLOCK;
    kw_gpu_step *step = add_step(plan, &blocks_kernel, &s, &groups, &partial, &block);
    kw_gpu_step_long(step, size);
    kw_gpu_step_items(step, entries / size * columns);
  }
  kw_gpu_step *step = add_step(plan, &scatter_kernel, &s, &groups, &partial, &block);
  kw_gpu_step_items(step, s.out.ref.numel);
  kw_gpu_deliver(plan, &s.out, &scatter->out);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

/* Elements of argument 3 go where argument 2 says along dimension argument 1 of argument 0: each to a row of one. */
static kw_gpu_scatter scatter_along(kw_gpu_plan *plan, int32_t op, bool with_self) {
  kw_gpu_tensor index = kw_gpu_input(plan, 2), src = kw_gpu_input(plan, 3);
  kw_gpu_scatter s = {.op = op, .out = kw_gpu_output(plan, 0), .self = kw_gpu_input(plan, 0), .with_self = with_self};
  const uint32_t dim = kw_gpu_dim(plan, 1, s.self.ref.rank);
  s.outer = s.inner = 1;
  s.rows = s.self.ref.numel;
  s.src = kw_gpu_strided(&src, index.ref.rank, index.ref.shape, src.ref.strides);
  s.keys = kw_gpu_index_offsets_along(plan, &index, 2, &s.self, dim);
  if (dim + 1 == s.self.ref.rank && memcmp(index.ref.shape, s.self.ref.shape, dim * sizeof *index.ref.shape) == 0) {
    s.line = s.self.ref.shape[dim];
    s.line_entries = index.ref.shape[dim];
  }
  return s;
}

static void scatter_lines(kw_gpu_plan *plan, int32_t op, bool with_self) {
  const kw_gpu_scatter s = scatter_along(plan, op, with_self);
  kw_gpu_scatter_rows(plan, &s);
}

bool kw_gpu_scatter_moves(kw_gpu_plan *plan) {
  const kw_gpu_device *device = plan->call->device;
  const kw_gpu_tensor self = kw_gpu_input(plan, 0), index = kw_gpu_input(plan, 2);
  const kw_dtype moved = kw_gpu_moved_dtype(kw_gpu_dtype_size(self.ref.dtype));
  const int64_t entries = index.ref.numel;
  if (device->vector_bytes == 0 || moved == KW_DTYPE_NONE || entries == 0 || entries >= UINT32_MAX) return false;
  kw_gpu_scatter s = scatter_along(plan, KW_SCATTER_LAST, true);
  s.out.ref.dtype = s.self.ref.dtype = s.src.ref.dtype = moved;
  kw_gpu_scatter_rows(plan, &s);
  return true;
}

static void lower_scatter_add(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  scatter_lines(plan, KW_SCATTER_SUM, true);
}

static void lower_scatter_reduce(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  static const int32_t ops[] = {KW_SCATTER_SUM, KW_SCATTER_PROD, KW_SCATTER_MEAN, KW_SCATTER_MAX, KW_SCATTER_MIN};
  const int32_t which = kw_gpu_choice(plan, 4, (const char *[]){"sum", "prod", "mean", "amax", "amin", NULL});
  scatter_lines(plan, ops[which], kw_gpu_bool(plan, 5, true));
}

/* Slice number i of argument 3 goes to slice number index[i]. */
static void lower_index_add(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor index = kw_gpu_input(plan, 2);
  kw_gpu_scatter s = {.op = KW_SCATTER_SUM,
                      .out = kw_gpu_output(plan, 0),
                      .self = kw_gpu_input(plan, 0),
                      .with_self = true,
                      .src = kw_gpu_input(plan, 3),
                      .alpha = kw_gpu_argument(plan, 4)};
  const uint32_t rank = s.self.ref.rank, dim = kw_gpu_dim(plan, 1, rank);
  s.outer = s.inner = s.rows = 1;
  for (uint32_t d = 0; d < rank; ++d) *(d < dim ? &s.outer : d > dim ? &s.inner : &s.rows) *= s.self.ref.shape[d];
  s.keys = kw_gpu_temporary(plan, KW_I64, 1, &index.ref.numel);
  index = kw_gpu_strided(&index, 1, &index.ref.numel, (int64_t[]){index.ref.rank > 0 ? index.ref.strides[0] : 0});
  kw_gpu_index_offsets(plan, &s.keys,
                       &(kw_gpu_index){.tensor = index, .argument = 2, .size = s.rows, .step = 1, .skip = -1}, NULL);
  kw_gpu_scatter_rows(plan, &s);
}

static void lower_embedding_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor indices = kw_gpu_input(plan, 1);
  const bool mean = kw_gpu_bool(plan, 4, false);
  kw_gpu_scatter s = {.op = mean ? KW_SCATTER_MEAN : KW_SCATTER_SUM,
                      .out = kw_gpu_output(plan, 0),
                      .src = kw_gpu_input(plan, 0),
                      .outer = 1};
  s.rows = s.out.ref.shape[0];
  s.inner = s.out.ref.shape[1];
  s.keys = kw_gpu_temporary(plan, KW_I64, indices.ref.rank, indices.ref.shape);
  kw_gpu_index_offsets(
      plan, &s.keys,
      &(kw_gpu_index){.tensor = indices, .argument = 1, .size = s.rows, .step = 1, .skip = kw_gpu_int(plan, 3, -1)},
      NULL);
  kw_gpu_scatter_rows(plan, &s);
}

static const kw_gpu_op ops[] = {
    {"scatter_add", lower_scatter_add, 0, KW_KERNEL_DATA_ERRORS, KW_DTYPES_REAL},
    {"scatter_reduce.two", lower_scatter_reduce, 0, KW_KERNEL_DATA_ERRORS, KW_DTYPES_REAL},
    {"index_add", lower_index_add, 0, KW_KERNEL_DATA_ERRORS, KW_DTYPES_REAL},
    {"embedding_dense_backward", lower_embedding_backward, 0, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_scatter_family = {ops, {&scatter_module, &rows_module}};
