/* SPDX-License-Identifier: Apache-2.0 */
#include "philox.h"

#include <string.h>

void kw_philox_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  const uint32_t multiplier[2] = {0xD2511F53u, 0xCD9E8D57u}, weyl[2] = {0x9E3779B9u, 0xBB67AE85u};
  uint32_t x[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
  for (int round = 0; round < 10; round++) {
    const uint64_t first = (uint64_t)multiplier[0] * x[0], second = (uint64_t)multiplier[1] * x[2];
    x[0] = (uint32_t)(second >> 32) ^ x[1] ^ k[0];
    x[1] = (uint32_t)second;
    x[2] = (uint32_t)(first >> 32) ^ x[3] ^ k[1];
    x[3] = (uint32_t)first;
    k[0] += weyl[0];
    k[1] += weyl[1];
  }
  memcpy(out, x, sizeof x);
}

kw_philox_stream kw_philox_stream_of(const kw_call *call) {
  kw_philox_stream stream = {call->rng.seed, call->rng.offset};
  if (!call->rng.state) return stream;
  uint64_t state[2]; /* seed, offset */
  memcpy(state, (const char *)call->rng.state + call->rng.state_offset, sizeof state);
  stream.seed = state[0];
  stream.offset += state[1];
  return stream;
}

uint32_t kw_philox_word(kw_philox_stream stream, uint64_t index, uint32_t part) {
  const uint64_t block = stream.offset + index / 4;
  const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), part, 0};
  const uint32_t key[2] = {(uint32_t)stream.seed, (uint32_t)(stream.seed >> 32)};
  uint32_t words[4];
  kw_philox_block(counter, key, words);
  return words[index % 4];
}

uint64_t kw_philox_word64(kw_philox_stream stream, uint64_t index) {
  return (uint64_t)kw_philox_word(stream, index, 0) << 32 | kw_philox_word(stream, index, 1);
}
