/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses that malloc has: those that it reserves for threads, how many depends on how many threads meet in malloc,
 * and so on how busy the machine is; and the program's heap, where what is freed may stay between what is not.
 */
#ifndef KEYWAY_CONTRACT_SOAK_ARENAS_H
#define KEYWAY_CONTRACT_SOAK_ARENAS_H

#include <stdint.h>

#define KW_ARENA_SIZE (UINT64_C(64) << 20) /* of glibc on 64-bit machines; each begins at a multiple of it */

/* Bytes of those for threads, KW_ARENA_SIZE each, and of the program's heap. What is allocated there is counted as
 * such, and as resident memory. */
int64_t kw_arena_addresses(void);
int64_t kw_heap_addresses(void);

#endif /* KEYWAY_CONTRACT_SOAK_ARENAS_H */
