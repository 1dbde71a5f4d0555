/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of known failures: reading it, and marking the cases of a run.
 */
#include "run/known_failures.h"

#include <stdio.h>

enum { CASE, REASON, FIELDS };

bool kw_known_failures_read(const char *path, kw_entry_list *out_known, char *out_message, size_t size) {
  static const kw_entry_field fields[FIELDS] = {[CASE] = {"case", "the id of a case, or a glob such as \"exp/f16/*\""},
                                                [REASON] = {"reason", "say why the case is known to fail"}};
  return kw_entry_list_read(path, fields, FIELDS, out_known, out_message, size);
}

static bool matches_any(const char *pattern, const kw_run *run) {
  for (uint32_t i = 0; i < run->case_count; i++) {
    if (kw_entry_matches(pattern, run->cases[i].id)) return true;
  }
  return false;
}

/* Looks for entries about no case, among all that the device has. */
static bool check(const kw_entry_list *known, const kw_run *run, char *message, size_t size) {
  kw_run_options options = *run->options;
  options.suites = options.op_globs = options.case_id = options.after = NULL;
  options.shard = options.shards = 1;
  kw_run whole = {.options = &options, .facts = run->facts};
  bool good = kw_run_select(&whole, message, size);
  for (uint32_t i = 0; i < known->count && good; i++) {
    const char *pattern = kw_entry_list_text(known, i, CASE);
    good = matches_any(pattern, &whole);
    if (good) continue;
    snprintf(message, size,
             "%s:%u: no case is '%s', and none matches it; take the entry out, or see --list for all ids",
             run->options->expect, known->lines[i], pattern);
  }
  whole.facts = (kw_device_facts){0}; /* they are run's */
  kw_run_free(&whole);
  return good;
}

bool kw_known_failures_apply(const kw_entry_list *known, kw_run *run, char *out_message, size_t size) {
  if (!check(known, run, out_message, size)) return false;
  for (uint32_t i = 0; i < run->case_count; i++) {
    for (uint32_t e = 0; e < known->count && !run->cases[i].expected; e++) {
      if (!kw_entry_matches(kw_entry_list_text(known, e, CASE), run->cases[i].id)) continue;
      run->cases[i].expected = kw_entry_list_text(known, e, REASON);
    }
  }
  return true;
}
