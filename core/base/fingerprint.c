/* SPDX-License-Identifier: Apache-2.0
 *
 * The hash of a descriptor, with keys drawn at its first use.
 */
#include "base/fingerprint.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

__extension__ typedef unsigned __int128 wide;

static wide keys[4 + 2 * KW_MAX_RANK];

static void draw_keys(void) {
  uint64_t words[2 * sizeof keys / sizeof keys[0]];
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
  memcpy(keys, words, sizeof keys);
}

kw_fingerprint kw_fingerprint_of(uint64_t device_id, const kw_tensor_ref *ref, bool read_only) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, draw_keys);
  wide sum = keys[0];
  sum += keys[1] * device_id;
  sum +=
      keys[2] * ((uint64_t)ref->alignment << 32 | (uint64_t)read_only << 31 | (uint64_t)ref->rank << 16 | ref->dtype);
  sum += keys[3] * ref->layout;
  for (uint32_t d = 0; d < ref->rank; ++d) {
    sum += keys[4 + 2 * d] * (uint64_t)ref->shape[d];
    sum += keys[5 + 2 * d] * (uint64_t)ref->strides[d];
  }
  return (kw_fingerprint){(uint64_t)sum, (uint64_t)(sum >> 64)};
}
