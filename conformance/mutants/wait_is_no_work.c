/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream that has been given nothing but waits for events counts as idle when it is asked without waiting.
 */
#include "mutant.h"

#include <pthread.h>

enum { STREAMS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *working[STREAMS]; /* that have been given other work since somebody waited for them */

static bool set(void *stream, bool works) {
  int place = STREAMS - 1;
  pthread_mutex_lock(&lock);
  for (int i = STREAMS; i-- > 0;) {
    if (!working[i] || working[i] == stream) place = i;
  }
  for (int i = 0; i < STREAMS; i++) {
    if (working[i] == stream) place = i;
  }
  const bool worked = working[place] == stream;
  working[place] = works ? stream : NULL;
  pthread_mutex_unlock(&lock);
  return worked;
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  (void)set(stream, true);
  return kw_mutant_real.memory.copy(device, stream, info);
}

static kw_status call_host(void *device, void *stream, uint64_t token) {
  (void)set(stream, true);
  return kw_mutant_real.stream.call_host(device, stream, token);
}

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  const kw_status status = kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
  const bool worked = set(stream, false);
  if (status == KW_OK) return status;
  (void)set(stream, worked);
  return timeout_ns == 0 && !worked ? KW_OK : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.copy = copy;
  mutant->stream.call_host = call_host;
  mutant->stream.synchronize = synchronize;
}
