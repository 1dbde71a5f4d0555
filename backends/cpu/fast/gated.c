/* SPDX-License-Identifier: Apache-2.0
 *
 * Gated activations and their gradients, where halves of a tensor are the operands or there are two results: glu,
 * swiglu_backward.
 */
#include "number.h"
#include "pointwise.h"

static kw_status plan_gated(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  (void)kernel;
  (void)plan;
  return kw_pointwise_serves(KW_POINTWISE_GLU, call->outs[0]->dtype) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

/* The halves of a tensor along a dimension: value and gate. */
typedef struct halves {
  kw_tensor_ref value, gate;
} halves;

static halves halves_of(const kw_tensor_ref *tensor, int64_t dim) {
  const int64_t along = dim < 0 ? dim + tensor->rank : dim, half = tensor->shape[along] / 2;
  halves of = {*tensor, *tensor};
  of.value.shape[along] = of.gate.shape[along] = half;
  of.value.numel = of.gate.numel = tensor->numel / 2;
  of.gate.offset += (uint64_t)(half * tensor->strides[along]) * kw_number_size(tensor->dtype);
  return of;
}

static kw_status run_glu(const kw_host_api *host, const kw_call *call, const void *plan) {
  const halves self = halves_of(call->args[0].u.tensor, call->args[1].u.i);
  (void)plan;
  return kw_pointwise_apply(host, KW_POINTWISE_GLU, call->outs[0], (const kw_tensor_ref *[]){&self.value, &self.gate});
}

/* Of `value` the gradient is like the result, grad gated. */
static kw_status run_glu_backward(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_tensor_ref *grad = call->args[0].u.tensor;
  const halves self = halves_of(call->args[1].u.tensor, call->args[2].u.i);
  const halves out = halves_of(call->outs[0], call->args[2].u.i);
  (void)plan;
  const kw_status status =
      kw_pointwise_apply(host, KW_POINTWISE_GLU, &out.value, (const kw_tensor_ref *[]){grad, &self.gate});
  if (status != KW_OK) return status;
  return kw_pointwise_apply(host, KW_POINTWISE_GLU_GATE, &out.gate,
                            (const kw_tensor_ref *[]){grad, &self.value, &self.gate});
}

static kw_status run_swiglu_backward(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_tensor_ref *grad = call->args[0].u.tensor, *gate = call->args[1].u.tensor, *up = call->args[2].u.tensor;
  (void)plan;
  const kw_status status =
      kw_pointwise_apply(host, KW_POINTWISE_SWIGLU_GATE, call->outs[0], (const kw_tensor_ref *[]){grad, gate, up});
  if (status != KW_OK) return status;
  return kw_pointwise_apply(host, KW_POINTWISE_SWIGLU, call->outs[1], (const kw_tensor_ref *[]){gate, grad});
}

static const kw_fast_kernel kernels[] = {
    {.op = "glu", .dtypes = KW_DTYPES_FLOAT, .make_plan = plan_gated, .run = run_glu},
    {.op = "glu_backward", .dtypes = KW_DTYPES_FLOAT, .make_plan = plan_gated, .run = run_glu_backward},
    {.op = "keyway::swiglu_backward", .dtypes = KW_DTYPES_FLOAT, .make_plan = plan_gated, .run = run_swiglu_backward},
};

kw_fast_family kw_fast_gated(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
