/* SPDX-License-Identifier: Apache-2.0
 *
 * What is the same in every call of a simple plan, and what is done when one fails.
 */
#include "call/ready_call.h"

#include "call/execute.h"
#include "call/launch.h"
#include "call/plan_cache.h"
#include "device/late_error.h"

void kw_ready_call_begin(kw_ready_call *ready, kw_plan *plan, const kw_device *device) {
  ready->plan = plan;
  memcpy(ready->args, plan->normal, sizeof ready->args);
  kw_plan_begin_call(plan, device, ready->args, &ready->out, &ready->call);
  ready->call.call_id = kw_call_id_make(plan->op->id, 0);
}

/* From copies: calls that this one leads to may take the place where it was made ready. */
kw_status kw_ready_call_fail(const kw_ready_call *ready, kw_status status) {
  kw_plan *plan = ready->plan;
  kw_tensor *out = (kw_tensor *)(uintptr_t)(const void *)ready->out; /* begins with its descriptor */
  kw_value args[KW_MAX_ARGS];
  memcpy(args, ready->args, sizeof args);
  const kw_request request = {.op = plan->op,
                              .stream = ready->stream,
                              .device = ready->stream->device,
                              .args = args,
                              .arg_count = plan->arg_count,
                              .outs = &out,
                              .out_count = 1,
                              .math = plan->math};
  atomic_fetch_add(&plan->refs, 1);
  status = kw_plan_handle_failure(plan, &request, out, status);
  kw_plan_unref(plan);
  return status;
}
