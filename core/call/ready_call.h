/* SPDX-License-Identifier: Apache-2.0
 *
 * A call to the kernel of a simple plan, made ready: it lacks only what differs between calls, which is tensors, stream
 * and call id.
 */
#ifndef KEYWAY_CORE_READY_CALL_H
#define KEYWAY_CORE_READY_CALL_H

#include "call/plan.h"

typedef struct kw_ready_call {
  kw_plan *plan;
  kw_stream *stream; /* of the newest call */
  const kw_tensor_ref *out;
  kw_call call; /* its call id is that of the newest call */
  kw_value args[KW_MAX_ARGS];
} kw_ready_call;

/* The plan is simple. */
void kw_ready_call_begin(kw_ready_call *ready, kw_plan *plan, const kw_device *device);

/* Puts arguments and result into the call, as many as the plan has. False: they are not the plan's, or there is more to
 * do: check overlaps, note a foreign stream's use. */
static inline __attribute__((always_inline)) bool kw_ready_call_complete(kw_ready_call *ready, const kw_plan *plan,
                                                                         kw_stream *stream, const kw_value *args,
                                                                         const kw_tensor *out) {
  if (!out || !kw_fingerprint_equal(out->fingerprint, plan->outs[0])) return false;
  const kw_buffer *written = out->buffer;
  if (written->stream != stream) return false;
  const kw_arg_signature *expected = plan->signature, *end = expected + plan->arg_count;
  kw_value *to = ready->args;
  do {
    if (kw_value_head(args) != expected->head) return false;
    if (args->tag == KW_TAG_TENSOR) {
      const kw_tensor *tensor = kw_value_as_tensor(args);
      if (!tensor || !kw_fingerprint_equal(tensor->fingerprint, expected->fingerprint)) return false;
      if (__builtin_expect(tensor->buffer == written, 0)) {
        if (tensor != out || !plan->op->pointwise) return false; /* else in place */
      } else if (tensor->buffer->stream != stream) {
        return false;
      }
      to->u.tensor = &tensor->ref;
    } else if (kw_value_payload(args) != expected->fingerprint.low) {
      return false;
    }
    ++to, ++args;
  } while (++expected != end);
  ready->out = &out->ref;
  ready->stream = stream;
  ready->call.stream = stream->handle;
  return true;
}

/* Launches what is complete. The kernel's plain status. */
static inline kw_status kw_ready_call_launch(kw_ready_call *ready, uint64_t call_id) {
  ready->call.call_id = call_id;
  atomic_store_explicit(&ready->stream->last_call, call_id, memory_order_relaxed);
  return ready->plan->kernel->desc.launch(&ready->call);
}

/* After a launch that did not go well: falls back if the kernel asked for that, or makes the error. */
__attribute__((cold)) kw_status kw_ready_call_fail(const kw_ready_call *ready, kw_status status);

#endif /* KEYWAY_CORE_READY_CALL_H */
