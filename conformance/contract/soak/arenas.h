/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses that malloc has: arenas, which it reserves for threads, as many as it takes for those that meet in malloc,
 * and so more where the machine is busy; and the program's heap, where what is freed may stay between what is not.
 */
#ifndef KEYWAY_CONTRACT_SOAK_ARENAS_H
#define KEYWAY_CONTRACT_SOAK_ARENAS_H

#include <stdint.h>

#define KW_ARENA_SIZE (UINT64_C(64) << 20) /* of glibc on 64-bit machines; each begins at a multiple of it */

/* Bytes. What is allocated there is counted as such, and as resident memory. */
typedef struct kw_malloc_addresses {
  int64_t arenas; /* KW_ARENA_SIZE each */
  int64_t heap;
} kw_malloc_addresses;

kw_malloc_addresses kw_malloc_addresses_now(void);

#endif /* KEYWAY_CONTRACT_SOAK_ARENAS_H */
