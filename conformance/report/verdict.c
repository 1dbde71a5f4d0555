/* SPDX-License-Identifier: Apache-2.0
 *
 * The verdict in words: what it is about, and what was not looked at.
 */
#include "base/need.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_REASONS 4 /* of what was not tried, and of ops without cases */

/* Why cases were not tried: one text for all that say the same, whatever the numbers in it. */
typedef struct reason {
  const char *text;
  int length;
  double number; /* the largest that was the first in such a text */
  uint32_t count;
} reason;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* Whether two texts are the same but for their numbers. */
static bool same_but_numbers(const char *a, int a_length, const char *b, int b_length) {
  const char *a_end = a + a_length, *b_end = b + b_length;
  while (a < a_end && b < b_end) {
    if (is_digit(*a) && is_digit(*b)) {
      while (a < a_end && (is_digit(*a) || *a == '.')) a++;
      while (b < b_end && (is_digit(*b) || *b == '.')) b++;
    } else if (*a++ != *b++) {
      return false;
    }
  }
  return a == a_end && b == b_end;
}

static double first_number(const char *text, int length) {
  int at = 0;
  while (at < length && !is_digit(text[at])) at++;
  return at < length ? strtod(text + at, NULL) : 0;
}

static void add_reason(reason *reasons, uint32_t *io_count, const char *text) {
  const int length = (int)strcspn(text, ";");
  uint32_t i = 0;
  while (i < *io_count && !same_but_numbers(reasons[i].text, reasons[i].length, text, length)) i++;
  const double number = first_number(text, length);
  if (i == *io_count) reasons[(*io_count)++] = (reason){text, length, number, 0};
  if (number > reasons[i].number) reasons[i] = (reason){text, length, number, reasons[i].count};
  reasons[i].count++;
}

static void put_untried(const kw_report *report, FILE *out) {
  reason *reasons = calloc(report->case_count + 1u, sizeof *reasons);
  if (!reasons) kw_out_of_memory();
  uint32_t count = 0;
  for (uint32_t i = 0; i < report->case_count; i++) {
    if (report->cases[i].outcome == KW_OUTCOME_NOT_TRIED) add_reason(reasons, &count, report->cases[i].text);
  }
  for (uint32_t i = 0; i < count && i < SHOWN_REASONS; i++) {
    fprintf(out, "%s%.*s", i ? ", " : "; not tried: ", reasons[i].length, reasons[i].text);
    if (reasons[i].count > 1) fprintf(out, " (%u cases)", reasons[i].count);
  }
  if (count > SHOWN_REASONS) fprintf(out, " and for %u more reasons", count - SHOWN_REASONS);
  free(reasons);
}

static void put_gaps(const kw_report *report, FILE *out) {
  for (uint32_t i = 0; i < report->gap_count && i < SHOWN_REASONS; i++) {
    fprintf(out, "%s%s: %s", i ? ", " : "; no cases: ", report->gaps[i].op, report->gaps[i].why);
  }
  if (report->gap_count > SHOWN_REASONS) fprintf(out, " and %u more ops", report->gap_count - SHOWN_REASONS);
}

/* Ops of the table that have cases, and a vendor's own. */
static void put_ops(const kw_report *report, FILE *out) {
  uint32_t judged = 0, own = 0;
  for (uint32_t first = 0; first < report->op_count; first = kw_report_op_end(report, first)) {
    *(strcmp(report->ops[first].family, "vendor") == 0 ? &own : &judged) += 1;
  }
  fprintf(out, ", %u of %u ops", judged, report->table_ops);
  if (own) fprintf(out, " and %u of its own", own);
}

char *kw_report_verdict_text(const kw_report *report) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) kw_out_of_memory();
  fprintf(out, "%s (%s", kw_report_verdict_name(kw_report_total(report).verdict), report->scope);
  put_ops(report, out);
  if (report->shards > 1) fprintf(out, ", shard %u of %u", report->shard, report->shards);
  put_untried(report, out);
  put_gaps(report, out);
  fputc(')', out);
  if (fclose(out) != 0) kw_out_of_memory();
  for (char *at = text; (at = strchr(at, '\n')) != NULL;) *at = ' '; /* it is a line, whatever a plugin said */
  return text;
}
