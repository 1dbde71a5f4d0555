/* SPDX-License-Identifier: Apache-2.0
 *
 * The objects that an application has had: which there are, what they are, where they began and ended.
 */
#ifndef KEYWAY_CORE_VALIDATION_OBJECTS_H
#define KEYWAY_CORE_VALIDATION_OBJECTS_H

#include "layers/validation/report.h"

#include <keyway/keyway.h>

#include <pthread.h>

typedef enum kw_kind {
  KW_KIND_DEVICE,
  KW_KIND_STREAM,
  KW_KIND_EVENT,
  KW_KIND_TENSOR,
  KW_KIND_PLAN,
  KW_KIND_GENERATOR,
  KW_KIND_GRAPH,
  KW_KIND_WINDOW,  /* kw_energy_window */
  KW_KIND_HOST,    /* host memory of kw_host_alloc; from here on places in memory, which may coincide with each other */
  KW_KIND_MAP,     /* a pointer of kw_tensor_map */
  KW_KIND_ADDRESS, /* of kw_address_reserve */
  KW_KIND_COUNT
} kw_kind;

/* "tensor". */
const char *kw_kind_name(kw_kind kind);

typedef struct kw_object {
  struct kw_object *next;  /* in the table */
  struct kw_object *later; /* in the order of their ends */
  const void *address;
  kw_kind kind;
  bool lives;
  bool queued;               /* in the order of the ends */
  bool borrowed;             /* it ends with its device: the default stream and generator */
  bool records;              /* of a stream */
  pthread_t recorder;        /* the thread that records on it */
  uint32_t refs;             /* how often the application may end it */
  uint32_t users;            /* calls that are using it */
  uint64_t size;             /* of host memory, bytes */
  uint32_t maps;             /* of a tensor: how often it is mapped */
  uint32_t children;         /* of a device: what keeps it open beside its refs */
  struct kw_object *device;  /* of which it is; NULL: itself, or not known */
  const void *begun, *ended; /* in the application's code */
  struct kw_order *order;    /* of a stream, an event or a graph: order.h */
} kw_object;

/* One call of the application's, from its entry on. */
typedef struct kw_checked_call {
  const char *function;
  const void *place; /* where it was called */
  kw_object *used[8];
  uint32_t used_count;
  const char *suspect;            /* a misuse that the library refuses itself, by name; NULL: none */
  struct kw_checked_call *around; /* of the same thread: a callback of the library's called the library */
} kw_checked_call;

/* The calling thread's; never NULL within the layer's functions. */
kw_checked_call *kw_checked_now(void);
void kw_checked_begin(kw_checked_call *call);
void kw_checked_end(kw_checked_call *call);
/* The call breaks a rule that the library looks after itself: it goes on, and its error then has the name as well.
 * True.
 */
bool kw_checked_suspect(const char *id);
/* Where something is suspect: puts its name in front of the error of `*status`, and reports what the library let pass.
 */
void kw_checked_judge(const kw_checked_call *call, const kw_status *status);

/* Where `argument` begins with this it is a result, which may be NULL and often should have been. */
#define KW_RESULTS_ARGUMENT "outs"

/* Holds the object while the call lasts. False, and a report, unless it lives and is of this kind. */
bool kw_object_use(kw_checked_call *call, const char *argument, kw_kind kind, const void *address);

/* Of a call: a new object, or one more reference to one that is there. */
void kw_object_begin(kw_kind kind, const void *address, const void *of_device, bool borrowed);
/* One reference fewer; *out_last says whether it was the last. False, and a report, where there is none to give back.
 */
bool kw_object_give(kw_kind kind, const void *address, bool *out_last);
/* Takes back the end of an object which has not ended: the library refused. */
void kw_object_revive(kw_kind kind, const void *address);

/* The living object of this kind, or NULL. Under the lock. */
kw_object *kw_object_find(kw_kind kind, const void *address);
/* Once, before anything else. */
void kw_objects_start(void);
/* The objects' lock; what else the layer knows of them is under it as well. */
void kw_objects_lock(void);
void kw_objects_unlock(void);

/* At exit: what was never given back, by the place where it began. */
void kw_objects_report_leaks(void);

#endif /* KEYWAY_CORE_VALIDATION_OBJECTS_H */
