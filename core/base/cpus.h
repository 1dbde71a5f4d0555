/* SPDX-License-Identifier: Apache-2.0
 *
 * How many CPUs this process may use: those of its affinity mask, or fewer where a cgroup rations their time.
 */
#ifndef KEYWAY_CORE_CPUS_H
#define KEYWAY_CORE_CPUS_H

#include <keyway/types.h>

#define KW_CPUS_ALL UINT32_MAX /* no quota */

/* The smaller of the mask of the calling thread and the quota; at least 1. Reads files: ask once. */
uint32_t kw_cpus_count(void);

/* What the quotas of the process's cgroup and of every one above it come to, in whole CPUs, at least 1; KW_CPUS_ALL
 * where none is set or can be read. Rounded down: a container of 2.5 CPUs that runs three threads is stopped for a part
 * of every period, and a loop waits for its last thread. `root` comes before the paths of /proc and /sys: "", or a
 * test's folder. */
uint32_t kw_cpus_quota(const char *root);

#endif /* KEYWAY_CORE_CPUS_H */
