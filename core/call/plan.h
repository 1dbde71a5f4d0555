/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan: everything about a call that follows from its signature (op, device, dtypes, shapes, strides, alignments,
 * attributes), decided once.
 */
#ifndef KEYWAY_CORE_PLAN_H
#define KEYWAY_CORE_PLAN_H

#include "call/decompose.h"
#include "call/request.h"
#include "op/infer/infer.h"

/* How a call is served. */
typedef enum kw_plan_mode {
  KW_PLAN_EMPTY,     /* all results are empty: nothing to do */
  KW_PLAN_DIRECT,    /* a kernel, on the caller's tensors as they are */
  KW_PLAN_PREPARED,  /* a kernel, after casts, expansion or with workspace */
  KW_PLAN_DECOMPOSE, /* other ops on the same device */
  KW_PLAN_FALLBACK   /* cpu:0, if allowed at the time of the call */
} kw_plan_mode;

/* One argument of a signature: tag, kind and count in one word, and a tensor's fingerprint or a number's bits. */
typedef struct kw_arg_signature {
  uint64_t head;
  kw_fingerprint fingerprint;
} kw_arg_signature;

/* The packed form that the kernel has of an argument. */
typedef struct kw_plan_pack {
  uint64_t size;   /* bytes */
  uint64_t format; /* the kernel's number for it */
} kw_plan_pack;

struct kw_plan {
  /* The signature. */
  const kw_op *op;
  uint32_t arg_count; /* as given */
  uint32_t out_count; /* as given */
  uint32_t out_given; /* bit i: the caller gave outs[i] and it is no alias */
  bool simple;        /* KW_PLAN_DIRECT, one given result, every argument is recognised by its signature alone, and no
                         call differs from the last in more than its tensors: no numbers, no errors in the data */
  kw_math math;       /* that of the call it was made for */
  uint64_t device_id;
  kw_arg_signature signature[KW_MAX_ARGS];
  kw_fingerprint outs[KW_MAX_RESULTS]; /* of given outs */
  kw_value args[KW_MAX_ARGS];          /* as given, except tensors, their lists and generators */
  kw_fingerprint *listed;              /* of tensor lists' entries, in order; all zero for a NULL entry */

  /* The decision. */
  kw_plan_mode mode;
  const kw_kernel *kernel;
  const kw_decomposition *decomposition;
  void *prepared;
  uint64_t workspace;
  uint32_t normal_count;        /* = op->schema.arg_count */
  kw_value normal[KW_MAX_ARGS]; /* normalised arguments; tensor pointers are patched per call; no generator */
  uint32_t tensor_args;         /* bit i: normal[i] is a tensor */
  uint32_t cast;                /* bit i: argument i is cast to inference.key first */
  uint32_t packs;               /* bit i: argument i is packed where it is constant, as pack[i] says */
  kw_plan_pack pack[KW_MAX_ARGS];
  kw_inference inference;

  /* Of a simple plan that an application runs itself. */
  _Atomic(struct kw_own_call *) own; /* NULL while a thread has it */
  atomic_ullong own_calls;           /* the call id of its last launch; the running number counts them */

  /* Bookkeeping, under the plan lock. */
  uint64_t hash;
  kw_device *device; /* NULL once the device is closed */
  struct kw_plan *next_in_bucket;
  struct kw_plan *next_of_device, **link_of_device;
  atomic_uint refs;
  bool owned;    /* kw_plan_own made it */
  bool retired;  /* no references, but a launch may still use what was prepared: see kw_plan_reap */
  void *storage; /* lists and strings of args and normal */
};

/* Whether the plan serves this request: same signature. The device must be resolved. */
bool kw_plan_matches(const kw_plan *plan, const kw_request *request);

/* Checks the request and decides. One reference, not in any table. */
kw_status kw_plan_build(const kw_request *request, kw_plan **out_plan);
/* Releases what the kernel has prepared, once. */
void kw_plan_release_prepared(kw_plan *plan);
/* Frees a plan that has no reference any more. */
void kw_plan_free(kw_plan *plan);

/* kw_call.flags of its calls. */
static inline uint64_t kw_plan_call_flags(const kw_plan *plan) {
  return plan->math & KW_MATH_DETERMINISTIC ? KW_CALL_DETERMINISTIC : 0;
}

/* Expands a tensor argument to the shape the plan broadcasts to; false when it has it already. */
bool kw_plan_expand(const kw_plan *plan, kw_tensor_ref *ref);

#endif /* KEYWAY_CORE_PLAN_H */
