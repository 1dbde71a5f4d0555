/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of a run, as data: made from a run, read back from a JSON report, merged from the reports of shards, and
 * written in every format. All text in it is clean (base/text.h). The same run gives the same report, whatever the
 * number of workers, apart from members named `seconds`.
 */
#ifndef KEYWAY_CONFORMANCE_REPORT_H
#define KEYWAY_CONFORMANCE_REPORT_H

#include "judge/result.h"
#include "run/digest.h"
#include "op_table.h"

#include <stdint.h>
#include <stdio.h>

typedef struct kw_report_op { /* an op in one dtype */
  char *name, *dtype, *family;
  double bound; /* what errors are measured against, in `unit` */
  char *unit;
} kw_report_op;

typedef struct kw_report_case {
  char *id;
  int op; /* index in ops; -1: a contract test */
  kw_outcome outcome;
  double error;           /* largest, in units of the op's bound; INFINITY: wrong where only one value is right */
  char *worst;            /* of blocks and the class exhaustive: the operands there, "0.5 (0x3f000000)"; "" */
  bool self_referenced;   /* judged by the vendor's own reference */
  bool unreferenced;      /* a vendor's op without one: only run */
  bool tf32, fast;        /* judged as well in this math mode: kernels that need it */
  char *defect;           /* "tail not written"; "" */
  char *text;             /* what differed, or why it was skipped; "" */
  char *expected;         /* the reason of a known failure (run/known_failures.h); NULL */
  char *smallest;         /* id of the smallest variant that fails as well (run/shrink.h); NULL */
  char *smallest_tensors; /* its tensors: "f32 [2, 1], f32 [2, 1]"; "" where it has none; NULL without a smallest */
  bool passes_alone;      /* it failed, and passed when it was run again alone (run/replay.h) */
  char *after;            /* then: the calls after which it fails; NULL: none found */
  double seconds;         /* of the worker and the judge together */
} kw_report_case;

/* An op of the vendor's own that no case was made for, or that cases do not judge. */
typedef struct kw_report_gap {
  char *op, *why;
} kw_report_gap;

typedef struct kw_report {
  char *suite_version, *op_set_version;
  char *device, *product;
  bool emulated;
  char *level;  /* "core"; "": what the device claims */
  char *scope;  /* the level, or "claims", and what is said along with it: "core/ftz-f32" */
  char *chosen; /* options that left cases out, "--op 'add.*'"; "" */
  char *replay; /* the command that replays a case, up to its id */
  char *plugin; /* file name */
  char plugin_hash[KW_DIGEST_SIZE];
  char tolerance_hash[KW_DIGEST_SIZE];
  char case_hash[KW_DIGEST_SIZE];   /* of the ids of all shards */
  char expect_hash[KW_DIGEST_SIZE]; /* of the file of known failures; "" without one */
  uint64_t seed;
  uint32_t shard, shards; /* shard 1..shards */
  int stopped;            /* SIGINT, SIGTERM or SIGHUP, which ended the run before it was done; 0 */
  uint64_t launches, decomposed, fallbacks;
  uint64_t modules_built, modules_cached; /* by all workers together: each builds for itself */
  double build_seconds;                   /* that workers waited for these */
  uint64_t expectations; /* sum of kw_oracle_checksum over all units: the same whatever plugin is judged */
  double seconds;        /* of the whole run */
  uint32_t table_ops;    /* of the op table, whether the device has them or not */
  uint32_t op_count;
  kw_report_op *ops; /* in the order of their cases */
  uint32_t case_count;
  kw_report_case *cases; /* contract tests first; those of an op and dtype are neighbours */
  uint32_t unclaimed_count;
  char **unclaimed; /* "add.Tensor/f8e5m2": exists in the table, not on the device */
  uint32_t gap_count;
  kw_report_gap *gaps;
} kw_report;

void kw_report_free(kw_report *report);

/* The hash of the ids of its cases in their order, which is case_hash where it has those of all shards. */
void kw_report_hash_cases(const kw_report *report, char out_hash[KW_DIGEST_SIZE]);

/* ---- What reports say -------------------------------------------------------------------------------------------- */

typedef enum kw_report_verdict {
  KW_VERDICT_CONFORMANT, /* kw_report_verdict_text says of what */
  KW_VERDICT_EXPECTED,   /* not conformant, and every failure is a known one */
  KW_VERDICT_NOT_CONFORMANT,
  KW_VERDICT_NOT_FINISHED, /* the run was stopped, whatever came so far */
  KW_VERDICT_INCONCLUSIVE, /* no failure, but cases of which nothing can be told */
  KW_VERDICT_NOT_JUDGED    /* no case was tried: all need something that is not here */
} kw_report_verdict;

typedef struct kw_report_totals {
  uint32_t counts[KW_OUTCOME_COUNT]; /* known failures and their unexpected passes apart */
  uint32_t expected_failures, unexpected_passes;
  uint32_t self_referenced, unreferenced, tf32, fast;
  kw_report_verdict verdict;
} kw_report_totals;
kw_report_totals kw_report_total(const kw_report *report);

/* " (emulated)", to stand behind a product's name that does not say it itself, or "". */
const char *kw_report_emulated_mark(const kw_report *report);

/* "conformant", "not conformant", "not finished", "inconclusive", "not judged". */
const char *kw_report_verdict_name(kw_report_verdict verdict);
/* The same with all that belongs to it: "conformant (claims, 10 of 303 ops; not tried: scale needs 12 GiB (3 cases); no
 * cases: my::op: it takes no tensor)"; the caller's to free. */
char *kw_report_verdict_text(const kw_report *report);
/* 0 conformant, 1 not conformant or not finished, 2 not judged, 3 only known failures, 4 inconclusive. */
int kw_report_verdict_code(kw_report_verdict verdict);
/* What `keyway conform` exits with: that, but 128 and the signal's number where the run was stopped. */
int kw_report_exit_code(const kw_report *report);

/* "fail", "expected failure", "unexpected pass": the outcome with what was expected. */
const char *kw_report_case_name(const kw_report_case *c);
/* False for what passed as it should, and what does not apply. True for what is inconclusive: it is no pass. */
bool kw_report_case_is_failure(const kw_report_case *c);
/* The same without what is unimplemented, and what was not run: those have places of their own. */
bool kw_report_case_has_failed(const kw_report_case *c);
/* The command that replays a case; the caller's to free. */
char *kw_report_replay(const kw_report *report, const kw_report_case *c);
/* What is known of a failure that was not there when its case was run again alone; "" when it was, or was not tried. */
const char *kw_report_case_alone(const kw_report_case *c);

/* A line of the tables: a contract suite, a family of ops, or an op in a dtype. */
typedef struct kw_report_line {
  const char *name; /* `length` bytes of it */
  int length;
  uint32_t cases, pass, failed, unimplemented, skipped, untried, inconclusive, unrun;
  const kw_report_case *worst; /* the largest error as a part of its bound; NULL when all are 0 */
  double ratio;                /* of `worst` */
  double seconds;
} kw_report_line;

void kw_report_line_add(kw_report_line *line, const kw_report *report, const kw_report_case *c);
/* One line per contract suite and family, in order; *out_count of them, the caller's to free. */
kw_report_line *kw_report_lines(const kw_report *report, uint32_t *out_count);

/* One line per element of ops, in order; the caller's to free. */
kw_report_line *kw_report_op_lines(const kw_report *report);
/* The dtypes of ops, each once, in the order of kw_dtype; at most KW_KEY_DTYPE_COUNT. Returns how many. */
uint32_t kw_report_dtypes(const kw_report *report, const char *out_names[]);
/* The end of those elements of ops, from `first` on, that are the same op. */
uint32_t kw_report_op_end(const kw_report *report, uint32_t first);
/* The element of ops in [first, end) that has the dtype, or -1. */
int kw_report_op_find(const kw_report *report, uint32_t first, uint32_t end, const char *dtype);

/* The error of a case as a part of its bound; INFINITY where there is no room for any and there is one. */
double kw_report_case_ratio(const kw_report *report, const kw_report_case *c);
/* How many cases of an op and dtype have which largest error, as a part of the bound: 0, up to 2^-8, up to 2^-7, ...,
 * up to 1, more. */
#define KW_REPORT_BINS 11
void kw_report_histogram(const kw_report *report, int op, uint32_t out_bins[KW_REPORT_BINS]);

/* The class in the id of an op's case: "prime" of "add.Tensor/f32/prime/3"; its length is *out_length. */
const char *kw_report_case_class(const kw_report_case *c, int *out_length);

#endif /* KEYWAY_CONFORMANCE_REPORT_H */
