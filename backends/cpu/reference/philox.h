/* SPDX-License-Identifier: Apache-2.0
 *
 * Philox 4x32-10, a random number generator without a state: block n of a stream is a function of n and the key.
 * Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
 */
#ifndef KEYWAY_REFERENCE_PHILOX_H
#define KEYWAY_REFERENCE_PHILOX_H

#include <stdint.h>

/* One block: four words from a counter of four words and a key of two. */
void kw_philox_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif /* KEYWAY_REFERENCE_PHILOX_H */
