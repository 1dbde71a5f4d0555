/* SPDX-License-Identifier: Apache-2.0
 *
 * Read from /proc/PID/task/TID/schedstat: nanoseconds on a CPU, nanoseconds in its queue, slices.
 */
#include "base/cpu_wait.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint64_t read_queued(int tasks, const char *tid) {
  char path[64], text[128];
  unsigned long long ran, queued;
  snprintf(path, sizeof path, "%.20s/schedstat", tid);
  const int file = openat(tasks, path, O_RDONLY | O_CLOEXEC);
  const ssize_t size = file >= 0 ? read(file, text, sizeof text - 1) : 0;
  if (file >= 0) close(file);
  text[size > 0 ? size : 0] = '\0';
  return sscanf(text, "%llu %llu", &ran, &queued) == 2 ? queued : 0;
}

/* Of the thread that has waited longest since it began. */
static uint64_t longest_wait(pid_t pid) {
  char path[64];
  uint64_t most = 0;
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *tasks = opendir(path);
  if (tasks == NULL) return 0;
  for (const struct dirent *task; (task = readdir(tasks)) != NULL;) {
    const uint64_t queued = task->d_name[0] != '.' ? read_queued(dirfd(tasks), task->d_name) : 0;
    if (queued > most) most = queued;
  }
  closedir(tasks);
  return most;
}

uint64_t kw_cpu_wait_since(pid_t pid, uint64_t *io_last) {
  const uint64_t before = *io_last;
  *io_last = longest_wait(pid);
  return *io_last > before ? *io_last - before : 0;
}
