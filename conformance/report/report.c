/* SPDX-License-Identifier: Apache-2.0
 *
 * What all formats of a report say.
 */
#include "report/report.h"

#include "base/need.h"
#include "case/element.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- One case ---------------------------------------------------------------------------------------------------- */

/* What is inconclusive is no failure that was expected either. */
static bool is_expected_failure(const kw_report_case *c) {
  return c->expected && !kw_outcome_is_good(c->outcome) && c->outcome != KW_OUTCOME_INCONCLUSIVE;
}

const char *kw_report_case_name(const kw_report_case *c) {
  if (is_expected_failure(c)) return "expected failure";
  return c->expected && c->outcome == KW_OUTCOME_PASS ? "unexpected pass" : kw_outcome_name(c->outcome);
}

bool kw_report_case_is_failure(const kw_report_case *c) {
  return !kw_outcome_is_good(c->outcome) || (c->expected && c->outcome == KW_OUTCOME_PASS);
}

bool kw_report_case_has_failed(const kw_report_case *c) {
  return kw_report_case_is_failure(c) && c->outcome != KW_OUTCOME_UNIMPLEMENTED && c->outcome != KW_OUTCOME_NONE;
}

char *kw_report_replay(const kw_report *report, const kw_report_case *c) {
  char *text;
  int length = c->after ? asprintf(&text, "%s --after '%s' --case '%s'", report->replay, c->after, c->id)
                        : asprintf(&text, "%s --case '%s'", report->replay, c->id);
  if (length < 0) kw_out_of_memory();
  return text;
}

const char *kw_report_case_alone(const kw_report_case *c) {
  if (!c->passes_alone) return "";
  return c->after ? "passes alone; fails again behind the calls that the replay makes first"
                  : "passes alone, and was not seen to fail again: it depends on time, or on what else runs";
}

double kw_report_case_ratio(const kw_report *report, const kw_report_case *c) {
  if (c->op < 0 || c->error == 0) return 0;
  double bound = report->ops[c->op].bound;
  return bound > 0 ? c->error / bound : INFINITY;
}

const char *kw_report_case_class(const kw_report_case *c, int *out_length) {
  const char *dtype = strchr(c->id, '/'), *name = dtype ? strchr(dtype + 1, '/') : NULL;
  name = name ? name + 1 : "";
  *out_length = (int)strcspn(name, "/");
  return name;
}

void kw_report_hash_cases(const kw_report *report, char out_hash[KW_DIGEST_SIZE]) {
  kw_digest digest;
  kw_digest_begin(&digest);
  for (uint32_t i = 0; i < report->case_count; i++) kw_digest_add(&digest, report->cases[i].id);
  kw_digest_end(&digest, out_hash);
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

kw_report_totals kw_report_total(const kw_report *report) {
  kw_report_totals totals = {0};
  for (uint32_t i = 0; i < report->case_count; i++) {
    const kw_report_case *c = &report->cases[i];
    if (is_expected_failure(c)) {
      totals.expected_failures++;
    } else if (c->expected && c->outcome == KW_OUTCOME_PASS) {
      totals.unexpected_passes++;
    } else {
      totals.counts[c->outcome]++;
    }
    totals.self_referenced += c->self_referenced;
    totals.unreferenced += c->unreferenced;
    totals.tf32 += c->tf32;
    totals.fast += c->fast;
  }
  uint32_t good = totals.counts[KW_OUTCOME_PASS] + totals.counts[KW_OUTCOME_SKIP] + totals.counts[KW_OUTCOME_NOT_TRIED];
  uint32_t open = totals.counts[KW_OUTCOME_INCONCLUSIVE];
  /* What was not run is no failure where the run ended at a case of which nothing can be told. */
  uint32_t unrun = open ? totals.counts[KW_OUTCOME_NONE] : 0;
  bool clean = good + open + unrun + totals.expected_failures == report->case_count && report->fallbacks == 0;
  totals.verdict = report->stopped                  ? KW_VERDICT_NOT_FINISHED
                   : !clean                         ? KW_VERDICT_NOT_CONFORMANT
                   : open                           ? KW_VERDICT_INCONCLUSIVE
                   : totals.expected_failures       ? KW_VERDICT_EXPECTED
                   : totals.counts[KW_OUTCOME_PASS] ? KW_VERDICT_CONFORMANT
                                                    : KW_VERDICT_NOT_JUDGED;
  return totals;
}

const char *kw_report_emulated_mark(const kw_report *report) {
  return report->emulated && !strstr(report->product, "emulated") ? " (emulated)" : "";
}

const char *kw_report_verdict_name(kw_report_verdict verdict) {
  if (verdict == KW_VERDICT_INCONCLUSIVE) return "inconclusive";
  if (verdict == KW_VERDICT_NOT_FINISHED) return "not finished";
  if (verdict == KW_VERDICT_NOT_JUDGED) return "not judged";
  return verdict == KW_VERDICT_CONFORMANT ? "conformant" : "not conformant";
}

int kw_report_verdict_code(kw_report_verdict verdict) {
  static const int codes[] = {
      [KW_VERDICT_CONFORMANT] = 0,   [KW_VERDICT_EXPECTED] = 3,     [KW_VERDICT_NOT_CONFORMANT] = 1,
      [KW_VERDICT_NOT_FINISHED] = 1, [KW_VERDICT_INCONCLUSIVE] = 4, [KW_VERDICT_NOT_JUDGED] = 2};
  return codes[verdict];
}

int kw_report_exit_code(const kw_report *report) {
  return report->stopped ? 128 + report->stopped : kw_report_verdict_code(kw_report_total(report).verdict);
}

void kw_report_line_add(kw_report_line *line, const kw_report *report, const kw_report_case *c) {
  line->cases++;
  line->pass += c->outcome == KW_OUTCOME_PASS;
  line->unimplemented += c->outcome == KW_OUTCOME_UNIMPLEMENTED;
  line->skipped += c->outcome == KW_OUTCOME_SKIP;
  line->unrun += c->outcome == KW_OUTCOME_NONE;
  line->untried += c->outcome == KW_OUTCOME_NOT_TRIED;
  line->inconclusive += c->outcome == KW_OUTCOME_INCONCLUSIVE;
  line->failed =
      line->cases - line->pass - line->unimplemented - line->skipped - line->untried - line->inconclusive - line->unrun;
  line->seconds += c->seconds;
  double ratio = kw_report_case_ratio(report, c);
  if (ratio <= line->ratio) return;
  line->ratio = ratio;
  line->worst = c;
}

kw_report_line *kw_report_lines(const kw_report *report, uint32_t *out_count) {
  kw_report_line *lines = calloc(report->case_count + 1u, sizeof *lines);
  if (!lines) kw_out_of_memory();
  uint32_t count = 0;
  for (uint32_t i = 0; i < report->case_count; i++) {
    const kw_report_case *c = &report->cases[i];
    const char *name = c->op < 0 ? c->id : report->ops[c->op].family;
    int length = (int)(c->op < 0 ? strcspn(name, "/") : strlen(name));
    uint32_t l = 0;
    while (l < count && (lines[l].length != length || memcmp(lines[l].name, name, (size_t)length) != 0)) l++;
    if (l == count) lines[count++] = (kw_report_line){.name = name, .length = length};
    kw_report_line_add(&lines[l], report, c);
  }
  *out_count = count;
  return lines;
}

kw_report_line *kw_report_op_lines(const kw_report *report) {
  kw_report_line *lines = calloc(report->op_count + 1u, sizeof *lines);
  if (!lines) kw_out_of_memory();
  for (uint32_t i = 0; i < report->case_count; i++) {
    const kw_report_case *c = &report->cases[i];
    if (c->op >= 0) kw_report_line_add(&lines[c->op], report, c);
  }
  return lines;
}

uint32_t kw_report_dtypes(const kw_report *report, const char *out_names[]) {
  uint32_t count = 0;
  for (kw_dtype d = 0; d < KW_KEY_DTYPE_COUNT; d++) {
    if (kw_report_op_find(report, 0, report->op_count, kw_element_name(d)) >= 0)
      out_names[count++] = kw_element_name(d);
  }
  return count;
}

uint32_t kw_report_op_end(const kw_report *report, uint32_t first) {
  uint32_t end = first + 1;
  while (end < report->op_count && strcmp(report->ops[end].name, report->ops[first].name) == 0) end++;
  return end;
}

int kw_report_op_find(const kw_report *report, uint32_t first, uint32_t end, const char *dtype) {
  for (uint32_t i = first; i < end; i++) {
    if (strcmp(report->ops[i].dtype, dtype) == 0) return (int)i;
  }
  return -1;
}

void kw_report_histogram(const kw_report *report, int op, uint32_t out_bins[KW_REPORT_BINS]) {
  memset(out_bins, 0, KW_REPORT_BINS * sizeof *out_bins);
  for (uint32_t i = 0; i < report->case_count; i++) {
    const kw_report_case *c = &report->cases[i];
    if (c->op != op) continue;
    double ratio = kw_report_case_ratio(report, c);
    uint32_t bin = ratio > 0;
    for (double edge = 0x1p-8; bin && bin < KW_REPORT_BINS - 1 && ratio > edge; edge *= 2) bin++;
    out_bins[bin]++;
  }
}

void kw_report_free(kw_report *report) {
  char *const texts[] = {report->suite_version, report->op_set_version, report->device, report->product, report->level,
                         report->scope,         report->chosen,         report->replay, report->plugin};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) free(texts[i]);
  for (uint32_t i = 0; i < report->op_count; i++) {
    kw_report_op *op = &report->ops[i];
    free(op->name);
    free(op->dtype);
    free(op->family);
    free(op->unit);
  }
  for (uint32_t i = 0; i < report->case_count; i++) {
    kw_report_case *c = &report->cases[i];
    free(c->id);
    free(c->worst);
    free(c->defect);
    free(c->text);
    free(c->expected);
    free(c->smallest);
    free(c->smallest_tensors);
    free(c->after);
  }
  for (uint32_t i = 0; i < report->unclaimed_count; i++) free(report->unclaimed[i]);
  for (uint32_t i = 0; i < report->gap_count; i++) {
    free(report->gaps[i].op);
    free(report->gaps[i].why);
  }
  free(report->ops);
  free(report->cases);
  free(report->unclaimed);
  free(report->gaps);
  memset(report, 0, sizeof *report);
}
