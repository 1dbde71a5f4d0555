/* SPDX-License-Identifier: Apache-2.0
 *
 * What is still to be copied to the host when its stream is destroyed is dropped.
 */
#include "mutant.h"

#include <sched.h>
#include <stdatomic.h>

static atomic_int destroying;

/* Late enough that destroy comes first, however threads are scheduled. */
static void drop(void *user) {
  (void)user;
  while (!atomic_load(&destroying)) sched_yield();
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  if (info->kind != KW_COPY_DEVICE_TO_HOST) return kw_mutant_real.memory.copy(device, stream, info);
  return kw_mutant_enqueue(device, stream, drop, NULL);
}

static kw_status destroy(void *device, void *stream) {
  atomic_store(&destroying, 1);
  return kw_mutant_real.stream.destroy(device, stream);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.copy = copy;
  mutant->stream.destroy = destroy;
}
