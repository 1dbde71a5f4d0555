/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::int8_linear: sums in i32 by the library, and behind them the pack's kernel that scales them and adds the
 * bias. In the workspace the pack's part comes first, with the sums at its beginning, and then the library's.
 */
#include "ops/matmul.h"
#include "product.h"

#include <stdlib.h>

/* The sums, as a call of the op that is one product: input times the weight's transpose. */
typedef struct sums {
  kw_call call;
  kw_value args[2];
  kw_tensor_ref weight, out;
  const kw_tensor_ref *outs[1];
} sums;

static void make_sums(const kw_call *call, sums *s) {
  const kw_tensor_ref *input = call->args[0].u.tensor, *weight = call->args[1].u.tensor;
  const int64_t rows = input->shape[0], cols = weight->shape[0];
  *s = (sums){.call = *call,
              .args = {{.tag = KW_TAG_TENSOR, .u.tensor = input}, {.tag = KW_TAG_TENSOR, .u.tensor = &s->weight}},
              .weight = *weight,
              .out = {.mem = call->workspace,
                      .offset = call->workspace_offset,
                      .numel = rows * cols,
                      .dtype = KW_I32,
                      .rank = 2,
                      .alignment = 64, /* of all that the host places */
                      .shape = {rows, cols},
                      .strides = {cols, 1}},
              .outs = {&s->out}};
  for (int d = 0; d < 2; ++d) {
    s->weight.shape[d] = weight->shape[1 - d];
    s->weight.strides[d] = weight->strides[1 - d];
  }
  s->call.op = "_int_mm";
  s->call.args = s->args;
  s->call.arg_count = 2;
  s->call.outs = s->outs;
  s->call.user = NULL;
}

static kw_status can_implement(const kw_call *call) {
  sums s;
  make_sums(call, &s);
  return kw_rt_product_can_implement(&s.call);
}

static kw_status workspace_size(const kw_call *call, uint64_t *out_size) {
  kw_gpu_plan plan;
  kw_gpu_plan_lower(&plan, call);
  kw_gpu_plan_clear(&plan);
  *out_size = plan.workspace + KW_RT_PRODUCT_WORKSPACE + KW_RT_WORKSPACE_ALIGNMENT;
  return plan.status;
}

typedef struct prepared {
  kw_gpu_plan plan;
  void *product;
} prepared;

static kw_status release(void *user, void *state) {
  prepared *p = state;
  kw_gpu_plan_clear(&p->plan);
  if (p->product) kw_rt_product_release(user, p->product);
  free(p);
  return KW_OK;
}

static kw_status prepare(const kw_call *call, void **out_prepared) {
  kw_rt_device *device = call->device;
  sums s;
  prepared *p = calloc(1, sizeof *p);
  if (!p) return kw_rt_no_memory(device->base.host, "a linear layer");
  make_sums(call, &s);
  kw_status status = kw_rt_product_prepare(&s.call, &p->product);
  if (status == KW_OK) {
    kw_gpu_plan_lower(&p->plan, call);
    status = p->plan.status;
  }
  if (status == KW_OK) status = kw_gpu_plan_compile(&p->plan, &device->base);
  if (status == KW_OK) {
    *out_prepared = p;
  } else {
    release(NULL, p);
  }
  return status;
}

static kw_status launch(const kw_call *call) {
  const prepared *p = call->prepared;
  sums s;
  make_sums(call, &s);
  s.call.prepared = p->product;
  s.call.workspace_offset += p->plan.workspace;
  kw_status status = kw_rt_product_launch(&s.call);
  return status == KW_OK ? kw_gpu_plan_run(&p->plan, call) : status;
}

kw_status kw_rt_linear_register(const kw_host_api *host) {
  const kw_kernel_desc desc = {.flags = kw_rt_backend_products.flags,
                               .op = kw_gpu_rescale_op.name,
                               .name = kw_rt_backend_products.kernel,
                               .dtypes = {{kw_gpu_rescale_op.dtypes, 0}},
                               .known_args = 6,
                               .user = (void *)(uintptr_t)&kw_gpu_rescale_op,
                               .can_implement = can_implement,
                               .workspace_size = workspace_size,
                               .prepare = prepare,
                               .launch = launch,
                               .release = release};
  return kw_rt_library_register(host, desc);
}
