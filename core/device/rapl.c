/* SPDX-License-Identifier: Apache-2.0
 *
 * Zones are directories: "intel-rapl:0" with the name "package-0", inside it "intel-rapl:0:1" with the name "dram" or a
 * part of the package, and "psys", the whole board, which holds the packages. What holds or is held by another is left
 * out: packages and dram count. Drivers of other vendors' CPUs use the same names.
 */
#include "device/rapl.h"

#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first line of a zone's file, without its end. False with errno when it cannot be read. */
static bool read_line(const char *root, const char *zone, const char *file, char *text, size_t size) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s/%s", root, zone, file);
  FILE *stream = fopen(path, "re");
  if (!stream) return false;
  bool read = fgets(text, (int)size, stream) != NULL;
  int error = read ? 0 : errno ? errno : EIO;
  fclose(stream);
  errno = error;
  if (read) text[strcspn(text, "\n")] = 0;
  return read;
}

static bool read_number(const char *root, const char *zone, const char *file, uint64_t *out_number) {
  char text[32], *end;
  if (!read_line(root, zone, file, text, sizeof text)) return false;
  *out_number = strtoull(text, &end, 10);
  return end != text && *end == 0;
}

static bool counts(const char *root, const char *zone) {
  char name[64];
  if (strncmp(zone, "intel-rapl:", 11) != 0 || !read_line(root, zone, "name", name, sizeof name)) return false;
  return strncmp(name, "package", 7) == 0 || strcmp(name, "dram") == 0;
}

static kw_status refuse(const char *root, const char *zone, int error) {
  if (error == EACCES || error == EPERM) {
    return kw_fail(KW_ERR_UNSUPPORTED,
                   "the energy counter %s/%s/energy_uj may not be read (%s): run as a user who may, or have the "
                   "administrator allow it",
                   root, zone, strerror(error));
  }
  return kw_fail(KW_ERR_UNSUPPORTED, "the energy counter %s/%s/energy_uj cannot be read (%s)", root, zone,
                 strerror(error));
}

kw_status kw_rapl_read(const char *root, kw_rapl *out_rapl) {
  DIR *directory = opendir(root);
  if (!directory) {
    return kw_fail(KW_ERR_UNSUPPORTED, "this host shows no energy counters: %s cannot be opened (%s)", root,
                   strerror(errno));
  }
  out_rapl->count = 0;
  kw_status status = KW_OK;
  const struct dirent *entry;
  while (status == KW_OK && out_rapl->count < KW_RAPL_ZONES && (entry = readdir(directory))) {
    const char *zone = entry->d_name;
    if (strlen(zone) >= sizeof out_rapl->zones[0].name || !counts(root, zone)) continue;
    uint64_t now, range;
    errno = 0;
    if (!read_number(root, zone, "energy_uj", &now)) {
      status = refuse(root, zone, errno ? errno : EINVAL);
    } else {
      if (!read_number(root, zone, "max_energy_range_uj", &range)) range = UINT64_MAX;
      strcpy(out_rapl->zones[out_rapl->count].name, zone);
      out_rapl->zones[out_rapl->count].microjoules = now;
      out_rapl->zones[out_rapl->count++].range = range;
    }
  }
  closedir(directory);
  if (status == KW_OK && out_rapl->count == 0) {
    status = kw_fail(KW_ERR_UNSUPPORTED,
                     "this host shows no energy counters: %s has no RAPL package (no such counter in this CPU, or no "
                     "driver for it: intel_rapl_msr; virtual machines have none)",
                     root);
  }
  return status;
}

uint64_t kw_rapl_between(const kw_rapl *begin, const kw_rapl *end) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < begin->count; ++i) {
    for (uint32_t j = 0; j < end->count; ++j) {
      if (strcmp(begin->zones[i].name, end->zones[j].name) != 0) continue;
      uint64_t from = begin->zones[i].microjoules, to = end->zones[j].microjoules;
      sum += to >= from ? to - from : end->zones[j].range - from + to;
    }
  }
  return sum;
}
