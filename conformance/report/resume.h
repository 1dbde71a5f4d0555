/* SPDX-License-Identifier: Apache-2.0
 *
 * A run that goes on where another one was stopped.
 */
#ifndef KEYWAY_CONFORMANCE_RESUME_H
#define KEYWAY_CONFORMANCE_RESUME_H

#include "report/report.h"
#include "run/run.h"

/* Gives the cases of a run, chosen and not begun, the results that they have in the report of an earlier one; those are
 * done then. What is inconclusive or a timeout there is run again. False when the report is not of the same run: other
 * device, plugin, cases, seed or options; *out_message says what. */
bool kw_report_resume(const kw_report *report, kw_run *run, char *out_message, size_t size);

#endif /* KEYWAY_CONFORMANCE_RESUME_H */
