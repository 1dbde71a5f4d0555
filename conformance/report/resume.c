/* SPDX-License-Identifier: Apache-2.0
 *
 * From a report back to the cases of a run.
 */
#include "report/resume.h"

#include "base/need.h"
#include "report/make.h"
#include "report/merge.h"

#include <stdlib.h>
#include <string.h>

/* Whether the outcome would not be another one if the case were run again. */
static bool is_settled(kw_outcome outcome) {
  return outcome != KW_OUTCOME_NONE && outcome != KW_OUTCOME_TIMEOUT && outcome != KW_OUTCOME_INCONCLUSIVE;
}

static char *copy_of(const char *text) {
  char *copy = text ? strdup(text) : NULL;
  if (text && !copy) kw_out_of_memory();
  return copy;
}

static void take(kw_run_case *c, const kw_report_case *from) {
  kw_case_result_mark(&c->result, from->outcome, from->defect, from->text);
  c->result.error = from->error;
  c->result.self_referenced = from->self_referenced;
  c->result.unreferenced = from->unreferenced;
  c->result.tf32 = from->tf32;
  c->result.fast = from->fast;
  snprintf(c->result.worst, sizeof c->result.worst, "%s", from->worst);
  c->smallest = copy_of(from->smallest);
  c->smallest_tensors = copy_of(from->smallest_tensors);
  c->passes_alone = from->passes_alone;
  c->after = copy_of(from->after);
  c->seconds = from->seconds;
}

/* The counters of the earlier run go on. */
static void take_counts(kw_run *run, const kw_report *report) {
  run->before_counts = (kw_run_counts){.launches = report->launches,
                                       .decomposed = report->decomposed,
                                       .fallbacks = report->fallbacks,
                                       .expectations = report->expectations,
                                       .modules_built = report->modules_built,
                                       .modules_cached = report->modules_cached,
                                       .build_ns = (uint64_t)(report->build_seconds * 1e9)};
  run->before_seconds = report->seconds;
}

bool kw_report_resume(const kw_report *report, kw_run *run, char *out_message, size_t size) {
  kw_report mine;
  kw_report_difference difference;
  kw_report_make(run, &mine);
  const bool same = kw_report_same_run(&mine, report, &difference);
  kw_report_free(&mine);
  if (!same) {
    snprintf(out_message, size, "it is the report of another run: it has %s '%s', and this run '%s'", difference.what,
             difference.second, difference.first);
    return false;
  }
  uint32_t at = 0;
  for (uint32_t i = 0; i < report->case_count; i++) {
    const kw_report_case *from = &report->cases[i];
    while (at < run->case_count && strcmp(run->cases[at].id, from->id) != 0) at++;
    if (at == run->case_count) {
      snprintf(out_message, size, "this run has no case '%s', or another order of cases", from->id);
      return false;
    }
    if (is_settled(from->outcome)) take(&run->cases[at], from);
  }
  take_counts(run, report);
  return true;
}
