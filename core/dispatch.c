/* SPDX-License-Identifier: Apache-2.0
 *
 * The path of one op call. A thread remembers the plans it used last in a small direct-mapped cache; a call whose
 * signature is found there goes straight to the kernel: no lock, no heap allocation, no string compare.
 */
#include "error.h"
#include "overlap.h"
#include "plan.h"
#include "struct.h"
#include "trace.h"

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
  if (status != KW_OK) return status;
  kw_counters counters = {.decomposed = atomic_load(&device->decomposed), .fallbacks = atomic_load(&device->fallbacks)};
  pthread_mutex_lock(&kw_plan_mutex);
  counters.launches = atomic_load(&device->launches) + kw_dispatch_pending_launches(device);
  pthread_mutex_unlock(&kw_plan_mutex);
  kw_struct_give(out_counters, &counters, sizeof counters);
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
      plan->out_count != request->out_count) {
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

/* ---- Executing --------------------------------------------------------------------------------------------------- */

static kw_status refuse_overlap(const kw_plan *plan, uint32_t result, uint32_t arg) {
  const kw_schema *schema = &plan->op->schema;
  return kw_fail(
      KW_ERR_INVALID_ARGUMENT,
      "%s: result %u shares memory with argument '%s', which the schema does not allow; write to a tensor of its own",
      schema->name, result, schema->args[arg].name);
}

/* One result against the tensor arguments. Two tensors of different buffers never overlap. */
static inline kw_status check_overlap(const kw_plan *plan, const kw_request *request, uint32_t result,
                                      const kw_tensor *out) {
  int32_t alias = plan->op->schema.results[result].alias_of;
  for (uint32_t i = 0; i < plan->arg_count; ++i) {
    if (plan->args[i].tag == KW_TAG_TENSOR) {
      const kw_tensor *arg = kw_value_as_tensor(&request->args[i]);
      if (arg->buffer != out->buffer || (int32_t)i == alias) continue;
      if (alias >= 0 && kw_refs_identical(&arg->ref, &out->ref)) continue; /* x += x, element by element */
      if (kw_refs_overlap(&arg->ref, &out->ref)) return refuse_overlap(plan, result, i);
    } else if (plan->args[i].tag == KW_TAG_TENSOR_LIST) {
      for (uint32_t k = 0; k < request->args[i].count; ++k) {
        const kw_tensor *arg = kw_value_entry(&request->args[i], k);
        if (arg && arg->buffer == out->buffer && kw_refs_overlap(&arg->ref, &out->ref)) {
          return refuse_overlap(plan, result, i);
        }
      }
    }
  }
  return KW_OK;
}

static kw_status fail_launch(const kw_plan *plan, const kw_request *request, kw_status status) {
  char call[512];
  return kw_device_note(request->device,
                        kw_from_plugin(status, "%s, kernel '%s'", kw_request_describe(request, call, sizeof call),
                                       plan->kernel->desc.name));
}

/* What is the same in every launch of a plan. */
static void begin_call(kw_call *call, const kw_plan *plan, const kw_device *device, const kw_value *args,
                       const kw_tensor_ref *const *outs) {
  *call = (kw_call){.struct_size = sizeof *call,
                    .arg_count = plan->normal_count,
                    .out_count = plan->inference.result_count,
                    .device = device->handle,
                    .op = plan->op->schema.name,
                    .args = args,
                    .outs = outs,
                    .user = plan->kernel->desc.user,
                    .prepared = plan->prepared,
                    .workspace_size = plan->workspace};
}

static kw_status launch(thread_cache *cache, const kw_plan *plan, kw_device *device, kw_stream *stream, kw_call *call) {
  call->stream = stream->handle;
  call->call_id = (uint64_t)plan->op->id << KW_CALL_ID_BITS | (++cache->calls & ((UINT64_C(1) << KW_CALL_ID_BITS) - 1));
  kw_status status = plan->kernel->desc.launch(call);
  if (status == KW_OK) count_launch(cache, &cache->counts[device->id % COUNT_SLOTS], device);
  return status;
}

/* The kernel on the caller's own tensors. */
static inline kw_status run_direct(const kw_plan *plan, const kw_request *request, kw_stream *stream,
                                   kw_tensor **outs) {
  kw_value normal[KW_MAX_ARGS];
  const kw_tensor_ref *out_refs[KW_MAX_RESULTS];
  for (uint32_t i = 0; i < plan->normal_count; ++i) {
    normal[i] = plan->normal[i];
    if (plan->tensor_args >> i & 1) {
      normal[i].u.tensor = request->args[i].u.tensor;
      kw_buffer_use(kw_value_as_tensor(&normal[i])->buffer, stream);
    }
  }
  for (uint32_t i = 0; i < plan->inference.result_count; ++i) {
    out_refs[i] = &outs[i]->ref;
    kw_buffer_use(outs[i]->buffer, stream);
  }
  kw_call call;
  begin_call(&call, plan, request->device, normal, out_refs);
  return launch(this_thread, plan, request->device, stream, &call);
}

static kw_status cast_argument(kw_stream *stream, const kw_plan *plan, uint32_t index, const kw_tensor *source,
                               kw_tensor **out_cast) {
  kw_status status = kw_tensor_create_on(stream, plan->inference.key, source->ref.rank, source->ref.shape, out_cast);
  if (status != KW_OK) return status;
  kw_value args[] = {kw_arg_tensor(*out_cast), kw_arg_tensor(source)};
  status = kw_op_call(kw_op_find("copy_"), stream, args, 2, NULL, 0);
  if (status != KW_OK) {
    kw_tensor_release(*out_cast);
    *out_cast = NULL;
    return kw_wrap(status, "%s: casting '%s' from %s to %s", plan->op->schema.name, plan->op->schema.args[index].name,
                   kw_dtype_name(source->ref.dtype), kw_dtype_name(plan->inference.key));
  }
  return KW_OK;
}

/* The kernel after casts, expansion and with workspace. */
static kw_status run_prepared(const kw_plan *plan, const kw_request *request, kw_stream *stream, kw_tensor **outs) {
  kw_value normal[KW_MAX_ARGS];
  kw_tensor_ref expanded[KW_MAX_ARGS];
  kw_tensor *casts[KW_MAX_ARGS] = {NULL};
  const kw_tensor_ref *out_refs[KW_MAX_RESULTS];
  kw_buffer *workspace = NULL;
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < plan->normal_count && status == KW_OK; ++i) {
    normal[i] = plan->normal[i];
    if (normal[i].tag == KW_TAG_TENSOR_LIST) {
      normal[i].u.tensors = request->args[i].u.tensors;
      for (uint32_t k = 0; k < normal[i].count; ++k) {
        const kw_tensor *entry = kw_value_entry(&normal[i], k);
        if (entry) kw_buffer_use(entry->buffer, stream);
      }
    }
    if (!(plan->tensor_args >> i & 1)) continue;
    const kw_tensor *tensor = kw_value_as_tensor(&request->args[i]);
    if (plan->cast >> i & 1) {
      status = cast_argument(stream, plan, i, tensor, &casts[i]);
      if (status != KW_OK) break;
      tensor = casts[i];
    }
    kw_buffer_use(tensor->buffer, stream);
    expanded[i] = tensor->ref;
    normal[i].u.tensor = kw_plan_expand(plan, &expanded[i]) ? &expanded[i] : &tensor->ref;
  }
  if (status == KW_OK && plan->workspace > 0) status = kw_buffer_create(stream, plan->workspace, &workspace);
  if (status == KW_OK) {
    for (uint32_t i = 0; i < plan->inference.result_count; ++i) {
      out_refs[i] = &outs[i]->ref;
      kw_buffer_use(outs[i]->buffer, stream);
    }
    kw_call call;
    begin_call(&call, plan, request->device, normal, out_refs);
    if (workspace) {
      call.workspace = workspace->mem;
      call.workspace_offset = workspace->offset;
    }
    status = launch(this_thread, plan, request->device, stream, &call);
  }
  if (workspace) kw_buffer_release(workspace);
  for (uint32_t i = 0; i < plan->normal_count; ++i) kw_tensor_release(casts[i]);
  return status;
}

/* Decomposition and fallback want the caller's tensors in normalised order. */
static void fill_normal(const kw_plan *plan, const kw_request *request, kw_value *normal) {
  for (uint32_t i = 0; i < plan->normal_count; ++i) {
    normal[i] = plan->normal[i];
    if (normal[i].tag == KW_TAG_TENSOR || normal[i].tag == KW_TAG_TENSOR_LIST) normal[i].u = request->args[i].u;
  }
}

static kw_status run_fallback(const kw_plan *plan, const kw_request *request, kw_stream *stream, kw_tensor **outs) {
  if (kw_fallback_get() == KW_FALLBACK_OFF) return kw_fallback_refuse(request);
  kw_value normal[KW_MAX_ARGS];
  fill_normal(plan, request, normal);
  return kw_fallback_run(plan->op, stream, normal, outs);
}

static kw_status run_decomposed(const kw_plan *plan, const kw_request *request, kw_stream *stream, kw_tensor **outs) {
  kw_value normal[KW_MAX_ARGS];
  fill_normal(plan, request, normal);
  kw_status status = plan->decompose(stream, normal, outs);
  if (status != KW_OK) return kw_wrap(status, "%s, by decomposition", plan->op->schema.name);
  atomic_fetch_add(&request->device->decomposed, 1);
  return KW_OK;
}

static inline kw_status run(const kw_plan *plan, const kw_request *request, kw_stream *stream, kw_tensor **outs) {
  if (__builtin_expect(plan->mode == KW_PLAN_DIRECT, 1)) return run_direct(plan, request, stream, outs);
  switch (plan->mode) {
    case KW_PLAN_PREPARED:
      return run_prepared(plan, request, stream, outs);
    case KW_PLAN_DECOMPOSE:
      return run_decomposed(plan, request, stream, outs);
    case KW_PLAN_FALLBACK:
      return run_fallback(plan, request, stream, outs);
    default:
      return KW_OK;
  }
}

/* Anything but the straight way out: a failed run. */
static __attribute__((noinline)) kw_status handle_failure(const kw_plan *plan, const kw_request *request,
                                                          kw_stream *stream, kw_tensor **outs, kw_status status) {
  if (plan->mode != KW_PLAN_DIRECT && plan->mode != KW_PLAN_PREPARED) return status;
  if (status == KW_ERR_FALLBACK) return run_fallback(plan, request, stream, outs);
  return fail_launch(plan, request, status);
}

static kw_status execute(const kw_plan *plan, const kw_request *request) {
  kw_device *device = request->device;
  kw_stream *stream = request->stream ? request->stream : device->default_stream;
  kw_tensor *outs[KW_MAX_RESULTS];
  uint32_t created = 0;
  kw_status status = KW_OK;
  if (__builtin_expect(atomic_load_explicit(&device->lost, memory_order_relaxed), 0)) return kw_device_check(device);
  uint64_t begin = kw_trace_enabled ? kw_trace_now() : 0;

  for (uint32_t i = 0; i < plan->inference.result_count; ++i) {
    int32_t alias = plan->op->schema.results[i].alias_of;
    if (alias >= 0) {
      outs[i] = kw_value_as_tensor(&request->args[alias]);
    } else if (plan->out_given >> i & 1) {
      outs[i] = request->outs[i];
    } else {
      const kw_tensor_ref *want = &plan->inference.results[i];
      status = kw_tensor_create_on(stream, want->dtype, want->rank, want->shape, &outs[i]);
      if (status != KW_OK) break;
      created |= 1u << i;
      continue; /* new memory overlaps nothing */
    }
    status = check_overlap(plan, request, i, outs[i]);
    if (status != KW_OK) break;
    for (uint32_t k = 0; k < i; ++k) {
      if (outs[k]->buffer == outs[i]->buffer && kw_refs_overlap(&outs[k]->ref, &outs[i]->ref)) {
        status = kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: results %u and %u share memory", plan->op->schema.name, k, i);
      }
    }
    if (status != KW_OK) break;
  }
  if (status == KW_OK) {
    status = run(plan, request, stream, outs);
    if (__builtin_expect(status != KW_OK, 0)) status = handle_failure(plan, request, stream, outs, status);
  }
  for (uint32_t i = 0; created >> i; ++i) {
    if (!(created >> i & 1)) continue;
    if (status == KW_OK) {
      request->outs[i] = outs[i];
    } else {
      kw_tensor_release(outs[i]);
    }
  }
  if (__builtin_expect(begin != 0, 0)) {
    char call[512];
    kw_trace_span("op", plan->op->schema.name, kw_request_describe(request, call, sizeof call), begin);
  }
  return status;
}

kw_status kw_plan_execute(const kw_plan *plan, const kw_request *request) {
  if (!this_thread && !begin_thread()) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for a thread's plan cache");
  return execute(plan, request);
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

/* The first tensor among the leading two arguments (pow.Scalar begins with a number), or NULL. */
static inline const kw_tensor *leading_tensor(const kw_value *args, uint32_t arg_count) {
  if (args[0].tag == KW_TAG_TENSOR) return kw_value_as_tensor(&args[0]);
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
    begin_call(&ready->call, plan, device, ready->args, &ready->out);
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
  kw_plan *plan;
  status = kw_plan_obtain(request, &plan);
  if (status != KW_OK) return status;
  const kw_tensor *leading = request->arg_count > 0 ? leading_tensor(request->args, request->arg_count) : NULL;
  if (leading) remember(cache, plan, request->device, leading);
  status = execute(plan, request);
  kw_plan_unref(plan);
  return status;
}

/* Any call: all argument kinds, results to create, aliases, casts. */
static __attribute__((noinline)) kw_status call_generally(const kw_op *op, kw_stream *stream, const kw_value *args,
                                                          uint32_t arg_count, kw_tensor **outs, uint32_t out_count) {
  kw_request request = {op, stream, NULL, args, arg_count, outs, out_count, NULL};
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
  kw_status status = execute(plan, &request);
  kw_plan_unref(plan);
  return status;
}

static __attribute__((noinline)) kw_status fail_simply(const kw_plan *plan, kw_device *device, kw_stream *stream,
                                                       const kw_value *args, kw_tensor **outs, kw_status status) {
  const kw_request request = {plan->op, stream, device, args, plan->arg_count, outs, 1, NULL};
  return handle_failure(plan, &request, stream, outs, status);
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
    if (plan && plan->simple && plan->op == op && plan->arg_count == arg_count && !kw_trace_enabled) {
      kw_device *device = leading->device;
      kw_stream *on = stream ? stream : device->default_stream;
      if (on->device == device && !atomic_load_explicit(&device->lost, memory_order_relaxed) &&
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
