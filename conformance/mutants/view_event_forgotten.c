/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream does not wait for an event that was recorded behind a kernel which wrote through strides.
 */
#include "mutant_queue.h"

static kw_mutant_marks streams, events; /* behind such a kernel */

static bool is_strided(const kw_tensor_ref *t) {
  int64_t stride = 1;
  for (uint32_t d = t->rank; d-- > 0; stride *= t->shape[d]) {
    if (t->shape[d] > 1 && t->strides[d] != stride) return true;
  }
  return false;
}

static kw_status launch(const kw_call *call) {
  kw_mutant_mark(&streams, call->stream, call->out_count > 0 && call->outs[0] && is_strided(call->outs[0]));
  return kw_mutant_launch_real(call);
}

static kw_status record(void *device, void *event, void *stream) {
  kw_mutant_mark(&events, event, kw_mutant_marked(&streams, stream));
  return kw_mutant_real.event.record(device, event, stream);
}

static kw_status wait(void *device, void *stream, void *event) {
  return kw_mutant_marked(&events, event) ? KW_OK : kw_mutant_real.event.wait(device, stream, event);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->launch = launch;
  mutant->event.record = record;
  mutant->event.wait = wait;
}
