/* SPDX-License-Identifier: Apache-2.0
 *
 * Losses of elements, and their reduction.
 */
#include "kernel_sources.h"
#include "ops/families.h"
#include "ops/moves.h"
#include "ops/reduce.h"
#include "program/dtype.h"

static const kw_gpu_module loss_module = {
    "loss", KW_GPU_BY_DTYPE, KW_DTYPES_FLOAT, {kw_gpu_source_sigmoid, kw_gpu_source_loss}};
static const kw_gpu_kernel loss_kernel = {&loss_module, "kw_loss_kernel"};

/* The argument "reduction". */
enum { REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM };

/* One loss for each element of `out`, which has the dtype of `y` or what that computes in; so has `x`. `z` may be none.
 */
static void step(kw_gpu_plan *plan, int32_t opcode, const kw_gpu_tensor *out, const kw_gpu_tensor *x,
                 const kw_gpu_tensor *y, const kw_gpu_tensor *z, double parameter) {
  kw_dtype dtype = y->ref.dtype;
  kw_gpu_step *launch = kw_gpu_step_stretched(plan, &loss_kernel, dtype, out, (const kw_gpu_tensor *[]){x, y, z}, 3);
  kw_gpu_step_int(launch, opcode);
  kw_gpu_step_int(launch, (x->ref.dtype != dtype ? KW_LOSS_WIDE_IN : 0) |
                              (out->ref.dtype != dtype ? KW_LOSS_WIDE_OUT : 0) |
                              (z && kw_gpu_present(z) ? KW_LOSS_THIRD : 0));
  kw_gpu_step_number(launch, parameter);
}

/* Expands the tensors to the one shape that they broadcast to. */
static void broadcast(kw_gpu_tensor *tensors, uint32_t count) {
  int64_t shape[KW_MAX_RANK];
  uint32_t rank = 0;
  for (uint32_t i = 0; i < count; ++i)
    if (tensors[i].ref.rank > rank) rank = tensors[i].ref.rank;
  for (uint32_t d = 0; d < rank; ++d) {
    shape[d] = 1;
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t missing = rank - tensors[i].ref.rank;
      if (d >= missing && tensors[i].ref.shape[d - missing] != 1) shape[d] = tensors[i].ref.shape[d - missing];
    }
  }
  for (uint32_t i = 0; i < count; ++i)
    if (kw_gpu_present(&tensors[i])) tensors[i] = kw_gpu_expand(&tensors[i], rank, shape);
}

/* The first `count` arguments are self, target, and of logits weight and pos_weight; the next is the reduction. Losses
 * that something is made of stay in the compute dtype. */
static void lower_losses(kw_gpu_plan *plan, int32_t opcode, uint32_t count, double parameter) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in[4];
  int64_t reduction = kw_gpu_int(plan, count, REDUCE_MEAN);
  for (uint32_t i = 0; i < 4; ++i)
    in[i] = i < count ? kw_gpu_input(plan, i) : (kw_gpu_tensor){.at.from = KW_GPU_NOTHING};
  broadcast(in, count);
  uint32_t rank = in[0].ref.rank;
  const int64_t *shape = in[0].ref.shape;
  kw_dtype compute = kw_gpu_compute_dtype(in[0].ref.dtype);
  bool weighted = kw_gpu_present(&in[2]);
  kw_gpu_tensor losses = reduction == REDUCE_NONE ? out : kw_gpu_temporary(plan, compute, rank, shape);
  bool apart = weighted && reduction == REDUCE_NONE; /* a temporary holds both in turn, `out` may be narrower */
  kw_gpu_tensor values = apart ? kw_gpu_temporary(plan, compute, rank, shape) : losses;
  step(plan, opcode, &values, &in[0], &in[1], &in[3], parameter);
  if (weighted) step(plan, KW_LOSS_WEIGH, &losses, &values, &in[2], NULL, 0);
  if (reduction == REDUCE_NONE) return;
  kw_gpu_tensor result = kw_gpu_staging(plan, &out, compute);
  kw_gpu_reduce(plan, reduction == REDUCE_MEAN ? KW_REDUCE_MEAN : KW_REDUCE_SUM, &result, &losses, (1u << rank) - 1u);
  kw_gpu_deliver(plan, &result, &out);
}

static void lower_mse(kw_gpu_plan *plan, const kw_gpu_op *op) {
  lower_losses(plan, op->code, 2, 0);
}

static void lower_huber(kw_gpu_plan *plan, const kw_gpu_op *op) {
  lower_losses(plan, op->code, 2, kw_gpu_real(plan, 3, 1));
}

static void lower_logits(kw_gpu_plan *plan, const kw_gpu_op *op) {
  lower_losses(plan, op->code, 4, 0);
}

/* grad_output, self, target, reduction. */
static void lower_mse_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), grad = kw_gpu_input(plan, 0), self = kw_gpu_input(plan, 1),
                target = kw_gpu_input(plan, 2);
  grad = kw_gpu_expand(&grad, self.ref.rank, self.ref.shape);
  target = kw_gpu_expand(&target, self.ref.rank, self.ref.shape);
  step(plan, op->code, &out, &self, &target, &grad,
       kw_gpu_int(plan, 3, REDUCE_MEAN) == REDUCE_MEAN ? 2 / (double)self.ref.numel : 2);
}

static const kw_gpu_op ops[] = {
    {"mse_loss", lower_mse, KW_LOSS_MSE, 0, KW_DTYPES_FLOAT},
    {"huber_loss", lower_huber, KW_LOSS_HUBER, 0, KW_DTYPES_FLOAT},
    {"binary_cross_entropy_with_logits", lower_logits, KW_LOSS_LOGITS, 0, KW_DTYPES_FLOAT},
    {"mse_loss_backward", lower_mse_backward, KW_LOSS_MSE_BACKWARD, 0, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_loss_family = {ops, {&loss_module}};
