/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a case in a forked child with a scratch directory of its own, and turns the child's exit into the test's result.
 */
#include "child.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <ftw.h>
#include <keyway/keyway.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char scratch[] = P_tmpdir "/keyway-test-XXXXXX";

void check(bool condition, const char *text, const char *file, int line) {
  if (condition) return;
  fprintf(stderr, "%s:%d: not so: %s\n  message: %s\n", file, line, text, kw_error_message());
  _exit(1);
}

void check_contains(const char *text, const char *words, const char *file, int line) {
  if (strstr(text, words) != NULL) return;
  fprintf(stderr, "%s:%d: '%s' is not in '%s'\n", file, line, words, text);
  _exit(1);
}

void check_ok(int status, const char *text, const char *file, int line) {
  if (status == KW_OK) return;
  fprintf(stderr, "%s:%d: %s is '%s'\n  message: %s\n", file, line, text, kw_status_name(status), kw_error_message());
  _exit(1);
}

const char *scratch_directory(void) {
  static bool made;
  if (!made && mkdtemp(scratch) == NULL) abort();
  made = true;
  return scratch;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info;
  (void)type;
  (void)walk;
  return remove(path);
}

void remove_scratch(void) {
  nftw(scratch_directory(), remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* The next of eight buffers in turn. */
static char *next_buffer(void) {
  static char buffers[8][PATH_MAX];
  static unsigned next;
  return buffers[next++ % 8];
}

const char *scratch_path(const char *name) {
  char *path = next_buffer();
  snprintf(path, PATH_MAX, "%s/%s", scratch_directory(), name);
  return path;
}

const char *fixture_path(const char *name) {
  char *path = next_buffer();
  snprintf(path, PATH_MAX, "%s/keyway_fixture_%s.so", KEYWAY_FIXTURES, name);
  return path;
}

void run_child(void (*body)(void)) {
  const char *errors = scratch_path("stderr");
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    int file = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDERR_FILENO);
    close(file);
    setenv("HOME", scratch_path("home"), 1);
    setenv("XDG_CACHE_HOME", scratch_path("cache"), 1);
    body();
    exit(0); /* with all handlers: the plugins' shutdown is part of what is tested */
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (status != 0) fputs(read_text(errors), stderr);
  assert_int_equal(status, 0);
}

bool may_be_other(void) {
  const char *path = scratch_path("given");
  write_text(path, "");
  const bool may = geteuid() == 0 && chown(path, OTHER, OTHER) == 0;
  unlink(path);
  return may;
}

const char *read_text(const char *path) {
  static char text[65536];
  size_t length = 0;
  FILE *file = fopen(path, "r");
  if (file != NULL) {
    length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
  }
  text[length] = '\0';
  return text;
}

const char *find_file_with(const char *folder, const char *words) {
  static char path[PATH_MAX];
  DIR *list = opendir(folder);
  bool found = false;
  for (const struct dirent *entry; list != NULL && !found && (entry = readdir(list)) != NULL;) {
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    found = entry->d_name[0] != '.' && strstr(read_text(path), words) != NULL;
  }
  if (list != NULL) closedir(list);
  return found ? path : NULL;
}

void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) abort();
}

void copy_file(const char *from, const char *to) {
  char bytes[65536];
  FILE *in = fopen(from, "r"), *out = fopen(to, "w");
  if (in == NULL || out == NULL) abort();
  size_t count;
  while ((count = fread(bytes, 1, sizeof bytes, in)) > 0) {
    if (fwrite(bytes, 1, count, out) != count) abort();
  }
  fclose(in);
  if (fclose(out) != 0) abort();
}
