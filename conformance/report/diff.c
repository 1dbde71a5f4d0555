/* SPDX-License-Identifier: Apache-2.0
 *
 * Two reports, their ops and cases matched by name.
 */
#include "report/diff.h"

#include "base/need.h"

#include <stdlib.h>
#include <string.h>

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

static int find_op(const kw_report *report, const kw_report_op *op) {
  for (uint32_t i = 0; i < report->op_count; i++) {
    if (strcmp(report->ops[i].name, op->name) == 0 && strcmp(report->ops[i].dtype, op->dtype) == 0) return (int)i;
  }
  return -1;
}

/* For each op of `from` its place in `in`, or -1; the caller's to free. */
static int *match_ops(const kw_report *from, const kw_report *in) {
  int *places = kw_need((from->op_count + 1u) * sizeof *places);
  for (uint32_t i = 0; i < from->op_count; i++) places[i] = find_op(in, &from->ops[i]);
  return places;
}

/* The ops of `report` without a match; the caller's to free. */
static const kw_report_op **unmatched_ops(const kw_report *report, const int *places, uint32_t *out_count) {
  const kw_report_op **ops = kw_need((report->op_count + 1u) * sizeof *ops);
  for (uint32_t i = *out_count = 0; i < report->op_count; i++) {
    if (places[i] < 0) ops[(*out_count)++] = &report->ops[i];
  }
  return ops;
}

static void find_shifts(kw_report_diff *diff, const int *places) {
  diff->shifts = kw_need((diff->before->op_count + 1u) * sizeof *diff->shifts);
  for (uint32_t i = 0; i < diff->before->op_count; i++) {
    if (places[i] < 0) continue;
    kw_report_shift *shift = &diff->shifts[diff->shift_count];
    shift->op = &diff->after->ops[places[i]];
    kw_report_histogram(diff->before, (int)i, shift->before);
    kw_report_histogram(diff->after, places[i], shift->after);
    diff->shift_count += memcmp(shift->before, shift->after, sizeof shift->before) != 0;
  }
}

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b) {
  return strcmp((*(const kw_report_case *const *)a)->id, (*(const kw_report_case *const *)b)->id);
}

/* The cases of a report, sorted; the caller's to free. */
static const kw_report_case **sorted_cases(const kw_report *report) {
  const kw_report_case **cases = kw_need((report->case_count + 1u) * sizeof *cases);
  for (uint32_t i = 0; i < report->case_count; i++) cases[i] = &report->cases[i];
  qsort(cases, report->case_count, sizeof *cases, by_id);
  return cases;
}

/* The cases of `report` that are not in `in`, but for those of ops that are not there either; with `changes`, which has
 * room, those as well that came out in another way there. */
static const kw_report_case **unmatched_cases(const kw_report *report, const kw_report *in, const int *places,
                                              uint32_t *out_count, kw_report_change *changes, uint32_t *change_count) {
  const kw_report_case **sorted = sorted_cases(in), **alone = kw_need((report->case_count + 1u) * sizeof *alone);
  for (uint32_t i = *out_count = 0; i < report->case_count; i++) {
    const kw_report_case *c = &report->cases[i];
    if (c->op >= 0 && places[c->op] < 0) continue;
    const kw_report_case **found = bsearch(&c, sorted, in->case_count, sizeof *sorted, by_id);
    if (!found) {
      alone[(*out_count)++] = c;
    } else if (changes && strcmp(kw_report_case_name(c), kw_report_case_name(*found)) != 0) {
      changes[(*change_count)++] = (kw_report_change){c, *found};
    }
  }
  free(sorted);
  return alone;
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

kw_report_diff kw_report_compare(const kw_report *before, const kw_report *after) {
  kw_report_diff diff = {.before = before, .after = after};
  int *places = match_ops(before, after), *places_back = match_ops(after, before);
  char *was = kw_report_verdict_text(before), *is = kw_report_verdict_text(after);
  diff.verdict = strcmp(was, is) != 0;
  diff.lost = unmatched_ops(before, places, &diff.lost_count);
  diff.gained = unmatched_ops(after, places_back, &diff.gained_count);
  diff.changes = kw_need((before->case_count + 1u) * sizeof *diff.changes);
  diff.gone_cases = unmatched_cases(before, after, places, &diff.gone_count, diff.changes, &diff.change_count);
  diff.new_cases = unmatched_cases(after, before, places_back, &diff.new_count, NULL, NULL);
  find_shifts(&diff, places);
  free(was);
  free(is);
  free(places);
  free(places_back);
  return diff;
}

void kw_report_diff_free(kw_report_diff *diff) {
  free(diff->gained);
  free(diff->lost);
  free(diff->changes);
  free(diff->new_cases);
  free(diff->gone_cases);
  free(diff->shifts);
  memset(diff, 0, sizeof *diff);
}

bool kw_report_diff_none(const kw_report_diff *diff) {
  return !diff->verdict && !diff->gained_count && !diff->lost_count && !diff->change_count && !diff->new_count &&
         !diff->gone_count && !diff->shift_count;
}
