/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches: of a plan's kernel, and how many there were on each device.
 */
#include "call/launch.h"

#include "base/error.h"
#include "base/thread_own.h"
#include "base/trace.h"
#include "device/activity.h"
#include "device/late_error.h"

#include <stdlib.h>

#define SLOTS 4 /* devices that a thread counts for at a time; slot = device id modulo this */

struct kw_launch_counts {
  kw_launch_count slots[SLOTS];
  uint64_t calls; /* of the thread: the running number of call ids */
  atomic_uint refs;
  struct kw_launch_counts *next, **link;
};

static __thread kw_launch_counts *mine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kw_launch_counts *all; /* under the lock */
static kw_thread_key cleanup_key;

/* ---- Counting -----------------------------------------------------------------------------------------------------
 */

/* Under the lock. */
static void flush(kw_launch_count *count) {
  kw_device *device = atomic_load_explicit(&count->device, memory_order_relaxed);
  uint64_t launches = atomic_load_explicit(&count->launches, memory_order_relaxed);
  if (device) atomic_fetch_add(&device->launches, launches);
  atomic_store_explicit(&count->device, NULL, memory_order_relaxed);
  atomic_store_explicit(&count->launches, 0, memory_order_relaxed);
}

void kw_launch_counts_release(kw_launch_counts *counts) {
  if (!counts || atomic_fetch_sub(&counts->refs, 1) != 1) return;
  pthread_mutex_lock(&lock);
  for (uint32_t slot = 0; slot < SLOTS; ++slot) flush(&counts->slots[slot]);
  *counts->link = counts->next;
  if (counts->next) counts->next->link = counts->link;
  pthread_mutex_unlock(&lock);
  free(counts);
}

static void end_thread(void *counts) {
  mine = NULL;
  kw_launch_counts_release(counts);
}

/* The calling thread's; NULL without memory. */
static kw_launch_counts *obtain(void) {
  if (mine) return mine;
  kw_launch_counts *counts = kw_thread_own(&cleanup_key, end_thread, calloc(1, sizeof *counts));
  if (!counts) return NULL;
  atomic_init(&counts->refs, 1);
  pthread_mutex_lock(&lock);
  counts->next = all;
  counts->link = &all;
  if (all) all->link = &counts->next;
  all = counts;
  pthread_mutex_unlock(&lock);
  return mine = counts;
}

kw_launch_counts *kw_launch_counts_retain(void) {
  kw_launch_counts *counts = obtain();
  if (counts) atomic_fetch_add(&counts->refs, 1);
  return counts;
}

kw_launch_count *kw_launch_count_of(kw_launch_counts *counts, const kw_device *device) {
  return &counts->slots[device->id % SLOTS];
}

void kw_launch_count_first(kw_launch_count *count, kw_device *device) {
  pthread_mutex_lock(&lock);
  flush(count);
  atomic_store_explicit(&count->device, device, memory_order_relaxed);
  atomic_store_explicit(&count->launches, 1, memory_order_relaxed);
  pthread_mutex_unlock(&lock);
}

uint64_t kw_launch_count_all(const kw_device *device) {
  pthread_mutex_lock(&lock);
  uint64_t launches = atomic_load(&device->launches);
  for (kw_launch_counts *counts = all; counts; counts = counts->next) {
    const kw_launch_count *count = kw_launch_count_of(counts, device);
    if (atomic_load_explicit(&count->device, memory_order_relaxed) == device) {
      launches += atomic_load_explicit(&count->launches, memory_order_relaxed);
    }
  }
  pthread_mutex_unlock(&lock);
  return launches;
}

void kw_launch_forget_device(kw_device *device) {
  pthread_mutex_lock(&lock);
  for (kw_launch_counts *counts = all; counts; counts = counts->next) {
    kw_launch_count *count = kw_launch_count_of(counts, device);
    if (atomic_load_explicit(&count->device, memory_order_relaxed) == device) flush(count);
  }
  pthread_mutex_unlock(&lock);
}

/* ---- Launching ----------------------------------------------------------------------------------------------------
 */

void kw_plan_begin_call(const kw_plan *plan, const kw_device *device, const kw_value *args,
                        const kw_tensor_ref *const *outs, kw_call *out_call) {
  *out_call = (kw_call){.struct_size = sizeof *out_call,
                        .arg_count = plan->normal_count,
                        .out_count = plan->inference.result_count,
                        .math_mode = plan->math & KW_MATH_MODE_MASK,
                        .flags = kw_plan_call_flags(plan),
                        .device = device->handle,
                        .op = plan->op->schema.name,
                        .args = args,
                        .outs = outs,
                        .user = plan->kernel->desc.user,
                        .prepared = plan->prepared,
                        .workspace_size = plan->workspace};
}

kw_status kw_plan_launch(const kw_plan *plan, kw_stream *stream, kw_call *call) {
  kw_launch_counts *counts = obtain();
  if (!counts) return kw_error_offer(kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for a thread's plan cache"));
  call->stream = stream->handle;
  const uint64_t number = kw_trace_on() ? kw_activity_new_call() : ++counts->calls;
  call->call_id = kw_call_id_make(plan->op->id, number);
  const uint64_t begin = kw_trace_begin();
  kw_status status = plan->kernel->desc.launch(call);
  if (kw_trace_on()) kw_trace_stream_span("launch", plan->op->schema.name, NULL, begin, stream->token, number);
  atomic_store_explicit(&stream->last_call, call->call_id, memory_order_relaxed);
  if (status == KW_OK) kw_launch_count_add(kw_launch_count_of(counts, stream->device), stream->device);
  return status;
}
