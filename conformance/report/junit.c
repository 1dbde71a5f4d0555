/* SPDX-License-Identifier: Apache-2.0
 *
 * JUnit XML: a testsuite per contract suite and per op. Crashes and timeouts are errors, and so is what is
 * inconclusive; known failures are skipped, with their reason, and so is what a run did not come to.
 */
#include "report/formats.h"

#include "report/put_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct suite_counts {
  uint32_t tests, failures, errors, skipped;
  double seconds;
} suite_counts;

typedef enum kind { KIND_PASS, KIND_FAILURE, KIND_ERROR, KIND_SKIPPED } kind;

static kind kind_of(const kw_report_case *c) {
  if (c->outcome == KW_OUTCOME_NONE) return KIND_SKIPPED;
  if (!kw_report_case_is_failure(c)) return c->outcome == KW_OUTCOME_PASS ? KIND_PASS : KIND_SKIPPED;
  if (c->outcome == KW_OUTCOME_INCONCLUSIVE) return KIND_ERROR;
  if (c->expected && c->outcome != KW_OUTCOME_PASS) return KIND_SKIPPED;
  return c->outcome == KW_OUTCOME_CRASH || c->outcome == KW_OUTCOME_TIMEOUT ? KIND_ERROR : KIND_FAILURE;
}

static void count(const kw_report_case *c, suite_counts *counts) {
  counts->tests++;
  counts->failures += kind_of(c) == KIND_FAILURE;
  counts->errors += kind_of(c) == KIND_ERROR;
  counts->skipped += kind_of(c) == KIND_SKIPPED;
  counts->seconds += c->seconds;
}

static void put_counts(const suite_counts *counts, FILE *out) {
  fprintf(out, "tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\" time=\"%.6f\"", counts->tests,
          counts->failures, counts->errors, counts->skipped, counts->seconds);
}

static void put_property(FILE *out, const char *name, const char *value) {
  fprintf(out, "      <property name=\"%s\" value=\"", name);
  kw_text_put_markup(out, value);
  fputs("\"/>\n", out);
}

static void put_properties(const kw_report *report, FILE *out) {
  char seed[24], shard[32];
  snprintf(seed, sizeof seed, "%" PRIu64, report->seed);
  snprintf(shard, sizeof shard, "%u/%u", report->shard, report->shards);
  fputs("    <properties>\n", out);
  put_property(out, "verdict", kw_report_verdict_name(kw_report_total(report).verdict));
  char *summary = kw_report_verdict_text(report);
  put_property(out, "summary", summary);
  free(summary);
  put_property(out, "scope", report->scope);
  put_property(out, "suite", report->suite_version);
  put_property(out, "op_set", report->op_set_version);
  put_property(out, "device", report->device);
  put_property(out, "plugin", report->plugin);
  put_property(out, "plugin_sha256", report->plugin_hash);
  put_property(out, "tolerances_sha256", report->tolerance_hash);
  put_property(out, "cases_sha256", report->case_hash);
  put_property(out, "expect_sha256", report->expect_hash);
  put_property(out, "seed", seed);
  put_property(out, "chosen", report->chosen);
  put_property(out, "shard", shard);
  fputs("    </properties>\n", out);
}

static void put_details(const kw_report *report, const kw_report_case *c, FILE *out) {
  kw_text_put_markup(out, c->text);
  if (!kw_report_case_is_failure(c)) return;
  if (c->smallest) {
    fputs("&#10;smallest failing: ", out);
    kw_text_put_markup(out, c->smallest);
    fputs(" on ", out);
    kw_text_put_markup(out, c->smallest_tensors);
  }
  if (c->passes_alone) fprintf(out, "&#10;%s", kw_report_case_alone(c));
  char *replay = kw_report_replay(report, c);
  fputs("&#10;replay: ", out);
  kw_text_put_markup(out, replay);
  free(replay);
}

static void put_case(const kw_report *report, const kw_report_case *c, FILE *out) {
  static const char *const tags[] = {[KIND_FAILURE] = "failure", [KIND_ERROR] = "error", [KIND_SKIPPED] = "skipped"};
  const char *slash = strchr(c->id, '/');
  fputs("    <testcase classname=\"", out);
  kw_text_put_markup(out, report->device);
  fprintf(out, ".%.*s\" name=\"", (int)(slash - c->id), c->id);
  kw_text_put_markup(out, slash + 1);
  fprintf(out, "\" time=\"%.6f\"", c->seconds);
  kind k = kind_of(c);
  if (k == KIND_PASS) {
    fputs("/>\n", out);
    return;
  }
  fprintf(out, ">\n      <%s message=\"", tags[k]);
  kw_text_put_markup(out, kw_report_case_name(c));
  const char *why = c->expected ? c->expected : c->defect;
  if (*why) fputs(": ", out);
  kw_text_put_markup(out, why);
  fputs("\">", out);
  put_details(report, c, out);
  fprintf(out, "</%s>\n    </testcase>\n", tags[k]);
}

/* The end of the cases that belong to one suite or op, as the first part of their ids says. */
static uint32_t end_of_suite(const kw_report *report, uint32_t first) {
  size_t length = strcspn(report->cases[first].id, "/") + 1;
  uint32_t end = first + 1;
  while (end < report->case_count && strncmp(report->cases[end].id, report->cases[first].id, length) == 0) end++;
  return end;
}

void kw_report_put_junit(const kw_report *report, FILE *out) {
  suite_counts all = {0};
  for (uint32_t i = 0; i < report->case_count; i++) count(&report->cases[i], &all);
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"keyway conform\" ", out);
  put_counts(&all, out);
  fputs(">\n", out);
  for (uint32_t i = 0; i < report->case_count;) {
    uint32_t end = end_of_suite(report, i);
    suite_counts counts = {0};
    for (uint32_t k = i; k < end; k++) count(&report->cases[k], &counts);
    fprintf(out, "  <testsuite name=\"%.*s\" ", (int)strcspn(report->cases[i].id, "/"), report->cases[i].id);
    put_counts(&counts, out);
    fputs(">\n", out);
    put_properties(report, out);
    for (; i < end; i++) put_case(report, &report->cases[i], out);
    fputs("  </testsuite>\n", out);
  }
  fputs("</testsuites>\n", out);
}
