/* SPDX-License-Identifier: Apache-2.0
 *
 * Each opening of the device starts a thread that never ends.
 */
#include "mutant.h"

#include <pthread.h>
#include <unistd.h>

static void *idle(void *unused) {
  for (;;) pause();
  return unused;
}

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, idle, NULL) == 0) pthread_detach(thread);
  return kw_mutant_real.device.open(plugin, index, info, out_device);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.open = open_device;
}
