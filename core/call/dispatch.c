/* SPDX-License-Identifier: Apache-2.0
 *
 * The path of one op call. A thread remembers the plans it used last in a small direct-mapped cache; a call whose
 * signature is found there goes straight to the kernel: no lock, no heap allocation, no string compare.
 */
#include "call/dispatch.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/thread_own.h"
#include "call/autocast.h"
#include "call/execute.h"
#include "call/index_mask.h"
#include "call/launch.h"
#include "call/nested.h"
#include "call/plan_cache.h"
#include "call/ready_call.h"

#include <stdlib.h>

#define CACHE_SIZE 256

/* A plan that a thread used last. */
typedef struct remembered {
  kw_plan *plan;             /* one reference */
  const kw_plan *simple;     /* the same if it is simple, otherwise NULL */
  kw_launch_count *launches; /* where this thread counts for the device */
  kw_ready_call ready;       /* if the plan is simple */
} remembered;

/* What a thread keeps. */
typedef struct thread_cache {
  remembered *plans[CACHE_SIZE];
  kw_launch_counts *counts; /* one reference */
} thread_cache;

static __thread thread_cache *this_thread __attribute__((tls_model("initial-exec")));
static kw_thread_key cleanup_key;

/* ---- The thread's cache ------------------------------------------------------------------------------------------ */

static void end_thread(void *pointer) {
  thread_cache *cache = pointer;
  for (uint32_t i = 0; i < CACHE_SIZE; ++i) {
    if (cache->plans[i]) kw_plan_unref(cache->plans[i]->plan);
    free(cache->plans[i]);
  }
  kw_launch_counts_release(cache->counts);
  free(cache);
  this_thread = NULL;
}

static __attribute__((noinline)) thread_cache *begin_thread(void) {
  kw_launch_counts *counts = kw_launch_counts_retain();
  thread_cache *cache = counts ? kw_thread_own(&cleanup_key, end_thread, calloc(1, sizeof *cache)) : NULL;
  if (cache) {
    cache->counts = counts;
  } else if (counts) {
    kw_launch_counts_release(counts);
  }
  return this_thread = cache;
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

/* The first tensor among the leading two arguments (cat begins with a list, pow.Scalar with a number), or NULL. */
static inline const kw_tensor *leading_tensor(const kw_value *args, uint32_t arg_count) {
  if (__builtin_expect(args[0].tag == KW_TAG_TENSOR, 1)) return kw_value_as_tensor(&args[0]);
  if (args[0].tag == KW_TAG_TENSOR_LIST && args[0].count > 0 && args[0].u.tensors) return kw_value_entry(&args[0], 0);
  return arg_count > 1 && args[1].tag == KW_TAG_TENSOR ? kw_value_as_tensor(&args[1]) : NULL;
}

/* Where the plan of a call may be: by op and leading tensor. */
static inline uint32_t cache_slot(const kw_op *op, const kw_tensor *leading) {
  return (op->id * 31 + (uint32_t)leading->fingerprint.low) % CACHE_SIZE;
}

/* Puts a plan where the thread's next call with this leading tensor looks for it. Without memory it is simply not
 * remembered. */
static void remember(thread_cache *cache, kw_plan *plan, const kw_device *device, const kw_tensor *leading) {
  remembered **slot = &cache->plans[cache_slot(plan->op, leading)];
  if (!*slot && !(*slot = calloc(1, sizeof **slot))) return;
  remembered *entry = *slot;
  kw_plan *evicted = entry->plan;
  atomic_fetch_add(&plan->refs, 1);
  entry->plan = plan;
  entry->simple = plan->simple ? plan : NULL;
  entry->launches = kw_launch_count_of(cache->counts, device);
  if (plan->simple) kw_ready_call_begin(&entry->ready, plan, device);
  kw_plan_unref(evicted);
}

/* Finds or makes the plan, under locks, and remembers it. */
static kw_status call_first(thread_cache *cache, kw_request *request) {
  kw_status status = kw_request_resolve(request);
  if (status != KW_OK) return status;
  if (kw_index_mask_present(request)) return kw_index_mask_call(request);
  kw_plan *plan;
  status = kw_plan_obtain(request, &plan);
  if (status != KW_OK) return status;
  const kw_tensor *leading = request->arg_count > 0 ? leading_tensor(request->args, request->arg_count) : NULL;
  if (leading) remember(cache, plan, request->device, leading);
  status = kw_plan_execute(plan, request);
  kw_plan_unref(plan);
  return status;
}

/* Any call: all argument kinds, results to create, aliases, casts. */
static __attribute__((noinline)) kw_status call_generally(const kw_op *op, kw_stream *stream, const kw_value *args,
                                                          uint32_t arg_count, kw_tensor **outs, uint32_t out_count) {
  kw_request request = {.op = op,
                        .stream = stream,
                        .args = args,
                        .arg_count = arg_count,
                        .outs = outs,
                        .out_count = out_count,
                        .math = kw_math_now()};
  if (args && kw_autocast_applies(op, outs, out_count)) {
    return kw_autocast_call(op, stream, args, arg_count, outs, out_count);
  }
  if (kw_fork_happened()) return kw_fork_check();
  thread_cache *cache = this_thread ? this_thread : begin_thread();
  if (!cache) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for a thread's plan cache");
  const kw_tensor *leading =
      op && args && arg_count > 0 && (outs || out_count == 0) ? leading_tensor(args, arg_count) : NULL;
  const remembered *entry = leading ? cache->plans[cache_slot(op, leading)] : NULL;
  if (!entry || (stream && stream->device != leading->device)) return call_first(cache, &request);
  request.device = leading->device;
  kw_plan *plan = entry->plan;
  if (!kw_plan_matches(plan, &request)) return call_first(cache, &request);
  atomic_fetch_add(&plan->refs, 1); /* nested calls may evict the plan from the cache */
  kw_status status = kw_plan_execute(plan, &request);
  kw_plan_unref(plan);
  return status;
}

KW_API kw_status kw_op_call(const kw_op *op, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                            kw_tensor **outs, uint32_t out_count) {
  thread_cache *cache = this_thread;
  if (cache && op && args && arg_count > 0 && outs && out_count == 1) {
    const kw_tensor *leading = leading_tensor(args, arg_count);
    remembered *entry = leading ? cache->plans[cache_slot(op, leading)] : NULL;
    const kw_plan *plan = entry ? entry->simple : NULL;
    if (plan && plan->op == op && plan->arg_count == arg_count && plan->math == kw_math_now()) {
      kw_device *device = leading->device;
      kw_stream *on = stream ? stream : device->default_stream;
      if (on->device == device && !kw_device_is_barred(device) &&
          kw_ready_call_complete(&entry->ready, plan, on, args, outs[0])) {
        const kw_status status = kw_ready_call_launch(&entry->ready, entry->ready.call.call_id + 1);
        if (__builtin_expect(status != KW_OK, 0)) return kw_ready_call_fail(&entry->ready, status);
        kw_launch_count_add(entry->launches, device);
        return KW_OK;
      }
    }
  }
  return call_generally(op, stream, args, arg_count, outs, out_count);
}

void kw_dispatch_start(void) {
  kw_call_nested = kw_op_call;
}
