/* SPDX-License-Identifier: Apache-2.0
 *
 * The random words of one call: which word an element gets.
 */
#include "words.h"

#include "aes.h"
#include "philox.h"

#include <string.h>

kw_words kw_words_of(const kw_call *call) {
  const kw_rng *rng = &call->extra->rng;
  kw_words words = {rng->algorithm, rng->seed, rng->offset};
  if (!rng->state) return words;
  uint64_t state[2]; /* seed, offset */
  memcpy(state, (const char *)rng->state + rng->state_offset, sizeof state);
  words.seed = state[0];
  words.offset += state[1];
  return words;
}

static void aes_block(uint64_t seed, uint64_t number, uint32_t part, uint32_t out[4]) {
  uint8_t key[16] = {0}, block[16] = {0};
  for (int i = 0; i < 8; i++) {
    key[i] = (uint8_t)(seed >> 8 * i);
    block[15 - i] = (uint8_t)(number >> 8 * i);
    if (i < 4) block[7 - i] = (uint8_t)(part >> 8 * i);
  }
  kw_aes128_block(key, block, block);
  for (int i = 0; i < 4; i++) {
    const uint8_t *byte = block + 4 * i;
    out[i] = byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24;
  }
}

void kw_words_block(const kw_words *words, uint64_t number, uint32_t part, uint32_t out[4]) {
  if (words->algorithm == KW_GENERATOR_AES128_CTR) {
    aes_block(words->seed, number, part, out);
  } else {
    const uint32_t counter[4] = {(uint32_t)number, (uint32_t)(number >> 32), part, 0};
    kw_philox_block(counter, (const uint32_t[2]){(uint32_t)words->seed, (uint32_t)(words->seed >> 32)}, out);
  }
}

uint32_t kw_words_32(const kw_words *words, uint64_t index, uint32_t part) {
  uint32_t block[4];
  kw_words_block(words, words->offset + index / 4, part, block);
  return block[index % 4];
}

uint64_t kw_words_64(const kw_words *words, uint64_t index) {
  return (uint64_t)kw_words_32(words, index, 0) << 32 | kw_words_32(words, index, 1);
}

/* The largest integer that a dtype holds along with all below it. */
static int64_t largest_integer(kw_dtype dtype) {
  static const int64_t largest[] = {[KW_BOOL] = 1,
                                    [KW_U8] = UINT8_MAX,
                                    [KW_I8] = INT8_MAX,
                                    [KW_I16] = INT16_MAX,
                                    [KW_I32] = INT32_MAX,
                                    [KW_I64] = INT64_MAX,
                                    [KW_F16] = INT64_C(1) << 11,
                                    [KW_BF16] = INT64_C(1) << 8,
                                    [KW_F32] = INT64_C(1) << 24,
                                    [KW_F64] = INT64_C(1) << 53};
  return largest[dtype];
}

int64_t kw_words_range(const kw_call *call, uint64_t *out_range) {
  const bool given = call->args[2].tag != KW_TAG_NONE;
  const uint64_t from = (uint64_t)call->args[1].u.i;
  const uint64_t end = given ? (uint64_t)call->args[2].u.i : (uint64_t)largest_integer(call->outs[0]->dtype) + 1;
  *out_range = end - from;
  return (int64_t)from;
}
