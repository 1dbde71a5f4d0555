/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels: each makes a command of a call and enqueues it.
 */
#include "command.h"

#include <keyway/queue.h>
#include <string.h>

static array array_of(const kw_tensor_ref *tensor) {
  array of = {.dtype = tensor->dtype, .rank = tensor->rank, .numel = tensor->numel};
  of.data = (unsigned char *)tensor->mem + tensor->offset;
  memcpy(of.shape, tensor->shape, sizeof of.shape);
  memcpy(of.strides, tensor->strides, sizeof of.strides);
  return of;
}

static void add_input(command *c, const kw_tensor_ref *tensor) {
  c->inputs[c->input_count++] = tensor != NULL ? array_of(tensor) : (array){.data = NULL};
}

/* What most commands have: the result, and the arguments that are tensors. */
static command begin(const kw_call *call, program program) {
  command c = {.program = program, .out = array_of(call->outs[0]), .value = number_integer(1)};
  for (uint32_t i = 0; i < call->arg_count; i++) {
    if (call->args[i].tag == KW_TAG_TENSOR) add_input(&c, call->args[i].u.tensor);
  }
  if (call->extra != NULL && call->extra->error_mem != NULL) {
    c.error_word = (uint32_t *)(void *)((unsigned char *)call->extra->error_mem + call->extra->error_offset);
    c.error_code = call->extra->error_code;
  }
  return c;
}

static kw_status enqueue(const kw_call *call, const command *c) {
  return kw_queue_enqueue(call, c, sizeof *c);
}

#define PLAIN(name, program)                            \
  static kw_status launch_##name(const kw_call *call) { \
    const command c = begin(call, program);             \
    return enqueue(call, &c);                           \
  }
PLAIN(mul, PROGRAM_MUL)
PLAIN(pow, PROGRAM_POW)
PLAIN(exp, PROGRAM_EXP)
PLAIN(log, PROGRAM_LOG)
PLAIN(sin, PROGRAM_SIN)
PLAIN(cos, PROGRAM_COS)
PLAIN(tanh, PROGRAM_TANH)
PLAIN(erf, PROGRAM_ERF)
PLAIN(le, PROGRAM_LE)
PLAIN(and, PROGRAM_AND)
PLAIN(where, PROGRAM_WHERE)
PLAIN(bmm, PROGRAM_BMM)

/* copy_(self, src): self is the result, and not read. */
static kw_status launch_copy(const kw_call *call) {
  command c = {.program = PROGRAM_COPY, .out = array_of(call->outs[0])};
  add_input(&c, call->args[1].u.tensor);
  return enqueue(call, &c);
}

static kw_status can_copy(const kw_call *call) {
  return kw_call_is_known(call, (kw_dtype_mask){{CHIP_DTYPES, 0}}) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static kw_status launch_add(const kw_call *call) {
  command c = begin(call, PROGRAM_ADD);
  c.value = number_of(&call->args[2]);
  return enqueue(call, &c);
}

static kw_status launch_div(const kw_call *call) {
  command c = begin(call, PROGRAM_DIV);
  c.mode = call->args[2].tag == KW_TAG_STRING ? call->args[2].u.s[0] : '\0';
  return enqueue(call, &c);
}

static int64_t from_start(int64_t dim, uint32_t rank) {
  return dim < 0 ? dim + (rank > 0 ? (int64_t)rank : 1) : dim;
}

/* sum(self, dim, keepdim, dtype): without dimensions over all. */
static kw_status launch_sum(const kw_call *call) {
  command c = begin(call, PROGRAM_SUM);
  const kw_value *dims = &call->args[1];
  for (uint32_t i = 0; dims->tag == KW_TAG_INT_LIST && i < dims->count; i++)
    c.dims |= 1u << from_start(dims->u.ints[i], c.inputs[0].rank);
  if (c.dims == 0) c.dims = ~0u;
  return enqueue(call, &c);
}

static kw_status launch_prod(const kw_call *call) {
  command c = begin(call, PROGRAM_PROD);
  c.dims = 1u << from_start(call->args[1].u.i, c.inputs[0].rank);
  return enqueue(call, &c);
}

static kw_status launch_gather(const kw_call *call) {
  command c = begin(call, PROGRAM_GATHER);
  c.dim = from_start(call->args[1].u.i, c.inputs[0].rank);
  return enqueue(call, &c);
}

/* index_put(self, indices, values, accumulate) */
static kw_status launch_index_put(const kw_call *call) {
  command c = begin(call, PROGRAM_INDEX_PUT);
  for (uint32_t i = 0; i < call->args[1].count; i++) add_input(&c, call->args[1].u.tensors[i]);
  c.mode = call->args[3].u.b ? 'a' : '\0';
  return enqueue(call, &c);
}

/* random_.from(self, from, to, generator): to none is 2^63, of i64. */
static kw_status launch_random(const kw_call *call) {
  command c = {.program = PROGRAM_RANDOM, .out = array_of(call->outs[0]), .dim = call->args[1].u.i};
  const uint64_t end = call->args[2].tag == KW_TAG_INT ? (uint64_t)call->args[2].u.i : UINT64_C(1) << 63;
  const kw_rng *rng = &call->extra->rng;
  c.range = end - (uint64_t)c.dim;
  c.seed = rng->seed;
  c.offset = rng->offset;
  if (rng->state != NULL) c.state = (uint64_t *)(void *)((unsigned char *)rng->state + rng->state_offset);
  return enqueue(call, &c);
}

#define CORE_INTEGERS (KW_DTYPE_BIT(KW_U8) | KW_DTYPE_BIT(KW_I32) | KW_DTYPE_BIT(KW_I64))
#define CORE_FLOATS (KW_DTYPE_BIT(KW_F16) | KW_DTYPE_BIT(KW_F32))
#define CORE_NUMBERS (CORE_INTEGERS | CORE_FLOATS)
#define CORE_ALL (CORE_NUMBERS | KW_DTYPE_BIT(KW_BOOL))

static const struct {
  const char *op;
  uint64_t dtypes;
  uint32_t args; /* of the schema's, those that are understood: all */
  kw_status (*launch)(const kw_call *call);
  uint64_t flags;
} kernels[] = {
    {"add.Tensor", CORE_ALL, 3, launch_add, 0},
    {"mul.Tensor", CORE_ALL, 2, launch_mul, 0},
    {"div.Tensor_mode", CORE_NUMBERS, 3, launch_div, 0},
    {"pow.Tensor_Tensor", CORE_NUMBERS, 2, launch_pow, 0},
    {"exp", CORE_FLOATS, 1, launch_exp, 0},
    {"log", CORE_FLOATS, 1, launch_log, 0},
    {"sin", CORE_FLOATS, 1, launch_sin, 0},
    {"cos", CORE_FLOATS, 1, launch_cos, 0},
    {"tanh", CORE_FLOATS, 1, launch_tanh, 0},
    {"erf", CORE_FLOATS, 1, launch_erf, 0},
    {"le.Tensor", CORE_ALL, 2, launch_le, 0},
    {"bitwise_and.Tensor", CORE_INTEGERS | KW_DTYPE_BIT(KW_BOOL), 2, launch_and, 0},
    {"where.self", CORE_ALL, 3, launch_where, 0},
    {"sum.dim_IntList", CORE_NUMBERS, 4, launch_sum, 0},
    {"prod.dim_int", CORE_NUMBERS, 4, launch_prod, 0},
    {"bmm", CORE_NUMBERS, 2, launch_bmm, 0},
    {"gather", CORE_ALL, 4, launch_gather, KW_KERNEL_DATA_ERRORS},
    {"index_put", CORE_ALL, 4, launch_index_put, KW_KERNEL_DATA_ERRORS},
    {"random_.from", KW_DTYPE_BIT(KW_I64), 4, launch_random, 0},
};

kw_status register_kernels(const kw_host_api *host) {
  const kw_kernel_desc copy = {.struct_size = sizeof copy,
                               .op = "copy_",
                               .name = "copy",
                               .flags = KW_KERNEL_MIXED_DTYPES | KW_KERNEL_DETERMINISTIC,
                               .dtypes = {{CHIP_DTYPES, 0}},
                               .known_args = 3,
                               .can_implement = can_copy,
                               .launch = launch_copy};
  kw_status status = host->register_kernel(host->ctx, &copy);
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels && status == KW_OK; i++) {
    const kw_kernel_desc desc = {.struct_size = sizeof desc,
                                 .op = kernels[i].op,
                                 .name = kernels[i].op,
                                 .flags = kernels[i].flags | KW_KERNEL_DETERMINISTIC,
                                 .dtypes = {{kernels[i].dtypes, 0}},
                                 .known_args = kernels[i].args,
                                 .launch = kernels[i].launch};
    status = host->register_kernel(host->ctx, &desc);
  }
  return status;
}
