/* SPDX-License-Identifier: Apache-2.0
 *
 * The files that a report is written to.
 */
#include "report/files.h"

#include "base/need.h"
#include "base/text.h"
#include "report/formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *kw_report_text(const kw_report *report, void (*put)(const kw_report *, FILE *)) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) kw_out_of_memory();
  put(report, out);
  if (fclose(out) != 0) kw_out_of_memory();
  return text;
}

static bool write_one(const kw_report *report, void (*put)(const kw_report *, FILE *), const char *path,
                      const char *program) {
  if (!path) return true;
  char *text = kw_report_text(report, put);
  const bool good = kw_text_write_file(path, text);
  if (!good) fprintf(stderr, "%s: writing %s failed: %s\n", program, path, strerror(errno));
  free(text);
  return good;
}

/* A report is written beside its place and renamed: it takes a folder that can be written to, and no folder in it. */
static bool can_write(const char *path, const char *program) {
  if (!path || strcmp(path, "-") == 0) return true;
  const char *slash = strrchr(path, '/');
  char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
  if (!folder) kw_out_of_memory();
  struct stat there;
  int error = access(folder, W_OK | X_OK) == 0 ? 0 : errno;
  if (stat(path, &there) == 0 && S_ISDIR(there.st_mode)) error = EISDIR;
  free(folder);
  if (error) fprintf(stderr, "%s: nothing was run: %s cannot be written: %s\n", program, path, strerror(error));
  return error == 0;
}

bool kw_report_can_write(const kw_report_paths *paths, const char *program) {
  return can_write(paths->json, program) && can_write(paths->junit, program) && can_write(paths->tap, program) &&
         can_write(paths->html, program);
}

bool kw_report_write_files(const kw_report *report, const kw_report_paths *paths, const char *program) {
  bool good = write_one(report, kw_report_put_json, paths->json, program);
  good &= write_one(report, kw_report_put_junit, paths->junit, program);
  good &= write_one(report, kw_report_put_tap, paths->tap, program);
  good &= write_one(report, kw_report_put_html, paths->html, program);
  return good;
}

bool kw_report_takes_stdout(const kw_report_paths *paths) {
  const char *const all[] = {paths->json, paths->junit, paths->tap, paths->html};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    if (all[i] && strcmp(all[i], "-") == 0) return true;
  }
  return false;
}
