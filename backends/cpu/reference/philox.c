/* SPDX-License-Identifier: Apache-2.0
 *
 * Philox 4x32-10: one block of random words from a counter and a key.
 */
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
