/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the files of the folder, each of which another process may replace or remove meanwhile.
 */
#include "live_reader.h"

#include "base/need.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file's text; false for one that is not the user's own, or none. */
static bool read_text(int folder, const char *name, char text[KW_LIVE_LIMIT]) {
  const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat info;
  if (file < 0) return false;
  const bool own = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid();
  const ssize_t size = own ? read(file, text, KW_LIVE_LIMIT - 1) : -1;
  close(file);
  text[size > 0 ? size : 0] = '\0';
  return size > 0;
}

/* What a file says, which its process may have left behind: *out_start tells which that was. */
static bool parse(char *text, kw_live_process *out, uint64_t *out_start) {
  uint64_t written;
  char *lines, *line = strtok_r(text, "\n", &lines);
  if (line == NULL || strcmp(line, KW_LIVE_FIRST_LINE) != 0 || (line = strtok_r(NULL, "\n", &lines)) == NULL)
    return false;
  if (sscanf(line, "process %d %" SCNu64 " %" SCNu64 " %63[^\n]", &out->id, out_start, &written, out->program) != 4)
    return false;
  const uint64_t now = kw_live_now();
  out->age = now > written ? (double)(now - written) / 1e9 : 0;
  while ((line = strtok_r(NULL, "\n", &lines)) != NULL) {
    kw_live_device d;
    if (sscanf(line, KW_LIVE_SCAN, d.name, &d.launches, &d.decomposed, &d.fallbacks, &d.bytes_to_device,
               &d.bytes_to_host, &d.allocated, &d.held, &d.total, &d.launches_per_second, &d.busy) != 11)
      continue;
    out->devices = realloc(out->devices, (out->device_count + 1u) * sizeof d);
    if (out->devices == NULL) kw_out_of_memory();
    out->devices[out->device_count++] = d;
  }
  return true;
}

static int by_id(const void *a, const void *b) {
  return ((const kw_live_process *)a)->id - ((const kw_live_process *)b)->id;
}

kw_live_process *kw_live_read(uint32_t *out_count) {
  kw_live_process *all = kw_need(1);
  char text[KW_LIVE_LIMIT];
  const int folder = kw_live_folder_open(false);
  DIR *names = folder >= 0 ? fdopendir(folder) : NULL;
  *out_count = 0;
  for (struct dirent *name; names != NULL && (name = readdir(names)) != NULL;) {
    kw_live_process one = {0};
    uint64_t start = 0;
    if (!isdigit((unsigned char)name->d_name[0])) continue;
    const uint64_t lives = kw_live_start_of(atoi(name->d_name));
    const bool whole = strchr(name->d_name, '.') == NULL; /* otherwise one that is being written */
    const bool good = whole && read_text(folder, name->d_name, text) && parse(text, &one, &start);
    if (good && start == lives) {
      all = realloc(all, (*out_count + 1u) * sizeof *all);
      if (all == NULL) kw_out_of_memory();
      all[(*out_count)++] = one;
      continue;
    }
    free(one.devices);
    if (lives == 0 || (good && start != lives)) unlinkat(folder, name->d_name, 0);
  }
  if (names != NULL) closedir(names);
  qsort(all, *out_count, sizeof *all, by_id);
  return all;
}

void kw_live_free(kw_live_process *processes, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) free(processes[i].devices);
  free(processes);
}
