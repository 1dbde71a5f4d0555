/* SPDX-License-Identifier: Apache-2.0
 *
 * The report that a person reads.
 */
#include "compare.h"
#include "run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_FAILURES 20
#define SHOWN_UNCLAIMED 8

const char *kw_outcome_name(kw_outcome outcome) {
  static const char *const names[KW_OUTCOME_COUNT] = {"not run", "pass",          "fail",          "crash",
                                                      "timeout", "unimplemented", "not applicable"};
  return names[outcome];
}

kw_run_totals kw_run_total(const kw_run *run) {
  kw_run_totals totals = {0};
  for (uint32_t i = 0; i < run->case_count; i++) {
    totals.counts[run->cases[i].outcome]++;
    totals.self_referenced += run->cases[i].self_referenced;
    totals.unreferenced += run->cases[i].unreferenced;
  }
  uint32_t good = totals.counts[KW_OUTCOME_PASS] + totals.counts[KW_OUTCOME_SKIP];
  totals.conformant = totals.counts[KW_OUTCOME_PASS] > 0 && good == run->case_count && run->fallbacks == 0;
  return totals;
}

void kw_report_level(const kw_run *run, char *out_text, size_t size) {
  size_t used = (size_t)snprintf(out_text, size, "%s", run->options->level.text ? run->options->level.text : "claims");
  for (kw_dtype d = 0; d < KW_DTYPE_COUNT; d++) {
    if (!(run->facts.flush & KW_DTYPE_BIT(d)) || used >= size) continue;
    used += (size_t)snprintf(out_text + used, size - used, "/ftz-%s", kw_datum_name(d));
  }
}

void kw_run_replay(const kw_run *run, const kw_run_case *result, char *out_text, size_t size) {
  const kw_run_options *options = run->options;
  size_t used = (size_t)snprintf(out_text, size, "keyway conform --device %s", options->device);
  for (uint32_t i = 0; i < options->plugin_count && used < size; i++) {
    used += (size_t)snprintf(out_text + used, size - used, " --plugin '%s'", options->plugins[i]);
  }
  if (used < size) snprintf(out_text + used, size - used, " --seed %" PRIu64 " --case '%s'", options->seed, result->id);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

typedef struct line {
  char name[64];
  uint32_t cases, pass, failed, unimplemented, skipped;
  const kw_run_case *worst; /* the largest error as a part of its bound */
  double ratio;
} line;

static void add_to_line(line *l, const kw_run_case *c) {
  l->cases++;
  l->pass += c->outcome == KW_OUTCOME_PASS;
  l->unimplemented += c->outcome == KW_OUTCOME_UNIMPLEMENTED;
  l->skipped += c->outcome == KW_OUTCOME_SKIP;
  l->failed = l->cases - l->pass - l->unimplemented - l->skipped;
  double bound = c->op ? kw_rule_bound(&c->op->op.row) : 0;
  double ratio = bound > 0 ? c->error / bound : 0;
  if (ratio <= l->ratio) return;
  l->ratio = ratio;
  l->worst = c;
}

static void line_name(const kw_run_case *c, char *out, size_t size) {
  if (c->op) {
    snprintf(out, size, "%s", kw_suite_op_family(&c->op->op));
  } else {
    snprintf(out, size, "%.*s", (int)strcspn(c->id, "/"), c->id);
  }
}

static uint32_t make_lines(const kw_run *run, line *lines, uint32_t room) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < run->case_count; i++) {
    char name[64];
    line_name(&run->cases[i], name, sizeof name);
    uint32_t l = 0;
    while (l < count && strcmp(lines[l].name, name) != 0) l++;
    if (l == room) l = room - 1;
    if (l == count) {
      memset(&lines[count], 0, sizeof lines[count]);
      snprintf(lines[count++].name, sizeof lines[0].name, "%s", name);
    }
    add_to_line(&lines[l], &run->cases[i]);
  }
  return count;
}

static void print_line(const line *l, FILE *out) {
  fprintf(out, "  %-22s %7u %7u %7u %7u %7u", l->name, l->cases, l->pass, l->failed, l->unimplemented, l->skipped);
  if (l->worst) {
    const kw_suite_op *op = &l->worst->op->op;
    fprintf(out, "   %.3g of %g %s  %s/%s", l->worst->error, kw_rule_bound(&op->row), kw_rule_unit(&op->row), op->name,
            kw_datum_name(l->worst->dtype));
  }
  fprintf(out, "\n");
}

static void print_failures(const kw_run *run, FILE *out, bool colour) {
  uint32_t shown = 0, hidden = 0;
  for (uint32_t i = 0; i < run->case_count; i++) {
    const kw_run_case *c = &run->cases[i];
    if (c->outcome == KW_OUTCOME_PASS || c->outcome == KW_OUTCOME_SKIP) continue;
    if (shown == SHOWN_FAILURES && !run->options->verbose) {
      hidden++;
      continue;
    }
    shown++;
    char replay[1024];
    kw_run_replay(run, c, replay, sizeof replay);
    fprintf(out, "%s%s%s %s%s%s\n", colour ? "\033[31m" : "", kw_outcome_name(c->outcome), colour ? "\033[0m" : "",
            c->id, *c->defect ? ": " : "", c->defect);
    if (c->text && strcmp(c->text, c->defect) != 0) fprintf(out, "    %s\n", c->text);
    fprintf(out, "    %s\n", replay);
  }
  if (hidden) fprintf(out, "... and %u more; -v shows all\n", hidden);
  if (shown) fprintf(out, "\n");
}

static void print_skipped(const kw_run *run, FILE *out) {
  for (uint32_t i = 0; i < run->case_count && run->options->verbose; i++) {
    const kw_run_case *c = &run->cases[i];
    if (c->outcome == KW_OUTCOME_SKIP) fprintf(out, "not applicable %s: %s\n", c->id, c->text ? c->text : "");
  }
}

static void print_unclaimed(const kw_run *run, FILE *out) {
  if (run->unclaimed_count == 0) return;
  fprintf(out, "unclaimed, not run (%u):", run->unclaimed_count);
  for (uint32_t i = 0; i < run->unclaimed_count; i++) {
    if (i == SHOWN_UNCLAIMED && !run->options->verbose) {
      fprintf(out, " ... (-v lists all)");
      break;
    }
    fprintf(out, " %s", run->unclaimed[i]);
  }
  fprintf(out, "\n");
}

void kw_report_print(const kw_run *run, FILE *out, bool colour) {
  line lines[32];
  uint32_t count = make_lines(run, lines, 32);
  kw_run_totals totals = kw_run_total(run);
  char level[128];
  kw_report_level(run, level, sizeof level);
  print_failures(run, out, colour);
  print_skipped(run, out);
  fprintf(out, "%s%s%s%s, seed %" PRIu64 "\n", run->facts.device, *run->facts.product ? " " : "", run->facts.product,
          run->facts.emulated ? " (emulated)" : "", run->options->seed);
  fprintf(out, "  %-22s %7s %7s %7s %7s %7s   %s\n", "suite", "cases", "pass", "failed", "unimpl.", "n/a",
          "largest error");
  for (uint32_t i = 0; i < count; i++) print_line(&lines[i], out);
  print_unclaimed(run, out);
  if (totals.self_referenced) {
    fprintf(out, "self-referenced: %u cases of the vendor's own ops are judged by the vendor's reference\n",
            totals.self_referenced);
  }
  if (totals.unreferenced)
    fprintf(out, "%u cases of vendor ops have no reference: they only ran\n", totals.unreferenced);
  if (run->decomposed) fprintf(out, "decomposed: %llu calls\n", (unsigned long long)run->decomposed);
  if (run->fallbacks) fprintf(out, "fallbacks: %llu calls ran on the CPU\n", (unsigned long long)run->fallbacks);
  const char *paint = !colour ? "" : totals.conformant ? "\033[32m" : "\033[31m";
  fprintf(out, "verdict: %s%s%s (%s): %u of %u cases pass", paint, totals.conformant ? "conformant" : "not conformant",
          colour ? "\033[0m" : "", level, totals.counts[KW_OUTCOME_PASS], run->case_count);
  for (int o = KW_OUTCOME_FAIL; o < KW_OUTCOME_COUNT; o++) {
    if (totals.counts[o]) fprintf(out, ", %u %s", totals.counts[o], kw_outcome_name((kw_outcome)o));
  }
  fprintf(out, "; suite %s, cases %016" PRIx64 "\n", KEYWAY_VERSION, run->case_set_hash);
}

void kw_run_free(kw_run *run) {
  for (uint32_t i = 0; i < run->case_count; i++) {
    free(run->cases[i].id);
    free(run->cases[i].text);
  }
  for (uint32_t i = 0; i < run->unclaimed_count; i++) free(run->unclaimed[i]);
  free(run->cases);
  free(run->unclaimed);
  kw_facts_free(&run->facts);
}
