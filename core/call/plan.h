/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan: everything about a call that follows from its signature (op, device, dtypes, shapes, strides, alignments,
 * attributes), decided once.
 */
#ifndef KEYWAY_CORE_PLAN_H
#define KEYWAY_CORE_PLAN_H

#include "call/dispatch.h"
#include "base/math_mode.h"
#include "op/infer/infer.h"

#include <string.h>

/* How a call is served. */
typedef enum kw_plan_mode {
  KW_PLAN_EMPTY,     /* all results are empty: nothing to do */
  KW_PLAN_DIRECT,    /* a kernel, on the caller's tensors as they are */
  KW_PLAN_PREPARED,  /* a kernel, after casts, expansion or with workspace */
  KW_PLAN_DECOMPOSE, /* other ops on the same device */
  KW_PLAN_FALLBACK   /* cpu:0, if allowed at the time of the call */
} kw_plan_mode;

/* Serves an op by other ops. args are normalised, outs complete but for absent results. */
typedef kw_status (*kw_decompose_fn)(kw_stream *stream, const kw_value *args, kw_tensor **outs);

/* One argument of a signature: tag, kind and count in one word, and a tensor's fingerprint or a number's bits. */
typedef struct kw_expected {
  uint64_t head;
  kw_fingerprint print;
} kw_expected;

struct kw_plan {
  /* The signature. */
  const kw_op *op;
  uint32_t arg_count; /* as given */
  uint32_t out_count; /* as given */
  uint32_t out_given; /* bit i: the caller gave outs[i] and it is no alias */
  bool simple;        /* KW_PLAN_DIRECT, one given result, every argument is recognised by its kw_expected alone, and no
                         call differs from the last in more than its tensors: no numbers, no errors in the data */
  kw_math math;       /* that of the call it was made for */
  uint64_t device_id;
  kw_expected expected[KW_MAX_ARGS];
  kw_fingerprint outs[KW_MAX_RESULTS]; /* of given outs */
  kw_value args[KW_MAX_ARGS];          /* as given, except tensors, their lists and generators */
  kw_fingerprint *listed;              /* of tensor lists' entries, in order; all zero for a NULL entry */

  /* The decision. */
  kw_plan_mode mode;
  const kw_kernel *kernel;
  kw_decompose_fn decompose;
  void *prepared;
  uint64_t workspace;
  uint32_t normal_count;        /* = op->schema.arg_count */
  kw_value normal[KW_MAX_ARGS]; /* normalised arguments; tensor pointers are patched per call; no generator */
  uint32_t tensor_args;         /* bit i: normal[i] is a tensor */
  uint32_t cast;                /* bit i: argument i is cast to inference.key first */
  kw_inference inference;

  /* Bookkeeping, under the plan lock. */
  uint64_t hash;
  kw_device *device; /* NULL once the device is closed */
  struct kw_plan *next_in_bucket;
  struct kw_plan *next_of_device, **link_of_device;
  atomic_uint refs;
  bool retired;  /* no references, but a launch may still use what was prepared: see kw_plan_reap */
  void *storage; /* lists and strings of args and normal */
};

/* A call as the caller made it. */
typedef struct kw_request {
  const kw_op *op;
  kw_stream *stream; /* NULL = default */
  kw_device *device;
  const kw_value *args;
  uint32_t arg_count;
  kw_tensor **outs;
  uint32_t out_count;
  const char *kernel; /* only this kernel; NULL = the usual choice */
  kw_math math;
} kw_request;

/* Finds the device of a request from its stream, arguments and outs, and checks that all agree. */
kw_status kw_request_resolve(kw_request *request);

/* Whether the plan serves this request: same signature. The device must be resolved. */
bool kw_plan_matches(const kw_plan *plan, const kw_request *request);

/* Checks the request and decides. One reference, not in any table. */
kw_status kw_plan_build(const kw_request *request, kw_plan **out_plan);
/* The plan for a request: from the device's table, or built and put there. One more reference. */
kw_status kw_plan_obtain(const kw_request *request, kw_plan **out_plan);
/* A plan of the caller's own: one reference, in no table. */
kw_status kw_plan_own(const kw_request *request, kw_plan **out_plan);
/* From any thread, also at its end and in host callbacks: never waits. */
void kw_plan_unref(kw_plan *plan);
/* Frees retired plans of a device that the caller keeps open, after waiting for its streams. Nothing in a host
 * callback. */
void kw_plan_reap(kw_device *device);

/* Expands a tensor argument to the shape the plan broadcasts to; false when it has it already. */
bool kw_plan_expand(const kw_plan *plan, kw_tensor_ref *ref);

/* Entry k of a tensor list; NULL where the list has none. */
static inline const kw_tensor *kw_value_entry(const kw_value *value, uint32_t k) {
  return (const kw_tensor *)(const void *)value->u.tensors[k];
}

/* Whether two values say the same, lists and strings by content. Never for tensors: they go by fingerprint. */
bool kw_values_equal(const kw_value *a, const kw_value *b);

/* Tag, kind and count of a value as one word. */
static inline uint64_t kw_value_head(const kw_value *value) {
  uint64_t head;
  memcpy(&head, value, sizeof head);
  return head;
}

/* Runs a matching request. outs that are NULL are created. */
kw_status kw_plan_execute(const kw_plan *plan, const kw_request *request);
/* What is the same in every launch of a plan. */
void kw_plan_begin_call(const kw_plan *plan, const kw_device *device, const kw_value *args,
                        const kw_tensor_ref *const *outs, kw_call *out_call);
/* Launches the plan's kernel on `stream`; call lacks nothing but stream and call id. The kernel's plain status. */
kw_status kw_plan_launch(const kw_plan *plan, kw_stream *stream, kw_call *call);
/* After a launch of a simple plan that did not go well: falls back if the kernel asked for that, or makes the error. */
kw_status kw_plan_handle_failure(const kw_plan *plan, const kw_request *request, kw_tensor *out, kw_status status);

/* "cat([f32[2], f32[2]]) on npu:0" into text; returns text. */
char *kw_request_describe(const kw_request *request, char *text, size_t size);

/* The decomposition that serves an op on a device for this key dtype, or NULL. */
kw_decompose_fn kw_decompose_find(const kw_op *op, kw_device *device, kw_dtype key);

/* Whether the device's plugin has a kernel that casts: a copy_ kernel for mixed dtypes whose source is `from`. */
bool kw_can_cast_from(const kw_device *device, kw_dtype from);

/* Runs a normalised call on cpu:0 and copies the results into outs (all given, NULL where absent). A random op takes
 * the numbers of `rng`, as it would on the device. Counts and warns. */
kw_status kw_fallback_run(const kw_op *op, kw_stream *stream, const kw_value *args, const kw_rng *rng,
                          kw_tensor *const *outs);
/* The failure to return where fallback is off: says how to allow it. */
kw_status kw_fallback_refuse(const kw_request *request);

static inline kw_tensor *kw_value_as_tensor(const kw_value *value) {
  return (kw_tensor *)(uintptr_t)(const void *)value->u.tensor;
}

/* The plan lock: tables, bookkeeping, counters. Never held while a plugin runs. */
extern pthread_mutex_t kw_plan_mutex;

/* Launches noted by threads for a device that the device itself does not have yet. Takes no lock; call under
 * kw_plan_mutex. */
uint64_t kw_dispatch_pending_launches(const kw_device *device);
/* The device closes: threads forget what they noted for it. Under kw_plan_mutex. */
void kw_dispatch_forget_device(kw_device *device);

#endif /* KEYWAY_CORE_PLAN_H */
