/* SPDX-License-Identifier: Apache-2.0
 *
 * Random words as a pure function of what they are for, and hashes of names.
 */
#ifndef KEYWAY_CONFORMANCE_WORDS_H
#define KEYWAY_CONFORMANCE_WORDS_H

#include <stdint.h>

/* Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). */
void kw_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* The words of element `index`: those of the counter (index low, index high, arg, run). */
void kw_words_draw(uint64_t key, uint64_t index, uint32_t arg, uint32_t run, uint32_t out[4]);

/* Those of as many elements from `first` on, in less time: out[w][i] is word w of element first + i. */
enum { KW_WORDS_BLOCK = 64 };
void kw_words_draw_block(uint64_t key, uint64_t first, uint32_t arg, uint32_t run, uint32_t out[4][KW_WORDS_BLOCK]);

/* FNV-1a, 64 bits: the hash of a case id, and of the set of all ids. */
uint64_t kw_hash(uint64_t start, const char *text);
#define KW_HASH_START UINT64_C(0xcbf29ce484222325)

#endif /* KEYWAY_CONFORMANCE_WORDS_H */
