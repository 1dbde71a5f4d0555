/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream waits for what an event stands for when the stream is next used, not when the wait was asked for.
 */
#include "mutant.h"

static void *waiting, *awaited; /* a stream and its event */

static kw_status wait(void *device, void *stream, void *event) {
  (void)device;
  waiting = stream;
  awaited = event;
  return KW_OK;
}

/* That next use, a copy, is complete when it returns, so that the defect shows however threads are scheduled. */
static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  if (stream != waiting) return kw_mutant_real.memory.copy(device, stream, info);
  waiting = NULL;
  kw_status status = kw_mutant_real.event.wait(device, stream, awaited);
  if (status == KW_OK) status = kw_mutant_real.memory.copy(device, stream, info);
  return status == KW_OK ? kw_mutant_real.stream.synchronize(device, stream, KW_WAIT_FOREVER) : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.wait = wait;
  mutant->memory.copy = copy;
}
