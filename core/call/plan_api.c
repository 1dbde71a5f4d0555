/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans that the application makes and runs itself: kw_plan_make, kw_plan_run. A simple plan has a ready call of its
 * own, which one thread at a time uses. It remembers what it was completed for: with the same again, and no news of the
 * device, a run has nothing to check.
 */
#include "base/error.h"
#include "base/fork.h"
#include "call/execute.h"
#include "call/plan_cache.h"
#include "call/ready_call.h"
#include "device/late_error.h"

#include <stdlib.h>

/* An argument as it was given. */
typedef struct given_arg {
  uint64_t head;
  uint64_t payload; /* a tensor's address, or a number's bits */
} given_arg;

typedef struct kw_own_call {
  kw_ready_call ready;
  uint64_t news;        /* of the device, before the call was completed */
  kw_stream *stream;    /* as given: NULL = the default stream */
  const kw_tensor *out; /* NULL: the call is not complete */
  uint32_t arg_count;
  const given_arg *end; /* behind the last of these */
  given_arg args[KW_MAX_ARGS];
} kw_own_call;

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* Without memory the plan's runs are merely slower. */
static void make_own(kw_plan *plan) {
  kw_own_call *own = calloc(1, sizeof *own);
  if (!own) return;
  kw_ready_call_begin(&own->ready, plan, plan->device);
  own->arg_count = plan->arg_count;
  own->end = own->args + plan->arg_count;
  atomic_init(&plan->own_calls, kw_call_id_make(plan->op->id, 0));
  atomic_init(&plan->own, own);
}

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
  if (status != KW_OK) return status;
  kw_device_retain(request.device);
  if ((*out_plan)->simple) make_own(*out_plan);
  return KW_OK;
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

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* Any run. */
static kw_status run_generally(const kw_plan *plan, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                               kw_tensor **outs, uint32_t out_count) {
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

/* The plan's own call, for the calling thread; NULL: there is none, or another thread has it. Applications have their
 * plans const. */
static inline kw_own_call *take_own(const kw_plan *plan) {
  return atomic_exchange_explicit(&((kw_plan *)(uintptr_t)plan)->own, NULL, memory_order_acquire);
}

static inline void give_own(kw_own_call *own) {
  atomic_store_explicit(&own->ready.plan->own, own, memory_order_release);
}

/* Whether it is complete for just this. */
static inline bool is_for(const kw_own_call *own, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                          kw_tensor *const *outs, uint32_t out_count) {
  if (!args || arg_count != own->arg_count || !outs || own->stream != stream) return false;
  if (out_count != 1 || outs[0] != own->out) return false;
  const given_arg *expected = own->args;
  do {
    if (kw_value_head(args) != expected->head || kw_value_payload(args) != expected->payload) return false;
    ++args;
  } while (++expected != own->end);
  return atomic_load_explicit(&own->ready.plan->device->news, memory_order_acquire) == own->news;
}

/* Completes it for other tensors than before, if the fast path is open to them. That streams and tensors are known
 * again by their addresses needs news when one ends. */
static inline bool complete(kw_own_call *own, kw_stream *stream, const kw_value *args, kw_tensor *out) {
  const kw_plan *plan = own->ready.plan;
  kw_device *device = plan->device;
  kw_stream *on = stream ? stream : device->default_stream;
  own->news = atomic_load(&device->news);
  own->out = NULL;
  if (on->device != device || kw_device_is_barred(device) ||
      !kw_ready_call_complete(&own->ready, plan, on, args, out)) {
    return false;
  }
  for (given_arg *given = own->args; given != own->end; ++given, ++args) {
    *given = (given_arg){kw_value_head(args), kw_value_payload(args)};
    if (args->tag == KW_TAG_TENSOR) kw_tensor_notice(kw_value_as_tensor(args));
  }
  kw_tensor_notice(out);
  own->stream = stream;
  own->out = out;
  return true;
}

/* A launch that did not go well is not counted. */
static __attribute__((noinline, cold)) kw_status fail_own(kw_own_call *own, kw_status status) {
  atomic_fetch_sub(&own->ready.plan->own_calls, 1);
  return kw_ready_call_fail(&own->ready, status);
}

/* Launches what is complete, and gives it back. */
static inline kw_status launch_own(kw_own_call *own) {
  atomic_ullong *calls = &own->ready.plan->own_calls;
  const uint64_t id = atomic_load_explicit(calls, memory_order_relaxed) + 1;
  atomic_store_explicit(calls, id, memory_order_relaxed);
  kw_status status = kw_ready_call_launch(&own->ready, id);
  if (__builtin_expect(status != KW_OK, 0)) status = fail_own(own, status);
  give_own(own);
  return status;
}

/* With other tensors than the last time, or on another stream, or with more to do. */
static __attribute__((noinline)) kw_status run_changed(const kw_plan *plan, kw_own_call *own, kw_stream *stream,
                                                       const kw_value *args, uint32_t arg_count, kw_tensor **outs,
                                                       uint32_t out_count) {
  if (own && args && outs && arg_count == own->arg_count && out_count == 1 && complete(own, stream, args, outs[0])) {
    return launch_own(own);
  }
  if (own) give_own(own);
  return run_generally(plan, stream, args, arg_count, outs, out_count);
}

KW_API kw_status kw_plan_run(const kw_plan *plan, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                             kw_tensor **outs, uint32_t out_count) {
  if (!plan) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_plan_run: plan is NULL");
  kw_own_call *own = take_own(plan);
  if (own && is_for(own, stream, args, arg_count, outs, out_count)) return launch_own(own);
  return run_changed(plan, own, stream, args, arg_count, outs, out_count);
}
