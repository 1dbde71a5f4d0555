/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions: many elements to one.
 */
#include "ops/reduce.h"

#include "kernel_sources.h"
#include "lower/lowering.h"
#include "ops/families.h"
#include "ops/moves.h"
#include "program/dtype.h"

#include <math.h>

static const kw_gpu_module reduce_module = {
    "reduce", KW_GPU_RUNS_BY_DTYPE, KW_DTYPES_REAL, {kw_gpu_source_reduction, kw_gpu_source_reduce}};
/* The same for single elements. */
static const kw_gpu_module single_module = {
    "reduce_single", KW_GPU_BY_DTYPE, KW_DTYPES_REAL, {kw_gpu_source_reduction, kw_gpu_source_reduce}};
static const kw_gpu_module argmax_module = {"argmax", KW_GPU_BY_DTYPE, KW_DTYPES_REAL, {kw_gpu_source_argmax}};

static const kw_gpu_module argmax_run_module = {"argmax_run",
                                                KW_GPU_RUNS_BY_DTYPE,
                                                KW_DTYPES_REAL | KW_GPU_VECTORS,
                                                {kw_gpu_source_reduction, kw_gpu_source_argmax_run}};

static const kw_gpu_kernel reduce_kernel = {&reduce_module, "kw_reduce_kernel"};
static const kw_gpu_kernel across_kernel = {&reduce_module, "kw_reduce_across_kernel"};
static const kw_gpu_kernel reduce_single_kernel = {&single_module, "kw_reduce_kernel"};
static const kw_gpu_kernel argmax_kernel = {&argmax_module, "kw_argmax_kernel"};
static const kw_gpu_kernel argmax_run_kernel = {&argmax_run_module, "kw_argmax_run_kernel"};

/* Runs that an item takes one after the other, at most: more of them take two launches, so that more groups run at once
 * and errors grow slowly. */
#define IN_A_ROW 64

/* Elements of each output that an item takes where it has strips of outputs. */
#define ROWS_IN_A_ROW 256

/* Elements that an item looks through where it takes them in runs. */
#define CHOSEN_IN_A_ROW 8192

/* Outputs that a group shares at most where their elements lie further apart than the outputs do. */
#define ACROSS 16

/* Where items take vectors: an item has so many at least if it can, but there are so many groups first. */
#define FEW 4
#define GROUPS 16

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* What all launches of one reduction share. */
typedef struct reduction {
  const kw_gpu_kernel *kernel;
  const kw_gpu_tensor *out, *in;
  const kw_gpu_tensor *fourth; /* what the kernel has as operand 3; or NULL */
  int32_t opcode;
  int32_t flag; /* the kernel's second value */
  bool has_divisor;
  double divisor;
  kw_dtype partial;
} reduction;

/* All but the grid. */
static kw_gpu_step *add_step(kw_gpu_plan *plan, const reduction *r, const kw_gpu_tensor *partial,
                             const kw_reduction *block) {
  kw_gpu_step *step = kw_gpu_step_add(plan, r->kernel, r->in->ref.dtype);
  kw_gpu_step_operand(step, r->out);
  kw_gpu_step_operand(step, r->in);
  kw_gpu_step_operand(step, partial);
  kw_gpu_step_operand(step, r->fourth);
  kw_gpu_step_block(step, block, sizeof *block);
  kw_gpu_step_opcode(step, r->opcode);
  kw_gpu_step_int(step, r->flag);
  if (r->has_divisor) kw_gpu_step_number(step, r->divisor);
  return step;
}

static void launch(kw_gpu_plan *plan, const reduction *r, const kw_gpu_tensor *partial, const kw_reduction *block) {
  kw_gpu_step *step = add_step(plan, r, partial, block);
  int64_t slots = KW_LOCAL_REDUCTION / block->lanes;
  kw_gpu_step_groups(step, (block->outputs + slots - 1) / slots * block->chunks);
}

/* The smallest power of two that is not less, but `most` at most. */
static int64_t power_of_two(int64_t count, int64_t most) {
  int64_t power = 1;
  while (power < count && power < most) power *= 2;
  return power;
}

/* An output's elements are further apart than outputs are: items side by side take outputs, so that they read from
 * memory side by side. */
static bool is_across(const kw_reduction *block) {
  if (block->read_partial || block->outer_rank == 0 || block->inner_rank == 0) return false;
  return block->in_stride[block->outer_rank - 1] < block->in_stride[block->outer_rank + block->inner_rank - 1];
}

/* Of a group's items as many to an output as have work, in runs of `run` elements. */
static void set_lanes(kw_reduction *block, int64_t run) {
  int64_t most = KW_LOCAL_REDUCTION;
  block->across = is_across(block);
  if (block->across) most /= power_of_two(block->outputs, ACROSS);
  if (run == 1) {
    block->lanes = power_of_two(block->count, most);
    return;
  }
  block->lanes = power_of_two((block->count + IN_A_ROW * run - 1) / (IN_A_ROW * run), most);
  while (block->outputs * block->lanes < GROUPS * KW_LOCAL_REDUCTION && block->lanes < most &&
         block->count >= 2 * block->lanes * FEW * run)
    block->lanes *= 2;
}

/* Whether outputs lie side by side, and what they are made of too: each of elements further apart, or of one. */
static bool has_strips(const kw_reduction *block) {
  const kw_i64 d = block->outer_rank - 1;
  const bool apart = block->inner_rank == 0 ? d >= 0 : block->inner_rank == 1 && is_across(block);
  return apart && block->in_stride[d] == 1 && block->out_stride[d] == 1;
}

static void launch_strips(kw_gpu_plan *plan, const reduction *r, const kw_gpu_tensor *partial,
                          const kw_reduction *block, int64_t run) {
  kw_gpu_step *step = add_step(plan, r, partial, block);
  const int64_t extent = block->shape[block->outer_rank - 1], strip = KW_ACROSS * run;
  const int64_t items = block->outputs / extent * ((extent + strip - 1) / strip) * block->chunks;
  kw_gpu_step_grid(step, KW_LOCAL_ROWS, 1, (items + KW_LOCAL_ROWS - 1) / KW_LOCAL_ROWS, 1);
}

static void launch_across(kw_gpu_plan *plan, const reduction *whole, const kw_reduction *block, int64_t run) {
  reduction r = *whole;
  kw_reduction first = *block, second = *block;
  r.kernel = &across_kernel;
  if (block->outputs == 0) return;
  if (block->count <= ROWS_IN_A_ROW) {
    launch_strips(plan, &r, NULL, block, run);
    return;
  }
  first.chunk = ROWS_IN_A_ROW;
  first.chunks = (block->count + ROWS_IN_A_ROW - 1) / ROWS_IN_A_ROW;
  first.write_partial = 1;
  second.read_partial = 1;
  second.count = second.chunk = first.chunks;
  kw_gpu_tensor between = kw_gpu_temporary(plan, r.partial, 2, (int64_t[]){first.chunks, block->outputs});
  launch_strips(plan, &r, &between, &first, run);
  launch_strips(plan, &r, &between, &second, run);
}

/* One launch, or two with partial results between them. */
static void launch_all(kw_gpu_plan *plan, const reduction *r, kw_reduction *block) {
  const kw_gpu_device *device = plan->call->device;
  reduction first = *r;
  kw_reduction second = *block;
  const int64_t lanes = kw_gpu_lanes(r->kernel->module, r->in->ref.dtype, device->vector_bytes);
  if (lanes > 1 && has_strips(block)) {
    launch_across(plan, r, block, lanes);
    return;
  }
  if (lanes > 1 && is_across(block)) first.kernel = &reduce_single_kernel;
  const int64_t run = kw_gpu_lanes(first.kernel->module, r->in->ref.dtype, device->vector_bytes);
  set_lanes(block, run);
  const int64_t most = block->lanes * IN_A_ROW * run;
  if (block->inner_numel <= most) {
    launch(plan, &first, NULL, block);
    return;
  }
  block->chunk = most;
  block->chunks = (block->inner_numel + most - 1) / most;
  block->write_partial = 1;
  second.read_partial = 1;
  second.count = second.chunk = block->chunks;
  set_lanes(&second, lanes);
  kw_gpu_tensor between = kw_gpu_temporary(plan, r->partial, 2, (int64_t[]){block->outputs, block->chunks});
  launch(plan, &first, &between, block);
  launch(plan, r, &between, &second);
}

/* Of bool a sum is "any" and a product "all": nothing wraps. */
static int32_t opcode_for(int32_t opcode, kw_dtype dtype) {
  if (dtype != KW_BOOL) return opcode;
  return opcode == KW_REDUCE_SUM ? KW_REDUCE_ANY : opcode == KW_REDUCE_PROD ? KW_REDUCE_ALL : opcode;
}

void kw_gpu_reduce_shifted(kw_gpu_plan *plan, int32_t opcode, const kw_gpu_tensor *out, const kw_gpu_tensor *in,
                           uint32_t reduced, const kw_gpu_tensor *shift, double divisor) {
  kw_dtype dtype = in->ref.dtype;
  const reduction r = {.kernel = &reduce_kernel,
                       .out = out,
                       .in = in,
                       .fourth = shift,
                       .opcode = opcode_for(opcode, dtype),
                       .flag = out->ref.dtype != dtype,
                       .has_divisor = true,
                       .divisor = divisor,
                       .partial = kw_gpu_compute_dtype(dtype)};
  kw_reduction block;
  kw_gpu_lower_reduction(&out->ref, &in->ref, reduced, false, &block);
  launch_all(plan, &r, &block);
}

static int64_t reduced_count(const kw_tensor_ref *in, uint32_t reduced) {
  int64_t count = 1;
  for (uint32_t d = 0; d < in->rank; ++d)
    if (reduced >> d & 1) count *= in->shape[d];
  return count;
}

void kw_gpu_reduce(kw_gpu_plan *plan, int32_t opcode, const kw_gpu_tensor *out, const kw_gpu_tensor *in,
                   uint32_t reduced) {
  double divisor = opcode == KW_REDUCE_MEAN ? (double)reduced_count(&in->ref, reduced) : 1;
  kw_gpu_reduce_shifted(plan, opcode, out, in, reduced, NULL, divisor);
}

void kw_gpu_reduce_chunks(kw_gpu_plan *plan, int32_t opcode, const kw_gpu_tensor *totals, const kw_gpu_tensor *in,
                          const kw_reduction *block) {
  const reduction r = {
      .kernel = &reduce_kernel, .out = totals, .in = in, .opcode = opcode, .has_divisor = true, .divisor = 1};
  kw_reduction partial = *block;
  partial.write_partial = 1;
  partial.lanes = KW_LOCAL_REDUCTION;
  launch(plan, &r, totals, &partial);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

/* `code` of an op: the opcode, and which dimensions it reduces. */
#define OPCODE(code) ((code)&0xff)
#define DIMS_ALL 0x100    /* there is no argument for them */
#define DIMS_LISTED 0x200 /* an empty list names none, where elsewhere it names all */

static uint32_t dims_of(const kw_gpu_plan *plan, int32_t code, uint32_t rank) {
  const kw_value *dims = kw_gpu_argument(plan, 1);
  if (code & DIMS_ALL) return kw_gpu_dims(plan, UINT32_MAX, rank);
  if (code & DIMS_LISTED && dims->tag == KW_TAG_INT_LIST && dims->count == 0) return 0;
  return kw_gpu_dims(plan, 1, rank);
}

static void lower_reduce(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  kw_gpu_reduce(plan, OPCODE(op->code), &out, &in, dims_of(plan, op->code, in.ref.rank));
}

/* On devices with vectors, of outputs whose elements lie side by side. */
static void choose_in_runs(kw_gpu_plan *plan, const reduction *r, kw_reduction *block) {
  reduction first = *r;
  kw_reduction second = *block;
  first.kernel = &argmax_run_kernel;
  if (block->count > CHOSEN_IN_A_ROW) {
    block->chunk = CHOSEN_IN_A_ROW;
    block->chunks = (block->count + CHOSEN_IN_A_ROW - 1) / CHOSEN_IN_A_ROW;
    block->write_partial = 1;
  }
  if (block->chunks == 1) {
    kw_gpu_step_rows(plan, add_step(plan, &first, NULL, block), block->outputs, 1);
    return;
  }
  kw_gpu_tensor between = kw_gpu_temporary(plan, r->partial, 2, (int64_t[]){block->outputs, block->chunks});
  kw_gpu_step_rows(plan, add_step(plan, &first, &between, block), block->outputs * block->chunks, 1);
  second.read_partial = 1;
  second.count = second.chunk = block->chunks;
  set_lanes(&second, 1);
  launch(plan, r, &between, &second);
}

static void choose(kw_gpu_plan *plan, int32_t opcode, const kw_gpu_tensor *indices, const kw_gpu_tensor *values,
                   const kw_gpu_tensor *in, uint32_t reduced) {
  const reduction r = {.kernel = &argmax_kernel,
                       .out = indices,
                       .in = in,
                       .fourth = values,
                       .opcode = opcode,
                       .flag = values != NULL,
                       .partial = KW_I64};
  kw_reduction block;
  kw_gpu_lower_reduction(&indices->ref, &in->ref, reduced, true, &block);
  const kw_gpu_device *device = plan->call->device;
  if (device->vector_bytes > 0 && block.inner_rank == 1 && block.in_stride[block.outer_rank] == 1) {
    choose_in_runs(plan, &r, &block);
  } else {
    launch_all(plan, &r, &block);
  }
}

static void lower_arg(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  choose(plan, op->code, &out, NULL, &in, kw_gpu_dims(plan, 1, in.ref.rank));
}

static void lower_choice(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor in = kw_gpu_input(plan, 0), values_out = kw_gpu_output(plan, 0), indices_out = kw_gpu_output(plan, 1);
  kw_gpu_tensor values = kw_gpu_staging(plan, &values_out, values_out.ref.dtype),
                indices = kw_gpu_staging(plan, &indices_out, KW_I64);
  choose(plan, op->code, &indices, &values, &in, kw_gpu_dims(plan, 1, in.ref.rank));
  kw_gpu_deliver(plan, &values, &values_out);
  kw_gpu_deliver(plan, &indices, &indices_out);
}

/* The mean first, then the squares: two passes. */
static void variance(kw_gpu_plan *plan, double correction) {
  kw_gpu_tensor in = kw_gpu_input(plan, 0), out = kw_gpu_output(plan, 0), mean_out = kw_gpu_output(plan, 1);
  uint32_t reduced = kw_gpu_dims(plan, 1, in.ref.rank);
  double count = (double)reduced_count(&in.ref, reduced);
  kw_gpu_tensor mean = kw_gpu_temporary(plan, kw_gpu_compute_dtype(in.ref.dtype), out.ref.rank, out.ref.shape);
  kw_gpu_tensor result = kw_gpu_staging(plan, &out, out.ref.dtype);
  kw_gpu_reduce(plan, KW_REDUCE_MEAN, &mean, &in, reduced);
  kw_gpu_reduce_shifted(plan, KW_REDUCE_SUM_SQUARES, &result, &in, reduced, &mean,
                        count > 0 && count > correction ? count - correction : 0);
  kw_gpu_deliver(plan, &result, &out);
  if (kw_gpu_present(&mean_out)) kw_gpu_copy(plan, &mean_out, &mean);
}

static void lower_var(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  double correction = kw_gpu_real(plan, 2, 1);
  bool single = plan->call->outs[0]->dtype != KW_F64;
  variance(plan, single ? (double)(float)correction : correction);
}

static void lower_var_dim(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  variance(plan, kw_gpu_bool(plan, 2, true) ? 1 : 0);
}

static void lower_logsumexp(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor in = kw_gpu_input(plan, 0), out = kw_gpu_output(plan, 0);
  uint32_t reduced = kw_gpu_dims(plan, 1, in.ref.rank);
  if (in.ref.numel == 0) {
    kw_gpu_fill(plan, &out, -HUGE_VAL);
    return;
  }
  kw_gpu_tensor largest = kw_gpu_temporary(plan, kw_gpu_compute_dtype(in.ref.dtype), out.ref.rank, out.ref.shape);
  kw_gpu_tensor result = kw_gpu_staging(plan, &out, out.ref.dtype);
  kw_gpu_reduce(plan, KW_REDUCE_MAX, &largest, &in, reduced);
  kw_gpu_reduce_shifted(plan, KW_REDUCE_LOG_SUM_EXP, &result, &in, reduced, &largest, 1);
  kw_gpu_deliver(plan, &result, &out);
}

static const kw_gpu_op ops[] = {
    {"sum", lower_reduce, KW_REDUCE_SUM | DIMS_ALL, 0, KW_DTYPES_REAL},
    {"sum.dim_IntList", lower_reduce, KW_REDUCE_SUM, 0, KW_DTYPES_REAL},
    {"mean", lower_reduce, KW_REDUCE_MEAN | DIMS_ALL, 0, KW_DTYPES_FLOAT},
    {"mean.dim", lower_reduce, KW_REDUCE_MEAN, 0, KW_DTYPES_FLOAT},
    {"prod", lower_reduce, KW_REDUCE_PROD | DIMS_ALL, 0, KW_DTYPES_REAL},
    {"prod.dim_int", lower_reduce, KW_REDUCE_PROD, 0, KW_DTYPES_REAL},
    {"amax", lower_reduce, KW_REDUCE_MAX, 0, KW_DTYPES_REAL},
    {"amin", lower_reduce, KW_REDUCE_MIN, 0, KW_DTYPES_REAL},
    {"max", lower_reduce, KW_REDUCE_MAX | DIMS_ALL, 0, KW_DTYPES_REAL},
    {"min", lower_reduce, KW_REDUCE_MIN | DIMS_ALL, 0, KW_DTYPES_REAL},
    {"any", lower_reduce, KW_REDUCE_ANY | DIMS_ALL, 0, KW_DTYPES_REAL},
    {"any.dim", lower_reduce, KW_REDUCE_ANY, 0, KW_DTYPES_REAL},
    {"any.dims", lower_reduce, KW_REDUCE_ANY | DIMS_LISTED, 0, KW_DTYPES_REAL},
    {"all", lower_reduce, KW_REDUCE_ALL | DIMS_ALL, 0, KW_DTYPES_REAL},
    {"all.dim", lower_reduce, KW_REDUCE_ALL, 0, KW_DTYPES_REAL},
    {"all.dims", lower_reduce, KW_REDUCE_ALL | DIMS_LISTED, 0, KW_DTYPES_REAL},
    {"argmax", lower_arg, KW_REDUCE_MAX, 0, KW_DTYPES_NUM},
    {"argmin", lower_arg, KW_REDUCE_MIN, 0, KW_DTYPES_NUM},
    {"max.dim", lower_choice, KW_REDUCE_MAX, 0, KW_DTYPES_REAL},
    {"min.dim", lower_choice, KW_REDUCE_MIN, 0, KW_DTYPES_REAL},
    {"var.correction", lower_var, 0, 0, KW_DTYPES_FLOAT},
    {"var.dim", lower_var_dim, 0, 0, KW_DTYPES_FLOAT},
    {"var_mean.correction", lower_var, 0, 0, KW_DTYPES_FLOAT},
    {"logsumexp", lower_logsumexp, 0, 0, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_reduce_family = {ops, {&reduce_module, &single_module, &argmax_module, &argmax_run_module}};
