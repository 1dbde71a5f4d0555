/* SPDX-License-Identifier: Apache-2.0
 *
 * From a run to its report.
 */
#include "report/make.h"

#include "base/need.h"
#include "base/suite_version.h"
#include "base/text.h"
#include "judge/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Numbers are as a report shows them, so that what is worked out from a report read back is the same. */
static double rounded(double error) {
  char text[32];
  if (!isfinite(error)) return INFINITY;
  snprintf(text, sizeof text, "%.6g", error);
  return strtod(text, NULL);
}

static double microseconds(double seconds) {
  return round(seconds * 1e6) / 1e6;
}

/* printf into a clean string of its own. */
static __attribute__((format(printf, 1, 2))) char *text_of(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *raw = NULL;
  if (vasprintf(&raw, format, arguments) < 0) kw_out_of_memory();
  va_end(arguments);
  char *clean = kw_text_clean(raw);
  free(raw);
  return clean;
}

/* "core/ftz-f32, only --op 'add.*'": a verdict about a part says so wherever it is printed. */
static char *scope_of(const kw_run *run, const char *chosen) {
  char text[256];
  size_t used =
      (size_t)snprintf(text, sizeof text, "%s", run->options->level.text ? run->options->level.text : "claims");
  for (kw_dtype d = 0; d < KW_DTYPE_COUNT; d++) {
    if (!(run->facts.flush & KW_DTYPE_BIT(d)) || used >= sizeof text) continue;
    used += (size_t)snprintf(text + used, sizeof text - used, "/ftz-%s", kw_element_name(d));
  }
  static const char *const efforts[] = {
      [KW_EFFORT_QUICK] = ", quick", [KW_EFFORT_NORMAL] = "", [KW_EFFORT_THOROUGH] = ", thorough"};
  return text_of("%s%s%s%s", text, efforts[run->options->effort], *chosen ? ", only " : "", chosen);
}

static char *chosen_of(const kw_run_options *options) {
  if (options->after) return text_of("--after '%s' --case '%s'", options->after, options->case_id);
  if (options->case_id) return text_of("--case '%s'", options->case_id);
  if (options->exhaustive) {
    static const kw_dtype dtypes[] = {KW_F32, KW_F16, KW_BF16};
    char list[32] = "", share[16] = "";
    if (options->share > 1) snprintf(share, sizeof share, "/%u", options->share);
    for (size_t i = 0, used = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
      if (!(options->exhaustive & KW_DTYPE_BIT(dtypes[i]))) continue;
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%s%s", used ? "," : "", kw_element_name(dtypes[i]),
                               dtypes[i] == KW_F32 ? share : "");
    }
    const bool some = options->op_globs != NULL;
    return text_of("--exhaustive %s%s%s%s", list, some ? " --op '" : "", some ? options->op_globs : "",
                   some ? "'" : "");
  }
  if (options->suites && options->op_globs) return text_of("--suite %s --op '%s'", options->suites, options->op_globs);
  if (options->suites) return text_of("--suite %s", options->suites);
  return options->op_globs ? text_of("--op '%s'", options->op_globs) : text_of("%s", "");
}

static char *replay_of(const kw_run_options *options) {
  char *text = text_of("keyway conform --device %s", options->device);
  for (uint32_t i = 0; i < options->plugin_count; i++) {
    char *longer = text_of("%s --plugin '%s'", text, options->plugins[i]);
    free(text);
    text = longer;
  }
  static const char *const efforts[] = {
      [KW_EFFORT_QUICK] = " --quick", [KW_EFFORT_NORMAL] = "", [KW_EFFORT_THOROUGH] = " --thorough"};
  char *whole = text_of("%s%s --seed %" PRIu64, text, efforts[options->effort], options->seed);
  free(text);
  if (options->timeout_scale == 1) return whole;
  text = text_of("%s --timeout-scale %g", whole, options->timeout_scale);
  free(whole);
  return text;
}

static int add_op(kw_report *report, const kw_run_case *c) {
  if (!c->op) return -1;
  char *dtype = text_of("%s", kw_element_name(c->dtype));
  kw_report_op *last = report->op_count ? &report->ops[report->op_count - 1] : NULL;
  if (last && strcmp(last->name, c->op->op.name) == 0 && strcmp(last->dtype, dtype) == 0) {
    free(dtype);
    return (int)report->op_count - 1;
  }
  kw_op_bound bound = kw_rule_shown(&c->op->op);
  report->ops[report->op_count] = (kw_report_op){.name = kw_text_clean(c->op->op.name),
                                                 .dtype = dtype,
                                                 .family = kw_text_clean(kw_suite_op_family(&c->op->op)),
                                                 .bound = rounded(kw_rule_bound(&bound)),
                                                 .unit = kw_text_clean(kw_rule_unit(&bound))};
  return (int)report->op_count++;
}

static void add_case(kw_report *report, const kw_run_case *c) {
  report->cases[report->case_count] =
      (kw_report_case){.id = kw_text_clean(c->id),
                       .op = add_op(report, c),
                       .outcome = c->result.outcome,
                       .error = rounded(c->result.error),
                       .worst = kw_text_clean(c->result.worst),
                       .self_referenced = c->result.self_referenced,
                       .unreferenced = c->result.unreferenced,
                       .tf32 = c->result.tf32,
                       .fast = c->result.fast,
                       .defect = kw_text_clean(c->result.defect),
                       .text = kw_text_clean(c->result.text),
                       .expected = c->expected ? kw_text_clean(c->expected) : NULL,
                       .smallest = c->smallest ? kw_text_clean(c->smallest) : NULL,
                       .smallest_tensors = c->smallest ? kw_text_clean(c->smallest_tensors) : NULL,
                       .passes_alone = c->passes_alone,
                       .after = c->after ? kw_text_clean(c->after) : NULL,
                       .seconds = microseconds(c->seconds)};
  report->case_count++;
}

/* Why a vendor's op that has cases is not judged by them, or not all of it; NULL: it is. The caller's to free. */
static char *gap_in_cases(const kw_run *run, const kw_op_facts *op) {
  uint32_t cases = 0, refused = 0, unreferenced = 0;
  for (uint32_t i = 0; i < run->case_count; i++) {
    const kw_run_case *c = &run->cases[i];
    if (c->op != op) continue;
    cases++;
    refused += c->result.outcome == KW_OUTCOME_SKIP;
    unreferenced += c->result.unreferenced;
  }
  if (cases == 0) return NULL;
  if (refused == cases) return text_of("it refused all arguments that the suite knows");
  if (unreferenced) return text_of("its results are not judged, for it has no reference that the suite can run");
  for (uint32_t i = 0; i < op->op.arg_count; i++) {
    const kw_suite_arg *arg = &op->op.args[i];
    if (arg->tag != KW_TAG_STRING || arg->text_count > 0) continue;
    return text_of("no text for its argument %s is known but the default", arg->name);
  }
  return NULL;
}

static void add_gap(kw_report *report, const kw_run *run, uint32_t op) {
  const kw_op_facts *facts = &run->facts.ops[op];
  if (!facts->op.vendor || run->options->case_id) return;
  char *why =
      run->without_cases && run->without_cases[op] ? kw_text_clean(run->without_cases[op]) : gap_in_cases(run, facts);
  if (why) report->gaps[report->gap_count++] = (kw_report_gap){kw_text_clean(facts->op.name), why};
}

static void add_counts(kw_run_counts *sum, const kw_run_counts *more) {
  sum->launches += more->launches;
  sum->decomposed += more->decomposed;
  sum->fallbacks += more->fallbacks;
  sum->expectations += more->expectations;
  sum->modules_built += more->modules_built;
  sum->modules_cached += more->modules_cached;
  sum->build_ns += more->build_ns;
}

void kw_report_make(const kw_run *run, kw_report *out_report) {
  const kw_run_options *options = run->options;
  const char *slash = strrchr(run->facts.plugin_path, '/');
  uint32_t table_ops;
  kw_suite_ops(&table_ops);
  kw_run_counts sum = run->before_counts;
  for (uint32_t i = 0; i < run->case_count; i++) add_counts(&sum, &run->cases[i].counts);
  char *chosen = chosen_of(options);
  *out_report = (kw_report){.suite_version = text_of("%s", KW_SUITE_VERSION),
                            .op_set_version = text_of("%s", KW_OP_SET_VERSION),
                            .device = kw_text_clean(run->facts.device),
                            .product = kw_text_clean(run->facts.product),
                            .emulated = run->facts.emulated,
                            .level = text_of("%s", options->level.text ? options->level.text : ""),
                            .scope = scope_of(run, chosen),
                            .chosen = chosen,
                            .replay = replay_of(options),
                            .plugin = kw_text_clean(slash ? slash + 1 : run->facts.plugin_path),
                            .seed = options->seed,
                            .table_ops = table_ops,
                            .shard = options->shard,
                            .shards = options->shards,
                            .stopped = run->stopped,
                            .launches = sum.launches,
                            .expectations = sum.expectations,
                            .decomposed = sum.decomposed,
                            .fallbacks = sum.fallbacks,
                            .modules_built = sum.modules_built,
                            .modules_cached = sum.modules_cached,
                            .build_seconds = microseconds((double)sum.build_ns / 1e9),
                            .seconds = microseconds(run->seconds)};
  memcpy(out_report->plugin_hash, run->plugin_hash, KW_DIGEST_SIZE);
  memcpy(out_report->case_hash, run->case_hash, KW_DIGEST_SIZE);
  memcpy(out_report->expect_hash, run->expect_hash, KW_DIGEST_SIZE);
  kw_digest_tolerances(out_report->tolerance_hash);
  out_report->ops = calloc(run->case_count + 1u, sizeof *out_report->ops);
  out_report->cases = calloc(run->case_count + 1u, sizeof *out_report->cases);
  out_report->unclaimed = calloc(run->unclaimed_count + 1u, sizeof *out_report->unclaimed);
  if (!out_report->ops || !out_report->cases || !out_report->unclaimed) kw_out_of_memory();
  for (uint32_t i = 0; i < run->case_count; i++) add_case(out_report, &run->cases[i]);
  for (uint32_t i = 0; i < run->unclaimed_count; i++) out_report->unclaimed[i] = kw_text_clean(run->unclaimed[i]);
  out_report->unclaimed_count = run->unclaimed_count;
  out_report->gaps = calloc(run->facts.op_count + 1u, sizeof *out_report->gaps);
  if (!out_report->gaps) kw_out_of_memory();
  for (uint32_t i = 0; i < run->facts.op_count; i++) add_gap(out_report, run, i);
}
