/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes certification packages.
 */
#include "certify/submit.h"

#include "base/suite_version.h"
#include "base/text.h"
#include "case/element.h"
#include "certify/machine.h"
#include "certify/manifest.h"
#include "certify/minisign.h"
#include "report/files.h"
#include "report/formats.h"

#include <keyway/keyway.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Before the run ---------------------------------------------------------------------------------------------- */

static bool make_folder(const char *path, char *message, size_t size) {
  if (mkdir(path, 0777) == 0) return true;
  if (errno == EEXIST && rmdir(path) == 0 && mkdir(path, 0777) == 0) return true; /* it was there, and empty */
  const bool full = errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR;
  snprintf(message, size,
           full ? "%s is there already; name a folder that is not: a package is made whole"
                : "the folder %s cannot be made: %s",
           path, strerror(errno));
  return false;
}

static bool read_lists(kw_submission *s, char *message, size_t size) {
  char folder[PATH_MAX];
  if (kw_mustpass_folder(folder, sizeof folder)) return kw_mustpass_read(folder, &s->lists, message, size);
  snprintf(message, size,
           "the must-pass lists of suite " KW_SUITE_VERSION
           " are not where they are installed, in lib/keyway/mustpass beside the program's folder");
  return false;
}

bool kw_submission_begin(kw_submission *submission, char *out_message, size_t size) {
  char path[PATH_MAX];
  kw_date_today(submission->date);
  if (submission->key && !kw_minisign_find(path, sizeof path)) {
    snprintf(out_message, size, "--sign: " KW_MINISIGN_MISSING);
    return false;
  }
  if (submission->key && access(submission->key, R_OK) != 0) {
    snprintf(out_message, size, "--sign: %s cannot be read: %s", submission->key, strerror(errno));
    return false;
  }
  if (submission->waivers &&
      !kw_waivers_read(submission->waivers, submission->date, &submission->granted, out_message, size)) {
    return false;
  }
  if (!read_lists(submission, out_message, size)) return false;
  submission->made = make_folder(submission->folder, out_message, size);
  return submission->made;
}

bool kw_submission_takes(const kw_submission *submission, const kw_run *run, char *out_message, size_t size) {
  const kw_level_claim *claim = &run->options->level;
  kw_id_list ids = {0};
  for (uint32_t i = 0; i < run->case_count; i++) kw_id_list_add(&ids, "%s", run->cases[i].id);
  const kw_mustpass_level level = {claim, kw_level_half(claim, &run->facts), run->options->effort};
  bool good = kw_mustpass_check(&submission->lists, &level, &ids, out_message, size);
  kw_id_list_free(&ids);
  return good;
}

/* ---- The package ------------------------------------------------------------------------------------------------- */

/* "FOLDER/NAME" */
static const char *in_package(const kw_submission *s, const char *name, char path[PATH_MAX]) {
  snprintf(path, PATH_MAX, "%s/%s", s->folder, name);
  return path;
}

static bool fail(const char *path, char *message, size_t size) {
  snprintf(message, size, "writing %s failed: %s", path, strerror(errno));
  return false;
}

static bool write_text(const kw_submission *s, const char *name, const char *text, char *message, size_t size) {
  char path[PATH_MAX];
  return kw_text_write_file(in_package(s, name, path), text) || fail(path, message, size);
}

static bool copy(const kw_submission *s, const char *from, const char *name, char *message, size_t size) {
  char path[PATH_MAX], part[1 << 16];
  FILE *in = fopen(from, "r"), *out = in ? fopen(in_package(s, name, path), "w") : NULL;
  bool good = in && out;
  for (size_t length; good && (length = fread(part, 1, sizeof part, in)) > 0;) {
    good = fwrite(part, 1, length, out) == length;
  }
  good = good && !ferror(in);
  if (in) fclose(in);
  if (out) good = fclose(out) == 0 && good;
  if (!good) snprintf(message, size, "copying %s to %s/%s failed: %s", from, s->folder, name, strerror(errno));
  return good;
}

static bool write_reports(const kw_submission *s, const kw_report *report, char *message, size_t size) {
  char json[PATH_MAX], html[PATH_MAX], *table = kw_report_text(report, kw_report_put_plain_table);
  const kw_report_paths paths = {.json = in_package(s, KW_PACKAGE_REPORT, json),
                                 .html = in_package(s, KW_PACKAGE_PAGE, html)};
  bool good = write_text(s, KW_PACKAGE_TABLE, table, message, size);
  if (good && !kw_report_write_files(report, &paths, "keyway conform")) {
    snprintf(message, size, "the reports were not written");
    good = false;
  }
  free(table);
  return good;
}

static bool write_lists(const kw_submission *s, const kw_level_claim *claim, char *message, size_t size) {
  char path[PATH_MAX], name[64];
  if (mkdir(in_package(s, KW_PACKAGE_LISTS, path), 0777) != 0) return fail(path, message, size);
  bool good = true;
  for (uint32_t f = 0; good && f < kw_mustpass_file_count(claim); f++) {
    snprintf(name, sizeof name, KW_PACKAGE_LISTS "/%s", kw_mustpass_name(f));
    good = write_text(s, name, s->lists.files[f].text, message, size);
  }
  return good;
}

static bool write_plugin(const kw_submission *s, const kw_run *run, const kw_report *report, char *message,
                         size_t size) {
  char path[PATH_MAX], name[PATH_MAX];
  if (!s->with_plugin) return true;
  if (mkdir(in_package(s, KW_PACKAGE_PLUGIN, path), 0777) != 0) return fail(path, message, size);
  snprintf(name, sizeof name, KW_PACKAGE_PLUGIN "/%s", report->plugin);
  return copy(s, run->facts.plugin_path, name, message, size);
}

static void fill_manifest(kw_manifest *manifest, const kw_submission *s, const kw_run *run, const kw_report *report,
                          const kw_waived_verdict *verdict) {
  const kw_run_options *options = run->options;
  char seed[32];
  snprintf(seed, sizeof seed, "%" PRIu64, report->seed);
  const char *texts[KW_MANIFEST_TEXTS] = {
      [KW_MANIFEST_KEYWAY] = kw_version(),
      [KW_MANIFEST_SUITE] = report->suite_version,
      [KW_MANIFEST_OP_SET] = report->op_set_version,
      [KW_MANIFEST_CREATED] = s->date,
      [KW_MANIFEST_DEVICE] = report->device,
      [KW_MANIFEST_PRODUCT] = report->product,
      [KW_MANIFEST_LEVEL] = report->level,
      [KW_MANIFEST_HALF] = kw_element_name(kw_level_half(&options->level, &run->facts)),
      [KW_MANIFEST_EFFORT] = options->effort == KW_EFFORT_THOROUGH ? "thorough" : "normal",
      [KW_MANIFEST_SEED] = seed,
      [KW_MANIFEST_VERDICT] = verdict->text,
      [KW_MANIFEST_PLUGIN] = report->plugin,
      [KW_MANIFEST_PLUGIN_HASH] = report->plugin_hash,
      [KW_MANIFEST_TOLERANCES_HASH] = report->tolerance_hash,
      [KW_MANIFEST_CASES_HASH] = report->case_hash};
  for (int t = 0; t < KW_MANIFEST_TEXTS; t++) kw_manifest_set(manifest, (kw_manifest_text)t, texts[t]);
}

static bool sign(const kw_submission *s, const kw_manifest *manifest, char *message, size_t size) {
  char path[PATH_MAX], comment[512];
  if (!s->key) return true;
  snprintf(comment, sizeof comment, "Keyway suite %s, %s, seed %s, plugin %s", manifest->texts[KW_MANIFEST_SUITE],
           manifest->texts[KW_MANIFEST_LEVEL], manifest->texts[KW_MANIFEST_SEED],
           manifest->texts[KW_MANIFEST_PLUGIN_HASH]);
  return kw_minisign_sign(in_package(s, KW_PACKAGE_MANIFEST, path), s->key, comment, message, size);
}

bool kw_submission_write(kw_submission *submission, const kw_run *run, const kw_report *report,
                         const kw_waived_verdict *verdict, char *out_message, size_t size) {
  const kw_submission *s = submission;
  kw_manifest manifest = {0};
  char *machine = kw_machine_describe(&run->facts);
  fill_manifest(&manifest, s, run, report, verdict);
  bool good =
      write_reports(s, report, out_message, size) && write_text(s, KW_PACKAGE_MACHINE, machine, out_message, size) &&
      write_lists(s, &run->options->level, out_message, size) && write_plugin(s, run, report, out_message, size) &&
      (!s->waivers || copy(s, s->waivers, KW_PACKAGE_WAIVERS, out_message, size)) &&
      (!run->options->expect || copy(s, run->options->expect, KW_PACKAGE_EXPECT, out_message, size)) &&
      kw_manifest_write(&manifest, s->folder, out_message, size) && sign(s, &manifest, out_message, size);
  kw_manifest_free(&manifest);
  free(machine);
  return good;
}

void kw_submission_end(kw_submission *submission) {
  kw_mustpass_free(&submission->lists);
  kw_entry_list_free(&submission->granted);
  if (submission->made) rmdir(submission->folder);
}
