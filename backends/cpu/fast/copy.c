/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and fills: copy_, _to_copy, fill_, full. Elements of one dtype keep their bits.
 */
#include "fast.h"

#include "operand.h"
#include "strided.h"
#include "walk.h"

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

/* Which argument is copied. */
static const uint32_t argument_0 = 0, argument_1 = 1;

static kw_status plan_copy(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  const uint32_t *source = kernel->family;
  return kw_strided_plan(plan, call->outs[0], call->args[*source].u.tensor) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static kw_status run_copy(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_fast_kernel *kernel = call->user;
  const uint32_t *source = kernel->family;
  return kw_strided_run(plan, host, kw_walk_base(call->outs[0]), kw_walk_base(call->args[*source].u.tensor));
}

/* ---- Fills ------------------------------------------------------------------------------------------------------- */

/* A fill is a copy of one element that has the dtype already. */
static kw_status plan_fill(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  const kw_tensor_ref element = {.dtype = call->outs[0]->dtype, .numel = 1};
  (void)kernel;
  return kw_strided_plan(plan, call->outs[0], &element) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static kw_status run_fill(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_value *value = &call->args[1];
  kw_element element;
  if (value->tag == KW_TAG_TENSOR) {
    element = kw_operand_as_key(value->u.tensor->dtype, kw_walk_base(value->u.tensor), call->outs[0]->dtype);
  } else {
    element = kw_operand_scalar(value);
    element = kw_operand_as_key(element.dtype, element.bytes, call->outs[0]->dtype);
  }
  return kw_strided_run(plan, host, kw_walk_base(call->outs[0]), element.bytes);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define KERNEL(name, which, noun)                                                                          \
  {                                                                                                        \
    .op = name, .dtypes = KW_DTYPES_ANY, .flags = KW_KERNEL_MIXED_DTYPES, .plan_size = sizeof(kw_strided), \
    .family = which, .is_pointwise = true, .make_plan = plan_##noun, .run = run_##noun                     \
  }

static const kw_fast_kernel kernels[] = {
    KERNEL("copy_", &argument_1, copy), KERNEL("_to_copy", &argument_0, copy),
    KERNEL("fill_.Scalar", NULL, fill), KERNEL("fill_.Tensor", NULL, fill),
    KERNEL("full", NULL, fill),
};

kw_fast_family kw_fast_copy(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
