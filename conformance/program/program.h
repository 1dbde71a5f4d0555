/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs as data: calls of ops that work on each other's memory, on several streams. A program is made of acts, any
 * of which may be left out: what is left is a program again. It is a pure function of its id, the seed and what the
 * device has told about itself; coordinator and worker both make it. Which events it needs follows from it (order.h).
 */
#ifndef KEYWAY_CONFORMANCE_PROGRAM_H
#define KEYWAY_CONFORMANCE_PROGRAM_H

#include "case/case.h"
#include "wire/device_facts.h"

enum {
  KW_PROGRAM_CALLS = 60,
  KW_PROGRAM_STREAMS = 4, /* the first is the device's default stream */
  KW_PROGRAM_ACTS = 400,
  KW_PROGRAM_STORAGES = 600,
  KW_PROGRAM_GRAPHS = 4,
  KW_PROGRAM_ID = 256,
  KW_PROGRAM_BASE = 48,
  KW_PROGRAM_EACH = 40 /* programs that together call each op */
};

/* What a storage holds before all acts. */
typedef enum kw_fill {
  KW_FILL_POISON, /* KW_PROGRAM_POISON in every byte */
  KW_FILL_CASE,   /* what a tensor of a call's case holds, poison around it */
  KW_FILL_VALUES, /* elements of its dtype: of a storage whose maker was left out */
  KW_FILL_ZERO
} kw_fill;
#define KW_PROGRAM_POISON 0x7f

/* A piece of device memory. */
typedef struct kw_program_storage {
  kw_dtype dtype;  /* that it was made with */
  uint64_t size;   /* bytes */
  uint32_t device; /* 0 or 1 */
  int maker;       /* the call that core allocates it for, and which of its results; -1: it is there before all acts */
  uint32_t result;
  int relay;             /* the call that fills it with what a case has there (kw_program_relay); -1: none */
  kw_fill fill, instead; /* the second where a program has no such call, or its maker is left out */
  uint32_t call, tensor; /* KW_FILL_CASE */
  bool used;             /* some act needs it */
  bool leaf;             /* its bits do not follow from the program: nothing reads it but the judge */
  bool mixed;            /* it may hold what is no element of its dtype */
  bool fixed;            /* it holds indices or the like: nothing changes it */
  bool released;         /* by some act */
  bool kept;             /* a graph may be launched once more that uses it */
} kw_program_storage;

/* How a call is made. */
typedef enum kw_call_form {
  KW_FORM_PLAIN, /* kw_op_call */
  KW_FORM_PLAN   /* kw_plan_make and kw_plan_run */
} kw_call_form;

#define KW_PLACE_NONE (-1)

/* A call: a case whose tensors lie in storages of the program. tensors[i].offset and outs[r].offset count elements from
 * the start of the storage. */
typedef struct kw_program_call {
  kw_case c;
  uint64_t seed;                    /* of values and random numbers, with run 0 */
  int places[KW_CASE_TENSORS];      /* storages of the tensors that are no results; KW_PLACE_NONE: not given */
  int outs[KW_SUITE_RESULTS];       /* and of the results, arguments marked (a!) among them */
  bool allocated[KW_SUITE_RESULTS]; /* core allocates the result */
  bool chained;                     /* some input is not as the case fills it */
  bool repeats;                     /* the device promises the same bits every time */
  bool made;                        /* an act of the program makes it */
  bool leaf;                        /* its bits do not follow from the program */
  bool certain;                     /* its bits follow from its inputs, whatever these are */
  bool loose;                       /* how far off it may be is not known: the oracle has no say */
  kw_math_mode mode;
  uint32_t device;   /* 0 or 1 */
  kw_dtype autocast; /* that it is made under; KW_DTYPE_NONE */
  kw_call_form form;
} kw_program_call;

typedef enum kw_act_kind {
  KW_ACT_CALL,    /* `index`: of the call */
  KW_ACT_READ,    /* reads a part of storage `index` into host memory, in stream order */
  KW_ACT_WRITE,   /* writes a part of storage `index` from host memory, in stream order */
  KW_ACT_RELEASE, /* gives storage `index` back */
  KW_ACT_HOLD,    /* a host function holds the stream up */
  KW_ACT_OPEN,    /* until here */
  KW_ACT_LAUNCH,  /* launches graph `index` once more */
  KW_ACT_COPY     /* copies storage `index` to storage `to` of the other device */
} kw_act_kind;

#define KW_STREAM_OF_GRAPH UINT32_MAX

typedef struct kw_program_act {
  kw_act_kind kind;
  uint32_t number; /* in the whole program: what ids name */
  uint32_t index;
  uint32_t stream; /* KW_STREAM_OF_GRAPH: of a launch, that of the graph's calls */
  uint32_t graph;  /* of a call: it is recorded into this graph, which is launched behind its last call; 0: no graph */
  uint64_t first, count; /* of the elements that are read or written */
  uint32_t to, from;     /* KW_ACT_COPY: storage, and the stream that it is copied from */
} kw_program_act;

typedef struct kw_program {
  char id[KW_PROGRAM_ID];
  char base[KW_PROGRAM_BASE]; /* the id of the whole program */
  uint64_t number;
  uint64_t seed;
  uint32_t stream_count;
  bool two;      /* devices: those streams with odd numbers are the second's. None is a default stream then, but */
  bool defaults; /* here each is the default stream of its device */
  kw_program_call *calls;
  uint32_t call_count;
  kw_program_storage storages[KW_PROGRAM_STORAGES];
  uint32_t storage_count;
  kw_program_act acts[KW_PROGRAM_ACTS];
  uint32_t act_count;
} kw_program;

/* Makes the program of an id, "programs/17", "programs/minilm/3", the third around the calls of a model,
 * "programs/each/0", the first of those with each op, or "programs/17@3-5.9s1": only the acts 3, 4, 5 and 9, on one
 * stream. False: there is no such program, or the device claims nothing that it could be made of. Ends with
 * kw_program_free. */
bool kw_program_make(const char *id, uint64_t seed, const kw_device_facts *facts, kw_program *out_program);
void kw_program_free(kw_program *program);

/* The id of what is left of the program `base` with the acts that are kept, by number, on so many streams. False: it is
 * longer than ids are. */
bool kw_program_id(const char *base, const bool kept[KW_PROGRAM_ACTS], uint32_t streams, char out_id[KW_PROGRAM_ID]);

/* Whether the stream is the default one of its device. */
bool kw_program_is_default(const kw_program *program, uint32_t stream);
/* The device of a stream: 0 or 1. */
uint32_t kw_program_device_of(const kw_program *program, uint32_t stream);
/* How many elements of its dtype a storage has room for. */
uint64_t kw_program_elements(const kw_program_storage *storage);

/* What the storage holds before all acts, or whatever `fill` says instead: `size` bytes of it. */
void kw_program_fill(const kw_program *program, uint32_t storage, kw_fill fill, void *out_bytes);
/* The seed from which the random ops of a graph draw at a launch: 0, or 1 + the number of the act. */
uint64_t kw_program_launch_seed(const kw_program *program, uint32_t graph, uint32_t launch);
/* What act `act`, a KW_ACT_WRITE, writes: its `count` elements. */
void kw_program_written(const kw_program *program, uint32_t act, void *out_bytes);

/* The storages that an act reads or changes, at most once each; the number of them. */
typedef struct kw_program_use {
  uint32_t storage;
  uint32_t stream; /* that uses it */
  bool changes;
} kw_program_use;
enum { KW_PROGRAM_USES = KW_PROGRAM_STORAGES };
uint32_t kw_program_uses(const kw_program *program, const kw_program_act *act, kw_program_use *out_uses);

struct kw_program_order;
/* The program as C against keyway.h, for a device of this name, another one for programs that have two, and a plugin
 * (NULL: none is loaded by name): it runs both ways and prints the first element that differs. Freed by the caller. */
char *kw_program_source(const kw_program *program, const struct kw_program_order *order, const char *device,
                        const char *second, const char *plugin);

/* The program as text, an act a line; freed by the caller. */
char *kw_program_text(const kw_program *program);

#endif /* KEYWAY_CONFORMANCE_PROGRAM_H */
