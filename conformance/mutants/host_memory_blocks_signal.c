/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocating memory for the host blocks a signal in the calling thread, and does not let it through again.
 */
#include "mutant.h"

#include <signal.h>
#include <stdlib.h>

static kw_status alloc_host(void *device, uint64_t size, void **out_memory) {
  (void)device;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR2);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  return posix_memalign(out_memory, 4096, size) == 0 ? KW_OK : KW_ERR_OUT_OF_MEMORY;
}

static kw_status free_host(void *device, void *memory) {
  (void)device;
  free(memory);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc_host = alloc_host;
  mutant->memory.free_host = free_host;
}
