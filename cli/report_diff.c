/* SPDX-License-Identifier: Apache-2.0
 *
 * Two reports compared: verdicts, ops, cases by their outcomes before and after, and histograms of errors.
 */
#include "report_diff.h"

#include "base/need.h"
#include "base/text.h"
#include "report/diff.h"
#include "report/formats.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_CASES 10 /* of a kind, without --verbose */
#define SHOWN_TEXT 80  /* bytes of what a case says */

/* ---- For people -------------------------------------------------------------------------------------------------- */

static void put_pair(FILE *out, const char *what, const char *before, const char *after) {
  if (strcmp(before, after) == 0) {
    fprintf(out, "%-10s%s\n", what, before);
  } else {
    fprintf(out, "%-10s%s\n%-10s-> %s\n", what, before, "", after);
  }
}

static void put_heads(const kw_report_diff *diff, FILE *out) {
  char *before = kw_report_verdict_text(diff->before), *after = kw_report_verdict_text(diff->after);
  put_pair(out, "verdict", before, after);
  put_pair(out, "device", diff->before->device, diff->after->device);
  put_pair(out, "plugin", diff->before->plugin_hash, diff->after->plugin_hash);
  put_pair(out, "suite", diff->before->suite_version, diff->after->suite_version);
  free(before);
  free(after);
  if (diff->before->seed != diff->after->seed) fputs("          other numbers: of another seed\n", out);
}

/* The dtypes of each op in a line. */
static void put_ops(const char *title, const kw_report_op **ops, uint32_t count, FILE *out) {
  if (count) fprintf(out, "\n%s\n", title);
  for (uint32_t i = 0; i < count; i++) {
    const bool begins = i == 0 || strcmp(ops[i - 1]->name, ops[i]->name) != 0;
    const bool ends = i + 1 == count || strcmp(ops[i + 1]->name, ops[i]->name) != 0;
    if (begins) fprintf(out, "  %s:", ops[i]->name);
    fprintf(out, " %s%s", ops[i]->dtype, ends ? "\n" : "");
  }
}

static void put_case(const kw_report_case *c, uint32_t already, uint32_t shown, FILE *out) {
  if (already >= shown) return;
  fprintf(out, "  %s", c->id);
  if (kw_report_case_is_failure(c) && (*c->defect || *c->text)) {
    const char *why = *c->defect ? c->defect : c->text;
    const size_t length = strcspn(why, "\n");
    fprintf(out, "  %.*s%s", (int)(length < SHOWN_TEXT ? length : SHOWN_TEXT), why, length > SHOWN_TEXT ? "..." : "");
  }
  fputc('\n', out);
}

static void put_more(uint32_t count, uint32_t shown, FILE *out) {
  if (count > shown) fprintf(out, "  and %u more: --verbose, or --json FILE\n", count - shown);
}

/* Cases that changed, those from the same outcome to the same together, in the order of the first of each kind. */
static void put_changes(const kw_report_diff *diff, uint32_t shown, FILE *out) {
  bool *done = kw_need(diff->change_count * sizeof *done);
  for (uint32_t i = 0; i < diff->change_count; i++) {
    if (done[i]) continue;
    const char *before = kw_report_case_name(diff->changes[i].before),
               *after = kw_report_case_name(diff->changes[i].after);
    uint32_t count = 0;
    fprintf(out, "\n%s -> %s\n", before, after);
    for (uint32_t j = i; j < diff->change_count; j++) {
      const kw_report_change *other = &diff->changes[j];
      if (strcmp(kw_report_case_name(other->before), before) != 0) continue;
      if (strcmp(kw_report_case_name(other->after), after) != 0) continue;
      done[j] = true;
      put_case(other->after, count++, shown, out);
    }
    put_more(count, shown, out);
  }
  free(done);
}

static void put_cases(const char *title, const kw_report_case **cases, uint32_t count, uint32_t shown, FILE *out) {
  if (count) fprintf(out, "\n%s\n", title);
  for (uint32_t i = 0; i < count; i++) put_case(cases[i], i, shown, out);
  put_more(count, shown, out);
}

static void put_shifts(const kw_report_diff *diff, uint32_t shown, FILE *out) {
  if (diff->shift_count) fputs("\nerrors: cases by their largest one, as a part of the op's bound\n", out);
  for (uint32_t i = 0; i < diff->shift_count && i < shown; i++) {
    const kw_report_shift *s = &diff->shifts[i];
    const char *comma = "";
    fprintf(out, "  %s/%s:", s->op->name, s->op->dtype);
    for (int b = 0; b < KW_REPORT_BINS; b++) {
      if (s->before[b] == s->after[b]) continue;
      fputs(comma, out);
      if (b == 0) fputs(" exact", out);
      if (b == KW_REPORT_BINS - 1) fputs(" beyond it", out);
      if (b > 0 && b < KW_REPORT_BINS - 1) fprintf(out, " up to 1/%d", 1 << (KW_REPORT_BINS - 2 - b));
      fprintf(out, " %u -> %u", s->before[b], s->after[b]);
      comma = ",";
    }
    fputc('\n', out);
  }
  put_more(diff->shift_count, shown, out);
}

static void put_text(const kw_report_diff *diff, bool verbose, FILE *out) {
  const uint32_t shown = verbose ? UINT32_MAX : SHOWN_CASES;
  put_heads(diff, out);
  put_ops("ops lost", diff->lost, diff->lost_count, out);
  put_ops("ops gained", diff->gained, diff->gained_count, out);
  put_changes(diff, shown, out);
  put_cases("cases no longer there", diff->gone_cases, diff->gone_count, shown, out);
  put_cases("new cases", diff->new_cases, diff->new_count, shown, out);
  put_shifts(diff, shown, out);
  if (kw_report_diff_none(diff)) fprintf(out, "\nnothing is different: %u cases\n", diff->after->case_count);
}

/* ---- For programs ------------------------------------------------------------------------------------------------ */

static void add_head(cJSON *json, const char *name, const kw_report *report) {
  char *verdict = kw_report_verdict_text(report), seed[24];
  cJSON *head = cJSON_AddObjectToObject(json, name);
  cJSON_AddStringToObject(head, "verdict", verdict);
  cJSON_AddStringToObject(head, "device", report->device);
  cJSON_AddStringToObject(head, "plugin", report->plugin);
  cJSON_AddStringToObject(head, "plugin_sha256", report->plugin_hash);
  cJSON_AddStringToObject(head, "suite_version", report->suite_version);
  snprintf(seed, sizeof seed, "%" PRIu64, report->seed);
  cJSON_AddStringToObject(head, "seed", seed); /* as in reports: JSON's numbers are too narrow for some */
  free(verdict);
}

static void add_ops(cJSON *json, const char *name, const kw_report_op **ops, uint32_t count) {
  cJSON *list = cJSON_AddArrayToObject(json, name);
  for (uint32_t i = 0; i < count; i++) {
    cJSON *op = cJSON_CreateObject();
    cJSON_AddStringToObject(op, "op", ops[i]->name);
    cJSON_AddStringToObject(op, "dtype", ops[i]->dtype);
    cJSON_AddItemToArray(list, op);
  }
}

static void add_case(cJSON *list, const kw_report_case *before, const kw_report_case *after) {
  cJSON *one = cJSON_CreateObject();
  cJSON_AddStringToObject(one, "id", (before ? before : after)->id);
  if (before) cJSON_AddStringToObject(one, "before", kw_report_case_name(before));
  if (after) cJSON_AddStringToObject(one, "after", kw_report_case_name(after));
  cJSON_AddItemToArray(list, one);
}

static void add_bins(cJSON *json, const char *name, const uint32_t bins[KW_REPORT_BINS]) {
  cJSON *list = cJSON_AddArrayToObject(json, name);
  for (uint32_t b = 0; b < KW_REPORT_BINS; b++) cJSON_AddItemToArray(list, cJSON_CreateNumber(bins[b]));
}

static char *make_json(const kw_report_diff *diff) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddBoolToObject(json, "same", kw_report_diff_none(diff));
  add_head(json, "before", diff->before);
  add_head(json, "after", diff->after);
  add_ops(json, "ops_lost", diff->lost, diff->lost_count);
  add_ops(json, "ops_gained", diff->gained, diff->gained_count);
  cJSON *cases = cJSON_AddArrayToObject(json, "cases");
  for (uint32_t i = 0; i < diff->change_count; i++) add_case(cases, diff->changes[i].before, diff->changes[i].after);
  for (uint32_t i = 0; i < diff->gone_count; i++) add_case(cases, diff->gone_cases[i], NULL);
  for (uint32_t i = 0; i < diff->new_count; i++) add_case(cases, NULL, diff->new_cases[i]);
  cJSON *errors = cJSON_AddArrayToObject(json, "errors");
  for (uint32_t i = 0; i < diff->shift_count; i++) {
    cJSON *one = cJSON_CreateObject();
    cJSON_AddStringToObject(one, "op", diff->shifts[i].op->name);
    cJSON_AddStringToObject(one, "dtype", diff->shifts[i].op->dtype);
    add_bins(one, "before", diff->shifts[i].before);
    add_bins(one, "after", diff->shifts[i].after);
    cJSON_AddItemToArray(errors, one);
  }
  char *text = cJSON_Print(json);
  cJSON_Delete(json);
  if (!text) kw_out_of_memory();
  return text;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static bool write_json(const kw_report_diff *diff, const char *path, const kw_cli_command *command) {
  char *text = make_json(diff);
  const bool good = kw_text_write_file(path, text);
  if (!good) kw_cli_complain(command, "writing %s failed: %s", path, strerror(errno));
  free(text);
  return good;
}

int kw_cli_report_diff(const kw_cli_args *args) {
  const kw_cli_command *command = kw_cli_args_command(args);
  const char *path = kw_cli_args_value(args, "--json");
  kw_report reports[2];
  char message[512] = "name two reports: keyway report diff BEFORE AFTER";
  uint32_t read = 0;
  bool good = kw_cli_args_positional(args, 2) && !kw_cli_args_positional(args, 3);
  while (good && read < 2) {
    good = kw_report_read(kw_cli_args_positional(args, read + 1), &reports[read], message, sizeof message);
    read += good;
  }
  int code = KW_CLI_USAGE;
  if (good) {
    kw_report_diff diff = kw_report_compare(&reports[0], &reports[1]);
    put_text(&diff, kw_cli_args_has(args, "--verbose") || kw_cli_args_has(args, "-v"),
             path && strcmp(path, "-") == 0 ? stderr : stdout);
    if (!path || write_json(&diff, path, command)) code = kw_report_diff_none(&diff) ? KW_CLI_OK : KW_CLI_FAILED;
    kw_report_diff_free(&diff);
  } else {
    kw_cli_complain(command, "%s", message);
  }
  while (read > 0) kw_report_free(&reports[--read]);
  return code;
}
