/* SPDX-License-Identifier: Apache-2.0
 *
 * A call, lowered: which kernels run with which arguments. Made once per signature, run at every launch.
 */
#ifndef KEYWAY_GPU_PLAN_H
#define KEYWAY_GPU_PLAN_H

#include "dialect.h"
#include "module.h"

/* What an operand of a step is: an index into call->args, or one of these. */
enum { KW_GPU_FROM_OUTPUT = -1, KW_GPU_FROM_WORKSPACE = -2 };

typedef struct kw_gpu_step {
  kw_gpu_kernel_id id;
  kw_dtype dtype; /* what the kernel is specialised by */
  void *kernel;   /* set by kw_gpu_plan_compile */
  uint32_t operand_count;
  int8_t operands[KW_GPU_OPERANDS];
  union {
    kw_i64 offset[KW_GPU_OPERANDS]; /* the head of every block; filled at launch */
    kw_elementwise elementwise;
    kw_reduction reduction;
    kw_matmul matmul;
  } block;
  uint32_t block_size;
  uint32_t value_count;
  struct {
    uint8_t bits[8];
    uint32_t size;
  } values[4]; /* parameters after the block */
  uint32_t local[2];
  uint64_t groups[2];
} kw_gpu_step;

typedef struct kw_gpu_plan {
  enum { KW_GPU_PLAN_KERNELS, KW_GPU_PLAN_COPY, KW_GPU_PLAN_FILL } kind;
  uint32_t step_count;
  kw_gpu_step steps[2];
  uint64_t workspace;  /* bytes */
  uint64_t bytes;      /* of a contiguous copy or fill */
  uint8_t pattern[16]; /* of a fill */
  uint32_t pattern_size;
  const kw_memory_api *memory;
} kw_gpu_plan;

/* One op of the pack. */
typedef struct kw_gpu_op {
  const char *name;
  kw_status (*lower)(const struct kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan);
  int32_t opcode;
  int32_t alpha;   /* index of the argument "alpha", or -1 */
  uint64_t dtypes; /* key dtypes */
} kw_gpu_op;

/* Finds or builds the plan's kernels. */
kw_status kw_gpu_plan_compile(kw_gpu_device *device, kw_gpu_plan *plan);
/* Enqueues it. */
kw_status kw_gpu_plan_run(const kw_gpu_plan *plan, const kw_call *call);

/* The lowerings; KW_ERR_NOT_IMPLEMENTED for what the kernels cannot do. Pure. */
kw_status kw_gpu_lower_fill(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan);
kw_status kw_gpu_lower_copy(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan);
kw_status kw_gpu_lower_unary(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan);
kw_status kw_gpu_lower_gelu(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan);
kw_status kw_gpu_lower_binary(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan);
kw_status kw_gpu_lower_div_mode(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan);
kw_status kw_gpu_lower_compare(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan);
kw_status kw_gpu_lower_logical_not(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan);
kw_status kw_gpu_lower_clamp(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan);
kw_status kw_gpu_lower_where(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan);
kw_status kw_gpu_lower_sum(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan);
kw_status kw_gpu_lower_amax(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan);
kw_status kw_gpu_lower_argmax(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan);
kw_status kw_gpu_lower_mm(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan);

#endif /* KEYWAY_GPU_PLAN_H */
