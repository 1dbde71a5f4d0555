/* SPDX-License-Identifier: Apache-2.0
 *
 * What plugins start goes with its worker's process group. What leaves the group, and whose parents end, becomes a
 * child of this process; it is known by a variable of the environment that workers are given, since this process may
 * have other children: a shell that has started some may become it.
 */
#include "run/strays.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "KEYWAY_WORKER_OF="

void kw_strays_take_in(char out_mark[KW_STRAYS_MARK]) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  snprintf(out_mark, KW_STRAYS_MARK, NAME "%ld", (long)getpid());
}

static bool has_mark(pid_t pid, const char *mark) {
  char path[64], *entry = NULL;
  size_t room = 0;
  bool found = false;
  snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
  FILE *environment = fopen(path, "re");
  while (environment && !found && getdelim(&entry, &room, 0, environment) > 0) found = strcmp(entry, mark) == 0;
  free(entry);
  if (environment) fclose(environment);
  return found;
}

/* A marked child of one of this process's threads; 0. */
static pid_t find_child(const char *thread, const char *mark) {
  char path[64];
  long pid;
  bool found = false;
  snprintf(path, sizeof path, "/proc/self/task/%.20s/children", thread);
  FILE *list = fopen(path, "re");
  while (list && !found && fscanf(list, "%ld", &pid) == 1) found = has_mark((pid_t)pid, mark);
  if (list) fclose(list);
  return found ? (pid_t)pid : 0;
}

static pid_t find_stray(const char *mark) {
  pid_t pid = 0;
  DIR *threads = opendir("/proc/self/task");
  for (struct dirent *entry; threads && !pid && (entry = readdir(threads));) {
    if (entry->d_name[0] != '.') pid = find_child(entry->d_name, mark);
  }
  if (threads) closedir(threads);
  return pid;
}

void kw_strays_end(void) {
  char mark[KW_STRAYS_MARK];
  kw_strays_take_in(mark);
  for (pid_t pid; (pid = find_stray(mark)) != 0;) { /* its children come next */
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
  }
}
