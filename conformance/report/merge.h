/* SPDX-License-Identifier: Apache-2.0
 *
 * One report from those of the shards of a run.
 */
#ifndef KEYWAY_CONFORMANCE_MERGE_H
#define KEYWAY_CONFORMANCE_MERGE_H

#include "report/report.h"

/* Whether two reports are of one run, or of its parts; otherwise the first thing that differs. */
typedef struct kw_report_difference {
  const char *what; /* "seed" */
  char first[200], second[200];
} kw_report_difference;
bool kw_report_same_run(const kw_report *a, const kw_report *b, kw_report_difference *out_difference);

/* Puts the reports of all shards of one run together, in any order: the report that the run would have given in one
 * piece. False when they are not of one run, or a shard is missing or there twice: *out_message says what, and out is
 * zeroed. The inputs stay the caller's. */
bool kw_report_merge(const kw_report *reports, uint32_t count, kw_report *out_report, char *out_message, size_t size);

#endif /* KEYWAY_CONFORMANCE_MERGE_H */
