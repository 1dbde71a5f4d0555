/* SPDX-License-Identifier: Apache-2.0
 *
 * A call, lowered: launches in a row, with temporaries between them in the call's workspace. Made once per signature,
 * run at every launch.
 *
 * A lowering reads a call through kw_gpu_input and kw_gpu_output, adds steps, and returns nothing: what goes wrong is
 * kept in plan->status, and steps added after that are harmless. It is pure (see kw_kernel_desc.can_implement).
 */
#ifndef KEYWAY_GPU_PLAN_H
#define KEYWAY_GPU_PLAN_H

#include "lower/dialect.h"
#include "program/kernel.h"

#define KW_GPU_OPERAND_LIMIT 16 /* of a step */
#define KW_GPU_VALUE_LIMIT 12
#define KW_GPU_BLOCK_LIMIT 848 /* bytes. With operands and values at most what OpenCL guarantees: 1024 */

/* Where a step's operand lies. */
typedef struct kw_gpu_location {
  enum {
    KW_GPU_NOTHING, /* a stand-in, neither read nor written */
    KW_GPU_ARGUMENT,
    KW_GPU_RESULT,
    KW_GPU_WORKSPACE,
    KW_GPU_ERROR, /* kw_call_extra.error_mem */
    KW_GPU_RNG    /* kw_call_extra.rng.state; a stand-in when there is none */
  } from;
  uint32_t index;  /* of the argument or result */
  uint32_t entry;  /* in an argument that is a list */
  uint64_t offset; /* bytes further in */
} kw_gpu_location;

/* A tensor as lowerings see it: dtype, shape and strides, and where it lies. */
typedef struct kw_gpu_tensor {
  kw_gpu_location at;
  kw_tensor_ref ref; /* mem, offset and alignment mean nothing */
} kw_gpu_tensor;

typedef struct kw_gpu_step {
  enum { KW_GPU_LAUNCH, KW_GPU_COPY, KW_GPU_FILL } kind;
  const kw_gpu_kernel *kernel;
  kw_dtype dtype; /* what the kernel is specialised by */
  int32_t opcode; /* and this on devices that have programs for one op; -1 nothing */
  void *compiled; /* set by kw_gpu_plan_compile */
  uint32_t operand_count;
  kw_gpu_location operands[KW_GPU_OPERAND_LIMIT];
  unsigned char block[KW_GPU_BLOCK_LIMIT]; /* begins with the offset of every operand, filled at launch */
  uint32_t block_size;
  uint32_t value_count;
  struct {
    enum { KW_GPU_CONSTANT, KW_GPU_ERROR_CODE, KW_GPU_RNG_SEED, KW_GPU_RNG_OFFSET, KW_GPU_RNG_FLAGS } from;
    uint32_t size;
    uint8_t bits[8];
  } values[KW_GPU_VALUE_LIMIT]; /* parameters after the block */
  uint32_t local[2];
  uint64_t groups[2]; /* of none there is no launch */
  uint64_t bytes;     /* of a copy (operands 0 from 1) or fill */
  uint8_t pattern[16];
  uint32_t pattern_size;
} kw_gpu_step;

typedef struct kw_gpu_plan {
  const kw_call *call; /* while lowering */
  kw_status status;
  uint32_t step_count, step_capacity;
  kw_gpu_step *steps;
  kw_gpu_step discarded; /* what kw_gpu_step_add returns after a failure */
  uint64_t workspace;    /* bytes */
} kw_gpu_plan;

/* kw_gpu_op.flags beside those of kw_kernel_desc. Moves of f64 that need no double precision on the device. */
#define KW_GPU_MOVES (UINT64_C(1) << 63)

/* Another: the product is taken by matrix instructions (kw_gpu_register_matrix). */
#define KW_GPU_MATRIX (UINT64_C(1) << 62)

/* One op of the pack. */
typedef struct kw_gpu_op {
  const char *name;
  void (*lower)(kw_gpu_plan *plan, const struct kw_gpu_op *op);
  int32_t code;    /* the lowering's own; with KW_GPU_MATRIX what it needs (kw_kernel_desc.math_needs) */
  uint64_t flags;  /* KW_KERNEL_*, KW_GPU_MOVES; KW_KERNEL_DETERMINISTIC is implied */
  uint64_t dtypes; /* key dtypes */
} kw_gpu_op;

/* Of results in the type that small dtypes compute in, integers included. */
#define KW_GPU_COMPUTED (KW_DTYPES_WIDE_FLOAT | KW_DTYPES_INDEX)

/* ---- Reading the call -------------------------------------------------------------------------------------------- */

/* The call cannot be done by the pack: "NAME: the portable kernel WHY". */
void kw_gpu_refuse(kw_gpu_plan *plan, const char *why);
extern const char kw_gpu_complex_scalar[]; /* the WHY of a complex Scalar where the dtype is real */

/* Argument `index`; NULL past the end. */
const kw_value *kw_gpu_argument(const kw_gpu_plan *plan, uint32_t index);
/* Whether argument `index` is given and not None. */
bool kw_gpu_given(const kw_gpu_plan *plan, uint32_t index);
/* Numbers and switches, `otherwise` where the argument is None. */
int64_t kw_gpu_int(const kw_gpu_plan *plan, uint32_t index, int64_t otherwise);
bool kw_gpu_bool(const kw_gpu_plan *plan, uint32_t index, bool otherwise);
double kw_gpu_real(const kw_gpu_plan *plan, uint32_t index, double otherwise);
/* Which of `names` (NULL ends them) a str argument is; 0 where it is None. Refuses another. */
int32_t kw_gpu_choice(kw_gpu_plan *plan, uint32_t index, const char *const *names);
/* A dimension, counted from the front; `rank` 0 counts as 1. */
uint32_t kw_gpu_dim(const kw_gpu_plan *plan, uint32_t index, uint32_t rank);
/* The dimensions that argument `index` names, an int or a list, as a set of bits; None and an empty list mean all. */
uint32_t kw_gpu_dims(const kw_gpu_plan *plan, uint32_t index, uint32_t rank);

/* A tensor argument; ref.rank is 0, and at.from KW_GPU_NOTHING, for one that is None. */
kw_gpu_tensor kw_gpu_input(const kw_gpu_plan *plan, uint32_t index);
kw_gpu_tensor kw_gpu_entry(const kw_gpu_plan *plan, uint32_t index, uint32_t entry);
kw_gpu_tensor kw_gpu_output(const kw_gpu_plan *plan, uint32_t index);
bool kw_gpu_present(const kw_gpu_tensor *tensor);
bool kw_gpu_is_contiguous(const kw_gpu_tensor *tensor);
/* Whether a result is so large that vectors are stored past the caches. */
bool kw_gpu_streams(const kw_gpu_tensor *out);

/* ---- Tensors between steps --------------------------------------------------------------------------------------- */

/* Contiguous, in the workspace; holds nothing yet. */
kw_gpu_tensor kw_gpu_temporary(kw_gpu_plan *plan, kw_dtype dtype, uint32_t rank, const int64_t *shape);
/* The same elements seen otherwise: `tensor` is contiguous. */
kw_gpu_tensor kw_gpu_reshape(const kw_gpu_tensor *tensor, uint32_t rank, const int64_t *shape);
/* The same elements as a tensor of that shape, to which the tensor's own broadcasts: stride 0 where they repeat. */
kw_gpu_tensor kw_gpu_expand(const kw_gpu_tensor *tensor, uint32_t rank, const int64_t *shape);
/* The same memory with other dimensions; strides of dimensions of one element may be any number. */
kw_gpu_tensor kw_gpu_strided(const kw_gpu_tensor *tensor, uint32_t rank, const int64_t *shape, const int64_t *strides);
/* Of dimension `dim` only `count` elements from `begin` on. */
kw_gpu_tensor kw_gpu_part(const kw_gpu_tensor *tensor, uint32_t dim, int64_t begin, int64_t count);
/* The same elements with the last two dimensions exchanged. */
kw_gpu_tensor kw_gpu_transpose(const kw_gpu_tensor *tensor);

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* A launch of `kernel` specialised by `dtype`. Never NULL. In order: operands, the block, values, the grid. Another
 * step invalidates the pointer. */
kw_gpu_step *kw_gpu_step_add(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype);
/* The next operand: a parameter `KW_GLOBAL char *`, with its byte offset in the block. NULL is a stand-in. */
void kw_gpu_step_operand(kw_gpu_step *step, const kw_gpu_tensor *tensor);
/* kw_call_extra.error_mem as the next operand; kw_gpu_step_error_code is then among the values (KW_RAISE in base.kw).
 */
void kw_gpu_step_errors(kw_gpu_step *step);
void kw_gpu_step_error_code(kw_gpu_step *step);
/* kw_call_extra.rng.state as the next operand; among the values then seed, offset (kw_u64) and flags (int): bit 0 when
 * the operand holds them, bit 1 for AES-CTR. */
void kw_gpu_step_rng(kw_gpu_step *step);
void kw_gpu_step_rng_values(kw_gpu_step *step);
/* The block, a struct of kw_i64 that begins with one offset for each operand, or a larger fixed number. */
void kw_gpu_step_block(kw_gpu_step *step, const void *block, size_t size);
/* The value `op`, an int, of a kernel that begins with KW_SPECIAL(op) (base.kw); not negative. */
void kw_gpu_step_opcode(kw_gpu_step *step, int32_t opcode);
/* Values: parameters of type int, kw_i64, float, and KW_CT. */
void kw_gpu_step_int(kw_gpu_step *step, int32_t value);
void kw_gpu_step_long(kw_gpu_step *step, int64_t value);
void kw_gpu_step_float(kw_gpu_step *step, float value);
void kw_gpu_step_number(kw_gpu_step *step, double value); /* KW_CT; exact or rounded once */
/* A Scalar argument in the step's compute dtype; `value` that is no Scalar gives `otherwise`. */
void kw_gpu_step_scalar(kw_gpu_plan *plan, kw_gpu_step *step, const kw_value *value, int64_t otherwise);
/* One item per element in groups of KW_LOCAL_ELEMENTWISE: kernels test KW_GLOBAL_ID() against `count`. */
void kw_gpu_step_items(kw_gpu_step *step, int64_t count);
/* Groups of one item that has `each` of `count`. */
void kw_gpu_step_parts(kw_gpu_step *step, int64_t count, int64_t each);
/* As many items as have `count` elements, in groups of KW_LOCAL_STRETCHES: for kernels with KW_STRETCH_OF_ITEM
 * (offsets.kw). */
void kw_gpu_step_stretches(const kw_gpu_plan *plan, kw_gpu_step *step, int64_t count);
/* For kernels that take rows (kernels/row.kw): whether they take one of `count` elements, where a longer one is better
 * spread over groups; how many items share one, on devices with vectors none; and the grid. */
bool kw_gpu_row_fits(const kw_gpu_plan *plan, int64_t count);
int64_t kw_gpu_row_lanes(const kw_gpu_plan *plan, int64_t count);
void kw_gpu_step_rows(const kw_gpu_plan *plan, kw_gpu_step *step, int64_t rows, int64_t lanes);
/* `groups` groups of KW_LOCAL_REDUCTION items. */
void kw_gpu_step_groups(kw_gpu_step *step, int64_t groups);
void kw_gpu_step_grid(kw_gpu_step *step, uint32_t local_x, uint32_t local_y, int64_t groups_x, int64_t groups_y);

/* An element-wise step: operands, block (kw_elementwise) and grid; values follow. `in` has the shape of `out`, stride 0
 * where it repeats; NULL is a stand-in. At most KW_GPU_OPERANDS - 1 inputs. */
kw_gpu_step *kw_gpu_step_elementwise(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype,
                                     const kw_gpu_tensor *out, const kw_gpu_tensor *const *in, uint32_t in_count);
/* The same where the number of an element matters: element i is the i-th in row-major order, whatever the strides. */
kw_gpu_step *kw_gpu_step_ordered(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype,
                                 const kw_gpu_tensor *out, const kw_gpu_tensor *const *in, uint32_t in_count);

/* kw_gpu_step_elementwise of a kernel with KW_STRETCH_OF_ITEM. */
kw_gpu_step *kw_gpu_step_stretched(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype,
                                   const kw_gpu_tensor *out, const kw_gpu_tensor *const *in, uint32_t in_count);

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

void kw_gpu_plan_lower(kw_gpu_plan *plan, const kw_call *call);
/* Finds or builds the plan's kernels. */
kw_status kw_gpu_plan_compile(kw_gpu_plan *plan, kw_gpu_device *device);
/* Enqueues it. */
kw_status kw_gpu_plan_run(const kw_gpu_plan *plan, const kw_call *call);
void kw_gpu_plan_clear(kw_gpu_plan *plan);

#endif /* KEYWAY_GPU_PLAN_H */
