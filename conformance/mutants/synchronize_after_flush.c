/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for a stream returns at once when the last thing that it was given is an event, which flushes it. After
 * Mesa's rusticl 22.3.6, as seen: clFinish after clFlush returns while all work is still running.
 */
#include "mutant.h"

static void *flushed; /* the stream whose last command is an event */

static kw_status record(void *device, void *event, void *stream) {
  flushed = stream;
  return kw_mutant_real.event.record(device, event, stream);
}

static kw_status launch(const kw_call *call) {
  if (flushed == call->stream) flushed = NULL;
  return kw_mutant_launch_real(call);
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  if (flushed == stream) flushed = NULL;
  return kw_mutant_real.memory.copy(device, stream, info);
}

static kw_status call_host(void *device, void *stream, uint64_t token) {
  if (flushed == stream) flushed = NULL;
  return kw_mutant_real.stream.call_host(device, stream, token);
}

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  return flushed == stream ? KW_OK : kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->launch = launch;
  mutant->memory.copy = copy;
  mutant->event.record = record;
  mutant->stream.call_host = call_host;
  mutant->stream.synchronize = synchronize;
}
