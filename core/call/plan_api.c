/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans that the application makes and runs itself: kw_plan_make, kw_plan_run.
 */
#include "base/error.h"
#include "base/fork.h"
#include "call/execute.h"
#include "call/plan_cache.h"

KW_API kw_status kw_plan_make(const kw_op *op, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                              kw_tensor **outs, uint32_t out_count, const char *kernel, kw_plan **out_plan) {
  if (!out_plan) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_plan_make: out_plan is NULL");
  kw_request request = {.op = op,
                        .stream = stream,
                        .args = args,
                        .arg_count = arg_count,
                        .outs = outs,
                        .out_count = out_count,
                        .kernel = kernel,
                        .math = kw_math_now()};
  kw_status status = kw_request_resolve(&request);
  if (status == KW_OK) status = kw_plan_own(&request, out_plan);
  if (status == KW_OK) kw_device_retain(request.device);
  return status;
}

KW_API kw_status kw_plan_run(const kw_plan *plan, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                             kw_tensor **outs, uint32_t out_count) {
  if (!plan) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_plan_run: plan is NULL");
  kw_request request = {.op = plan->op,
                        .stream = stream,
                        .args = args,
                        .arg_count = arg_count,
                        .outs = outs,
                        .out_count = out_count,
                        .math = plan->math};
  kw_status status = kw_request_resolve(&request);
  if (status != KW_OK) return status;
  if (!kw_plan_matches(plan, &request)) {
    char call[512];
    return kw_fail(
        KW_ERR_INVALID_ARGUMENT,
        "%s: dtypes, shapes, strides, alignment or attributes differ from those the plan was made for; make a plan for "
        "them",
        kw_request_describe(&request, call, sizeof call));
  }
  /* The calls that it leads to are made in its mode. */
  const _Atomic kw_math *before = kw_math_current, math = plan->math;
  kw_math_current = &math;
  status = kw_plan_execute(plan, &request);
  kw_math_current = before;
  return status;
}

KW_API const char *kw_plan_kernel(const kw_plan *plan) {
  return plan && plan->kernel ? plan->kernel->desc.name : "";
}

KW_API void kw_plan_destroy(kw_plan *plan) {
  if (!plan || kw_fork_happened()) return;
  kw_device *device = plan->device;
  kw_plan_unref(plan);
  kw_plan_reap(device);
  kw_device_release(device);
}
