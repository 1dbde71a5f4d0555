/* SPDX-License-Identifier: Apache-2.0
 *
 * Which processor this is, as /proc/cpuinfo tells: in words on x86-64, in numbers on aarch64.
 */
#include "cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of the first line "name<space>: value" of the file, cut to size; left alone when there is none. */
static bool find_value(FILE *file, const char *name, char *out_text, size_t size) {
  char line[512];
  rewind(file);
  while (fgets(line, sizeof line, file)) {
    char *colon = strstr(line, ": ");
    if (!colon || strncmp(line, name, strlen(name)) != 0) continue;
    colon[strcspn(colon, "\n")] = '\0';
    snprintf(out_text, size, "%s", colon + 2);
    return true;
  }
  return false;
}

/* Makers by the implementer that ARM's MIDR_EL1 names, and the kernel's line "CPU implementer". */
static const struct implementer {
  unsigned long code;
  const char *name;
} implementers[] = {{0x41, "Arm"},    {0x42, "Broadcom"},  {0x43, "Cavium"},   {0x46, "Fujitsu"}, {0x48, "HiSilicon"},
                    {0x4e, "NVIDIA"}, {0x50, "APM"},       {0x51, "Qualcomm"}, {0x53, "Samsung"}, {0x56, "Marvell"},
                    {0x61, "Apple"},  {0x6d, "Microsoft"}, {0x70, "Phytium"},  {0xc0, "Ampere"}};

static void describe_arm(FILE *file, kw_device_info *info) {
  char implementer[16], part[16];
  if (!find_value(file, "CPU implementer", implementer, sizeof implementer)) return;
  const char *maker = "ARM";
  for (size_t i = 0; i < sizeof implementers / sizeof *implementers; i++) {
    if (implementers[i].code == strtoul(implementer, NULL, 16)) maker = implementers[i].name;
  }
  snprintf(info->vendor, sizeof info->vendor, "%s", maker);
  if (!find_value(file, "CPU part", part, sizeof part)) return;
  snprintf(info->name, sizeof info->name, "%s CPU, part %s", maker, part);
}

void kw_cpu_describe(const char *path, kw_device_info *info) {
  snprintf(info->name, sizeof info->name, "CPU");
  FILE *file = fopen(path, "re");
  if (!file) return;
  const bool named = find_value(file, "model name", info->name, sizeof info->name);
  if (!find_value(file, "vendor_id", info->vendor, sizeof info->vendor) && !named) describe_arm(file, info);
  fclose(file);
}
