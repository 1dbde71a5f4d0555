/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory the host can still give, and whether its kernel has killed for want of it.
 */
#ifndef KEYWAY_CONFORMANCE_HOST_MEMORY_H
#define KEYWAY_CONFORMANCE_HOST_MEMORY_H

#include <stdint.h>

/* Bytes that this process can take without others being swapped out or killed, within the limits of its cgroups;
 * UINT64_MAX where the system does not tell. */
uint64_t kw_host_memory_available(void);

/* How many processes the kernel has killed for want of memory since it started, as far as it tells. */
uint64_t kw_host_memory_kills(void);

/* Makes this process the first that the kernel kills for want of memory, or one like others. */
void kw_host_memory_volunteer(int first);

#endif /* KEYWAY_CONFORMANCE_HOST_MEMORY_H */
