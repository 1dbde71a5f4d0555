/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses that malloc has reserved for threads: how many depends on how many threads meet in malloc, and so on how
 * busy the machine is.
 */
#ifndef KEYWAY_CONTRACT_SOAK_ARENAS_H
#define KEYWAY_CONTRACT_SOAK_ARENAS_H

#include <stdint.h>

#define KW_ARENA_SIZE (UINT64_C(64) << 20) /* of glibc on 64-bit machines; each begins at a multiple of it */

/* Bytes of them, KW_ARENA_SIZE each. What is allocated there is of the heap, and of resident memory. */
int64_t kw_arena_addresses(void);

#endif /* KEYWAY_CONTRACT_SOAK_ARENAS_H */
