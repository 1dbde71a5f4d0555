/* SPDX-License-Identifier: Apache-2.0
 *
 * Waivers: reading them, and the verdict with them.
 */
#include "certify/waiver.h"

#include "base/need.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIELDS = KW_WAIVER_UNTIL + 1 };

void kw_date_today(char out_date[KW_DATE_SIZE]) {
  time_t now = time(NULL);
  struct tm day;
  if (!gmtime_r(&now, &day) || strftime(out_date, KW_DATE_SIZE, "%Y-%m-%d", &day) == 0) abort();
}

bool kw_date_is_valid(const char *text) {
  struct tm day = {0};
  char again[KW_DATE_SIZE];
  const char *end = strptime(text, "%Y-%m-%d", &day);
  if (!end || *end || strlen(text) != KW_DATE_SIZE - 1) return false;
  day.tm_hour = 12;
  timegm(&day); /* turns February 30 into March 2 */
  return strftime(again, sizeof again, "%Y-%m-%d", &day) > 0 && strcmp(again, text) == 0;
}

/* What is wrong with a waiver on a day; "" when it holds. */
static void judge(const kw_entry_list *waivers, uint32_t i, const char *date, char *wrong, size_t size) {
  const char *granted = kw_entry_list_text(waivers, i, KW_WAIVER_GRANTED);
  const char *until = kw_entry_list_text(waivers, i, KW_WAIVER_UNTIL);
  *wrong = 0;
  if (!kw_date_is_valid(granted) || !kw_date_is_valid(until)) {
    snprintf(wrong, size, "'%s' is no day; write it as 2027-01-31", kw_date_is_valid(granted) ? until : granted);
  } else if (strcmp(until, granted) < 0) {
    snprintf(wrong, size, "the waiver ends on %s, before it is granted", until);
  } else if (strcmp(date, granted) < 0) {
    snprintf(wrong, size, "the waiver is granted on %s, which is still to come", granted);
  } else if (strcmp(date, until) > 0) {
    snprintf(wrong, size, "the waiver for '%s' expired on %s; ask %s for a new one, or repair what it waived",
             kw_entry_list_text(waivers, i, KW_WAIVER_CASE), until, kw_entry_list_text(waivers, i, KW_WAIVER_BY));
  }
}

bool kw_waivers_read(const char *path, const char *date, kw_entry_list *out_waivers, char *out_message, size_t size) {
  static const kw_entry_field fields[FIELDS] = {
      [KW_WAIVER_CASE] = {"case", "the id of a case, or a glob such as \"exp/f16/*\""},
      [KW_WAIVER_REASON] = {"reason", "say why the failure may be put up with"},
      [KW_WAIVER_BY] = {"by", "say who answers for it"},
      [KW_WAIVER_GRANTED] = {"granted", "the day it was granted on, as 2026-11-23"},
      [KW_WAIVER_UNTIL] = {"until", "the last day it holds on, as 2027-01-31"}};
  if (!kw_entry_list_read(path, fields, FIELDS, out_waivers, out_message, size)) return false;
  for (uint32_t i = 0; i < out_waivers->count; i++) {
    char wrong[1024];
    judge(out_waivers, i, date, wrong, sizeof wrong);
    if (!*wrong) continue;
    snprintf(out_message, size, "%s:%u: %s", path, out_waivers->lines[i], wrong);
    kw_entry_list_free(out_waivers);
    return false;
  }
  return true;
}

/* ---- The verdict ------------------------------------------------------------------------------------------------- */

static bool can_be_waived(kw_outcome outcome) {
  return outcome == KW_OUTCOME_FAIL || outcome == KW_OUTCOME_CRASH || outcome == KW_OUTCOME_TIMEOUT ||
         outcome == KW_OUTCOME_UNIMPLEMENTED;
}

/* The first waiver that is about a case; waivers->count when there is none. */
static uint32_t find_waiver(const kw_entry_list *waivers, const kw_report_case *c) {
  uint32_t i = 0;
  while (i < waivers->count && !kw_entry_matches(kw_entry_list_text(waivers, i, KW_WAIVER_CASE), c->id)) i++;
  return i;
}

static void count_waiver(kw_waived_verdict *verdict, const kw_entry_list *waivers, uint32_t i, bool *used) {
  const char *until = kw_entry_list_text(waivers, i, KW_WAIVER_UNTIL);
  verdict->cases++;
  if (used[i]) return;
  used[i] = true;
  verdict->waivers++;
  if (!*verdict->until || strcmp(until, verdict->until) < 0) memcpy(verdict->until, until, KW_DATE_SIZE);
}

/* Whether waivers cover all that failed. */
static bool covers(const kw_report *report, const kw_entry_list *waivers, kw_waived_verdict *verdict) {
  bool all = report->fallbacks == 0;
  bool *used = calloc(waivers->count + 1u, sizeof *used);
  if (!used) kw_out_of_memory();
  for (uint32_t i = 0; i < report->case_count; i++) {
    const kw_report_case *c = &report->cases[i];
    if (!kw_report_case_is_failure(c) || c->outcome == KW_OUTCOME_INCONCLUSIVE) continue;
    const uint32_t w = find_waiver(waivers, c);
    if (w < waivers->count && can_be_waived(c->outcome)) {
      count_waiver(verdict, waivers, w, used);
    } else {
      all = false;
    }
  }
  free(used);
  return all && verdict->waivers > 0;
}

kw_waived_verdict kw_waivers_judge(const kw_report *report, const kw_entry_list *waivers) {
  const kw_report_totals totals = kw_report_total(report);
  kw_waived_verdict verdict = {.verdict = totals.verdict};
  char *text = kw_report_verdict_text(report);
  const char *behind = text + strlen(kw_report_verdict_name(totals.verdict));
  const bool failed = totals.verdict == KW_VERDICT_NOT_CONFORMANT || totals.verdict == KW_VERDICT_EXPECTED;
  if (failed && waivers && covers(report, waivers, &verdict)) {
    verdict.verdict = totals.counts[KW_OUTCOME_INCONCLUSIVE] ? KW_VERDICT_INCONCLUSIVE : KW_VERDICT_CONFORMANT;
  } else {
    verdict.waivers = verdict.cases = 0;
    *verdict.until = 0;
  }
  int length = verdict.waivers > 0
                   ? asprintf(&verdict.text, "%s with %u waiver%s until %s%s", kw_report_verdict_name(verdict.verdict),
                              verdict.waivers, verdict.waivers == 1 ? "" : "s", verdict.until, behind)
                   : asprintf(&verdict.text, "%s", text);
  if (length < 0) kw_out_of_memory();
  free(text);
  return verdict;
}

int kw_waived_exit_code(const kw_waived_verdict *verdict) {
  const bool waived = verdict->verdict == KW_VERDICT_CONFORMANT && verdict->waivers > 0;
  return waived ? 5 : kw_report_verdict_code(verdict->verdict);
}
