/* SPDX-License-Identifier: Apache-2.0
 *
 * The pack's ops and the slots of their kernels.
 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#define BIT KW_DTYPE_BIT
#define INT (BIT(KW_U8) | BIT(KW_I8) | BIT(KW_I16) | BIT(KW_I32) | BIT(KW_I64))
#define FLOAT (BIT(KW_F16) | BIT(KW_BF16) | BIT(KW_F32) | BIT(KW_F64))
#define NUM (INT | FLOAT)
#define REAL (NUM | BIT(KW_BOOL))
#define INTEGRAL (INT | BIT(KW_BOOL))
#define MOVED (REAL | BIT(KW_F8E4M3FN) | BIT(KW_F8E5M2) | BIT(KW_C64) | BIT(KW_C128))

static const kw_gpu_op ops[] = {
    {"fill_.Scalar", kw_gpu_lower_fill, 0, -1, MOVED},
    {"fill_.Tensor", kw_gpu_lower_copy, 0, -1, MOVED},
    {"copy_", kw_gpu_lower_copy, 0, -1, MOVED},
    {"add.Tensor", kw_gpu_lower_binary, KW_BINARY_ADD, 2, REAL},
    {"add.Scalar", kw_gpu_lower_binary, KW_BINARY_ADD, 2, REAL},
    {"sub.Tensor", kw_gpu_lower_binary, KW_BINARY_SUB, 2, NUM},
    {"sub.Scalar", kw_gpu_lower_binary, KW_BINARY_SUB, 2, NUM},
    {"mul.Tensor", kw_gpu_lower_binary, KW_BINARY_MUL, -1, REAL},
    {"mul.Scalar", kw_gpu_lower_binary, KW_BINARY_MUL, -1, REAL},
    {"div.Tensor", kw_gpu_lower_binary, KW_BINARY_DIV, -1, FLOAT},
    {"div.Scalar", kw_gpu_lower_binary, KW_BINARY_DIV, -1, FLOAT},
    {"div.Tensor_mode", kw_gpu_lower_div_mode, KW_BINARY_DIV, -1, NUM},
    {"div.Scalar_mode", kw_gpu_lower_div_mode, KW_BINARY_DIV, -1, NUM},
    {"neg", kw_gpu_lower_unary, KW_UNARY_NEG, -1, NUM},
    {"abs", kw_gpu_lower_unary, KW_UNARY_ABS, -1, NUM},
    {"pow.Tensor_Tensor", kw_gpu_lower_binary, KW_BINARY_POW, -1, NUM},
    {"pow.Tensor_Scalar", kw_gpu_lower_binary, KW_BINARY_POW, -1, NUM},
    {"pow.Scalar", kw_gpu_lower_binary, KW_BINARY_POW, -1, NUM},
    {"maximum", kw_gpu_lower_binary, KW_BINARY_MAXIMUM, -1, REAL},
    {"minimum", kw_gpu_lower_binary, KW_BINARY_MINIMUM, -1, REAL},
    {"clamp", kw_gpu_lower_clamp, 0, -1, NUM},
    {"clamp.Tensor", kw_gpu_lower_clamp, 0, -1, NUM},
    {"sqrt", kw_gpu_lower_unary, KW_UNARY_SQRT, -1, FLOAT},
    {"rsqrt", kw_gpu_lower_unary, KW_UNARY_RSQRT, -1, FLOAT},
    {"exp", kw_gpu_lower_unary, KW_UNARY_EXP, -1, FLOAT},
    {"log", kw_gpu_lower_unary, KW_UNARY_LOG, -1, FLOAT},
    {"sin", kw_gpu_lower_unary, KW_UNARY_SIN, -1, FLOAT},
    {"cos", kw_gpu_lower_unary, KW_UNARY_COS, -1, FLOAT},
    {"tanh", kw_gpu_lower_unary, KW_UNARY_TANH, -1, FLOAT},
    {"sigmoid", kw_gpu_lower_unary, KW_UNARY_SIGMOID, -1, FLOAT},
    {"erf", kw_gpu_lower_unary, KW_UNARY_ERF, -1, FLOAT},
    {"relu", kw_gpu_lower_unary, KW_UNARY_RELU, -1, NUM},
    {"gelu", kw_gpu_lower_gelu, KW_UNARY_GELU, -1, FLOAT},
    {"silu", kw_gpu_lower_unary, KW_UNARY_SILU, -1, FLOAT},
    {"eq.Tensor", kw_gpu_lower_compare, KW_COMPARE_EQ, -1, REAL},
    {"eq.Scalar", kw_gpu_lower_compare, KW_COMPARE_EQ, -1, REAL},
    {"ne.Tensor", kw_gpu_lower_compare, KW_COMPARE_NE, -1, REAL},
    {"ne.Scalar", kw_gpu_lower_compare, KW_COMPARE_NE, -1, REAL},
    {"lt.Tensor", kw_gpu_lower_compare, KW_COMPARE_LT, -1, REAL},
    {"lt.Scalar", kw_gpu_lower_compare, KW_COMPARE_LT, -1, REAL},
    {"le.Tensor", kw_gpu_lower_compare, KW_COMPARE_LE, -1, REAL},
    {"le.Scalar", kw_gpu_lower_compare, KW_COMPARE_LE, -1, REAL},
    {"gt.Tensor", kw_gpu_lower_compare, KW_COMPARE_GT, -1, REAL},
    {"gt.Scalar", kw_gpu_lower_compare, KW_COMPARE_GT, -1, REAL},
    {"ge.Tensor", kw_gpu_lower_compare, KW_COMPARE_GE, -1, REAL},
    {"ge.Scalar", kw_gpu_lower_compare, KW_COMPARE_GE, -1, REAL},
    {"logical_and", kw_gpu_lower_compare, KW_COMPARE_AND, -1, REAL},
    {"logical_or", kw_gpu_lower_compare, KW_COMPARE_OR, -1, REAL},
    {"logical_xor", kw_gpu_lower_compare, KW_COMPARE_XOR, -1, REAL},
    {"logical_not", kw_gpu_lower_logical_not, KW_COMPARE_EQ, -1, REAL},
    {"bitwise_and.Tensor", kw_gpu_lower_binary, KW_BINARY_AND, -1, INTEGRAL},
    {"bitwise_and.Scalar", kw_gpu_lower_binary, KW_BINARY_AND, -1, INTEGRAL},
    {"bitwise_or.Tensor", kw_gpu_lower_binary, KW_BINARY_OR, -1, INTEGRAL},
    {"bitwise_or.Scalar", kw_gpu_lower_binary, KW_BINARY_OR, -1, INTEGRAL},
    {"bitwise_xor.Tensor", kw_gpu_lower_binary, KW_BINARY_XOR, -1, INTEGRAL},
    {"bitwise_xor.Scalar", kw_gpu_lower_binary, KW_BINARY_XOR, -1, INTEGRAL},
    {"bitwise_not", kw_gpu_lower_unary, KW_UNARY_BITWISE_NOT, -1, INTEGRAL},
    {"where.self", kw_gpu_lower_where, 0, -1, MOVED},
    {"sum", kw_gpu_lower_sum, 0, -1, REAL},
    {"sum.dim_IntList", kw_gpu_lower_sum, 0, -1, REAL},
    {"amax", kw_gpu_lower_amax, 0, -1, REAL},
    {"argmax", kw_gpu_lower_argmax, 0, -1, NUM},
    {"mm", kw_gpu_lower_mm, 0, -1, NUM},
};

/* The call as a plan without compiled kernels. */
static kw_status lower(const kw_call *call, kw_gpu_plan *out_plan) {
  const kw_gpu_op *op = call->user;
  const kw_gpu_device *device = call->device;
  memset(out_plan, 0, sizeof *out_plan);
  out_plan->memory = device->driver->memory;
  return op->lower(op, call, out_plan);
}

static kw_status can_implement(const kw_call *call) {
  kw_gpu_plan plan;
  return lower(call, &plan);
}

static kw_status workspace_size(const kw_call *call, uint64_t *out_size) {
  kw_gpu_plan plan;
  kw_status status = lower(call, &plan);
  if (status == KW_OK) *out_size = plan.workspace;
  return status;
}

static kw_status prepare(const kw_call *call, void **out_prepared) {
  kw_gpu_device *device = call->device;
  kw_gpu_plan *plan = malloc(sizeof *plan);
  if (!plan) return device->host->set_error(device->host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for a plan");
  kw_status status = lower(call, plan);
  if (status == KW_OK) status = kw_gpu_plan_compile(device, plan);
  if (status == KW_OK) {
    *out_prepared = plan;
  } else {
    free(plan);
  }
  return status;
}

static kw_status launch(const kw_call *call) {
  return kw_gpu_plan_run(call->prepared, call);
}

static kw_status release(void *user, void *prepared) {
  (void)user;
  free(prepared);
  return KW_OK;
}

kw_status kw_gpu_register(const kw_host_api *host, bool has_f64) {
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; ++i) {
    uint64_t dtypes = ops[i].dtypes;
    /* Moves of f64 need no arithmetic. */
    if (!has_f64 && dtypes != MOVED) dtypes &= ~BIT(KW_F64);
    kw_kernel_desc desc = {.struct_size = sizeof desc,
                           .flags = KW_KERNEL_DETERMINISTIC,
                           .op = ops[i].name,
                           .name = "portable",
                           .dtypes = {{dtypes, 0}},
                           .user = (void *)&ops[i],
                           .can_implement = can_implement,
                           .workspace_size = workspace_size,
                           .prepare = prepare,
                           .launch = launch,
                           .release = release};
    if (strcmp(ops[i].name, "copy_") == 0) desc.flags |= KW_KERNEL_MIXED_DTYPES;
    kw_status status = host->register_kernel(host->ctx, &desc);
    if (status != KW_OK && status != KW_ERR_NOT_FOUND) return status; /* an older host knows fewer ops */
  }
  return KW_OK;
}
