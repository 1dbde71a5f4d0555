/* SPDX-License-Identifier: Apache-2.0
 *
 * Philox 4x32-10, a random number generator without a state: block n of a stream is a function of n and the key.
 * Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
 */
#ifndef KEYWAY_REFERENCE_PHILOX_H
#define KEYWAY_REFERENCE_PHILOX_H

#include "reference.h"

/* One block: four words from a counter of four words and a key of two. */
void kw_philox_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* The numbers of one call, from block `offset` on. */
typedef struct kw_philox_stream {
  uint64_t seed;
  uint64_t offset;
} kw_philox_stream;

/* Those of a call: kw_call.rng, or what it points to in host memory. */
kw_philox_stream kw_philox_stream_of(const kw_call *call);

/* The word of element `index` (row-major): lane index % 4 of block n = offset + index / 4 (wraps), whose counter is
 * (low word of n, high word of n, part, 0) and whose key is (low word of seed, high word of seed). */
uint32_t kw_philox_word(kw_philox_stream stream, uint64_t index, uint32_t part);
/* 64 bits: the words of part 0, above, and part 1. */
uint64_t kw_philox_word64(kw_philox_stream stream, uint64_t index);

#endif /* KEYWAY_REFERENCE_PHILOX_H */
