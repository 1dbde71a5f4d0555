/* SPDX-License-Identifier: Apache-2.0
 *
 * What is different between two reports: of two builds of a plugin, two devices, or the same before and after a change.
 * Times do not count, nor what runs are told apart by: hashes, seeds, versions.
 */
#ifndef KEYWAY_CONFORMANCE_DIFF_H
#define KEYWAY_CONFORMANCE_DIFF_H

#include "report/report.h"

typedef struct kw_report_change { /* a case that is in both, and came out in another way */
  const kw_report_case *before, *after;
} kw_report_change;

typedef struct kw_report_shift { /* an op in a dtype, in both, whose errors moved between the bins of the histogram */
  const kw_report_op *op;
  uint32_t before[KW_REPORT_BINS], after[KW_REPORT_BINS];
} kw_report_shift;

typedef struct kw_report_diff { /* what it points to belongs to the reports */
  const kw_report *before, *after;
  bool verdict; /* differs */
  uint32_t gained_count, lost_count;
  const kw_report_op **gained, **lost; /* ops in a dtype that only one of them has; their cases are not listed */
  uint32_t change_count, new_count, gone_count;
  kw_report_change *changes;
  const kw_report_case **new_cases, **gone_cases; /* of ops that are in both, and of contract suites */
  uint32_t shift_count;
  kw_report_shift *shifts;
} kw_report_diff;

/* Everything in the order of the reports. The reports stay the caller's, and outlive it. */
kw_report_diff kw_report_compare(const kw_report *before, const kw_report *after);
void kw_report_diff_free(kw_report_diff *diff);
/* Whether nothing is different. */
bool kw_report_diff_none(const kw_report_diff *diff);

#endif /* KEYWAY_CONFORMANCE_DIFF_H */
