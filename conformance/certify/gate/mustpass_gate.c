/* SPDX-License-Identifier: Apache-2.0
 *
 * Guards the must-pass lists: mustpass-gate check FOLDER holds the frozen lists of this version of the suite against
 * what the tree asks of a level; mustpass-gate write FOLDER makes them. Contract tests are those that cpu:0 has, which
 * are those of any device.
 */
#include "base/suite_version.h"
#include "base/text.h"
#include "certify/gate/derive.h"
#include "certify/mustpass.h"
#include "run/process.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int die(const char *what) {
  fprintf(stderr, "mustpass-gate: %s\n", what);
  return 2;
}

static kw_run_options options_of(kw_effort effort) {
  kw_run_options options = {
      .device = "cpu:0", .seed = 1, .shard = 1, .shards = 1, .effort = effort, .timeout_scale = 1};
  if (!kw_level_parse("training+int4+sparse+fft+detection+paged", &options.level)) abort();
  return options;
}

/* What a run has on cpu:0. */
static bool select_cases(kw_run *run, char *message, size_t size) {
  return kw_process_ask(run->options, &run->facts, message, size) && kw_run_select(run, message, size);
}

static bool derive(kw_mustpass *out_lists, char *message, size_t size) {
  const kw_run_options normal_options = options_of(KW_EFFORT_NORMAL), thorough_options = options_of(KW_EFFORT_THOROUGH);
  kw_run normal = {.options = &normal_options}, thorough = {.options = &thorough_options};
  const bool good = select_cases(&normal, message, size) && select_cases(&thorough, message, size);
  for (uint32_t f = 0; good && f < KW_MUSTPASS_FILES; f++) {
    static const kw_level levels[KW_MUSTPASS_FILES] = {0, KW_LEVEL_CORE, KW_LEVEL_INFERENCE, KW_LEVEL_TRAINING};
    size_t length;
    FILE *out = open_memstream(&out_lists->files[f].text, &length);
    if (!out) abort();
    if (f == 0) {
      kw_derive_contract(&normal, &thorough, out);
    } else {
      kw_derive_ops(&normal, levels[f], out);
    }
    if (fclose(out) != 0) abort();
  }
  kw_run_free(&normal);
  kw_run_free(&thorough);
  return good;
}

/* Says in a sentence how a frozen list differs from what the tree makes of it. */
static void explain(const char *name, const char *frozen, const char *now) {
  kw_id_list was = {0}, is = {0};
  uint32_t gone, added;
  kw_mustpass_all(frozen, &was);
  kw_mustpass_all(now, &is);
  kw_id_list_sort(&was);
  kw_id_list_sort(&is);
  const char *first_gone = kw_id_list_missing(&was, &is, &gone);
  const char *first_added = kw_id_list_missing(&is, &was, &added);
  fprintf(stderr,
          "mustpass-gate: %s: what has to pass in suite " KW_SUITE_VERSION " changed without a new version: ", name);
  if (gone) fprintf(stderr, "%u cases are gone (%s), ", gone, first_gone);
  if (added) fprintf(stderr, "%u are new (%s), ", added, first_added);
  if (!gone && !added) fprintf(stderr, "the ids are the same, but what the cases are made of or judged by is not, ");
  fprintf(stderr,
          "which makes other verdicts. Take that back, or give the suite a new version (KW_SUITE_VERSION in\n"
          "conformance/base/suite_version.h) and run scripts/mustpass_freeze.sh; a version that ends in -rc may be "
          "frozen again.\n");
  kw_id_list_free(&was);
  kw_id_list_free(&is);
}

static bool check(const char *folder, const kw_mustpass *now) {
  bool good = true;
  for (uint32_t f = 0; f < KW_MUSTPASS_FILES; f++) {
    char path[PATH_MAX], *frozen;
    snprintf(path, sizeof path, "%s/%s", folder, kw_mustpass_name(f));
    if (!kw_text_read_file(path, &frozen)) {
      fprintf(stderr, "mustpass-gate: %s: %s; scripts/mustpass_freeze.sh makes it\n", path, strerror(errno));
      return false;
    }
    if (strcmp(frozen, now->files[f].text) != 0) {
      explain(kw_mustpass_name(f), frozen, now->files[f].text);
      good = false;
    }
    free(frozen);
  }
  return good;
}

static bool write_all(const char *folder, const kw_mustpass *now) {
  for (uint32_t f = 0; f < KW_MUSTPASS_FILES; f++) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, kw_mustpass_name(f));
    if (kw_text_write_file(path, now->files[f].text)) continue;
    fprintf(stderr, "mustpass-gate: writing %s failed: %s\n", path, strerror(errno));
    return false;
  }
  return true;
}

int main(int argc, char **argv) {
  char message[1024];
  kw_mustpass now = {0};
  if (argc != 3) return die("usage: mustpass-gate check|write FOLDER");
  const bool writes = strcmp(argv[1], "write") == 0;
  if (!writes && strcmp(argv[1], "check") != 0) return die("usage: mustpass-gate check|write FOLDER");
  if (!derive(&now, message, sizeof message)) return die(message);
  const bool good = writes ? write_all(argv[2], &now) : check(argv[2], &now);
  kw_mustpass_free(&now);
  return good ? 0 : 1;
}
