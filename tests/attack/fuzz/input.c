/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts and files of a fuzzer's inputs. Files lie in memory where the system has a place for such.
 */
#include "input.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *input_text(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (text == NULL) abort();
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

static char directory[64];

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info;
  (void)type;
  (void)walk;
  return remove(path);
}

static void remove_directory(void) {
  nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

const char *input_directory(void) {
  if (directory[0] != '\0') return directory;
  snprintf(directory, sizeof directory, "%s/keyway-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir);
  if (mkdtemp(directory) == NULL) abort();
  atexit(remove_directory);
  return directory;
}

const char *input_file_named(const char *name, const uint8_t *data, size_t size) {
  static char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", input_directory(), name);
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || write(file, data, size) != (ssize_t)size || close(file) != 0) abort();
  return path;
}

const char *input_file(const uint8_t *data, size_t size) {
  return input_file_named("input", data, size);
}

void input_check(int holds, const char *text, const char *file, int line) {
  if (holds) return;
  fprintf(stderr, "%s:%d: not so: %s\n", file, line, text);
  abort();
}
