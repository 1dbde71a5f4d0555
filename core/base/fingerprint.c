/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of all fingerprints, and what those of a device begin with.
 */
#include "base/fingerprint.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

kw_wide kw_fingerprint_keys[4 + 2 * KW_MAX_RANK];

static void draw_keys(void) {
  uint64_t words[2 * sizeof kw_fingerprint_keys / sizeof kw_fingerprint_keys[0]];
  if (getrandom(words, sizeof words, GRND_NONBLOCK) != (ssize_t)sizeof words) {
    /* A kernel without entropy yet: the clock and the address of the stack tell processes apart well enough. */
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t state = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 32 ^ (uint64_t)(uintptr_t)&now;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
      state += UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64 */
      uint64_t word = (state ^ state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
      word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
      words[i] = word ^ word >> 31;
    }
  }
  memcpy(kw_fingerprint_keys, words, sizeof kw_fingerprint_keys);
}

kw_fingerprint kw_fingerprint_seed(uint64_t device_id) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, draw_keys);
  const kw_wide seed = kw_fingerprint_keys[0] + kw_fingerprint_keys[1] * device_id;
  return (kw_fingerprint){(uint64_t)seed, (uint64_t)(seed >> 64)};
}

kw_fingerprint kw_fingerprint_of(kw_fingerprint seed, const kw_tensor_ref *ref, bool read_only) {
  kw_wide sum = kw_fingerprint_of_rest(seed, ref, read_only) + kw_fingerprint_keys[3] * ref->layout;
  uint64_t contiguous = 1; /* the stride; it may wrap, as it does for all that have these sizes */
  for (uint32_t d = ref->rank; d-- > 0;) {
    const uint64_t size = (uint64_t)ref->shape[d];
    sum += kw_fingerprint_of_size(d, size);
    sum += kw_fingerprint_keys[5 + 2 * d] * ((uint64_t)ref->strides[d] - contiguous);
    contiguous *= size > 1 ? size : 1;
  }
  return kw_fingerprint_end(sum);
}
