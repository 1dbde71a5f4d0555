/* SPDX-License-Identifier: Apache-2.0
 *
 * Waivers: failures that somebody answers for by name, until a day. The file is a list of
 * {"case": "ID or GLOB", "reason": "...", "by": "...", "granted": "2026-11-23", "until": "2027-01-31"}.
 */
#ifndef KEYWAY_CONFORMANCE_WAIVER_H
#define KEYWAY_CONFORMANCE_WAIVER_H

#include "report/report.h"
#include "run/entry_list.h"

#define KW_DATE_SIZE 11 /* "2027-01-31", with its end */

typedef enum kw_waiver_field {
  KW_WAIVER_CASE,
  KW_WAIVER_REASON,
  KW_WAIVER_BY,
  KW_WAIVER_GRANTED,
  KW_WAIVER_UNTIL
} kw_waiver_field;

/* The day it is, in UTC. */
void kw_date_today(char out_date[KW_DATE_SIZE]);
/* Whether the text is a day of the calendar: YYYY-MM-DD. Such texts sort as days do. */
bool kw_date_is_valid(const char *text);

/* Reads the file, and holds its dates against the day. False: *out_message is "FILE:LINE: what is wrong", among that a
 * waiver that has expired or is not granted yet. */
bool kw_waivers_read(const char *path, const char *date, kw_entry_list *out_waivers, char *out_message, size_t size);

/* What a report is worth with waivers. */
typedef struct kw_waived_verdict {
  kw_report_verdict verdict; /* KW_VERDICT_CONFORMANT with waivers > 0 is less than without */
  uint32_t waivers, cases;   /* waivers that are needed, and the failures that they cover */
  char until[KW_DATE_SIZE];  /* the first day that ends one of them; "" without */
  char *text;                /* "conformant with 2 waivers until 2027-01-31 (core)"; to be freed */
} kw_waived_verdict;

/* Failures, crashes, timeouts and what is unimplemented can be waived; what is inconclusive or was not run cannot, nor
 * calls that ran on the CPU instead. No waivers: NULL. */
kw_waived_verdict kw_waivers_judge(const kw_report *report, const kw_entry_list *waivers);
/* 0 conformant, 5 conformant with waivers, otherwise kw_report_verdict_code. */
int kw_waived_exit_code(const kw_waived_verdict *verdict);

#endif /* KEYWAY_CONFORMANCE_WAIVER_H */
