/* SPDX-License-Identifier: Apache-2.0
 *
 * The random words of one call: which word an element gets.
 */
#ifndef KEYWAY_REFERENCE_WORDS_H
#define KEYWAY_REFERENCE_WORDS_H

#include "reference.h"

/* A generator's numbers from block `offset` on. */
typedef struct kw_words {
  uint32_t algorithm; /* KW_GENERATOR_* */
  uint64_t seed;
  uint64_t offset;
} kw_words;

/* Those of a call: kw_call_extra.rng, or what it points to in host memory. */
kw_words kw_words_of(const kw_call *call);

/* The four words of block `number`, part `part`:
 *   Philox 4x32-10  counter (low word of number, high word, part, 0), key (low word of seed, high word)
 *   AES-128-CTR     the counter block of NIST SP 800-38A, a number of 128 bits, most significant byte first, is
 *                   part * 2^64 + number; the key is the seed, least significant byte first, then eight bytes 0; the
 *                   keystream's bytes make words least significant byte first */
void kw_words_block(const kw_words *words, uint64_t number, uint32_t part, uint32_t out[4]);

/* The word of element `index` (row-major): lane index % 4 of block offset + index / 4 (wraps). */
uint32_t kw_words_32(const kw_words *words, uint64_t index, uint32_t part);
/* 64 bits: the words of part 0, above, and part 1. */
uint64_t kw_words_64(const kw_words *words, uint64_t index);

/* The integers that random_.from draws from: the first, which is returned, and how many, 0 for all 2^64. The result has
 * a dtype up to f64. */
int64_t kw_words_range(const kw_call *call, uint64_t *out_range);

#endif /* KEYWAY_REFERENCE_WORDS_H */
