/* SPDX-License-Identifier: Apache-2.0
 *
 * The report that a person reads in a terminal.
 */
#include "report/accuracy.h"
#include "report/alike.h"
#include "report/formats.h"

#include "report/put_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_FAILURES 20
#define SHOWN_UNIMPLEMENTED 8

static void put_lines(FILE *out, const char *text) {
  fputs("    ", out);
  kw_text_put_line(out, text);
  fputc('\n', out);
}

/* `group`: of failures that are alike, of which `c` is the first; NULL: it stands for itself. */
static void put_failure(const kw_report *report, const kw_report_case *c, const kw_report_group *group, FILE *out,
                        bool colour) {
  char *replay = kw_report_replay(report, c);
  fprintf(out, "%s%s%s %s%s%s\n", colour ? "\033[31m" : "", kw_report_case_name(c), colour ? "\033[0m" : "", c->id,
          *c->defect ? ": " : "", c->defect);
  if (*c->text && strcmp(c->text, c->defect) != 0) put_lines(out, c->text);
  if (c->expected) fprintf(out, "    expected to fail: %s\n", c->expected);
  if (c->passes_alone) fprintf(out, "    %s\n", kw_report_case_alone(c));
  put_lines(out, replay);
  if (c->smallest) fprintf(out, "    smallest failing: %s, on %s\n", c->smallest, c->smallest_tensors);
  if (strncmp(c->id, "programs/", 9) == 0)
    fprintf(out, "    as C: %s --case '%s' --source\n", report->replay, c->smallest ? c->smallest : c->id);
  if (group && group->count > 1) {
    char *where = kw_report_group_where(report, group);
    fprintf(out, "    %u alike: %s\n", group->count, where);
    free(where);
  }
  free(replay);
}

static void put_all_failures(const kw_report *report, FILE *out, bool colour) {
  bool any = false;
  for (uint32_t i = 0; i < report->case_count; i++) {
    if (!kw_report_case_has_failed(&report->cases[i])) continue;
    put_failure(report, &report->cases[i], NULL, out, colour);
    any = true;
  }
  if (any) fputc('\n', out);
}

/* Those that are alike once. */
static void put_failures(const kw_report *report, FILE *out, bool colour) {
  uint32_t count, hidden = 0;
  kw_report_group *groups = kw_report_groups(report, &count);
  for (uint32_t g = 0; g < count; g++) {
    if (g < SHOWN_FAILURES) put_failure(report, groups[g].cases[0], &groups[g], out, colour);
    if (g >= SHOWN_FAILURES) hidden += groups[g].count;
  }
  if (hidden) fprintf(out, "... and %u more of %u other kinds; -v shows all\n", hidden, count - SHOWN_FAILURES);
  if (count) fputc('\n', out);
  kw_report_groups_free(groups, count);
}

/* Claimed, but no kernel took the call: a line per op and dtype, or per case. */
static void put_unimplemented(const kw_report *report, FILE *out, bool verbose) {
  uint32_t shown = 0, lines = 0;
  for (uint32_t first = 0, end; first < report->case_count; first = end) {
    const kw_report_case *c = NULL;
    uint32_t count = 0;
    for (end = first; end < report->case_count && report->cases[end].op == report->cases[first].op; end++) {
      if (report->cases[end].outcome != KW_OUTCOME_UNIMPLEMENTED) continue;
      if (count++ == 0) c = &report->cases[end];
      if (verbose) fprintf(out, "unimplemented %s\n", report->cases[end].id);
    }
    if (!c || verbose) continue;
    if (++lines > SHOWN_UNIMPLEMENTED) continue;
    shown++;
    fprintf(out, "unimplemented %s/%s: %u cases, the first %s\n", report->ops[c->op].name, report->ops[c->op].dtype,
            count, c->id);
    if (*c->text) put_lines(out, c->text);
  }
  if (lines > shown) fprintf(out, "... and in %u more ops and dtypes; -v shows all\n", lines - shown);
  if (lines) fputc('\n', out);
}

static void put_skipped(const kw_report *report, FILE *out) {
  for (uint32_t i = 0; i < report->case_count; i++) {
    const kw_report_case *c = &report->cases[i];
    if (c->outcome != KW_OUTCOME_SKIP && c->outcome != KW_OUTCOME_NOT_TRIED) continue;
    fprintf(out, "%s %s: ", kw_outcome_name(c->outcome), c->id);
    kw_text_put_line(out, c->text);
    fputc('\n', out);
  }
}

/* They are thousands on most devices: the files have them. */
static void put_unclaimed(const kw_report *report, FILE *out) {
  if (report->unclaimed_count == 0) return;
  fprintf(out, "unclaimed, not run: %u pairs of op and dtype, from %s on (--json FILE and --html FILE list them)\n",
          report->unclaimed_count, report->unclaimed[0]);
}

static void put_table(const kw_report *report, FILE *out) {
  uint32_t count;
  kw_report_line *lines = kw_report_lines(report, &count);
  fprintf(out, "  %-22s %7s %7s %7s %7s %7s %7s %8s %9s   %s\n", "suite", "cases", "pass", "failed", "unimpl.", "n/a",
          "untried", "inconcl.", "time", "largest error");
  for (uint32_t i = 0; i < count; i++) {
    const kw_report_line *l = &lines[i];
    fprintf(out, "  %-22.*s %7u %7u %7u %7u %7u %7u %8u %7.2f s", l->length, l->name, l->cases, l->pass, l->failed,
            l->unimplemented, l->skipped, l->untried, l->inconclusive, l->seconds);
    if (l->worst) {
      const kw_report_op *op = &report->ops[l->worst->op];
      fprintf(out, "   %.3g of %g %s  %s/%s", l->worst->error, op->bound, op->unit, op->name, op->dtype);
    }
    fputc('\n', out);
  }
  free(lines);
}

/* What was tried of each op's patterns, the largest error, what is promised, and where it is. */
static void put_accuracy(const kw_report *report, FILE *out) {
  uint32_t count;
  kw_accuracy_line *lines = kw_report_accuracy(report, &count);
  if (count > 0)
    fprintf(out, "\n  %-34s %-5s %-20s %-26s %-28s %s\n", "accuracy", "dtype", "tried", "largest error", "bound", "at");
  for (uint32_t i = 0; i < count; i++) {
    const kw_accuracy_line *l = &lines[i];
    char name[160], tried[48], error[64];
    snprintf(name, sizeof name, "%s%s%s%s", l->op->name, *l->form ? "(" : "", l->form, *l->form ? ")" : "");
    kw_accuracy_tried(l, tried, sizeof tried);
    kw_accuracy_error(l, error, sizeof error);
    fprintf(out, "  %-34s %-5s %-20s %-26s %-28s %s\n", name, l->op->dtype, tried, error, l->bound, l->worst);
  }
  if (count > 0) fputc('\n', out);
  free(lines);
}

static void put_verdict(const kw_report *report, FILE *out, bool colour) {
  kw_report_totals totals = kw_report_total(report);
  const char *paint = !colour                                     ? ""
                      : totals.verdict == KW_VERDICT_CONFORMANT   ? "\033[32m"
                      : totals.verdict == KW_VERDICT_INCONCLUSIVE ? "\033[33m"
                      : totals.verdict == KW_VERDICT_NOT_FINISHED ? "\033[33m"
                      : totals.verdict == KW_VERDICT_NOT_JUDGED   ? "\033[33m"
                                                                  : "\033[31m";
  char *text = kw_report_verdict_text(report);
  const size_t name = strlen(kw_report_verdict_name(totals.verdict));
  fprintf(out, "verdict: %s%.*s%s%s", paint, (int)name, text, colour ? "\033[0m" : "", text + name);
  free(text);
  fprintf(out, ": %u of %u cases pass", totals.counts[KW_OUTCOME_PASS], report->case_count);
  for (int o = KW_OUTCOME_FAIL; o < KW_OUTCOME_COUNT; o++) {
    if (totals.counts[o]) fprintf(out, ", %u %s", totals.counts[o], kw_outcome_name((kw_outcome)o));
  }
  if (totals.counts[KW_OUTCOME_NONE]) fprintf(out, ", %u not run", totals.counts[KW_OUTCOME_NONE]);
  if (totals.expected_failures) fprintf(out, ", %u expected failures", totals.expected_failures);
  if (totals.unexpected_passes) fprintf(out, ", %u unexpected passes", totals.unexpected_passes);
  fputc('\n', out);
  if (report->stopped)
    fputs("  stopped      keyway conform --resume FILE goes on, where FILE is its JSON report\n", out);
  fprintf(out, "  suite        %s, op set %s, seed %" PRIu64 ", %.1f s\n", report->suite_version,
          report->op_set_version, report->seed, report->seconds);
  fprintf(out, "  plugin       %s  %s\n", report->plugin_hash, report->plugin);
  fprintf(out, "  tolerances   %s\n  cases        %s\n", report->tolerance_hash, report->case_hash);
  if (*report->expect_hash) fprintf(out, "  expect       %s\n", report->expect_hash);
}

void kw_report_put_table(const kw_report *report, FILE *out, bool colour, bool verbose) {
  kw_report_totals totals = kw_report_total(report);
  if (verbose) put_all_failures(report, out, colour);
  if (!verbose) put_failures(report, out, colour);
  put_unimplemented(report, out, verbose);
  if (verbose) put_skipped(report, out);
  fprintf(out, "%s%s%s%s\n", report->device, *report->product ? " " : "", report->product,
          kw_report_emulated_mark(report));
  put_table(report, out);
  put_accuracy(report, out);
  put_unclaimed(report, out);
  if (totals.self_referenced) {
    fprintf(out, "self-referenced: %u cases of the vendor's own ops are judged by the vendor's reference\n",
            totals.self_referenced);
  }
  if (totals.unreferenced)
    fprintf(out, "%u cases of vendor ops have no reference: they only ran\n", totals.unreferenced);
  if (totals.tf32) fprintf(out, "math mode tf32: kernels that need it judged in it, in %u cases\n", totals.tf32);
  if (totals.fast) fprintf(out, "math mode fast: kernels that need it judged in it, in %u cases\n", totals.fast);
  if (report->decomposed) fprintf(out, "decomposed: %" PRIu64 " calls\n", report->decomposed);
  if (report->fallbacks) fprintf(out, "fallbacks: %" PRIu64 " calls ran on the CPU\n", report->fallbacks);
  if (report->modules_built + report->modules_cached) {
    fprintf(out, "modules: %" PRIu64 " compiled, %" PRIu64 " from a cache, %.1f s waited for them\n",
            report->modules_built, report->modules_cached, report->build_seconds);
  }
  put_verdict(report, out, colour);
}

void kw_report_put_plain_table(const kw_report *report, FILE *out) {
  kw_report_put_table(report, out, false, false);
}
