/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream does not wait for an event that was recorded behind a kernel which wrote through strides.
 */
#include "mutant_queue.h"

static kw_mutant_marks streams, events; /* behind such a kernel */
static kw_mutant_marks called, waits;   /* streams that have host functions, and those that wait for others */
static kw_mutant_marks forgetful;       /* streams that should wait */

static bool is_strided(const kw_tensor_ref *t) {
  int64_t stride = 1;
  for (uint32_t d = t->rank; d-- > 0; stride *= t->shape[d]) {
    if (t->shape[d] > 1 && t->strides[d] != stride) return true;
  }
  return false;
}

static kw_status launch(const kw_call *call) {
  kw_mutant_mark(&streams, call->stream, call->out_count > 0 && call->outs[0] && is_strided(call->outs[0]));
  const bool free = kw_mutant_marked(&forgetful, call->stream) && !kw_mutant_marked(&waits, call->stream);
  return free ? kw_mutant_launch_at_once(call, &called) : kw_mutant_launch_real(call);
}

static kw_status call_host(void *device, void *stream, uint64_t token) {
  kw_mutant_mark(&called, stream, true);
  return kw_mutant_real.stream.call_host(device, stream, token);
}

static kw_status record(void *device, void *event, void *stream) {
  kw_mutant_mark(&events, event, kw_mutant_marked(&streams, stream));
  return kw_mutant_real.event.record(device, event, stream);
}

static kw_status wait(void *device, void *stream, void *event) {
  const bool forgotten = kw_mutant_marked(&events, event);
  kw_mutant_mark(forgotten ? &forgetful : &waits, stream, true);
  return forgotten ? KW_OK : kw_mutant_real.event.wait(device, stream, event);
}

/* A new stream may have the address of an old one. */
static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  const kw_status status = kw_mutant_real.stream.create(device, info, out_stream);
  if (status != KW_OK) return status;
  kw_mutant_mark(&streams, *out_stream, false);
  kw_mutant_mark(&called, *out_stream, false);
  kw_mutant_mark(&waits, *out_stream, false);
  kw_mutant_mark(&forgetful, *out_stream, false);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->launch = launch;
  mutant->stream.create = create;
  mutant->stream.call_host = call_host;
  mutant->event.record = record;
  mutant->event.wait = wait;
}
