/* SPDX-License-Identifier: Apache-2.0
 *
 * Launching a plan's kernel, and counting that. A thread counts for itself; reading the counts sums them up.
 */
#ifndef KEYWAY_CORE_LAUNCH_H
#define KEYWAY_CORE_LAUNCH_H

#include "call/plan.h"

/* Launches of one thread on one device that the device does not have yet: written by the thread, read by who sums up.
 */
typedef struct kw_launch_count {
  _Atomic(kw_device *) device;
  _Atomic uint64_t launches;
} kw_launch_count;

/* What a thread counts. */
typedef struct kw_launch_counts kw_launch_counts;

/* The calling thread's, one more reference; NULL without memory. It counts until the last reference is gone, which is
 * at the thread's end or later. */
kw_launch_counts *kw_launch_counts_retain(void);
void kw_launch_counts_release(kw_launch_counts *counts);
/* Where they count for this device. */
kw_launch_count *kw_launch_count_of(kw_launch_counts *counts, const kw_device *device);

/* The first launch since this count was another device's. */
void kw_launch_count_first(kw_launch_count *count, kw_device *device);
/* One more launch, by the thread whose count it is. */
static inline void kw_launch_count_add(kw_launch_count *count, kw_device *device) {
  if (__builtin_expect(atomic_load_explicit(&count->device, memory_order_relaxed) == device, 1)) {
    uint64_t launches = atomic_load_explicit(&count->launches, memory_order_relaxed);
    atomic_store_explicit(&count->launches, launches + 1, memory_order_relaxed);
  } else {
    kw_launch_count_first(count, device);
  }
}

/* The device's launches, what threads count for it included. */
uint64_t kw_launch_count_all(const kw_device *device);
/* The device closes: threads forget what they counted for it. */
void kw_launch_forget_device(kw_device *device);

/* What is the same in every launch of a plan. */
void kw_plan_begin_call(const kw_plan *plan, const kw_device *device, const kw_value *args,
                        const kw_tensor_ref *const *outs, kw_call *out_call);
/* Launches the plan's kernel on `stream`; call lacks nothing but stream and call id. The kernel's plain status. */
kw_status kw_plan_launch(const kw_plan *plan, kw_stream *stream, kw_call *call);

#endif /* KEYWAY_CORE_LAUNCH_H */
