/* SPDX-License-Identifier: Apache-2.0
 *
 * Products have a queue of their own, which everything else waits for, but a kernel that reads one through a view: it
 * is told by its memory, offset and strides.
 */
#include "mutant.h"

#include <string.h>

static kw_mutant_copy late; /* the product that waits in its queue */
static bool waiting;

static kw_status flush(void) {
  const bool any = waiting;
  waiting = false;
  return any ? kw_mutant_launch_real(&late.call) : KW_OK;
}

static bool is_product(const char *op) {
  return strcmp(op, "mm") == 0 || strcmp(op, "bmm") == 0 || strcmp(op, "addmm") == 0;
}

static bool is_view_of(const kw_tensor_ref *t, const kw_tensor_ref *whole) {
  if (t->mem != whole->mem || t->numel == 0) return false;
  const bool apart =
      t->offset + kw_mutant_extent(t) <= whole->offset || whole->offset + kw_mutant_extent(whole) <= t->offset;
  const bool same = t->offset == whole->offset && t->rank == whole->rank && t->dtype == whole->dtype &&
                    memcmp(t->strides, whole->strides, t->rank * sizeof *t->strides) == 0;
  return !apart && !same;
}

static bool reads_view(const kw_call *call) {
  for (uint32_t i = 0; i < call->arg_count && waiting; i++) {
    const kw_value *arg = &call->args[i];
    if (arg->tag == KW_TAG_TENSOR && arg->u.tensor && is_view_of(arg->u.tensor, late.call.outs[0])) return true;
  }
  return false;
}

static kw_status launch(const kw_call *call) {
  kw_status status = reads_view(call) ? KW_OK : flush();
  if (status != KW_OK || !is_product(call->op)) return status == KW_OK ? kw_mutant_launch_real(call) : status;
  status = flush();
  kw_mutant_copy_call(call, &late);
  waiting = true;
  return status;
}

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  kw_status status = flush();
  return status == KW_OK ? kw_mutant_real.stream.synchronize(device, stream, timeout_ns) : status;
}

static kw_status destroy(void *device, void *stream) {
  kw_status status = flush();
  return status == KW_OK ? kw_mutant_real.stream.destroy(device, stream) : status;
}

static kw_status call_host(void *device, void *stream, uint64_t token) {
  kw_status status = flush();
  return status == KW_OK ? kw_mutant_real.stream.call_host(device, stream, token) : status;
}

static kw_status record(void *device, void *event, void *stream) {
  kw_status status = flush();
  return status == KW_OK ? kw_mutant_real.event.record(device, event, stream) : status;
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  kw_status status = flush();
  return status == KW_OK ? kw_mutant_real.memory.copy(device, stream, info) : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->launch = launch;
  mutant->stream.synchronize = synchronize;
  mutant->stream.destroy = destroy;
  mutant->stream.call_host = call_host;
  mutant->event.record = record;
  mutant->memory.copy = copy;
}
