/* SPDX-License-Identifier: Apache-2.0
 *
 * Running a share of a package's cases again.
 */
#ifndef KEYWAY_CONFORMANCE_RERUN_H
#define KEYWAY_CONFORMANCE_RERUN_H

#include "report/report.h"
#include "run/run.h"

typedef enum kw_rerun_end {
  KW_RERUN_SAME,         /* nothing contradicts the package */
  KW_RERUN_DIFFERENT,    /* a case that did not fail does, or it is another device or plugin */
  KW_RERUN_INCONCLUSIVE, /* no contradiction, but cases that gave no answer on a busy machine */
  KW_RERUN_IMPOSSIBLE    /* nothing was run */
} kw_rerun_end;

/* A number in [0, 1) for each id, which depends on it and the seed only: a share of cases are those below the share. */
double kw_rerun_lot(const char *id, uint64_t seed);

/* Runs the cases of the report that the options' seed picks, about `share` of all (0 to 1), with that seed's inputs, on
 * the device that the options name, and compares what comes out. *out_text says what was found. */
kw_rerun_end kw_rerun(const kw_run_options *options, const kw_report *report, double share, char *out_text,
                      size_t size);

#endif /* KEYWAY_CONFORMANCE_RERUN_H */
