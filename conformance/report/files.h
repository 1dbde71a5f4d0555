/* SPDX-License-Identifier: Apache-2.0
 *
 * The files that a report is written to.
 */
#ifndef KEYWAY_CONFORMANCE_FILES_H
#define KEYWAY_CONFORMANCE_FILES_H

#include "report/report.h"

typedef struct kw_report_paths { /* where each is written, "-" for stdout, NULL for nowhere */
  const char *json, *junit, *tap, *html;
} kw_report_paths;

/* Before a run that may take hours: whether the files can be written. False, said on stderr, when one cannot. */
bool kw_report_can_write(const kw_report_paths *paths, const char *program);
/* Writes the files that are asked for. False, said on stderr in the name of `program`, when one cannot be written. */
bool kw_report_write_files(const kw_report *report, const kw_report_paths *paths, const char *program);
/* Whether one of them is stdout: the table then goes to stderr. */
bool kw_report_takes_stdout(const kw_report_paths *paths);

#endif /* KEYWAY_CONFORMANCE_FILES_H */
