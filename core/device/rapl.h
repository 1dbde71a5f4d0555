/* SPDX-License-Identifier: Apache-2.0
 *
 * The host's own energy counters, "running average power limit", as Linux shows them under powercap: whole CPU packages
 * and the memory beside them, in microjoules.
 */
#ifndef KEYWAY_CORE_RAPL_H
#define KEYWAY_CORE_RAPL_H

#include <keyway/types.h>

#define KW_RAPL_ROOT "/sys/class/powercap"
#define KW_RAPL_ZONES 32 /* zones past these are not counted */

typedef struct kw_rapl {
  uint32_t count;
  struct {
    char name[32];        /* "intel-rapl:0:1" */
    uint64_t microjoules; /* wraps to 0 past `range` */
    uint64_t range;
  } zones[KW_RAPL_ZONES];
} kw_rapl;

/* Reads the packages' and the memories' counters. KW_ERR_UNSUPPORTED where there are none or they may not be read; the
 * message says why and what to do. */
kw_status kw_rapl_read(const char *root, kw_rapl *out_rapl);

/* Microjoules between two readings, each counter having wrapped once at most (an hour and more on today's machines).
 * Zones that are not in both do not count. */
uint64_t kw_rapl_between(const kw_rapl *begin, const kw_rapl *end);

#endif /* KEYWAY_CORE_RAPL_H */
