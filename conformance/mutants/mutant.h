/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutants: plugins that are wrong on purpose, one defect each, to show that the conformance suite finds it. Each is the
 * cpu plugin behind a wrapper (mutant.c) under the key "mutant", with one file that changes one thing. The wrapper adds
 * two ops of a vendor's, f32 only: mutant::twice, by the bit, and mutant::blend, which adds up.
 */
#ifndef KEYWAY_MUTANT_H
#define KEYWAY_MUTANT_H

#include <keyway/plugin.h>

typedef struct kw_mutant kw_mutant;

/* One element of a result, once the real kernel has written it. */
typedef struct kw_mutant_element {
  const kw_call *call;
  int64_t index;     /* row-major */
  const void *in[3]; /* the same element of argument i; NULL where that is no tensor of the result's shape */
  void *out;         /* of the first result */
} kw_mutant_element;

/* A copy of a call whose tensors (those in lists apart) may be changed. Holds pointers into itself. */
typedef struct kw_mutant_copy {
  kw_call call;
  kw_call_extra extra; /* in use where the call has one */
  kw_value args[24];
  const kw_tensor_ref *outs[8];
  kw_tensor_ref arg_tensors[24]; /* by argument */
  kw_tensor_ref out_tensors[8];  /* by result; not used where the result is an argument */
} kw_mutant_copy;

struct kw_mutant {
  /* The slots that the host gets. They are the cpu plugin's own; a mutant replaces some. */
  kw_device_api device;
  kw_memory_api memory;
  kw_stream_api stream;
  kw_event_api event;
  kw_interop_api interop;
  kw_activity_api activity;
  kw_query_fn query;
  kw_plugin_desc desc;   /* what query answers; its groups are the tables above */
  bool takes_many_hosts; /* init succeeds while it is started for another host, whom the wrapper then forgets */
  kw_status (*callback)(uint64_t token); /* runs host functions instead of kw_mutant_host->run_callback; NULL */
  void (*records)(kw_activity *records, uint32_t *inout_count); /* changes what each drain gives; NULL */
  /* An op of the mutant's own, beside the wrapper's, with one kernel; their struct_size is filled in. NULL: none. */
  const kw_op_desc *own_op;
  const kw_kernel_desc *own_kernel;
  /* The op whose kernels differ, a pattern as fnmatch has it ("*": every op), NULL for none, and how: each of these may
   * be NULL. */
  const char *op;
  kw_status (*launch)(const kw_call *call);    /* launches instead */
  void (*call)(kw_mutant_copy *copy);          /* changes the call that is launched */
  void (*element)(const kw_mutant_element *e); /* changes one element of the result */
  void (*kernel)(kw_kernel_desc *kernel);      /* changes what is registered */
};

/* The cpu plugin's own slots, for what a mutant does right. */
extern kw_mutant kw_mutant_real;
/* The host table; NULL before init. */
extern const kw_host_api *kw_mutant_host;

/* Each mutant defines this: puts its defect into `mutant`. Called once. */
void kw_mutant_change(kw_mutant *mutant);

/* Gives the plugin a capability group that the cpu plugin does not have. */
void kw_mutant_add_group(kw_mutant *mutant, const char *name, const void *table);

/* A device.info that keeps the size of the memory to itself, so that a request for more gets as far as the plugin. */
kw_status kw_mutant_info_without_size(void *plugin, uint32_t index, kw_device_info *out_info);

/* Enqueues `run` on a stream that is not the default one. */
kw_status kw_mutant_enqueue(void *device, void *stream, void (*run)(void *user), void *user);

/* Takes memory of the host's, touches all of it, and forgets it. */
void kw_mutant_lose_memory(size_t size);

/* Makes an attribute of a fresh copy of the text, which nobody frees. */
kw_status kw_mutant_tell_fresh_text(const char *text, kw_attribute *out_value);

/* Launches the cpu plugin's kernel for a call that `launch` received, or for a changed copy of it. */
kw_status kw_mutant_launch_real(const kw_call *call);
/* The same, and waits for the stream. Then the memory of the call's tensors may be looked at and changed in place. */
kw_status kw_mutant_run_real(const kw_call *call);

/* Launches it; where the first result has more than `from` elements, waits for the stream, too, and makes rubbish of
 * those from number `from` on, row-major: what a kernel does not write. */
kw_status kw_mutant_run_to(const kw_call *call, int64_t from);

/* An `element` that makes rubbish of the last channels where there are more than 64, and no multiple of four. */
void kw_mutant_lose_channels(const kw_mutant_element *e);

/* For a `launch` that needs more than one. */
void kw_mutant_copy_call(const kw_call *call, kw_mutant_copy *out_copy);
/* A copy with lists and texts, to be launched later; one block for free(). NULL when there is no memory. */
kw_call *kw_mutant_keep_call(const kw_call *call);

/* Takes the last index of the last dimension away; false for a scalar. */
bool kw_mutant_shrink(kw_tensor_ref *tensor);
/* Element number i (row-major), in memory: the handles of the cpu plugin are host pointers. */
void *kw_mutant_at(const kw_tensor_ref *tensor, int64_t i);
/* A place in memory of the cpu plugin's. */
void *kw_mutant_memory_at(kw_mem mem, uint64_t offset);
/* Bytes from element 0 to past the last one. */
uint64_t kw_mutant_extent(const kw_tensor_ref *tensor);
/* Bytes of one element. */
uint64_t kw_mutant_item_size(kw_dtype dtype);

#endif /* KEYWAY_MUTANT_H */
