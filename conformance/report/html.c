/* SPDX-License-Identifier: Apache-2.0
 *
 * A page that needs nothing but itself: verdict, coverage, failures, error histograms, times.
 */
#include "base/need.h"
#include "case/element.h"
#include "report/alike.h"
#include "report/formats.h"
#include "report/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_FAILURES 500
#define SHOWN_SLOWEST 25
#define BAR_WIDTH 12
#define BAR_HEIGHT 26

/* ---- Verdict ----------------------------------------------------------------------------------------------------- */

static void put_pair(FILE *out, const char *term, const char *text) {
  if (!*text) return;
  fprintf(out, "<dt>%s</dt>", term);
  kw_page_put(out, "<dd>", text, "</dd>\n");
}

static void put_count(FILE *out, uint32_t count, const char *name, bool bad) {
  if (count) fprintf(out, ", <span%s>%u %s</span>", bad ? " class=\"bad\"" : "", count, name);
}

static void put_verdict(const kw_report *report, FILE *out) {
  kw_report_totals t = kw_report_total(report);
  char text[64];
  kw_page_put(out, "<header>\n<h1>", report->device, "");
  kw_page_put(out, " <span class=\"soft\">", report->product, kw_report_emulated_mark(report));
  fputs("</span></h1>\n", out);
  fprintf(out, "<p><span class=\"verdict %s\">%s</span> ",
          t.verdict == KW_VERDICT_CONFORMANT     ? "good"
          : t.verdict == KW_VERDICT_INCONCLUSIVE ? "warn"
          : t.verdict == KW_VERDICT_NOT_FINISHED ? "warn"
          : t.verdict == KW_VERDICT_NOT_JUDGED   ? "warn"
                                                 : "bad",
          kw_report_verdict_name(t.verdict));
  char *whole = kw_report_verdict_text(report);
  kw_page_put(out, "<strong>", whole + strlen(kw_report_verdict_name(t.verdict)) + 1, "</strong>");
  free(whole);
  fputs(": ", out);
  fprintf(out, "%u of %u cases pass", t.counts[KW_OUTCOME_PASS], report->case_count);
  for (int o = KW_OUTCOME_FAIL; o < KW_OUTCOME_COUNT; o++) {
    put_count(out, t.counts[o], kw_outcome_name((kw_outcome)o), !kw_outcome_is_good((kw_outcome)o));
  }
  put_count(out, t.expected_failures, "expected failures", true);
  put_count(out, t.unexpected_passes, "unexpected passes", true);
  put_count(out, t.self_referenced, "self-referenced", false);
  put_count(out, t.unreferenced, "without a reference", false);
  put_count(out, t.tf32, "in tf32 as well", false);
  put_count(out, t.fast, "in fast math as well", false);
  fputs("</p>\n<dl>\n", out);
  put_pair(out, "suite", report->suite_version);
  put_pair(out, "op set", report->op_set_version);
  snprintf(text, sizeof text, "%" PRIu64, report->seed);
  put_pair(out, "seed", text);
  put_pair(out, "plugin", report->plugin);
  put_pair(out, "plugin, sha256", report->plugin_hash);
  put_pair(out, "tolerances, sha256", report->tolerance_hash);
  put_pair(out, "cases, sha256", report->case_hash);
  put_pair(out, "known failures, sha256", report->expect_hash);
  snprintf(text, sizeof text, "%" PRIu64 " launches, %" PRIu64 " decomposed, %" PRIu64 " fallbacks", report->launches,
           report->decomposed, report->fallbacks);
  put_pair(out, "calls", text);
  snprintf(text, sizeof text, "%" PRIu64 " compiled, %" PRIu64 " from a cache, %.1f s", report->modules_built,
           report->modules_cached, report->build_seconds);
  put_pair(out, "modules", text);
  fputs("</dl>\n</header>\n", out);
}

/* ---- Coverage ---------------------------------------------------------------------------------------------------- */

static bool is_unclaimed(const kw_report *report, const char *op, const char *dtype) {
  size_t length = strlen(op);
  for (uint32_t i = 0; i < report->unclaimed_count; i++) {
    const char *name = report->unclaimed[i];
    if (strncmp(name, op, length) == 0 && name[length] == '/' && strcmp(name + length + 1, dtype) == 0) return true;
  }
  return false;
}

static void put_cell(const kw_report_line *l, FILE *out) {
  if (l->pass + l->skipped + l->untried == l->cases) {
    fprintf(out, "<td class=\"good\">%u</td>", l->cases);
  } else {
    fprintf(out, "<td class=\"%s\">%u/%u</td>", l->failed ? "bad" : "warn", l->pass, l->cases);
  }
}

static void put_coverage(const kw_report *report, FILE *out) {
  if (report->op_count == 0) return;
  const char *dtypes[KW_KEY_DTYPE_COUNT];
  uint32_t count = kw_report_dtypes(report, dtypes);
  kw_report_line *lines = kw_report_op_lines(report);
  fputs(
      "<section id=\"coverage\">\n<h2>Coverage</h2>\n<p class=\"soft\">Cases per op and dtype: all pass, or how many; "
      "&#8211; is not claimed.</p>\n<div class=\"wide\"><table>\n<tr><th>op</th>",
      out);
  for (uint32_t d = 0; d < count; d++) kw_page_put(out, "<th>", dtypes[d], "</th>");
  fputs("</tr>\n", out);
  for (uint32_t first = 0, end; first < report->op_count; first = end) {
    end = kw_report_op_end(report, first);
    kw_page_put(out, "<tr><td class=\"id\">", report->ops[first].name, "</td>");
    for (uint32_t d = 0; d < count; d++) {
      int op = kw_report_op_find(report, first, end, dtypes[d]);
      if (op >= 0) {
        put_cell(&lines[op], out);
      } else {
        fputs(
            is_unclaimed(report, report->ops[first].name, dtypes[d]) ? "<td class=\"soft\">&#8211;</td>" : "<td></td>",
            out);
      }
    }
    fputs("</tr>\n", out);
  }
  fputs("</table></div>\n", out);
  if (report->unclaimed_count) {
    fprintf(out, "<details><summary>%u not claimed</summary><p class=\"id\">", report->unclaimed_count);
    for (uint32_t i = 0; i < report->unclaimed_count; i++) kw_page_put(out, i ? " " : "", report->unclaimed[i], "");
    fputs("</p></details>\n", out);
  }
  fputs("</section>\n", out);
  free(lines);
}

/* ---- Suites and failures ----------------------------------------------------------------------------------------- */

static void put_suites(const kw_report *report, FILE *out) {
  uint32_t count;
  kw_report_line *lines = kw_report_lines(report, &count);
  fputs(
      "<section id=\"suites\">\n<h2>Suites</h2>\n<div class=\"wide\"><table>\n<tr><th>suite</th><th>cases</th><th>pass"
      "</th><th>failed</th><th>unimplemented</th><th>n/a</th><th>not tried</th><th>inconclusive</th><th>largest "
      "error</th></tr>\n",
      out);
  for (uint32_t i = 0; i < count; i++) {
    const kw_report_line *l = &lines[i];
    fprintf(out, "<tr><td>%.*s</td><td>%u</td><td>%u</td><td%s>%u</td><td%s>%u</td><td>%u</td><td>%u</td><td%s>%u</td>",
            l->length, l->name, l->cases, l->pass, l->failed ? " class=\"bad\"" : "", l->failed,
            l->unimplemented ? " class=\"warn\"" : "", l->unimplemented, l->skipped, l->untried,
            l->inconclusive ? " class=\"warn\"" : "", l->inconclusive);
    if (l->worst) {
      const kw_report_op *op = &report->ops[l->worst->op];
      fprintf(out, "<td class=\"id\">%.3g of %g ", l->worst->error, op->bound);
      kw_page_put(out, "", op->unit, " <span class=\"soft\">");
      kw_page_put(out, "", op->name, "/");
      kw_page_put(out, "", op->dtype, "</span></td>");
    } else {
      fputs("<td></td>", out);
    }
    fputs("</tr>\n", out);
  }
  fputs("</table></div>\n</section>\n", out);
  free(lines);
}

/* The ids of failures that are alike, but the first. */
static void put_alike(const kw_report *report, const kw_report_group *group, FILE *out) {
  if (group->count < 2) return;
  char *where = kw_report_group_where(report, group);
  fprintf(out, "<details><summary>%u alike: ", group->count);
  kw_page_put(out, "", where, "</summary><p class=\"id\">");
  for (uint32_t i = 1; i < group->count; i++) kw_page_put(out, i > 1 ? " " : "", group->cases[i]->id, "");
  fputs("</p></details>\n", out);
  free(where);
}

static void put_failure(const kw_report *report, const kw_report_group *group, FILE *out) {
  const kw_report_case *c = group->cases[0];
  char *replay = kw_report_replay(report, c);
  fprintf(out, "<div class=\"failure\"><span class=\"verdict %s\">",
          c->outcome == KW_OUTCOME_INCONCLUSIVE ? "warn" : "bad");
  kw_page_put(out, "", kw_report_case_name(c), "</span> ");
  kw_page_put(out, "<strong class=\"id\">", c->id, "</strong> ");
  kw_page_put(out, "", c->defect, "\n");
  if (*c->text) kw_page_put(out, "<pre>", c->text, "</pre>\n");
  if (c->expected) kw_page_put(out, "<p>expected to fail: ", c->expected, "</p>\n");
  if (c->smallest) {
    kw_page_put(out, "<p>smallest failing: <code>", c->smallest, "</code> on ");
    kw_page_put(out, "", c->smallest_tensors, "</p>\n");
  }
  if (c->passes_alone) kw_page_put(out, "<p>", kw_report_case_alone(c), "</p>\n");
  kw_page_put(out, "<pre class=\"soft\">", replay, "</pre>\n");
  put_alike(report, group, out);
  fputs("</div>\n", out);
  free(replay);
}

static void put_failures(const kw_report *report, FILE *out) {
  uint32_t count, hidden = 0;
  kw_report_group *groups = kw_report_groups(report, &count);
  if (count) fputs("<section id=\"failures\">\n<h2>Failures</h2>\n", out);
  for (uint32_t g = 0; g < count; g++) {
    if (g < SHOWN_FAILURES) put_failure(report, &groups[g], out);
    if (g >= SHOWN_FAILURES) hidden += groups[g].count;
  }
  if (hidden) fprintf(out, "<p>and %u more, in the JSON report</p>\n", hidden);
  if (count) fputs("</section>\n", out);
  kw_report_groups_free(groups, count);
}

static bool is_unimplemented(const kw_report *report, uint32_t i) {
  return report->cases[i].outcome == KW_OUTCOME_UNIMPLEMENTED;
}

/* Cases that no kernel took, a fold for each op: of a plugin that has just begun they are thousands. */
static void put_unimplemented(const kw_report *report, FILE *out) {
  uint32_t shown = 0;
  for (uint32_t first = 0, end; first < report->case_count; first = end) {
    const char *op = report->cases[first].id;
    int length = (int)strcspn(op, "/");
    uint32_t count = 0;
    for (end = first; end < report->case_count && strncmp(report->cases[end].id, op, (size_t)length + 1) == 0; end++) {
      count += is_unimplemented(report, end);
    }
    if (!count) continue;
    if (shown++ == 0) {
      fputs(
          "<section id=\"unimplemented\">\n<h2>Unimplemented</h2>\n<p class=\"soft\">Claimed, but no kernel took the "
          "call.</p>\n",
          out);
    }
    fprintf(out, "<details><summary>%.*s: %u %s</summary><p class=\"id\">", length, op, count,
            count == 1 ? "case" : "cases");
    for (uint32_t i = first; i < end; i++) {
      if (is_unimplemented(report, i)) kw_page_put(out, "", report->cases[i].id, " ");
    }
    fputs("</p></details>\n", out);
  }
  if (shown) fputs("</section>\n", out);
}

/* What was not tried, with the reasons. */
static void put_untried(const kw_report *report, FILE *out) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < report->case_count; i++) {
    const kw_report_case *c = &report->cases[i];
    if (c->outcome != KW_OUTCOME_NOT_TRIED) continue;
    if (count++ == 0) fputs("<section id=\"untried\">\n<h2>Not tried</h2>\n<dl>\n", out);
    kw_page_put(out, "<dt class=\"id\">", c->id, "</dt>");
    kw_page_put(out, "<dd>", c->text, "</dd>\n");
  }
  if (count) fputs("</dl>\n</section>\n", out);
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* The bars of one op: its cases by their largest error, as a part of the bound. */
static void put_bars(const uint32_t bins[KW_REPORT_BINS], FILE *out) {
  uint32_t most = 1;
  for (uint32_t i = 0; i < KW_REPORT_BINS; i++) most = bins[i] > most ? bins[i] : most;
  fprintf(out, "<td><svg width=\"%d\" height=\"%d\" role=\"img\">", KW_REPORT_BINS * BAR_WIDTH, BAR_HEIGHT + 1);
  fprintf(out, "<line x1=\"0\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>", KW_REPORT_BINS * BAR_WIDTH, BAR_HEIGHT, BAR_HEIGHT);
  for (int i = 0; i < KW_REPORT_BINS; i++) {
    if (!bins[i]) continue;
    int height = 2 + (int)((BAR_HEIGHT - 2) * (double)bins[i] / most);
    fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"%s><title>", i * BAR_WIDTH, BAR_HEIGHT - height,
            BAR_WIDTH - 2, height, i == KW_REPORT_BINS - 1 ? " class=\"over\"" : "");
    if (i == 0) fprintf(out, "exact: %u", bins[i]);
    if (i == KW_REPORT_BINS - 1) fprintf(out, "beyond the bound: %u", bins[i]);
    if (i > 0 && i < KW_REPORT_BINS - 1) fprintf(out, "up to %g of the bound: %u", ldexp(1, i - 9), bins[i]);
    fputs("</title></rect>", out);
  }
  fputs("</svg></td>", out);
}

static void put_errors(const kw_report *report, FILE *out) {
  if (report->op_count == 0) return;
  fputs(
      "<section id=\"errors\">\n<h2>Errors</h2>\n<p class=\"soft\">Cases by their largest error as a part of the op's "
      "bound: exact, up to 1/256, 1/128, &#8230; 1/2, 1, and beyond. Ops that have to be exact are not shown unless "
      "they are not.</p>\n<div class=\"wide\"><table>\n<tr><th>op</th><th>bound</th><th>cases</th></tr>\n",
      out);
  for (uint32_t first = 0, end; first < report->op_count; first = end) {
    end = kw_report_op_end(report, first);
    uint32_t sum[KW_REPORT_BINS] = {0}, inexact = 0;
    for (uint32_t op = first; op < end; op++) {
      uint32_t bins[KW_REPORT_BINS];
      kw_report_histogram(report, (int)op, bins);
      for (uint32_t i = 0; i < KW_REPORT_BINS; i++) sum[i] += bins[i];
      for (uint32_t i = 1; i < KW_REPORT_BINS; i++) inexact += bins[i];
    }
    if (!inexact) continue;
    kw_page_put(out, "<tr><td class=\"id\">", report->ops[first].name, "</td>");
    fprintf(out, "<td>%g ", report->ops[first].bound);
    kw_page_put(out, "", report->ops[first].unit, "</td>");
    put_bars(sum, out);
    fputs("</tr>\n", out);
  }
  fputs("</table></div>\n</section>\n", out);
}

/* ---- Times ------------------------------------------------------------------------------------------------------- */

static int slower_first(const void *a, const void *b) {
  const kw_report_case *const *x = a, *const *y = b;
  return ((*x)->seconds < (*y)->seconds) - ((*x)->seconds > (*y)->seconds);
}

static void put_times(const kw_report *report, FILE *out) {
  uint32_t count;
  kw_report_line *lines = kw_report_lines(report, &count);
  const kw_report_case **slowest = calloc(report->case_count + 1u, sizeof *slowest);
  if (!slowest) kw_out_of_memory();
  for (uint32_t i = 0; i < report->case_count; i++) slowest[i] = &report->cases[i];
  qsort(slowest, report->case_count, sizeof *slowest, slower_first);
  fprintf(out,
          "<section id=\"times\">\n<h2>Times</h2>\n<p class=\"soft\">The run took %.1f s. Times of cases are of "
          "workers and judges together.</p>\n",
          report->seconds);
  fputs("<div class=\"wide\"><table>\n<tr><th>suite</th><th>seconds</th></tr>\n", out);
  for (uint32_t i = 0; i < count; i++) {
    fprintf(out, "<tr><td>%.*s</td><td>%.3f</td></tr>\n", lines[i].length, lines[i].name, lines[i].seconds);
  }
  fputs("</table></div>\n<h2>Slowest cases</h2>\n<div class=\"wide\"><table>\n<tr><th>case</th><th>seconds</th></tr>\n",
        out);
  for (uint32_t i = 0; i < report->case_count && i < SHOWN_SLOWEST; i++) {
    kw_page_put(out, "<tr><td class=\"id\">", slowest[i]->id, "</td>");
    fprintf(out, "<td>%.3f</td></tr>\n", slowest[i]->seconds);
  }
  fputs("</table></div>\n</section>\n", out);
  free(slowest);
  free(lines);
}

void kw_report_put_html(const kw_report *report, FILE *out) {
  kw_page_begin(out, report->device, kw_report_verdict_name(kw_report_total(report).verdict));
  put_verdict(report, out);
  put_failures(report, out);
  put_unimplemented(report, out);
  put_untried(report, out);
  put_suites(report, out);
  put_coverage(report, out);
  put_errors(report, out);
  put_times(report, out);
  kw_page_end(out);
}
