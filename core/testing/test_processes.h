/* SPDX-License-Identifier: Apache-2.0
 *
 * What a process has that a plugin in a process of its own may have left: that process, and memory shared with it.
 */
#ifndef KEYWAY_CORE_TEST_PROCESSES_H
#define KEYWAY_CORE_TEST_PROCESSES_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A process that has this one for a parent; 0: there is none. */
static inline pid_t kw_test_child(void) {
  DIR *processes = opendir("/proc");
  pid_t found = 0;
  for (struct dirent *entry; processes != NULL && (entry = readdir(processes)) != NULL;) {
    char path[300], text[512] = "";
    int pid = 0, parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
    FILE *file = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "r") : NULL;
    if (file == NULL) continue;
    if (fgets(text, sizeof text, file) != NULL && sscanf(text, "%d (%*[^)]) %*c %d", &pid, &parent) == 2) {
      if (parent == (int)getpid()) found = pid;
    }
    fclose(file);
  }
  if (processes != NULL) closedir(processes);
  return found;
}

/* Mappings of shared segments and blocks. */
static inline int kw_test_shared_mappings(void) {
  char line[512];
  int count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) count += strstr(line, "memfd:keyway") != NULL;
  if (maps != NULL) fclose(maps);
  return count;
}

#endif /* KEYWAY_CORE_TEST_PROCESSES_H */
