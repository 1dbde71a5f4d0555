/* SPDX-License-Identifier: Apache-2.0
 *
 * Generators: where random ops take their numbers from.
 */
#ifndef KEYWAY_CORE_GENERATOR_H
#define KEYWAY_CORE_GENERATOR_H

#include "device/device.h"

#include <pthread.h>

struct kw_generator {
  kw_device *device; /* holds a reference, unless this is the device's default generator */
  atomic_uint refs;
  pthread_mutex_t mutex; /* guards the state below */
  uint32_t algorithm;
  uint64_t seed;
  uint64_t offset;
};

/* device->generator, with seed 0; ends with kw_generator_unref when the device closes. */
kw_status kw_generator_create_default(kw_device *device);

void kw_generator_retain(kw_generator *generator);
void kw_generator_unref(kw_generator *generator);

/* Where the next `blocks` blocks are, which no other call gets: {algorithm, seed, offset}, no state. */
kw_rng kw_generator_take(kw_generator *generator, uint64_t blocks);

/* How many blocks a random op takes for a result of `numel` elements. */
static inline uint64_t kw_generator_blocks(int64_t numel) {
  return ((uint64_t)numel + 3) / 4;
}

#endif /* KEYWAY_CORE_GENERATOR_H */
