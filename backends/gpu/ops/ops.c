/* SPDX-License-Identifier: Apache-2.0
 *
 * The pack's kernels, as the host sees them: one per op.
 */
#include "lower/plan.h"

#include <stdlib.h>
#include <string.h>

/* One a line, in order. clang-format would fill lines. */
/* clang-format off */
static const kw_gpu_op *const families[] = {
    kw_gpu_activation_ops,
    kw_gpu_attention_backward_ops,
    kw_gpu_attention_ops,
    kw_gpu_bag_ops,
    kw_gpu_class_loss_ops,
    kw_gpu_columns_ops,
    kw_gpu_convolution_ops,
    kw_gpu_detection_ops,
    kw_gpu_distance_ops,
    kw_gpu_elementwise_ops,
    kw_gpu_fft_ops,
    kw_gpu_grid_ops,
    kw_gpu_loss_ops,
    kw_gpu_mask_ops,
    kw_gpu_matmul_ops,
    kw_gpu_metric_ops,
    kw_gpu_move_ops,
    kw_gpu_norm_backward_ops,
    kw_gpu_norm_ops,
    kw_gpu_optimizer_ops,
    kw_gpu_packed_ops,
    kw_gpu_place_ops,
    kw_gpu_pooling_ops,
    kw_gpu_quantize_ops,
    kw_gpu_random_ops,
    kw_gpu_reduce_ops,
    kw_gpu_resample_ops,
    kw_gpu_rope_ops,
    kw_gpu_scan_ops,
    kw_gpu_scatter_ops,
    kw_gpu_selection_ops,
    kw_gpu_softmax_ops,
    kw_gpu_sort_ops,
};
/* clang-format on */

static kw_status can_implement(const kw_call *call) {
  kw_gpu_plan plan;
  kw_gpu_plan_lower(&plan, call);
  kw_gpu_plan_clear(&plan);
  return plan.status;
}

static kw_status workspace_size(const kw_call *call, uint64_t *out_size) {
  kw_gpu_plan plan;
  kw_gpu_plan_lower(&plan, call);
  kw_gpu_plan_clear(&plan);
  *out_size = plan.workspace;
  return plan.status;
}

static kw_status release(void *user, void *prepared) {
  (void)user;
  kw_gpu_plan_clear(prepared);
  free(prepared);
  return KW_OK;
}

static kw_status prepare(const kw_call *call, void **out_prepared) {
  kw_gpu_device *device = call->device;
  kw_gpu_plan *plan = malloc(sizeof *plan);
  if (!plan) return device->host->set_error(device->host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for a plan");
  kw_gpu_plan_lower(plan, call);
  kw_status status = plan->status;
  if (status == KW_OK) status = kw_gpu_plan_compile(plan, device);
  if (status == KW_OK) {
    *out_prepared = plan;
  } else {
    release(NULL, plan);
  }
  return status;
}

static kw_status launch(const kw_call *call) {
  return kw_gpu_plan_run(call->prepared, call);
}

static kw_status register_op(const kw_host_api *host, const kw_gpu_op *op, bool has_f64) {
  kw_kernel_desc desc = {.struct_size = sizeof desc,
                         .flags = (op->flags & ~KW_GPU_MOVES) | KW_KERNEL_DETERMINISTIC | KW_KERNEL_CAPTURABLE,
                         .op = op->name,
                         .name = "portable",
                         .dtypes = {{op->dtypes, 0}},
                         .user = (void *)op,
                         .can_implement = can_implement,
                         .workspace_size = workspace_size,
                         .prepare = prepare,
                         .launch = launch,
                         .release = release};
  if (!has_f64 && !(op->flags & KW_GPU_MOVES)) desc.dtypes.bits[0] &= ~(KW_DTYPE_BIT(KW_F64) | KW_DTYPE_BIT(KW_C128));
  kw_status status = host->register_kernel(host->ctx, &desc);
  return status == KW_ERR_NOT_FOUND ? KW_OK : status; /* an older host knows fewer ops */
}

const kw_gpu_op *kw_gpu_op_find(const char *name) {
  for (size_t f = 0; f < sizeof families / sizeof families[0]; ++f)
    for (const kw_gpu_op *op = families[f]; op->name; ++op)
      if (strcmp(op->name, name) == 0) return op;
  return NULL;
}

kw_status kw_gpu_register(const kw_host_api *host, bool has_f64) {
  kw_status status = KW_OK;
  for (size_t f = 0; f < sizeof families / sizeof families[0]; ++f)
    for (const kw_gpu_op *op = families[f]; op->name && status == KW_OK; ++op) status = register_op(host, op, has_f64);
  return status;
}
