/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases run once more after a run, in processes of their own: those that gave no answer, and first failures.
 */
#ifndef KEYWAY_CONFORMANCE_ALONE_H
#define KEYWAY_CONFORMANCE_ALONE_H

#include "run/process.h"
#include "run/run.h"

/* One attempt: what came of a case in a fresh process, after the calls `before`. */
typedef struct kw_attempt {
  kw_run_case probe;    /* its result; id and op are the case's */
  kw_wait_end wait_end; /* of a timeout that the coordinator saw */
  bool ready;           /* the worker started, and came through the calls before; nobody asked the run to end */
} kw_attempt;

/* Runs both runs of the case, 0 first, or the contract test. Whatever is in run->second_try holds. The run itself is
 * left alone, its counters too; threads may do this at the same time. */
void kw_attempt_make(const kw_run *run, const kw_run_case *c, const kw_calls *before, kw_attempt *out_attempt);
void kw_attempt_free(kw_attempt *attempt);

/* Runs a case that gave no answer again, alone and with KW_SECOND_TRY times its limit, and puts into its result what is
 * to be said about it: it stays a timeout, unless it passes now or the machine left no time for it (inconclusive), or
 * fails in another way. A case that was given up gets what comes out. No other worker should be running. */
void kw_alone_second_try(const kw_run *run, kw_run_case *c);

#endif /* KEYWAY_CONFORMANCE_ALONE_H */
