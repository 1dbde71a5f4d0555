/* SPDX-License-Identifier: Apache-2.0
 *
 * From a run to its report.
 */
#ifndef KEYWAY_CONFORMANCE_MAKE_H
#define KEYWAY_CONFORMANCE_MAKE_H

#include "report/report.h"
#include "run/run.h"

/* The report of a run; the caller's to free. */
void kw_report_make(const kw_run *run, kw_report *out_report);

#endif /* KEYWAY_CONFORMANCE_MAKE_H */
