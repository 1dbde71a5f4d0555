/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables for docs/: how many cases there are, and how long they take.
 */
#include "case/case.h"
#include "report/accuracy.h"
#include "report/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_suites(const kw_report *report, FILE *out) {
  uint32_t count;
  kw_report_line *lines = kw_report_lines(report, &count);
  fputs("\n## Suites\n\n| suite | cases | pass | n/a | not tried | time |\n|---|---:|---:|---:|---:|---:|\n", out);
  double seconds = 0;
  for (uint32_t i = 0; i < count; i++) {
    fprintf(out, "| %.*s | %u | %u | %u | %u | %.2f s |\n", lines[i].length, lines[i].name, lines[i].cases,
            lines[i].pass, lines[i].skipped, lines[i].untried, lines[i].seconds);
    seconds += lines[i].seconds;
  }
  const kw_report_totals totals = kw_report_total(report);
  fprintf(out, "| all | %u | %u | %u | %u | %.2f s |\n", report->case_count, totals.counts[KW_OUTCOME_PASS],
          totals.counts[KW_OUTCOME_SKIP], totals.counts[KW_OUTCOME_NOT_TRIED], seconds);
  free(lines);
}

static void put_head(FILE *out, const char *const *names, uint32_t count) {
  fputs("| op |", out);
  for (uint32_t i = 0; i < count; i++) fprintf(out, " %s |", names[i]);
  fputs(" all |\n|---|", out);
  for (uint32_t i = 0; i <= count; i++) fputs("---:|", out);
  fputc('\n', out);
}

static void put_number(FILE *out, uint32_t number) {
  fprintf(out, number ? " %u |" : " |", number);
}

static void put_dtypes(const kw_report *report, FILE *out) {
  const char *dtypes[KW_KEY_DTYPE_COUNT];
  uint32_t count = kw_report_dtypes(report, dtypes);
  kw_report_line *lines = kw_report_op_lines(report);
  fputs("\n## Cases per op and dtype\n\n", out);
  put_head(out, dtypes, count);
  for (uint32_t first = 0, end; first < report->op_count; first = end) {
    end = kw_report_op_end(report, first);
    uint32_t all = 0;
    fprintf(out, "| %s |", report->ops[first].name);
    for (uint32_t d = 0; d < count; d++) {
      int op = kw_report_op_find(report, first, end, dtypes[d]);
      put_number(out, op < 0 ? 0 : lines[op].cases);
      all += op < 0 ? 0 : lines[op].cases;
    }
    put_number(out, all);
    fputc('\n', out);
  }
  free(lines);
}

static void count_class(const kw_report_case *c, uint32_t counts[KW_CLASS_COUNT]) {
  int length;
  const char *class = kw_report_case_class(c, &length);
  for (int k = 0; k < KW_CLASS_COUNT; k++) {
    const char *name = kw_case_class_name((kw_case_class)k);
    counts[k] += strlen(name) == (size_t)length && memcmp(name, class, (size_t)length) == 0;
  }
}

static void put_classes(const kw_report *report, FILE *out) {
  const char *names[KW_CLASS_COUNT];
  for (int k = 0; k < KW_CLASS_COUNT; k++) names[k] = kw_case_class_name((kw_case_class)k);
  fputs("\n## Cases per op and class, all dtypes together\n\n", out);
  put_head(out, names, KW_CLASS_COUNT);
  uint32_t i = 0;
  for (uint32_t first = 0, end; first < report->op_count; first = end) {
    end = kw_report_op_end(report, first);
    uint32_t counts[KW_CLASS_COUNT] = {0}, all = 0;
    while (i < report->case_count && report->cases[i].op < (int)first) i++;
    for (; i < report->case_count && report->cases[i].op < (int)end; i++, all++) count_class(&report->cases[i], counts);
    fprintf(out, "| %s |", report->ops[first].name);
    for (int k = 0; k < KW_CLASS_COUNT; k++) put_number(out, counts[k]);
    put_number(out, all);
    fputc('\n', out);
  }
}

/* A report of blocks has one table: of errors. False where there are none. */
static bool put_accuracy(const kw_report *report, FILE *out) {
  uint32_t count;
  kw_accuracy_line *lines = kw_report_accuracy(report, &count);
  if (count > 0) {
    fprintf(out, "# Accuracy of %s\n\n", report->device);
    fprintf(out,
            "Made with `keyway report show FILE --markdown` from a run on %s%s: suite %s, op set %s, %s, seed %" PRIu64,
            report->product, kw_report_emulated_mark(report), report->suite_version, report->op_set_version,
            report->scope, report->seed);
    if (report->shards > 1) fprintf(out, ", shard %u of %u", report->shard, report->shards);
    fprintf(out, ", verdict %s, %.0f s.\nThe worst of all kernels of the device counts.\n\n",
            kw_report_verdict_name(kw_report_total(report).verdict), report->seconds);
    fputs("| op | dtype | tried | largest error | bound | at |\n|---|---|---|---|---|---|\n", out);
  }
  for (uint32_t i = 0; i < count; i++) {
    const kw_accuracy_line *l = &lines[i];
    char tried[48], error[64];
    kw_accuracy_tried(l, tried, sizeof tried);
    kw_accuracy_error(l, error, sizeof error);
    fprintf(out, "| %s%s%s%s | %s | %s | %s | %s | %s |\n", l->op->name, *l->form ? " (" : "", l->form,
            *l->form ? ")" : "", l->op->dtype, tried, error, l->bound, l->worst);
  }
  free(lines);
  return count > 0;
}

void kw_report_put_markdown(const kw_report *report, FILE *out) {
  if (put_accuracy(report, out)) return;
  fputs("# Cases of the conformance suite\n\n", out);
  fprintf(out,
          "Made with `keyway report show FILE --markdown` from a run on %s: suite %s, op set %s, %s, seed %" PRIu64
          ", verdict %s.\n",
          report->device, report->suite_version, report->op_set_version, report->scope, report->seed,
          kw_report_verdict_name(kw_report_total(report).verdict));
  fputs("Times are of workers and judges together, on the machine of that run.\n", out);
  put_suites(report, out);
  put_dtypes(report, out);
  put_classes(report, out);
}
