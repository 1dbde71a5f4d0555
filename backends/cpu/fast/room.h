/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that a thread takes for its part of a loop.
 */
#ifndef KEYWAY_CPU_FAST_ROOM_H
#define KEYWAY_CPU_FAST_ROOM_H

#include <keyway/plugin.h>

#include <stdatomic.h>

/* Aligned to 64 bytes and freed by host_free. NULL where there is none: then *status, which whoever runs the loop
 * returns, says so. */
void *kw_fast_room(const kw_host_api *host, uint64_t bytes, atomic_int *status);

#endif /* KEYWAY_CPU_FAST_ROOM_H */
