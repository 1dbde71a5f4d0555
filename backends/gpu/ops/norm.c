/* SPDX-License-Identifier: Apache-2.0
 *
 * Normalisation: over the last dimensions, by channels, by groups of them.
 */
#include "ops/norm.h"

#include "kernel_sources.h"
#include "ops/families.h"
#include "ops/moves.h"
#include "program/dtype.h"

#include <string.h>

static const kw_gpu_module norm_module = {
    "norm",
    KW_GPU_BY_DTYPE,
    KW_DTYPES_FLOAT,
    {kw_gpu_source_norm_args, kw_gpu_source_group, kw_gpu_source_norm_rows, kw_gpu_source_norm}};
static const kw_gpu_module row_module = {"norm_row",
                                         KW_GPU_RUNS_BY_DTYPE,
                                         KW_DTYPES_FLOAT,
                                         {kw_gpu_source_norm_args, kw_gpu_source_norm_rows, kw_gpu_source_norm_some,
                                          kw_gpu_source_reduction, kw_gpu_source_row, kw_gpu_source_norm_row}};
static const kw_gpu_module lines_module = {"norm_lines",
                                           KW_GPU_RUNS_BY_DTYPE,
                                           KW_DTYPES_FLOAT | KW_GPU_VECTORS,
                                           {kw_gpu_source_norm_args, kw_gpu_source_norm_rows, kw_gpu_source_norm_some,
                                            kw_gpu_source_reduction, kw_gpu_source_norm_lines}};

static const kw_gpu_kernel norm_kernel = {&norm_module, "kw_norm_kernel"};
static const kw_gpu_kernel row_kernel = {&row_module, "kw_norm_row_kernel"};
static const kw_gpu_kernel lines_kernel = {&lines_module, "kw_norm_lines_kernel"};

/* Rows of more elements than SINGLE take several launches, of CHUNK elements a group. */
#define SINGLE 8192
#define CHUNK 4096

/* ---- Layouts ----------------------------------------------------------------------------------------------------- */

kw_gpu_norm_layout kw_gpu_norm_last_dims(const kw_gpu_tensor *in, uint32_t count) {
  uint32_t outer = (1u << (in->ref.rank - count)) - 1;
  return (kw_gpu_norm_layout){0, outer, ((1u << in->ref.rank) - 1) & ~outer};
}

kw_gpu_norm_layout kw_gpu_norm_channels(void) {
  return (kw_gpu_norm_layout){0, 2, 2};
}

kw_gpu_norm_layout kw_gpu_norm_groups(int64_t groups) {
  return (kw_gpu_norm_layout){groups, 3, 6};
}

static kw_tensor_ref split_dim(const kw_tensor_ref *tensor, uint32_t dim, int64_t groups) {
  kw_tensor_ref view = *tensor;
  const uint32_t behind = tensor->rank - dim;
  memmove(view.shape + dim + 1, tensor->shape + dim, behind * sizeof *view.shape);
  memmove(view.strides + dim + 1, tensor->strides + dim, behind * sizeof *view.strides);
  view.shape[dim] = groups;
  view.shape[dim + 1] = tensor->shape[dim] / groups;
  view.strides[dim] = tensor->strides[dim] * view.shape[dim + 1];
  view.rank++;
  return view;
}

kw_tensor_ref kw_gpu_norm_like(const kw_gpu_norm_layout *layout, const kw_gpu_tensor *tensor) {
  return layout->groups ? split_dim(&tensor->ref, 1, layout->groups) : tensor->ref;
}

kw_tensor_ref kw_gpu_norm_weight(const kw_gpu_norm_layout *layout, const kw_gpu_tensor *weight,
                                 const kw_tensor_ref *view) {
  const kw_tensor_ref own = layout->groups ? split_dim(&weight->ref, 0, layout->groups) : weight->ref;
  kw_tensor_ref spread = *view;
  for (uint32_t d = 0, k = 0; d < view->rank; ++d) spread.strides[d] = layout->weights >> d & 1 ? own.strides[k++] : 0;
  return spread;
}

kw_tensor_ref kw_gpu_norm_statistic(const kw_gpu_norm_layout *layout, const kw_tensor_ref *view) {
  kw_tensor_ref spread = *view;
  int64_t stride = 1;
  for (uint32_t d = view->rank; d-- > 0;) {
    bool own = layout->outer >> d & 1;
    spread.strides[d] = own ? stride : 0;
    if (own) stride *= view->shape[d];
  }
  return spread;
}

int32_t kw_gpu_norm_wide(const kw_gpu_tensor *tensor, kw_dtype key, int32_t flag) {
  return kw_gpu_present(tensor) && tensor->ref.dtype != key ? flag : 0;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* Adds dimension d of the operands behind the block's, as one with the last where all step through both evenly and that
 * is not before `begin`. */
static void add_dim(kw_norm *block, uint32_t begin, int64_t extent, uint32_t d,
                    const kw_tensor_ref *const operands[KW_NORM_STRIDED]) {
  int64_t strides[KW_NORM_STRIDED];
  uint32_t last = (uint32_t)block->rank - 1;
  if (extent == 1) return;
  bool even = block->rank > begin;
  for (uint32_t k = 0; k < KW_NORM_STRIDED; ++k) {
    strides[k] = operands[k] ? operands[k]->strides[d] : 0;
    even = even && block->stride[k][last] == strides[k] * extent;
  }
  if (!even) {
    last = (uint32_t)block->rank++;
    block->shape[last] = 1;
  }
  block->shape[last] *= extent;
  for (uint32_t k = 0; k < KW_NORM_STRIDED; ++k) block->stride[k][last] = strides[k];
}

void kw_gpu_norm_block(const kw_tensor_ref *view, uint32_t outer, const kw_tensor_ref *const operands[KW_NORM_STRIDED],
                       kw_norm *out_block) {
  memset(out_block, 0, sizeof *out_block);
  out_block->rows = out_block->numel = out_block->chunks = 1;
  for (uint32_t d = 0; d < view->rank; ++d) {
    if (!(outer >> d & 1)) continue;
    add_dim(out_block, 0, view->shape[d], d, operands);
    out_block->rows *= view->shape[d];
  }
  out_block->outer_rank = out_block->rank;
  for (uint32_t d = 0; d < view->rank; ++d) {
    if (outer >> d & 1) continue;
    add_dim(out_block, (uint32_t)out_block->outer_rank, view->shape[d], d, operands);
    out_block->numel *= view->shape[d];
  }
  out_block->count = out_block->chunk = out_block->numel;
}

bool kw_gpu_norm_has_lines(const kw_gpu_plan *plan, const kw_norm *block, uint32_t along) {
  const kw_gpu_device *device = plan->call->device;
  if (device->vector_bytes == 0 || block->numel == 0 || block->rank == block->outer_rank) return false;
  for (uint32_t k = 0; k < KW_NORM_STRIDED; ++k) {
    const kw_i64 stride = block->stride[k][block->rank - 1];
    if (stride != 1 && (stride != 0 || along >> k & 1)) return false;
  }
  return kw_gpu_row_fits(plan, block->numel);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

void kw_gpu_norm_run(kw_gpu_plan *plan, const kw_norm *block, int32_t statistics, int32_t apply, kw_dtype partial,
                     int64_t width, kw_gpu_norm_launch launch, const void *task) {
  if (block->rows == 0) return;
  if (block->numel <= SINGLE) {
    launch(plan, task, block, statistics | apply, NULL);
    return;
  }
  kw_norm parts = *block, whole = *block;
  parts.chunk = CHUNK;
  parts.chunks = (block->numel + CHUNK - 1) / CHUNK;
  whole.count = whole.chunk = parts.chunks;
  kw_gpu_tensor between = {.at.from = KW_GPU_NOTHING};
  if (statistics) between = kw_gpu_temporary(plan, partial, 3, (int64_t[]){block->rows, parts.chunks, width});
  for (int32_t phase = 1; phase <= statistics; phase *= 2) {
    if (!(statistics & phase)) continue;
    launch(plan, task, &parts, phase | KW_NORM_WRITE_PARTIAL, &between);
    launch(plan, task, &whole, phase | KW_NORM_READ_PARTIAL, &between);
  }
  if (apply) launch(plan, task, &parts, apply, NULL);
}

/* ---- Normalisation ----------------------------------------------------------------------------------------------- */

/* One normalisation: where arguments and results are. Absent tensors are none. */
typedef struct norm_task {
  kw_gpu_norm_layout layout;
  int32_t flags; /* KW_NORM_CENTRED, KW_NORM_GIVEN */
  kw_gpu_tensor out, in, weight, bias;
  kw_gpu_tensor mean, rstd; /* results, or where they are given arguments */
  kw_gpu_tensor running_mean, running_var;
  double eps, momentum;
} norm_task;

/* Operands, block and values; the grid follows. */
static kw_gpu_step *add_step(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, const norm_task *task,
                             const kw_norm *block, int32_t phases, const kw_gpu_tensor *partial) {
  const kw_gpu_tensor *operands[KW_NORM_OPERANDS] = {&task->out,  &task->in,           &task->weight,
                                                     &task->bias, &task->mean,         &task->rstd,
                                                     partial,     &task->running_mean, &task->running_var};
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, task->in.ref.dtype);
  for (uint32_t k = 0; k < KW_NORM_OPERANDS; ++k) kw_gpu_step_operand(step, operands[k]);
  kw_gpu_step_block(step, block, sizeof *block);
  kw_gpu_step_int(step, task->flags | phases);
  kw_gpu_step_number(step, task->eps);
  kw_gpu_step_number(step, task->momentum);
  return step;
}

static void launch(kw_gpu_plan *plan, const void *data, const kw_norm *block, int32_t phases,
                   const kw_gpu_tensor *partial) {
  kw_gpu_step *step = add_step(plan, &norm_kernel, data, block, phases, partial);
  kw_gpu_step_groups(step, block->rows * block->chunks);
}

static void launch_lines(kw_gpu_plan *plan, const norm_task *task, const kw_norm *block) {
  kw_gpu_step *step = add_step(plan, &lines_kernel, task, block, 0, NULL);
  kw_gpu_step_grid(step, 1, 1, block->rows, 1);
}

/* Whether rows, and not too long ones, have elements side by side, and each weight is one of them or lies so too. */
static bool has_rows(const kw_gpu_plan *plan, const norm_task *task, const kw_norm *block) {
  const kw_i64 d = block->outer_rank, inner = block->rank - d;
  if (task->flags & KW_NORM_RUNNING || block->numel == 0 || inner > 1) return false;
  if (!kw_gpu_row_fits(plan, block->numel)) return false;
  if (inner == 0) return true;
  return block->stride[0][d] == 1 && block->stride[1][d] == 1 && block->stride[2][d] <= 1 && block->stride[3][d] <= 1;
}

static void launch_rows(kw_gpu_plan *plan, const norm_task *task, const kw_norm *block) {
  const kw_gpu_tensor *operands[] = {&task->out, &task->in, &task->weight, &task->bias, &task->mean, &task->rstd};
  const int64_t lanes = kw_gpu_row_lanes(plan, block->numel);
  kw_gpu_step *step = kw_gpu_step_add(plan, &row_kernel, task->in.ref.dtype);
  for (uint32_t k = 0; k < 6; ++k) kw_gpu_step_operand(step, operands[k]);
  kw_gpu_step_block(step, block, sizeof *block);
  kw_gpu_step_int(step, task->flags);
  kw_gpu_step_int(step, (int32_t)lanes);
  kw_gpu_step_int(step, kw_gpu_streams(&task->out));
  kw_gpu_step_number(step, task->eps);
  kw_gpu_step_rows(plan, step, block->rows, lanes);
}

/* Where a row's statistics go: the result, or where the op has none a temporary. */
static kw_gpu_tensor statistic(kw_gpu_plan *plan, const kw_gpu_tensor *result, kw_dtype dtype, int64_t rows) {
  return kw_gpu_present(result) ? kw_gpu_staging(plan, result, dtype) : kw_gpu_temporary(plan, dtype, 1, &rows);
}

static void normalise(kw_gpu_plan *plan, norm_task *task) {
  const kw_dtype key = task->in.ref.dtype, compute = kw_gpu_compute_dtype(key);
  const bool has_weight = kw_gpu_present(&task->weight), has_bias = kw_gpu_present(&task->bias);
  const kw_tensor_ref in = kw_gpu_norm_like(&task->layout, &task->in);
  const kw_tensor_ref out = kw_gpu_norm_like(&task->layout, &task->out);
  const kw_tensor_ref weight = kw_gpu_norm_weight(&task->layout, &task->weight, &in);
  const kw_tensor_ref bias = kw_gpu_norm_weight(&task->layout, &task->bias, &in);
  const kw_tensor_ref *operands[] = {&out, &in, has_weight ? &weight : NULL, has_bias ? &bias : NULL};
  const int32_t centred = task->flags & KW_NORM_CENTRED;
  kw_norm block;
  kw_gpu_norm_block(&in, task->layout.outer, operands, &block);
  task->flags |= (has_weight ? KW_NORM_WEIGHT : 0) | kw_gpu_norm_wide(&task->weight, key, KW_NORM_WEIGHT_WIDE);
  task->flags |= (has_bias ? KW_NORM_BIAS : 0) | kw_gpu_norm_wide(&task->bias, key, KW_NORM_BIAS_WIDE);
  if (task->flags & KW_NORM_GIVEN) {
    task->mean = kw_gpu_contiguous(plan, &task->mean, compute);
    task->rstd = kw_gpu_contiguous(plan, &task->rstd, compute);
    if (kw_gpu_norm_has_lines(plan, &block, 1u << 0 | 1u << 1)) {
      launch_lines(plan, task, &block);
    } else {
      kw_gpu_norm_run(plan, &block, 0, KW_NORM_APPLY, compute, 1, launch, task);
    }
    return;
  }
  if (kw_gpu_present(&task->running_mean)) {
    task->flags |= KW_NORM_RUNNING | kw_gpu_norm_wide(&task->running_mean, key, KW_NORM_RUNNING_MEAN_WIDE) |
                   kw_gpu_norm_wide(&task->running_var, key, KW_NORM_RUNNING_VAR_WIDE);
    block.running_stride[0] = task->running_mean.ref.strides[0];
    block.running_stride[1] = task->running_var.ref.strides[0];
  }
  const kw_gpu_tensor mean = task->mean, rstd = task->rstd;
  if (centred) task->mean = statistic(plan, &mean, compute, block.rows);
  task->rstd = statistic(plan, &rstd, compute, block.rows);
  if (has_rows(plan, task, &block)) {
    launch_rows(plan, task, &block);
  } else if (kw_gpu_norm_has_lines(plan, &block, 1u << 0 | 1u << 1)) {
    launch_lines(plan, task, &block);
  } else {
    kw_gpu_norm_run(plan, &block, (centred ? KW_NORM_MEAN : 0) | KW_NORM_SQUARES, KW_NORM_APPLY, compute, 1, launch,
                    task);
  }
  kw_gpu_deliver(plan, &task->mean, &mean);
  kw_gpu_deliver(plan, &task->rstd, &rstd);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

/* Arguments: input, normalized_shape, weight, bias, eps. */
static void lower_layer_norm(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  norm_task task = {.flags = KW_NORM_CENTRED,
                    .out = kw_gpu_output(plan, 0),
                    .in = kw_gpu_input(plan, 0),
                    .weight = kw_gpu_input(plan, 2),
                    .bias = kw_gpu_input(plan, 3),
                    .mean = kw_gpu_output(plan, 1),
                    .rstd = kw_gpu_output(plan, 2),
                    .eps = kw_gpu_real(plan, 4, 0)};
  task.layout = kw_gpu_norm_last_dims(&task.in, kw_gpu_argument(plan, 1)->count);
  normalise(plan, &task);
}

/* Arguments: input, normalized_shape, weight, eps. */
static void lower_rms_norm(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  norm_task task = {.out = kw_gpu_output(plan, 0),
                    .in = kw_gpu_input(plan, 0),
                    .weight = kw_gpu_input(plan, 2),
                    .rstd = kw_gpu_output(plan, 1)};
  task.layout = kw_gpu_norm_last_dims(&task.in, kw_gpu_argument(plan, 1)->count);
  task.eps = kw_gpu_real(plan, 3, task.in.ref.dtype == KW_F64 ? 0x1p-52 : 0x1p-23);
  normalise(plan, &task);
}

/* Arguments: input, weight, bias, N, C, HxW, group, eps. */
static void lower_group_norm(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  norm_task task = {.layout = kw_gpu_norm_groups(kw_gpu_int(plan, 6, 1)),
                    .flags = KW_NORM_CENTRED,
                    .out = kw_gpu_output(plan, 0),
                    .in = kw_gpu_input(plan, 0),
                    .weight = kw_gpu_input(plan, 1),
                    .bias = kw_gpu_input(plan, 2),
                    .mean = kw_gpu_output(plan, 1),
                    .rstd = kw_gpu_output(plan, 2),
                    .eps = kw_gpu_real(plan, 7, 0)};
  normalise(plan, &task);
}

/* Which arguments a batch norm has. */
#define HAS_STATISTICS 1 /* running_mean, running_var */
#define HAS_TRAINING 2

/* Arguments: input, weight, bias, running_mean, running_var, training, momentum, eps, less what the op has not. */
static void lower_batch_norm(kw_gpu_plan *plan, const kw_gpu_op *op) {
  uint32_t next = op->code & HAS_STATISTICS ? 5 : 3;
  bool training = op->code & HAS_TRAINING ? kw_gpu_bool(plan, next++, false) : false;
  norm_task task = {.layout = kw_gpu_norm_channels(),
                    .flags = KW_NORM_CENTRED | (training ? 0 : KW_NORM_GIVEN),
                    .out = kw_gpu_output(plan, 0),
                    .in = kw_gpu_input(plan, 0),
                    .weight = kw_gpu_input(plan, 1),
                    .bias = kw_gpu_input(plan, 2),
                    .mean = training ? kw_gpu_output(plan, 1) : kw_gpu_input(plan, 3),
                    .rstd = training ? kw_gpu_output(plan, 2) : kw_gpu_input(plan, 4),
                    .momentum = kw_gpu_real(plan, next, 0),
                    .eps = kw_gpu_real(plan, next + 1, 0)};
  if (training && op->code & HAS_STATISTICS) {
    task.running_mean = kw_gpu_output(plan, 3);
    task.running_var = kw_gpu_output(plan, 4);
  }
  normalise(plan, &task);
}

static const kw_gpu_op ops[] = {
    {"native_layer_norm", lower_layer_norm, 0, 0, KW_DTYPES_FLOAT},
    {"rms_norm", lower_rms_norm, 0, 0, KW_DTYPES_FLOAT},
    {"_fused_rms_norm", lower_rms_norm, 0, 0, KW_DTYPES_FLOAT},
    {"native_group_norm", lower_group_norm, 0, 0, KW_DTYPES_FLOAT},
    {"_native_batch_norm_legit", lower_batch_norm, HAS_STATISTICS | HAS_TRAINING, 0, KW_DTYPES_FLOAT},
    {"_native_batch_norm_legit.no_stats", lower_batch_norm, HAS_TRAINING, 0, KW_DTYPES_FLOAT},
    {"_native_batch_norm_legit_no_training", lower_batch_norm, HAS_STATISTICS, 0, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_norm_family = {ops, {&norm_module, &row_module, &lines_module}};
