/* SPDX-License-Identifier: Apache-2.0
 *
 * One report from those of the shards of a run.
 */
#ifndef KEYWAY_CONFORMANCE_MERGE_H
#define KEYWAY_CONFORMANCE_MERGE_H

#include "report/report.h"

/* Puts the reports of all shards of one run together, in any order: the report that the run would have given in one
 * piece. False when they are not of one run, or a shard is missing or there twice: *out_message says what, and out is
 * zeroed. The inputs stay the caller's. */
bool kw_report_merge(const kw_report *reports, uint32_t count, kw_report *out_report, char *out_message, size_t size);

#endif /* KEYWAY_CONFORMANCE_MERGE_H */
