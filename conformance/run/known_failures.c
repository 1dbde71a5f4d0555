/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of known failures: reading it, and marking the cases of a run.
 */
#include "run/known_failures.h"

#include "base/text.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static uint32_t line_at(const char *text, const char *at) {
  uint32_t line = 1;
  for (; text < at; text++) line += *text == '\n';
  return line;
}

/* Where element number `index` of a valid JSON array begins, if it is an object. */
static const char *find_entry(const char *text, uint32_t index) {
  int depth = 0;
  bool quoted = false;
  for (const char *p = text; *p; p++) {
    if (quoted && *p == '\\') {
      p++;
    } else if (quoted) {
      quoted = *p != '"';
    } else if (*p == '"') {
      quoted = true;
    } else if (*p == '{' || *p == '[') {
      if (depth++ == 1 && index-- == 0) return p;
    } else if (*p == '}' || *p == ']') {
      depth--;
    }
  }
  return text;
}

/* The text of a member; NULL unless it is there and not empty. */
static char *take(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  return cJSON_IsString(item) && *item->valuestring ? kw_text_clean(item->valuestring) : NULL;
}

/* What is wrong with an entry; NULL when it is good. */
static const char *read_entry(const cJSON *item, kw_known_failure *entry) {
  entry->pattern = take(item, "case");
  entry->reason = take(item, "reason");
  if (!cJSON_IsObject(item)) return "an entry is an object: {\"case\": \"ID or GLOB\", \"reason\": \"TEXT\"}";
  if (!entry->pattern) return "this entry has no \"case\": the id of a case, or a glob such as \"exp/f16/*\"";
  if (!entry->reason) return "this entry has no \"reason\": say why the case is known to fail";
  return cJSON_GetArraySize(item) == 2 ? NULL : "this entry has members other than \"case\" and \"reason\"";
}

static bool read_entries(const char *path, const char *text, kw_known_failures *known, char *message, size_t size) {
  const char *end = text;
  cJSON *root = cJSON_ParseWithOpts(text, &end, true);
  const char *wrong = !root                  ? "this is no JSON"
                      : !cJSON_IsArray(root) ? "the file is not a list of entries: [...]"
                                             : NULL;
  uint32_t line = line_at(text, root ? text : end);
  if (!wrong) {
    known->entries = calloc((size_t)cJSON_GetArraySize(root) + 1, sizeof *known->entries);
    if (!known->entries) abort();
    const cJSON *item;
    cJSON_ArrayForEach(item, root) {
      kw_known_failure *entry = &known->entries[known->count];
      line = entry->line = line_at(text, find_entry(text, known->count++));
      wrong = read_entry(item, entry);
      if (wrong) break;
    }
  }
  cJSON_Delete(root);
  if (wrong) snprintf(message, size, "%s:%u: %s", path, line, wrong);
  return !wrong;
}

bool kw_known_failures_read(const char *path, kw_known_failures *out_known, char *out_message, size_t size) {
  memset(out_known, 0, sizeof *out_known);
  char *text;
  if (!kw_text_read_file(path, &text)) {
    snprintf(out_message, size, "%s cannot be read: %s", path, strerror(errno));
    return false;
  }
  bool good = read_entries(path, text, out_known, out_message, size);
  free(text);
  if (!good) kw_known_failures_free(out_known);
  return good;
}

void kw_known_failures_free(kw_known_failures *known) {
  for (uint32_t i = 0; i < known->count; i++) {
    free(known->entries[i].pattern);
    free(known->entries[i].reason);
  }
  free(known->entries);
  memset(known, 0, sizeof *known);
}

/* ---- Applying ---------------------------------------------------------------------------------------------------- */

static bool matches(const kw_known_failure *entry, const kw_run_case *c) {
  return strcmp(entry->pattern, c->id) == 0 || fnmatch(entry->pattern, c->id, 0) == 0;
}

static bool matches_any(const kw_known_failure *entry, const kw_run *run) {
  for (uint32_t i = 0; i < run->case_count; i++) {
    if (matches(entry, &run->cases[i])) return true;
  }
  return false;
}

/* Looks for entries about no case, among all that the device has. */
static bool check(const kw_known_failures *known, const kw_run *run, char *message, size_t size) {
  kw_run_options options = *run->options;
  options.suites = options.op_globs = options.case_id = options.after = NULL;
  options.shard = options.shards = 1;
  kw_run whole = {.options = &options, .facts = run->facts};
  bool good = kw_run_select(&whole, message, size);
  for (uint32_t i = 0; i < known->count && good; i++) {
    const kw_known_failure *entry = &known->entries[i];
    good = matches_any(entry, &whole);
    if (good) continue;
    snprintf(message, size,
             "%s:%u: no case is '%s', and none matches it; take the entry out, or see --list for all ids",
             run->options->expect, entry->line, entry->pattern);
  }
  whole.facts = (kw_device_facts){0}; /* they are run's */
  kw_run_free(&whole);
  return good;
}

bool kw_known_failures_apply(const kw_known_failures *known, kw_run *run, char *out_message, size_t size) {
  if (!check(known, run, out_message, size)) return false;
  for (uint32_t i = 0; i < run->case_count; i++) {
    for (uint32_t e = 0; e < known->count && !run->cases[i].expected; e++) {
      if (matches(&known->entries[e], &run->cases[i])) run->cases[i].expected = known->entries[e].reason;
    }
  }
  return true;
}
