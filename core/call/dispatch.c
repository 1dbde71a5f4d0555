/* SPDX-License-Identifier: Apache-2.0
 *
 * The path of one op call. A thread remembers the plans it used last in a small direct-mapped cache; a call whose
 * signature is found there goes straight to the kernel: no lock, no heap allocation, no string compare.
 */
#include "call/autocast.h"
#include "base/error.h"
#include "device/generator.h"
#include "call/index_mask.h"
#include "call/plan.h"
#include "base/fork.h"
#include "base/struct.h"
#include "base/trace.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_SIZE 256
#define COUNT_SLOTS 4

/* Launches of one thread on one device that the device does not have yet: written by the thread, read by who sums up.
 */
typedef struct launch_count {
  _Atomic(kw_device *) device;
  _Atomic uint64_t launches;
} launch_count;

/* A plan that a thread used last, and a call to its kernel that lacks only what differs between calls: tensors, stream,
 * call id. */
typedef struct ready_call {
  kw_plan *plan;          /* one reference */
  launch_count *launches; /* where this thread counts for the device */
  kw_call call;
  const kw_tensor_ref *out;
  kw_value args[KW_MAX_ARGS];
} ready_call;

/* What a thread keeps. */
typedef struct thread_cache {
  ready_call *ready[CACHE_SIZE];
  launch_count counts[COUNT_SLOTS]; /* slot = device id modulo COUNT_SLOTS */
  uint64_t calls;
  struct thread_cache *next, **link;
} thread_cache;

static __thread thread_cache *this_thread __attribute__((tls_model("initial-exec")));
static thread_cache *all_threads; /* under kw_plan_mutex */
static pthread_key_t cleanup_key;
static pthread_once_t cleanup_once = PTHREAD_ONCE_INIT;

/* ---- Counting launches ------------------------------------------------------------------------------------------- */

/* Under kw_plan_mutex. */
static void flush_count(thread_cache *cache, uint32_t slot) {
  kw_device *device = atomic_load_explicit(&cache->counts[slot].device, memory_order_relaxed);
  uint64_t launches = atomic_load_explicit(&cache->counts[slot].launches, memory_order_relaxed);
  if (device) atomic_fetch_add(&device->launches, launches);
  atomic_store_explicit(&cache->counts[slot].device, NULL, memory_order_relaxed);
  atomic_store_explicit(&cache->counts[slot].launches, 0, memory_order_relaxed);
}

static __attribute__((noinline)) void count_first_launch(thread_cache *cache, kw_device *device) {
  uint32_t slot = device->id % COUNT_SLOTS;
  pthread_mutex_lock(&kw_plan_mutex);
  flush_count(cache, slot);
  atomic_store_explicit(&cache->counts[slot].device, device, memory_order_relaxed);
  atomic_store_explicit(&cache->counts[slot].launches, 1, memory_order_relaxed);
  pthread_mutex_unlock(&kw_plan_mutex);
}

static inline void count_launch(thread_cache *cache, launch_count *count, kw_device *device) {
  if (__builtin_expect(atomic_load_explicit(&count->device, memory_order_relaxed) == device, 1)) {
    uint64_t launches = atomic_load_explicit(&count->launches, memory_order_relaxed);
    atomic_store_explicit(&count->launches, launches + 1, memory_order_relaxed);
  } else {
    count_first_launch(cache, device);
  }
}

uint64_t kw_dispatch_pending_launches(const kw_device *device) {
  uint64_t launches = 0;
  uint32_t slot = device->id % COUNT_SLOTS;
  for (thread_cache *cache = all_threads; cache; cache = cache->next) {
    if (atomic_load_explicit(&cache->counts[slot].device, memory_order_relaxed) == device) {
      launches += atomic_load_explicit(&cache->counts[slot].launches, memory_order_relaxed);
    }
  }
  return launches;
}

void kw_dispatch_forget_device(kw_device *device) {
  uint32_t slot = device->id % COUNT_SLOTS;
  for (thread_cache *cache = all_threads; cache; cache = cache->next) {
    if (atomic_load_explicit(&cache->counts[slot].device, memory_order_relaxed) == device) flush_count(cache, slot);
  }
}

KW_API kw_status kw_device_get_counters(const kw_device *device, kw_counters *out_counters) {
  if (!device) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_device_get_counters: device is NULL");
  kw_status status = kw_struct_check_given("kw_device_get_counters", out_counters);
  if (status == KW_OK) status = kw_fork_check();
  if (status != KW_OK) return status;
  kw_counters counters = {.decomposed = atomic_load(&device->decomposed),
                          .fallbacks = atomic_load(&device->fallbacks),
                          .modules_built = atomic_load(&device->modules_built),
                          .modules_cached = atomic_load(&device->modules_cached),
                          .build_ns = atomic_load(&device->build_ns)};
  pthread_mutex_lock(&kw_plan_mutex);
  counters.launches = atomic_load(&device->launches) + kw_dispatch_pending_launches(device);
  pthread_mutex_unlock(&kw_plan_mutex);
  kw_struct_write(out_counters, &counters, sizeof counters);
  return KW_OK;
}

/* ---- The thread's cache ------------------------------------------------------------------------------------------ */

static void end_thread(void *pointer) {
  thread_cache *cache = pointer;
  pthread_mutex_lock(&kw_plan_mutex);
  for (uint32_t slot = 0; slot < COUNT_SLOTS; ++slot) flush_count(cache, slot);
  *cache->link = cache->next;
  if (cache->next) cache->next->link = cache->link;
  pthread_mutex_unlock(&kw_plan_mutex);
  for (uint32_t i = 0; i < CACHE_SIZE; ++i) {
    if (cache->ready[i]) kw_plan_unref(cache->ready[i]->plan);
    free(cache->ready[i]);
  }
  free(cache);
  this_thread = NULL;
}

static void make_cleanup_key(void) {
  pthread_key_create(&cleanup_key, end_thread);
}

static __attribute__((noinline)) thread_cache *begin_thread(void) {
  pthread_once(&cleanup_once, make_cleanup_key);
  thread_cache *cache = calloc(1, sizeof *cache);
  if (!cache) return NULL;
  pthread_mutex_lock(&kw_plan_mutex);
  cache->next = all_threads;
  cache->link = &all_threads;
  if (all_threads) all_threads->link = &cache->next;
  all_threads = cache;
  pthread_mutex_unlock(&kw_plan_mutex);
  pthread_setspecific(cleanup_key, cache);
  return this_thread = cache;
}

/* ---- Matching ---------------------------------------------------------------------------------------------------- */

static bool list_matches(const kw_fingerprint *have, const kw_value *got) {
  if (got->count > 0 && !got->u.tensors) return false;
  for (uint32_t k = 0; k < got->count; ++k) {
    const kw_tensor *entry = kw_value_entry(got, k);
    if (!kw_fingerprint_equal(have[k], entry ? entry->print : (kw_fingerprint){0, 0})) return false;
  }
  return true;
}

bool kw_plan_matches(const kw_plan *plan, const kw_request *request) {
  if (plan->op != request->op || plan->device_id != request->device->id || plan->arg_count != request->arg_count ||
      plan->out_count != request->out_count || plan->math != request->math) {
    return false;
  }
  const kw_fingerprint *listed = plan->listed;
  for (uint32_t i = 0; i < plan->arg_count; ++i) {
    const kw_value *have = &plan->args[i], *got = &request->args[i];
    if (plan->expected[i].head != kw_value_head(got)) return false;
    if (have->tag == KW_TAG_TENSOR) {
      const kw_tensor *tensor = kw_value_as_tensor(got);
      if (!tensor || !kw_fingerprint_equal(plan->expected[i].print, tensor->print)) return false;
    } else if (have->tag == KW_TAG_TENSOR_LIST) {
      if (!list_matches(listed, got)) return false;
      listed += have->count;
    } else if (have->tag == KW_TAG_GENERATOR) { /* any of the device */
      if (got->u.generator && got->u.generator->device != request->device) return false;
    } else if (!kw_values_equal(have, got)) {
      return false;
    }
  }
  for (uint32_t i = 0; i < plan->out_count; ++i) {
    if (plan->out_given >> i & 1) {
      if (!request->outs[i] || !kw_fingerprint_equal(plan->outs[i], request->outs[i]->print)) return false;
    } else if (request->outs[i] && plan->op->schema.results[i].alias_of < 0) {
      return false;
    }
  }
  return true;
}

/* ---- Launching --------------------------------------------------------------------------------------------------- */

kw_status kw_plan_launch(const kw_plan *plan, kw_stream *stream, kw_call *call) {
  thread_cache *cache = this_thread ? this_thread : begin_thread();
  if (!cache) return kw_error_offer(kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for a thread's plan cache"));
  call->stream = stream->handle;
  call->call_id = (uint64_t)plan->op->id << KW_CALL_ID_BITS | (++cache->calls & ((UINT64_C(1) << KW_CALL_ID_BITS) - 1));
  kw_status status = plan->kernel->desc.launch(call);
  if (status == KW_OK) count_launch(cache, &cache->counts[stream->device->id % COUNT_SLOTS], stream->device);
  return status;
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
  return (op->id * 31 + (uint32_t)leading->print.low) % CACHE_SIZE;
}

/* Puts a plan where the thread's next call with this leading tensor looks for it. Without memory it is simply not
 * remembered. */
static void remember(thread_cache *cache, kw_plan *plan, const kw_device *device, const kw_tensor *leading) {
  ready_call **slot = &cache->ready[cache_slot(plan->op, leading)];
  if (!*slot && !(*slot = calloc(1, sizeof **slot))) return;
  ready_call *ready = *slot;
  kw_plan *evicted = ready->plan;
  atomic_fetch_add(&plan->refs, 1);
  ready->plan = plan;
  if (plan->simple) {
    kw_plan_begin_call(plan, device, ready->args, &ready->out, &ready->call);
    ready->call.call_id = (uint64_t)plan->op->id << KW_CALL_ID_BITS;
    ready->launches = &cache->counts[device->id % COUNT_SLOTS];
    memcpy(ready->args, plan->normal, sizeof ready->args);
  }
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
  kw_request request = {op, stream, NULL, args, arg_count, outs, out_count, NULL, kw_math_now()};
  if (args && kw_autocast_applies(op, outs, out_count)) {
    return kw_autocast_call(op, stream, args, arg_count, outs, out_count);
  }
  if (kw_fork_happened()) return kw_fork_check();
  thread_cache *cache = this_thread ? this_thread : begin_thread();
  if (!cache) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for a thread's plan cache");
  const kw_tensor *leading =
      op && args && arg_count > 0 && (outs || out_count == 0) ? leading_tensor(args, arg_count) : NULL;
  const ready_call *ready = leading ? cache->ready[cache_slot(op, leading)] : NULL;
  if (!ready || (stream && stream->device != leading->device)) return call_first(cache, &request);
  request.device = leading->device;
  kw_plan *plan = ready->plan;
  if (!kw_plan_matches(plan, &request)) return call_first(cache, &request);
  atomic_fetch_add(&plan->refs, 1); /* nested calls may evict the plan from the cache */
  kw_status status = kw_plan_execute(plan, &request);
  kw_plan_unref(plan);
  return status;
}

static __attribute__((noinline)) kw_status fail_simply(const kw_plan *plan, kw_device *device, kw_stream *stream,
                                                       const kw_value *args, kw_tensor **outs, kw_status status) {
  const kw_request request = {plan->op, stream, device, args, plan->arg_count, outs, 1, NULL, plan->math};
  return kw_plan_handle_failure(plan, &request, outs[0], status);
}

/* Recognises the arguments of a simple plan and puts the tensors into its ready-made call. False: it is not this plan's
 * call after all, or there is more to do: check overlaps, note a foreign stream's use. */
static inline __attribute__((always_inline)) bool complete(ready_call *ready, const kw_plan *plan, kw_stream *stream,
                                                           const kw_value *args, const kw_tensor *out) {
  if (!out || !kw_fingerprint_equal(out->print, plan->outs[0])) return false;
  const kw_buffer *written = out->buffer;
  if (written->stream != stream) return false;
  const kw_expected *expected = plan->expected, *end = expected + plan->arg_count;
  kw_value *to = ready->args;
  do {
    if (kw_value_head(args) != expected->head) return false;
    if (args->tag == KW_TAG_TENSOR) {
      const kw_tensor *tensor = kw_value_as_tensor(args);
      if (!tensor || !kw_fingerprint_equal(tensor->print, expected->print)) return false;
      if (tensor->buffer == written || tensor->buffer->stream != stream) return false;
      to->u.tensor = &tensor->ref;
    } else if (memcmp(&args->u, &expected->print.low, sizeof expected->print.low) != 0) {
      return false;
    }
    ++to, ++args;
  } while (++expected != end);
  ready->out = &out->ref;
  return true;
}

KW_API kw_status kw_op_call(const kw_op *op, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                            kw_tensor **outs, uint32_t out_count) {
  thread_cache *cache = this_thread;
  if (cache && op && args && arg_count > 0 && outs && out_count == 1) {
    const kw_tensor *leading = leading_tensor(args, arg_count);
    ready_call *ready = leading ? cache->ready[cache_slot(op, leading)] : NULL;
    const kw_plan *plan = ready ? ready->plan : NULL;
    if (plan && plan->simple && plan->op == op && plan->arg_count == arg_count && plan->math == kw_math_now() &&
        !kw_trace_enabled) {
      kw_device *device = leading->device;
      kw_stream *on = stream ? stream : device->default_stream;
      if (on->device == device && atomic_load_explicit(&device->detours, memory_order_relaxed) == 0 &&
          complete(ready, plan, on, args, outs[0])) {
        ready->call.stream = on->handle;
        ready->call.call_id++;
        kw_status status = plan->kernel->desc.launch(&ready->call);
        if (__builtin_expect(status != KW_OK, 0)) return fail_simply(plan, device, on, args, outs, status);
        count_launch(cache, ready->launches, device);
        return KW_OK;
      }
    }
  }
  return call_generally(op, stream, args, arg_count, outs, out_count);
}
