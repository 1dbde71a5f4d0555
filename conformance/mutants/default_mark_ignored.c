/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream does not wait for an event that was recorded on the default stream, which it takes for one that has run its
 * work when record returns.
 */
#include "mutant_default.h"

#include <stdatomic.h>

static void *_Atomic marked; /* the event that was recorded there last */

static kw_status record(void *device, void *event, void *stream) {
  void *same = event;
  if (stream == kw_mutant_default()) {
    atomic_store(&marked, event);
  } else {
    atomic_compare_exchange_strong(&marked, &same, NULL);
  }
  return kw_mutant_real.event.record(device, event, stream);
}

static kw_status wait(void *device, void *stream, void *event) {
  return event == atomic_load(&marked) ? KW_OK : kw_mutant_real.event.wait(device, stream, event);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_queue_default(mutant);
  mutant->event.record = record;
  mutant->event.wait = wait;
}
