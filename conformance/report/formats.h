/* SPDX-License-Identifier: Apache-2.0
 *
 * The formats of reports, each written by the file of its name; JSON is read as well.
 */
#ifndef KEYWAY_CONFORMANCE_FORMATS_H
#define KEYWAY_CONFORMANCE_FORMATS_H

#include "report/report.h"

#include <stdio.h>

/* For a terminal; colour: with ANSI sequences, verbose: everything. */
void kw_report_put_table(const kw_report *report, FILE *out, bool colour, bool verbose);
void kw_report_put_plain_table(const kw_report *report, FILE *out); /* the same for a file, with neither */
void kw_report_put_json(const kw_report *report, FILE *out);
void kw_report_put_junit(const kw_report *report, FILE *out);
void kw_report_put_tap(const kw_report *report, FILE *out);
void kw_report_put_html(const kw_report *report, FILE *out);     /* a page that needs nothing else; times are in the
                                                                    section "times" only */
void kw_report_put_markdown(const kw_report *report, FILE *out); /* numbers of cases, and time per suite */

/* What a format makes of a report; the caller's to free. */
char *kw_report_text(const kw_report *report, void (*put)(const kw_report *, FILE *));

/* Reads a JSON report. False: *out_message says which file is unusable and why; out is zeroed then. */
bool kw_report_read(const char *path, kw_report *out_report, char *out_message, size_t size);

#endif /* KEYWAY_CONFORMANCE_FORMATS_H */
