/* SPDX-License-Identifier: Apache-2.0
 *
 * The Test Anything Protocol, version 13 (readers of version 14 take it too). What does not apply is # SKIP, as is what
 * was not tried or not run; a known failure # TODO with its reason. An unexpected pass is "not ok": TAP itself would
 * let it pass.
 */
#include "report/formats.h"

#include "report/put_text.h"

#include <inttypes.h>
#include <stdlib.h>

/* In descriptions and reasons, '#' and '\' have to be escaped. */
static void put_description(FILE *out, const char *text) {
  for (; *text; text++) {
    if (*text == '#' || *text == '\\') fputc('\\', out);
    fputc(*text == '\n' ? ' ' : *text, out);
  }
}

static void put_pair(FILE *out, const char *key, const char *text) {
  fprintf(out, "  %s: ", key);
  kw_text_put_json(out, text);
  fputc('\n', out);
}

static void put_diagnostics(const kw_report *report, const kw_report_case *c, FILE *out) {
  char *replay = kw_report_replay(report, c);
  fputs("  ---\n", out);
  put_pair(out, "outcome", kw_report_case_name(c));
  if (*c->defect) put_pair(out, "defect", c->defect);
  if (*c->text) put_pair(out, "message", c->text);
  if (c->expected) put_pair(out, "expected", c->expected);
  if (c->smallest) put_pair(out, "smallest", c->smallest);
  if (c->smallest) put_pair(out, "smallest_tensors", c->smallest_tensors);
  if (c->passes_alone) put_pair(out, "alone", kw_report_case_alone(c));
  put_pair(out, "replay", replay);
  fputs("  ...\n", out);
  free(replay);
}

static void put_comment(FILE *out, const char *key, const char *text) {
  fprintf(out, "# %s: ", key);
  kw_text_put_line(out, *text ? text : "none");
  fputc('\n', out);
}

static void put_head(const kw_report *report, FILE *out) {
  fputs("TAP version 13\n", out);
  put_comment(out, "device", report->device);
  put_comment(out, "verdict", kw_report_verdict_name(kw_report_total(report).verdict));
  char *summary = kw_report_verdict_text(report);
  put_comment(out, "summary", summary);
  free(summary);
  put_comment(out, "scope", report->scope);
  put_comment(out, "suite", report->suite_version);
  put_comment(out, "op set", report->op_set_version);
  put_comment(out, "plugin", report->plugin);
  put_comment(out, "plugin sha256", report->plugin_hash);
  put_comment(out, "tolerances sha256", report->tolerance_hash);
  put_comment(out, "cases sha256", report->case_hash);
  put_comment(out, "expect sha256", report->expect_hash);
  fprintf(out, "# seed: %" PRIu64 "\n", report->seed);
  put_comment(out, "chosen", report->chosen);
  fprintf(out, "# shard: %u/%u\n1..%u\n", report->shard, report->shards, report->case_count);
}

void kw_report_put_tap(const kw_report *report, FILE *out) {
  put_head(report, out);
  for (uint32_t i = 0; i < report->case_count; i++) {
    const kw_report_case *c = &report->cases[i];
    bool failure = kw_report_case_is_failure(c) && c->outcome != KW_OUTCOME_NONE;
    fprintf(out, "%s %u - ", failure ? "not ok" : "ok", i + 1);
    put_description(out, c->id);
    if (c->outcome == KW_OUTCOME_NONE) {
      fputs(" # SKIP not run", out);
    } else if (c->outcome == KW_OUTCOME_SKIP || c->outcome == KW_OUTCOME_NOT_TRIED) {
      fputs(c->outcome == KW_OUTCOME_SKIP ? " # SKIP " : " # SKIP not tried: ", out);
      put_description(out, c->text);
    } else if (failure && c->expected && c->outcome != KW_OUTCOME_PASS) {
      fputs(" # TODO ", out);
      put_description(out, c->expected);
    }
    fputc('\n', out);
    if (failure) put_diagnostics(report, c, out);
  }
  if (report->stopped) fputs("Bail out! stopped before it was done\n", out);
}
