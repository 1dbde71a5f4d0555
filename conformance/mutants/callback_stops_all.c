/* SPDX-License-Identifier: Apache-2.0
 *
 * While a host function runs on one stream, nothing is enqueued on another.
 */
#include "mutant.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static kw_status callback(uint64_t token) {
  pthread_mutex_lock(&lock);
  kw_status status = kw_mutant_host->run_callback(kw_mutant_host->ctx, token);
  pthread_mutex_unlock(&lock);
  return status;
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  pthread_mutex_lock(&lock);
  kw_status status = kw_mutant_real.memory.copy(device, stream, info);
  pthread_mutex_unlock(&lock);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->callback = callback;
  mutant->memory.copy = copy;
}
