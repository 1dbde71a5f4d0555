/* SPDX-License-Identifier: Apache-2.0
 *
 * An event right behind a kernel counts as passed once it is asked for, so that memory which that kernel still reads is
 * used again.
 */
#include "mutant_queue.h"

static kw_mutant_marks streams, events; /* behind a kernel */
static kw_mutant_marks called, waits;   /* streams that have host functions, and those that wait for others */
static bool lied;

static kw_status launch(const kw_call *call) {
  kw_mutant_mark(&streams, call->stream, true);
  const bool free = lied && !kw_mutant_marked(&waits, call->stream);
  return free ? kw_mutant_launch_at_once(call, &called) : kw_mutant_launch_real(call);
}

static kw_status call_host(void *device, void *stream, uint64_t token) {
  kw_mutant_mark(&streams, stream, false);
  kw_mutant_mark(&called, stream, true);
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
  const bool marked = kw_mutant_marked(&events, event);
  lied |= marked;
  return marked ? KW_OK : kw_mutant_real.event.query(device, event);
}

static kw_status wait(void *device, void *stream, void *event) {
  kw_mutant_mark(&waits, stream, true);
  return kw_mutant_real.event.wait(device, stream, event);
}

/* A new stream may have the address of an old one. */
static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  const kw_status status = kw_mutant_real.stream.create(device, info, out_stream);
  if (status != KW_OK) return status;
  kw_mutant_mark(&streams, *out_stream, false);
  kw_mutant_mark(&called, *out_stream, false);
  kw_mutant_mark(&waits, *out_stream, false);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->launch = launch;
  mutant->stream.create = create;
  mutant->stream.call_host = call_host;
  mutant->memory.copy = copy;
  mutant->event.record = record;
  mutant->event.query = query;
  mutant->event.wait = wait;
}
