/* SPDX-License-Identifier: Apache-2.0
 *
 * The backwards of normalisations.
 */
#include "ops/families.h"
#include "ops/moves.h"
#include "ops/norm.h"

#include "kernel_sources.h"
#include "program/dtype.h"

static const kw_gpu_module norm_backward_module = {
    "norm_backward",
    KW_GPU_BY_DTYPE,
    KW_DTYPES_FLOAT,
    {kw_gpu_source_norm_args, kw_gpu_source_group, kw_gpu_source_norm_rows, kw_gpu_source_norm_backward}};
static const kw_gpu_module lines_module = {"norm_lines_backward",
                                           KW_GPU_RUNS_BY_DTYPE,
                                           KW_DTYPES_FLOAT | KW_GPU_VECTORS,
                                           {kw_gpu_source_norm_args, kw_gpu_source_norm_rows, kw_gpu_source_norm_some,
                                            kw_gpu_source_reduction, kw_gpu_source_norm_lines_backward}};
static const kw_gpu_kernel lines_kernel = {&lines_module, "kw_norm_lines_backward_kernel"};
static const kw_gpu_kernel columns_kernel = {&lines_module, "kw_norm_columns_backward_kernel"};
static const kw_gpu_kernel norm_backward_kernel = {&norm_backward_module, "kw_norm_backward_kernel"};

/* What a backward is given, and where its results go. Absent tensors are none. */
typedef struct norm_backward {
  kw_gpu_norm_layout layout;
  int32_t flags; /* KW_NORM_CENTRED, KW_NORM_GIVEN */
  kw_gpu_tensor grad, in, weight;
  kw_gpu_tensor mean, rstd; /* rstd is a variance where given */
  kw_gpu_tensor outs[3];    /* gradients of input, weight and bias */
  double eps;
} norm_backward;

/* One pass over rows: those that were normalised, or for gradients of weights those across them. */
typedef struct norm_pass {
  const norm_backward *task;
  int32_t flags;
  const kw_gpu_tensor *out, *weight;
  const kw_gpu_tensor *first, *second; /* sums of gradients times normalised elements, and of gradients */
} norm_pass;

/* Operands, block and values; the grid follows. */
static kw_gpu_step *add_step(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, const norm_pass *pass,
                             const kw_norm *block, int32_t phases, const kw_gpu_tensor *partial) {
  const norm_backward *task = pass->task;
  const kw_gpu_tensor *operands[KW_NORM_OPERANDS] = {pass->out,   &task->grad, &task->in,    pass->weight, &task->mean,
                                                     &task->rstd, pass->first, pass->second, partial};
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, task->in.ref.dtype);
  for (uint32_t k = 0; k < KW_NORM_OPERANDS; ++k) kw_gpu_step_operand(step, operands[k]);
  kw_gpu_step_block(step, block, sizeof *block);
  kw_gpu_step_int(step, pass->flags | phases);
  kw_gpu_step_number(step, task->eps);
  return step;
}

static void launch(kw_gpu_plan *plan, const void *data, const kw_norm *block, int32_t phases,
                   const kw_gpu_tensor *partial) {
  kw_gpu_step *step = add_step(plan, &norm_backward_kernel, data, block, phases, partial);
  kw_gpu_step_groups(step, block->rows * block->chunks);
}

/* The vectors of elements that an item takes each of, where rows across the statistics lie side by side; 0 where they
 * do not, or the device does not compute in vectors. */
static int64_t runs_of_columns(const kw_gpu_plan *plan, const norm_pass *pass, const kw_norm *block) {
  const kw_gpu_device *device = plan->call->device;
  const kw_i64 last = block->outer_rank - 1;
  if (device->vector_bytes == 0 || !(pass->flags & KW_NORM_ACROSS) || last < 0 || block->rows == 0) return 0;
  if (block->stride[1][last] != 1 || block->stride[2][last] != 1 || block->stride[3][last] != 0) return 0;
  const int64_t lanes = kw_gpu_lanes(&lines_module, pass->task->in.ref.dtype, device->vector_bytes);
  return block->rows / block->shape[last] * ((block->shape[last] + lanes - 1) / lanes);
}

/* `along`: the operands whose elements have to lie side by side for that. */
static void run(kw_gpu_plan *plan, const norm_pass *pass, const kw_norm *block, int32_t statistics, int32_t apply,
                uint32_t along) {
  const bool across = pass->flags & KW_NORM_ACROSS; /* a line is of one statistic */
  const int64_t runs = runs_of_columns(plan, pass, block);
  if (runs > 0) {
    kw_gpu_step *step = add_step(plan, &columns_kernel, pass, block, statistics | apply, NULL);
    kw_gpu_step_grid(step, 1, 1, runs, 1);
  } else if (kw_gpu_norm_has_lines(plan, block, along) && !(across && block->stride[3][block->rank - 1] != 0)) {
    kw_gpu_step *step = add_step(plan, &lines_kernel, pass, block, statistics | apply, NULL);
    kw_gpu_step_grid(step, 1, 1, block->rows, 1);
  } else {
    kw_gpu_norm_run(plan, block, statistics, apply, kw_gpu_compute_dtype(pass->task->in.ref.dtype), 2, launch, pass);
  }
}

/* Sums of the rows, then each element from these. */
static void input_gradient(kw_gpu_plan *plan, const norm_backward *task) {
  const kw_dtype key = task->in.ref.dtype, compute = kw_gpu_compute_dtype(key);
  const bool has_weight = kw_gpu_present(&task->weight), given = task->flags & KW_NORM_GIVEN;
  const kw_tensor_ref in = kw_gpu_norm_like(&task->layout, &task->in);
  const kw_tensor_ref out = kw_gpu_norm_like(&task->layout, &task->outs[0]);
  const kw_tensor_ref grad = kw_gpu_norm_like(&task->layout, &task->grad);
  const kw_tensor_ref weight = kw_gpu_norm_weight(&task->layout, &task->weight, &in);
  kw_norm block;
  kw_gpu_norm_block(&in, task->layout.outer, (const kw_tensor_ref *[]){&out, &grad, &in, has_weight ? &weight : NULL},
                    &block);
  kw_gpu_tensor first = kw_gpu_temporary(plan, compute, 1, &block.rows);
  kw_gpu_tensor second = kw_gpu_temporary(plan, compute, 1, &block.rows);
  const norm_pass pass = {.task = task,
                          .flags = task->flags | (has_weight ? KW_NORM_WEIGHT : 0) |
                                   kw_gpu_norm_wide(&task->weight, key, KW_NORM_WEIGHT_WIDE) | KW_NORM_FIRST |
                                   KW_NORM_FIRST_WIDE | KW_NORM_SECOND | KW_NORM_SECOND_WIDE,
                          .out = &task->outs[0],
                          .weight = &task->weight,
                          .first = &first,
                          .second = &second};
  run(plan, &pass, &block, given ? 0 : KW_NORM_SUMS, KW_NORM_APPLY, 1u << 0 | 1u << 1 | 1u << 2);
}

static void weight_gradients(kw_gpu_plan *plan, const norm_backward *task) {
  const kw_dtype key = task->in.ref.dtype;
  const kw_gpu_tensor *weight = &task->outs[1], *bias = &task->outs[2];
  const kw_tensor_ref in = kw_gpu_norm_like(&task->layout, &task->in);
  const kw_tensor_ref grad = kw_gpu_norm_like(&task->layout, &task->grad);
  const kw_tensor_ref statistic = kw_gpu_norm_statistic(&task->layout, &in);
  kw_norm block;
  kw_gpu_norm_block(&in, task->layout.weights, (const kw_tensor_ref *[]){NULL, &grad, &in, &statistic}, &block);
  kw_gpu_tensor first = kw_gpu_staging(plan, weight, weight->ref.dtype);
  kw_gpu_tensor second = kw_gpu_staging(plan, bias, bias->ref.dtype);
  const norm_pass pass = {.task = task,
                          .flags = task->flags | KW_NORM_ACROSS | (kw_gpu_present(weight) ? KW_NORM_FIRST : 0) |
                                   (kw_gpu_present(bias) ? KW_NORM_SECOND : 0) |
                                   kw_gpu_norm_wide(weight, key, KW_NORM_FIRST_WIDE) |
                                   kw_gpu_norm_wide(bias, key, KW_NORM_SECOND_WIDE),
                          .first = &first,
                          .second = &second};
  run(plan, &pass, &block, KW_NORM_SUMS, 0, 1u << 1 | 1u << 2);
  kw_gpu_deliver(plan, &first, weight);
  kw_gpu_deliver(plan, &second, bias);
}

static void norm_gradients(kw_gpu_plan *plan, norm_backward *task) {
  const kw_dtype compute = kw_gpu_compute_dtype(task->in.ref.dtype);
  task->mean = kw_gpu_contiguous(plan, &task->mean, compute);
  task->rstd = kw_gpu_contiguous(plan, &task->rstd, compute);
  for (uint32_t i = 0; i < 3; ++i) task->outs[i] = kw_gpu_output(plan, i);
  if (kw_gpu_present(&task->outs[0])) input_gradient(plan, task);
  if (kw_gpu_present(&task->outs[1]) || kw_gpu_present(&task->outs[2])) weight_gradients(plan, task);
}

/* Arguments: grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask. */
static void lower_layer_norm_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  norm_backward task = {.flags = KW_NORM_CENTRED,
                        .grad = kw_gpu_input(plan, 0),
                        .in = kw_gpu_input(plan, 1),
                        .weight = kw_gpu_input(plan, 5),
                        .mean = kw_gpu_input(plan, 3),
                        .rstd = kw_gpu_input(plan, 4)};
  task.layout = kw_gpu_norm_last_dims(&task.in, kw_gpu_argument(plan, 2)->count);
  norm_gradients(plan, &task);
}

/* Arguments: grad_out, input, normalized_shape, rstd, weight, output_mask. */
static void lower_rms_norm_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  norm_backward task = {.grad = kw_gpu_input(plan, 0),
                        .in = kw_gpu_input(plan, 1),
                        .weight = kw_gpu_input(plan, 4),
                        .rstd = kw_gpu_input(plan, 3)};
  task.layout = kw_gpu_norm_last_dims(&task.in, kw_gpu_argument(plan, 2)->count);
  norm_gradients(plan, &task);
}

/* Arguments: grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask. */
static void lower_group_norm_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  norm_backward task = {.layout = kw_gpu_norm_groups(kw_gpu_int(plan, 8, 1)),
                        .flags = KW_NORM_CENTRED,
                        .grad = kw_gpu_input(plan, 0),
                        .in = kw_gpu_input(plan, 1),
                        .weight = kw_gpu_input(plan, 4),
                        .mean = kw_gpu_input(plan, 2),
                        .rstd = kw_gpu_input(plan, 3)};
  norm_gradients(plan, &task);
}

/* Arguments: grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask. */
static void lower_batch_norm_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  const bool train = kw_gpu_bool(plan, 7, false);
  norm_backward task = {.layout = kw_gpu_norm_channels(),
                        .flags = KW_NORM_CENTRED | (train ? 0 : KW_NORM_GIVEN),
                        .grad = kw_gpu_input(plan, 0),
                        .in = kw_gpu_input(plan, 1),
                        .weight = kw_gpu_input(plan, 2),
                        .mean = kw_gpu_input(plan, train ? 5 : 3),
                        .rstd = kw_gpu_input(plan, train ? 6 : 4),
                        .eps = kw_gpu_real(plan, 8, 0)};
  norm_gradients(plan, &task);
}

static const kw_gpu_op ops[] = {
    {"native_layer_norm_backward", lower_layer_norm_backward, 0, 0, KW_DTYPES_FLOAT},
    {"_fused_rms_norm_backward", lower_rms_norm_backward, 0, 0, KW_DTYPES_FLOAT},
    {"native_group_norm_backward", lower_group_norm_backward, 0, 0, KW_DTYPES_FLOAT},
    {"native_batch_norm_backward", lower_batch_norm_backward, 0, 0, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_norm_backward_family = {ops, {&norm_backward_module, &lines_module}};
