/* SPDX-License-Identifier: Apache-2.0
 *
 * Running the program from a test, with what it prints in a file of the test's folder.
 */
#ifndef KEYWAY_CONFORMANCE_RUNNING_H
#define KEYWAY_CONFORMANCE_RUNNING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char folder[64];

static inline pid_t start_command(const char *command, const char *const *options) {
  const char *argv[24] = {KEYWAY_PROGRAM, command};
  int argc = 2;
  for (; options[argc - 2]; argc++) argv[argc] = options[argc - 2];
  char output[96];
  snprintf(output, sizeof output, "%s/output", folder);
  /* Made here: where the program is run by qemu it has not begun when posix_spawn returns. */
  const int file = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  assert_true(file >= 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, file, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, file, STDERR_FILENO);
  pid_t pid;
  assert_int_equal(posix_spawn(&pid, KEYWAY_PROGRAM, &actions, NULL, (char **)argv, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(file);
  return pid;
}

static inline pid_t start(const char *const *options) {
  return start_command("conform", options);
}

static inline int finish(pid_t pid) {
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static inline int run(const char *const *options) {
  return finish(start(options));
}

static inline int run_report(const char *const *options) {
  return finish(start_command("report", options));
}

/* The path of a file in this test's folder. */
static inline const char *in_folder(const char *name) {
  static char paths[16][400];
  static uint32_t next;
  char *path = paths[next++ % 16];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

/* The fixtures of the test's folder: it goes with all files in it. */
static inline int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "keyway-%.40s-XXXXXX", program_invocation_short_name);
  return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state) {
  (void)state;
  DIR *files = opendir(folder);
  assert_non_null(files);
  for (struct dirent *entry; (entry = readdir(files));) {
    if (entry->d_name[0] != '.') unlink(in_folder(entry->d_name));
  }
  closedir(files);
  return rmdir(folder);
}

static inline char *read_file(const char *name) {
  char path[128]; /* a test keeps several of in_folder's */
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *text = calloc(1, 1 << 22);
  size_t length = fread(text, 1, (1 << 22) - 1, file);
  text[length] = 0;
  fclose(file);
  return text;
}

static inline void output_contains(const char *text) {
  char *output = read_file("output");
  if (!strstr(output, text)) fail_msg("no '%s' in: %s", text, output);
  free(output);
}

#endif /* KEYWAY_CONFORMANCE_RUNNING_H */
