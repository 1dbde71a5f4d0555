/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions: many elements to one.
 */
#include "lowering.h"
#include "plan.h"
#include "scalar.h"

extern const char kw_gpu_source_reduce[], kw_gpu_source_argmax[];

static const kw_gpu_module reduce = {"reduce", KW_GPU_BY_DTYPE, {kw_gpu_source_reduce, kw_gpu_source_argmax}};

static const kw_gpu_kernel reduce_kernel = {&reduce, "kw_reduce_kernel"};
static const kw_gpu_kernel argmax_kernel = {&reduce, "kw_argmax_kernel"};

/* A reduction of more elements than SINGLE takes two launches, of CHUNK elements a group: more groups run at once, and
 * an item adds up no more than CHUNK / KW_LOCAL_REDUCTION terms in a row. */
#define SINGLE 8192
#define CHUNK 4096

/* No opcode: the kernel takes none. */
#define NO_OPCODE (-1)

static void launch(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, const kw_gpu_tensor *out, const kw_gpu_tensor *in,
                   const kw_gpu_tensor *partial, const kw_reduction *block, int32_t opcode) {
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, in->ref.dtype);
  kw_gpu_step_operand(step, out);
  kw_gpu_step_operand(step, in);
  kw_gpu_step_operand(step, partial);
  kw_gpu_step_block(step, block, sizeof *block);
  if (opcode != NO_OPCODE) kw_gpu_step_int(step, opcode);
  kw_gpu_step_groups(step, out->ref.numel * block->chunks);
}

/* One launch, or two with partial results of `partial` between them. */
static void reduce_dims(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, uint32_t reduced, bool ordered, int32_t opcode,
                        kw_dtype partial) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  kw_reduction block;
  kw_gpu_lower_reduction(&out.ref, &in.ref, reduced, ordered, &block);
  if (block.inner_numel <= SINGLE) {
    launch(plan, kernel, &out, &in, NULL, &block, opcode);
    return;
  }
  kw_reduction second = block;
  block.chunk = CHUNK;
  block.chunks = (block.inner_numel + CHUNK - 1) / CHUNK;
  block.write_partial = 1;
  second.read_partial = 1;
  second.count = second.chunk = block.chunks;
  kw_gpu_tensor between = kw_gpu_temporary(plan, partial, 2, (int64_t[]){out.ref.numel, block.chunks});
  launch(plan, kernel, &out, &in, &between, &block, opcode);
  launch(plan, kernel, &out, &in, &between, &second, opcode);
}

static void lower_sum(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_dtype dtype = plan->call->args[0].u.tensor->dtype;
  if (dtype != plan->call->outs[0]->dtype) kw_gpu_refuse(plan, "takes tensors of one dtype only");
  reduce_dims(plan, &reduce_kernel, kw_gpu_dims(plan, (uint32_t)op->code, plan->call->args[0].u.tensor->rank), false,
              KW_REDUCE_SUM, kw_gpu_compute_dtype(dtype));
}

static void lower_amax(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  const kw_tensor_ref *in = plan->call->args[0].u.tensor;
  reduce_dims(plan, &reduce_kernel, kw_gpu_dims(plan, 1, in->rank), false, KW_REDUCE_MAX,
              kw_gpu_compute_dtype(in->dtype));
}

static void lower_argmax(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  const kw_tensor_ref *in = plan->call->args[0].u.tensor;
  reduce_dims(plan, &argmax_kernel, kw_gpu_dims(plan, 1, in->rank), true, NO_OPCODE, KW_I64);
}

/* `code` of a sum: the argument that names dimensions; an index past all arguments where there is none. */
#define ALL_DIMS INT32_MAX

const kw_gpu_op kw_gpu_reduce_ops[] = {
    {"sum", lower_sum, ALL_DIMS, 0, KW_GPU_REAL},
    {"sum.dim_IntList", lower_sum, 1, 0, KW_GPU_REAL},
    {"amax", lower_amax, 0, 0, KW_GPU_REAL},
    {"argmax", lower_argmax, 0, 0, KW_GPU_NUMBER},
    {0},
};
