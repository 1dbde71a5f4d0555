/* SPDX-License-Identifier: Apache-2.0
 *
 * An open device.
 */
#ifndef KEYWAY_CORE_DEVICE_H
#define KEYWAY_CORE_DEVICE_H

#include "base/fingerprint.h"
#include "device/memory_account.h"
#include "plugin/plugin.h"

#include <stdatomic.h>

struct kw_allocator;
struct kw_buffer;
struct kw_plan_table;

struct kw_device {
  kw_plugin *plugin;
  const kw_plugin *_Atomic slots;  /* whose slots are called with `handle`: the plugin's, or an abandoned device's */
  uint32_t index;                  /* the plugin's numbering */
  void *handle;                    /* what the plugin's open returned */
  uint64_t id;                     /* unique over all opens in this process, never reused, never 0 */
  kw_fingerprint fingerprint_seed; /* by the id: base/fingerprint.h */
  char name[80];                   /* "npu:0" as first opened, renaming applied */
  kw_device_info info;             /* sanitised: alignments at least 1, max_alloc never 0 */
  atomic_uint refs;                /* opens + live tensors, streams, events */
  atomic_uint host_calls;          /* of the references, those of kw_stream_call_host while it runs */
  atomic_bool lost;                /* a KW_ERR_DEVICE_LOST was seen */
  atomic_bool abandoned;           /* and lost: `slots` are not the plugin's any more */
  atomic_ullong wait_limit;        /* kw_device_set_wait_limit */
  atomic_uint fast_path_bars;      /* reasons why no call may take the fast path: lost; streams that record; a trace */
  atomic_ullong news; /* moves on when what a call was made ready for may not be so any more: a bar, the end
                         of a stream or of a tensor that one has noticed */
  struct kw_allocator *allocator;
  struct kw_host_memory *_Atomic staging; /* for copies through the host: host_memory.h; NULL while it is in use */
  kw_stream *default_stream;
  struct kw_activity_log *activity;           /* activity.h; NULL: the plugin tells nothing */
  bool traced;                                /* kw_activity_record */
  kw_generator *generator;                    /* the default one */
  struct kw_plan_table *_Atomic plans;        /* made at the first plan: call/plan_cache.h */
  void (*free_plan_table)(kw_device *device); /* set before `plans` is; called at the close, with nothing in flight */
  void (*end_constant)(struct kw_buffer *buffer); /* ends what its release has to end: device/constant.c's */
  void (*on_last_release)(kw_device *device);     /* closes and frees the device: open.c's */
  atomic_ullong launches; /* but for those that threads count still, or plans: call/counters.c */
  atomic_ullong decomposed;
  atomic_ullong fallbacks;
  atomic_ullong bytes_to_device, bytes_to_host; /* copied */
  atomic_ullong modules_built, modules_cached, build_ns;
  kw_memory_account memory; /* far from what every call reads: each buffer changes it */
};

static inline void kw_device_set_id(kw_device *device, uint64_t id) {
  device->id = id;
  device->fingerprint_seed = kw_fingerprint_seed(id);
}

/* One more or one fewer user. The last release calls on_last_release. */
static inline void kw_device_retain(kw_device *device) {
  atomic_fetch_add_explicit(&device->refs, 1, memory_order_relaxed);
}
static inline void kw_device_release(kw_device *device) {
  if (atomic_fetch_sub_explicit(&device->refs, 1, memory_order_acq_rel) == 1) device->on_last_release(device);
}

static inline void kw_device_tell_news(kw_device *device) {
  atomic_fetch_add(&device->news, 1);
}

/* One more reason, or one fewer, why no call may take the fast path. Who reads the news before the bars misses none. */
static inline void kw_device_bar(kw_device *device) {
  atomic_fetch_add(&device->fast_path_bars, 1);
  kw_device_tell_news(device);
}
static inline void kw_device_unbar(kw_device *device) {
  atomic_fetch_sub(&device->fast_path_bars, 1);
}
static inline bool kw_device_is_barred(const kw_device *device) {
  return atomic_load_explicit(&device->fast_path_bars, memory_order_relaxed) != 0;
}

/* kw_device_set_wait_limit, in nanoseconds. */
static inline uint64_t kw_wait_limit(const kw_device *device) {
  return atomic_load(&device->wait_limit);
}

static inline bool kw_device_is_abandoned(const kw_device *device) {
  return atomic_load(&device->abandoned);
}

/* KW_OK, or KW_ERR_DEVICE_LOST with a text that says how to go on; in a forked child KW_ERR_UNSUPPORTED. */
kw_status kw_device_check(const kw_device *device);
/* Marks the device lost when status says so; returns status. For the result of every slot call of an open device. */
kw_status kw_device_mark_if_lost(kw_device *device, kw_status status);

/* Its memory into the trace, where it has changed since: when a call of an op, an allocation or a wait ends. */
void kw_device_trace_memory(kw_device *device);

#define KW_MAX_ALIGNMENT UINT32_C(4096) /* the largest that kw_tensor_ref.alignment tells of */

/* What a new tensor on this device is aligned to at least, in bytes. */
static inline uint32_t kw_device_fresh_alignment(const kw_device *device) {
  const kw_device_info *info = &device->info;
  const uint32_t least = info->mem_alignment < info->offset_alignment ? info->mem_alignment : info->offset_alignment;
  return least < KW_MAX_ALIGNMENT ? least : KW_MAX_ALIGNMENT;
}

/* The facts about a plugin's device, open or not: zero-filled first, strings ended and UTF-8, alignments at least 1,
 * max_alloc never 0. KW_ERR_INTERNAL when they contradict themselves, or when a stable id has what none has. */
kw_status kw_device_read_info(kw_plugin *plugin, uint32_t index, kw_device_info *out_info);
#define KW_NOT_IN_STABLE_ID "/,;"
/* kw_device_attribute. */
kw_status kw_device_read_attribute(kw_plugin *plugin, uint32_t index, const char *key, kw_attribute *out_value);
/* Answers for a plugin that is not open, by what its helper process saw: the keys of KW_ATTRIBUTE_LIST. False for
 * others and for one that is open: the plugin has to be asked. */
bool kw_device_listed_attribute(const kw_plugin *plugin, uint32_t index, const char *key, kw_attribute *out_value,
                                kw_status *out_status);
/* The same, in a copy that lives as long as the process: one for all who ask, as long as the facts stay what they are.
 */
kw_status kw_device_keep_info(kw_plugin *plugin, uint32_t index, const kw_device_info **out_info);

#endif /* KEYWAY_CORE_DEVICE_H */
