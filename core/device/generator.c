/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers themselves are made by kernels; here is only who gets which blocks.
 */
#include "device/generator.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/struct.h"

#include <stdlib.h>

static kw_status create(kw_device *device, uint64_t seed, kw_generator **out_generator) {
  kw_generator *generator = calloc(1, sizeof *generator);
  if (!generator) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for a generator of %s", device->name);
  generator->device = device;
  generator->seed = seed;
  atomic_init(&generator->refs, 1);
  pthread_mutex_init(&generator->mutex, NULL);
  *out_generator = generator;
  return KW_OK;
}

static bool is_default(const kw_generator *generator) {
  return generator == generator->device->generator;
}

kw_status kw_generator_create_default(kw_device *device) {
  return create(device, 0, &device->generator);
}

void kw_generator_retain(kw_generator *generator) {
  atomic_fetch_add_explicit(&generator->refs, 1, memory_order_relaxed);
}

void kw_generator_unref(kw_generator *generator) {
  if (!generator || atomic_fetch_sub_explicit(&generator->refs, 1, memory_order_acq_rel) != 1) return;
  kw_device *device = is_default(generator) ? NULL : generator->device;
  pthread_mutex_destroy(&generator->mutex);
  free(generator);
  if (device) kw_device_release(device);
}

/* Also for generators that are only read: their lock is no part of what they say. */
static kw_generator *lock(const kw_generator *generator) {
  kw_generator *locked = (kw_generator *)(uintptr_t)generator;
  pthread_mutex_lock(&locked->mutex);
  return locked;
}

kw_rng kw_generator_take(kw_generator *generator, uint64_t blocks) {
  lock(generator);
  const kw_rng rng = {.algorithm = generator->algorithm, .seed = generator->seed, .offset = generator->offset};
  generator->offset += blocks;
  pthread_mutex_unlock(&generator->mutex);
  return rng;
}

/* ---- For applications -------------------------------------------------------------------------------------------- */

static kw_status check(const char *function, const kw_generator *generator) {
  if (generator) return kw_fork_check();
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument generator is NULL.", function);
}

KW_API kw_generator *kw_generator_default(kw_device *device) {
  return device ? device->generator : NULL;
}

KW_API kw_status kw_generator_create(kw_device *device, uint64_t seed, kw_generator **out_generator) {
  if (!device) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_generator_create: argument device is NULL.");
  if (!out_generator) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_generator_create: argument out_generator is NULL.");
  kw_status status = kw_fork_check();
  if (status == KW_OK) status = create(device, seed, out_generator);
  if (status == KW_OK) kw_device_retain(device);
  return status;
}

KW_API void kw_generator_destroy(kw_generator *generator) {
  if (kw_fork_happened()) return;
  if (generator && is_default(generator)) {
    kw_log(KW_LOG_ERROR, "kw_generator_destroy: the default generator of %s lives as long as the device",
           generator->device->name);
    return;
  }
  kw_generator_unref(generator);
}

KW_API kw_status kw_generator_seed(kw_generator *generator, uint64_t seed) {
  kw_status status = check("kw_generator_seed", generator);
  if (status != KW_OK) return status;
  lock(generator);
  generator->seed = seed;
  generator->offset = 0;
  pthread_mutex_unlock(&generator->mutex);
  return KW_OK;
}

KW_API kw_status kw_generator_get_state(const kw_generator *generator, kw_generator_state *out_state) {
  kw_status status = check("kw_generator_get_state", generator);
  if (status == KW_OK) status = kw_struct_check_given("kw_generator_get_state", out_state);
  if (status != KW_OK) return status;
  kw_generator *locked = lock(generator);
  const kw_generator_state state = {.algorithm = locked->algorithm, .seed = locked->seed, .offset = locked->offset};
  pthread_mutex_unlock(&locked->mutex);
  kw_struct_write(out_state, &state, sizeof state);
  return KW_OK;
}

KW_API kw_status kw_generator_set_state(kw_generator *generator, const kw_generator_state *given) {
  kw_status status = check("kw_generator_set_state", generator);
  if (status == KW_OK) status = kw_struct_check_given("kw_generator_set_state", given);
  if (status != KW_OK) return status;
  kw_generator_state state;
  kw_struct_read(&state, sizeof state, given);
  if (state.algorithm > KW_GENERATOR_AES128_CTR) {
    return kw_fail(KW_ERR_UNSUPPORTED,
                   "kw_generator_set_state: algorithm %u is not known; this Keyway has Philox 4x32-10 (%d) and "
                   "AES-128-CTR (%d)",
                   state.algorithm, KW_GENERATOR_PHILOX4X32_10, KW_GENERATOR_AES128_CTR);
  }
  lock(generator);
  generator->algorithm = state.algorithm;
  generator->seed = state.seed;
  generator->offset = state.offset;
  pthread_mutex_unlock(&generator->mutex);
  return KW_OK;
}
