/* SPDX-License-Identifier: Apache-2.0
 *
 * Philox, for one counter and for many at a time; FNV-1a.
 */
#include "case/words.h"

#include <string.h>

uint64_t kw_hash(uint64_t start, const char *text) {
  uint64_t hash = start;
  for (; *text; text++) hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
  return hash;
}

#define ROUNDS 10
#define WEYL_0 0x9E3779B9u
#define WEYL_1 0xBB67AE85u

static inline void make_round(uint32_t *c0, uint32_t *c1, uint32_t *c2, uint32_t *c3, uint32_t k0, uint32_t k1) {
  const uint64_t a = UINT64_C(0xD2511F53) * *c0, b = UINT64_C(0xCD9E8D57) * *c2;
  *c0 = (uint32_t)(b >> 32) ^ *c1 ^ k0;
  *c1 = (uint32_t)b;
  *c2 = (uint32_t)(a >> 32) ^ *c3 ^ k1;
  *c3 = (uint32_t)a;
}

void kw_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t k0 = key[0], k1 = key[1];
  memcpy(out, counter, 4 * sizeof *out);
  for (int i = 0; i < ROUNDS; i++, k0 += WEYL_0, k1 += WEYL_1) {
    make_round(&out[0], &out[1], &out[2], &out[3], k0, k1);
  }
}

void kw_words_draw(uint64_t key, uint64_t index, uint32_t arg, uint32_t run, uint32_t out[4]) {
  const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), arg, run};
  kw_philox(counter, (const uint32_t[2]){(uint32_t)key, (uint32_t)(key >> 32)}, out);
}

/* Word for word: compilers make vectors of it. */
void kw_words_draw_block(uint64_t key, uint64_t first, uint32_t arg, uint32_t run, uint32_t out[4][KW_WORDS_BLOCK]) {
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  for (uint32_t i = 0; i < KW_WORDS_BLOCK; i++) {
    out[0][i] = (uint32_t)(first + i);
    out[1][i] = (uint32_t)((first + i) >> 32);
    out[2][i] = arg;
    out[3][i] = run;
  }
  for (int round = 0; round < ROUNDS; round++, k0 += WEYL_0, k1 += WEYL_1) {
    for (uint32_t i = 0; i < KW_WORDS_BLOCK; i++) make_round(&out[0][i], &out[1][i], &out[2][i], &out[3][i], k0, k1);
  }
}
