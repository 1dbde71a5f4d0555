/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of the suite: what was asked for, which cases that means, what came of them.
 */
#ifndef KEYWAY_CONFORMANCE_RUN_H
#define KEYWAY_CONFORMANCE_RUN_H

#include "base/effort.h"
#include "judge/result.h"
#include "run/digest.h"
#include "run/level.h"

#include <stdatomic.h>
#include <stdio.h>

typedef struct kw_run_options {
  const char *device;
  const char *plugins[16];
  uint32_t plugin_count;
  kw_level_claim level;
  kw_effort effort;
  const char *suites;   /* "memory,ops"; NULL: all */
  const char *op_globs; /* comma-separated */
  const char *case_id;
  const char *after; /* "ID#RUN,ID#RUN": what the process of case_id has to do first; NULL */
  uint32_t jobs;
  uint64_t seed;
  uint32_t shard, shards; /* shard 1..shards */
  double timeout_scale;
  const char *expect;     /* file of known failures; NULL */
  uint32_t programs;      /* how many; 0: as the effort says */
  double program_seconds; /* above 0: as many as can be begun in that time instead */
  uint64_t exhaustive;    /* dtypes of which all patterns are tried, instead of all else, KW_DTYPE_BIT; 0: not so */
  uint32_t share;         /* of f32 one pattern of so many */
  const char *state;      /* the file from which such a run goes on; NULL */
  bool list, verbose, no_shrink, fail_fast;
} kw_run_options;

/* One of the two runs of a case, or a contract test (run 0). */
typedef struct kw_run_ref {
  uint32_t index; /* of the case */
  uint32_t run;
} kw_run_ref;

/* What workers did for a case, or for all cases. */
typedef struct kw_run_counts {
  uint64_t launches, decomposed, fallbacks, expectations, modules_built, modules_cached, build_ns;
} kw_run_counts;

typedef struct kw_run_case {
  char *id;
  const kw_op_facts *op; /* NULL: a contract test, or a program */
  bool program;
  bool block; /* of f32's patterns: run once, and not shrunk */
  kw_dtype dtype;
  kw_case_result result;
  char *smallest; /* id of the smallest variant that fails as well, and its tensors (shrink.h); NULL */
  char *smallest_tensors;
  bool passes_alone; /* it failed, and did not when it was run again alone (replay.h) */
  char *after;       /* then: the calls after which it fails in a fresh process, as options->after; NULL: none found */
  kw_run_counts counts;
  bool given_up;        /* a timeout that was never waited for */
  const char *expected; /* why it is known to fail; NULL. Belongs to the known failures */
  double seconds;       /* that the worker and the judge took */
} kw_run_case;

#define KW_SECOND_TRY 10

typedef struct kw_run {
  const kw_run_options *options;
  kw_device_facts facts;
  kw_run_case *cases; /* contract tests first, then ops in the order of the table */
  uint32_t case_count;
  kw_run_case *before; /* options->after: what one process does before the case, one run each */
  kw_run_ref *before_refs;
  uint32_t before_count;
  char **unclaimed; /* "add.Tensor/f8e5m2": exists in the table, not on the device */
  uint32_t unclaimed_count;
  char **without_cases;           /* per op of facts.ops: why a vendor's op of the device has no case, or NULL */
  char case_hash[KW_DIGEST_SIZE]; /* of the ids of all shards */
  char plugin_hash[KW_DIGEST_SIZE];
  char expect_hash[KW_DIGEST_SIZE]; /* "" without known failures */
  FILE *state;                      /* options->state, open; NULL */
  atomic_bool state_lost;           /* a line of it */
  double seconds;                   /* of the whole run */
  bool second_try;                  /* of a case that gave no answer: limits are KW_SECOND_TRY times as long */
  kw_run_counts before_counts;      /* of the earlier run, and how long it took */
  double before_seconds;
  int stopped; /* the signal that ended it before it was done (stop.h); 0 */
} kw_run;

/* Calls in the order in which one process gets them; refs are indices of cases. */
typedef struct kw_calls {
  const kw_run_case *cases;
  const kw_run_ref *refs;
  uint32_t count;
} kw_calls;

/* The case of an id, as the device's facts have it: op and dtype. False where there is none. The id is not copied. */
bool kw_run_find_case(const kw_run *run, const char *id, kw_run_case *out_case);

/* How many runs a case has, numbered from 0. */
static inline uint32_t kw_run_count(const kw_run_case *c) {
  return c->op && !c->block ? 2 : 1;
}

/* Chooses the cases; a message says why there are none. run->facts is filled in. False: nothing to run. */
bool kw_run_select(kw_run *run, char *out_message, size_t size);

/* Drops the programs that were not begun. */
void kw_run_drop_untried(kw_run *run);

/* Runs all of run->cases that are not done on options->jobs workers. Asked to end (stop.h), it comes back soon, and
 * cases without both of their answers have no result. */
void kw_run_cases(kw_run *run);

/* Puts calls into an order that depends on the seed and `first`, the place of their first case, only. A case alone has
 * first 0, so that a replay and --case do the same. */
void kw_run_shuffle(uint64_t seed, uint32_t first, kw_run_ref *io_refs, uint32_t count);

/* Frees what the run holds, not its options. */
void kw_run_free(kw_run *run);

#endif /* KEYWAY_CONFORMANCE_RUN_H */
