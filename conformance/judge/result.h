/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of a case: its outcome, and what a report says about it.
 */
#ifndef KEYWAY_CONFORMANCE_RESULT_H
#define KEYWAY_CONFORMANCE_RESULT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum kw_outcome {
  KW_OUTCOME_NONE, /* not run yet */
  KW_OUTCOME_PASS,
  KW_OUTCOME_FAIL,
  KW_OUTCOME_CRASH,
  KW_OUTCOME_TIMEOUT,
  KW_OUTCOME_UNIMPLEMENTED,
  KW_OUTCOME_SKIP,         /* a contract test that does not apply: neither passed nor failed */
  KW_OUTCOME_INCONCLUSIVE, /* no answer in time, but by the machine's fault, as far as can be told */
  KW_OUTCOME_NOT_TRIED,    /* a test that lacked what it needs, memory for one: the verdict names it */
  KW_OUTCOME_COUNT
} kw_outcome;
const char *kw_outcome_name(kw_outcome outcome);
/* Whether nothing is known against the device: it passed, the case does not apply, or it was not tried. */
bool kw_outcome_is_good(kw_outcome outcome);

#define KW_WORST_TEXT 136
/* In a failure's text, behind what differed: what it was computed from. */
#define KW_OPERANDS_MARK "; operands: "

/* Of one case, all that was found so far: zeroed while it has not run. */
typedef struct kw_case_result {
  kw_outcome outcome;
  uint32_t failed_run;       /* the run that a failure's text is about */
  double error;              /* largest, in units of kw_rule_shown */
  char worst[KW_WORST_TEXT]; /* of blocks (block.h) and the class exhaustive: the operands at that error, "0.5
                                (0x3f000000)" */
  bool self_referenced;      /* judged by the vendor's own reference */
  bool unreferenced;         /* a vendor's op without one: only run */
  bool tf32, fast;           /* judged as well in this math mode: kernels that need it */
  char defect[64];           /* "tail not written"; "" */
  char *text;                /* what differed, or why it was skipped; NULL when there is nothing to say */
} kw_case_result;

/* What was marked first stays, except that a crash or a timeout replaces it. `text` is copied. */
void kw_case_result_mark(kw_case_result *result, kw_outcome outcome, const char *defect, const char *text);
void kw_case_result_free(kw_case_result *result);

#endif /* KEYWAY_CONFORMANCE_RESULT_H */
