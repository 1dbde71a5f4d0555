/* SPDX-License-Identifier: Apache-2.0
 *
 * Failures that are alike: one defect shows in many cases, and a reader wants to see it once.
 */
#ifndef KEYWAY_CONFORMANCE_ALIKE_H
#define KEYWAY_CONFORMANCE_ALIKE_H

#include "report/report.h"

/* Failures of which nothing differs but numbers; wrong results have to be of one op, in whatever dtypes. */
typedef struct kw_report_group {
  const kw_report_case **cases; /* in the order of the report */
  uint32_t count;
} kw_report_group;

/* The groups of all that failed, in the order of their first cases; *out_count of them. What is unimplemented or was
 * not run is no failure here. */
kw_report_group *kw_report_groups(const kw_report *report, uint32_t *out_count);
void kw_report_groups_free(kw_report_group *groups, uint32_t count);

/* Where the cases of a group are: "add.Tensor in f32, f16 (prime, sliced)", or the tests of a suite; the caller's to
 * free. */
char *kw_report_group_where(const kw_report *report, const kw_report_group *group);

#endif /* KEYWAY_CONFORMANCE_ALIKE_H */
