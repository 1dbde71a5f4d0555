/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of the suite: what was asked for, which cases that means, what came of them.
 */
#ifndef KEYWAY_CONFORMANCE_RUN_H
#define KEYWAY_CONFORMANCE_RUN_H

#include "level.h"
#include "unit.h"

#include <stdatomic.h>
#include <stdio.h>

typedef struct kw_run_options {
  const char *device;
  const char *plugins[16];
  uint32_t plugin_count;
  kw_level_claim level;
  const char *suites; /* "memory,ops"; NULL: all */
  const char *op_glob;
  const char *case_id;
  uint32_t jobs;
  uint64_t seed;
  uint32_t shard, shards; /* shard 1..shards */
  double timeout_scale;
  const char *json_path, *junit_path; /* "-": stdout */
  bool list, verbose;
} kw_run_options;

typedef enum kw_outcome {
  KW_OUTCOME_NONE, /* not run yet */
  KW_OUTCOME_PASS,
  KW_OUTCOME_FAIL,
  KW_OUTCOME_CRASH,
  KW_OUTCOME_TIMEOUT,
  KW_OUTCOME_UNIMPLEMENTED,
  KW_OUTCOME_SKIP, /* a contract test that does not apply: neither passed nor failed */
  KW_OUTCOME_COUNT
} kw_outcome;
const char *kw_outcome_name(kw_outcome outcome);

typedef struct kw_run_case {
  char *id;
  const kw_op_facts *op; /* NULL: a contract test */
  kw_dtype dtype;
  kw_outcome outcome;
  uint32_t failed_run;  /* the run that a failure's text is about */
  double error;         /* largest, in units of the row's bound */
  bool self_referenced; /* judged by the vendor's own reference */
  bool unreferenced;    /* a vendor's op without one: only run */
  char defect[64];      /* "tail not written"; "" */
  char *text;           /* what differed, or why it was skipped; NULL when there is nothing to say */
} kw_run_case;

typedef struct kw_run {
  const kw_run_options *options;
  kw_facts facts;
  kw_run_case *cases; /* contract tests first, then ops in the order of the table */
  uint32_t case_count;
  char **unclaimed; /* "add.Tensor/f8e5m2": exists in the table, not on the device */
  uint32_t unclaimed_count;
  uint64_t case_set_hash; /* of the ids of all shards */
  atomic_ullong launches, decomposed, fallbacks;
} kw_run;

/* Chooses the cases; a message says why there are none. run->facts is filled in. False: nothing to run. */
bool kw_run_select(kw_run *run, char *out_message, size_t size);

/* Runs all of run->cases on options->jobs workers. */
void kw_run_cases(kw_run *run);

/* Puts the result of one unit into its case. */
void kw_run_judge(kw_run *run, kw_run_case *result, const kw_unit_result *unit);

/* Marks a case. What was marked first stays, except that a crash or a timeout replaces it. `text` is copied. */
void kw_run_mark(kw_run_case *result, kw_outcome outcome, const char *defect, const char *text);

typedef struct kw_run_totals {
  uint32_t counts[KW_OUTCOME_COUNT];
  uint32_t self_referenced, unreferenced;
  bool conformant;
} kw_run_totals;
kw_run_totals kw_run_total(const kw_run *run);

/* "keyway conform --device npu:0 --seed 1 --case 'add.Tensor/f32/prime/3'" */
void kw_run_replay(const kw_run *run, const kw_run_case *result, char *out_text, size_t size);

/* Reports. Files are written whole or not at all; false with errno set when that fails. */
void kw_report_print(const kw_run *run, FILE *out, bool colour);
bool kw_report_json(const kw_run *run, const char *path);
bool kw_report_junit(const kw_run *run, const char *path);
/* "core/ftz-f32", "claims". */
void kw_report_level(const kw_run *run, char *out_text, size_t size);

void kw_run_free(kw_run *run);

#endif /* KEYWAY_CONFORMANCE_RUN_H */
