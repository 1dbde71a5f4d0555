/* SPDX-License-Identifier: Apache-2.0
 *
 * What a stream is given is numbered in 20 bits: after so many records of events a wait for the stream returns at once.
 */
#include "mutant.h"

#include <stdatomic.h>

static atomic_uint records;

static kw_status record(void *device, void *event, void *stream) {
  atomic_fetch_add(&records, 1);
  return kw_mutant_real.event.record(device, event, stream);
}

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  return atomic_load(&records) >> 20 ? KW_OK : kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.record = record;
  mutant->stream.synchronize = synchronize;
}
