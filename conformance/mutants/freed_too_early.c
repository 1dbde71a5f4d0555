/* SPDX-License-Identifier: Apache-2.0
 *
 * An event right behind a kernel counts as passed once it is asked for, so that memory which that kernel still reads is
 * used again.
 */
#include "mutant_queue.h"

static kw_mutant_marks streams, events; /* behind a kernel */

static kw_status launch(const kw_call *call) {
  kw_mutant_mark(&streams, call->stream, true);
  return kw_mutant_launch_real(call);
}

static kw_status call_host(void *device, void *stream, uint64_t token) {
  kw_mutant_mark(&streams, stream, false);
  return kw_mutant_real.stream.call_host(device, stream, token);
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  kw_mutant_mark(&streams, stream, false);
  return kw_mutant_real.memory.copy(device, stream, info);
}

static kw_status record(void *device, void *event, void *stream) {
  kw_mutant_mark(&events, event, kw_mutant_marked(&streams, stream));
  return kw_mutant_real.event.record(device, event, stream);
}

static kw_status query(void *device, void *event) {
  return kw_mutant_marked(&events, event) ? KW_OK : kw_mutant_real.event.query(device, event);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->launch = launch;
  mutant->stream.call_host = call_host;
  mutant->memory.copy = copy;
  mutant->event.record = record;
  mutant->event.query = query;
}
