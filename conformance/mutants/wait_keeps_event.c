/* SPDX-License-Identifier: Apache-2.0
 *
 * Each wait of a stream for an event keeps a kilobyte. After chipStar issue 1384: the marker of every wait between two
 * queues had one reference too many, which came to 2.25 GB.
 */
#include "mutant.h"

static kw_status wait(void *device, void *stream, void *event) {
  kw_mutant_lose_memory(1024);
  return kw_mutant_real.event.wait(device, stream, event);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.wait = wait;
}
