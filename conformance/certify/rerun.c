/* SPDX-License-Identifier: Apache-2.0
 *
 * Picks cases of a package by a seed that its maker does not know, runs them and compares.
 */
#include "certify/rerun.h"

#include "base/need.h"
#include "case/value.h"
#include "report/make.h"
#include "run/process.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The share --------------------------------------------------------------------------------------------------- */

double kw_rerun_lot(const char *id, uint64_t seed) {
  const uint64_t hash = kw_hash(KW_HASH_START, id);
  uint32_t counter[4] = {(uint32_t)hash, (uint32_t)(hash >> 32), 0, 0x7e5},
           key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  uint32_t random[4];
  kw_philox(counter, key, random);
  return random[0] * 0x1p-32;
}

/* Drops the other cases; the one with the smallest number stays in any case. */
static void keep_share(kw_run *run, double share) {
  const uint64_t seed = run->options->seed;
  uint32_t kept = 0;
  double smallest = 1;
  for (uint32_t i = 0; i < run->case_count; i++) smallest = fmin(smallest, kw_rerun_lot(run->cases[i].id, seed));
  for (uint32_t i = 0; i < run->case_count; i++) {
    const double number = kw_rerun_lot(run->cases[i].id, seed);
    if (number < share || number == smallest) {
      run->cases[kept++] = run->cases[i];
    } else {
      free(run->cases[i].id);
    }
  }
  run->case_count = kept;
}

/* ---- The comparison ---------------------------------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b) {
  return strcmp((*(const kw_report_case *const *)a)->id, (*(const kw_report_case *const *)b)->id);
}

typedef struct comparison {
  uint32_t same, contradicting, inconclusive;
  const kw_report_case *first;        /* that contradicts, in the new report */
  const kw_report_case *first_before; /* the same in the package's */
} comparison;

static comparison compare(const kw_report *before, const kw_report *now) {
  comparison found = {0};
  const kw_report_case **sorted = calloc(before->case_count + 1u, sizeof *sorted);
  if (!sorted) kw_out_of_memory();
  for (uint32_t i = 0; i < before->case_count; i++) sorted[i] = &before->cases[i];
  qsort(sorted, before->case_count, sizeof *sorted, compare_ids);
  for (uint32_t i = 0; i < now->case_count; i++) {
    const kw_report_case *c = &now->cases[i];
    const kw_report_case *const *place = bsearch(&c, sorted, before->case_count, sizeof *sorted, compare_ids);
    const bool failed_before = place && !kw_outcome_is_good((*place)->outcome);
    if (c->outcome == KW_OUTCOME_INCONCLUSIVE) {
      found.inconclusive++;
    } else if (kw_outcome_is_good(c->outcome) || failed_before) {
      found.same++;
    } else if (found.contradicting++ == 0) {
      found.first = c;
      found.first_before = place ? *place : c;
    }
  }
  free(sorted);
  return found;
}

static kw_rerun_end judge(const kw_report *before, const kw_report *now, char *text, size_t size) {
  const comparison found = compare(before, now);
  if (strcmp(now->scope, before->scope) != 0) { /* of what the plugin declares, subnormals that it flushes for one */
    snprintf(text, size, "the device is judged as '%s' here, and as '%s' in the package", now->scope, before->scope);
    return KW_RERUN_DIFFERENT;
  }
  if (found.contradicting > 0) {
    char *replay = kw_report_replay(now, found.first);
    snprintf(
        text, size,
        "%u of %u cases that were run again come out otherwise: %s is '%s' in the package and '%s' with seed %" PRIu64
        " (%s); replay: %s",
        found.contradicting, now->case_count, found.first->id, kw_report_case_name(found.first_before),
        kw_report_case_name(found.first), now->seed, found.first->text, replay);
    free(replay);
    return KW_RERUN_DIFFERENT;
  }
  if (now->fallbacks > 0) {
    snprintf(text, size, "%" PRIu64 " calls ran on the CPU instead", now->fallbacks);
    return KW_RERUN_DIFFERENT;
  }
  if (found.inconclusive > 0) {
    snprintf(text, size,
             "%u of %u cases that were run again gave no answer on a busy machine; verify again when it is quiet",
             found.inconclusive, now->case_count);
    return KW_RERUN_INCONCLUSIVE;
  }
  snprintf(text, size, "%u of %u cases were run again with seed %" PRIu64 ": none contradicts the package",
           now->case_count, before->case_count, now->seed);
  return KW_RERUN_SAME;
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

/* Whether device, plugin and cases are those of the package. */
static bool is_same(const kw_run *run, const kw_report *report, char *text, size_t size) {
  if (strcmp(run->plugin_hash, report->plugin_hash) != 0) {
    snprintf(text, size, "the device %s is served by another plugin than the package is about: %s has the hash %s",
             run->options->device, run->facts.plugin_path, run->plugin_hash);
  } else if (strcmp(run->facts.product, report->product) != 0) {
    snprintf(text, size, "the package is about the product '%s'; %s is '%s'", report->product, run->options->device,
             run->facts.product);
  } else if (strcmp(run->case_hash, report->case_hash) != 0) {
    snprintf(text, size, "the device has other cases at %s here than in the package", report->level);
  } else {
    return true;
  }
  return false;
}

kw_rerun_end kw_rerun(const kw_run_options *options, const kw_report *report, double share, char *out_text,
                      size_t size) {
  kw_run run = {.options = options};
  kw_report now = {0};
  char again[KW_DIGEST_SIZE];
  kw_rerun_end end = KW_RERUN_IMPOSSIBLE;
  if (!kw_process_ask(options, &run.facts, out_text, size)) {
    kw_run_free(&run);
    return end;
  }
  if (!kw_digest_file(run.facts.plugin_path, run.plugin_hash)) {
    snprintf(out_text, size, "%s cannot be read: %s", run.facts.plugin_path, strerror(errno));
  } else if (kw_run_select(&run, out_text, size)) {
    end = KW_RERUN_DIFFERENT;
    if (is_same(&run, report, out_text, size)) {
      keep_share(&run, share);
      kw_run_cases(&run);
      kw_report_make(&run, &now);
      end = judge(report, &now, out_text, size);
    }
    if (!kw_digest_file(run.facts.plugin_path, again) || strcmp(again, run.plugin_hash) != 0) {
      snprintf(out_text, size, "%s changed while its cases were run", run.facts.plugin_path);
      end = KW_RERUN_IMPOSSIBLE;
    }
  }
  kw_report_free(&now);
  kw_run_free(&run);
  return end;
}
