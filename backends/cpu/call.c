/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a call; a copy of a call in one block.
 */
#include "call.h"

#include "fast/fast.h"
#include "reference/reference.h"

#include <string.h>

kw_status kw_cpu_call_run(const kw_host_api *host, const kw_call *call, kw_cpu_table table) {
  if (table == KW_CPU_REFERENCE) return ((const kw_reference_kernel *)call->user)->run(call);
  return ((const kw_fast_kernel *)call->user)->run(host, call, call->prepared);
}

kw_status kw_cpu_call_pack(const kw_host_api *host, const kw_call *call, uint32_t arg, void *to) {
  return ((const kw_fast_kernel *)call->user)->pack(host, call->prepared, call, arg, to);
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

/* Memory to place copies in; without `base` it only counts. */
typedef struct arena {
  char *base;
  size_t used;
} arena;

/* A copy of `data`, or NULL while counting. */
static void *place(arena *arena, const void *data, size_t size) {
  size_t at = arena->used;
  arena->used += (size + 15) / 16 * 16;
  if (!arena->base || size == 0) return NULL;
  return memcpy(arena->base + at, data, size);
}

static const kw_tensor_ref *place_tensor(arena *arena, const kw_tensor_ref *tensor) {
  return tensor ? place(arena, tensor, sizeof *tensor) : NULL;
}

static const kw_tensor_ref **place_tensors(arena *arena, const kw_tensor_ref *const *tensors, uint32_t count) {
  const kw_tensor_ref **copies = place(arena, tensors, count * sizeof *tensors);
  for (uint32_t i = 0; i < count; i++) {
    const kw_tensor_ref *copy = place_tensor(arena, tensors[i]);
    if (copies) copies[i] = copy;
  }
  return copies;
}

/* What this version knows of it. Packed forms lie behind each other, with room for an array of pointers to them. */
static const kw_call_extra *place_extra(arena *arena, const kw_call *call) {
  kw_call_extra extra = {.struct_size = sizeof extra};
  if (!call->extra) return NULL;
  const uint32_t known = call->extra->struct_size < sizeof extra ? call->extra->struct_size : (uint32_t)sizeof extra;
  memcpy(&extra, call->extra, known);
  if (extra.packed) {
    const kw_packed **copies = place(arena, extra.packed, call->arg_count * sizeof *copies);
    for (uint32_t i = 0; i < call->arg_count; i++) {
      const kw_packed *copy = extra.packed[i] ? place(arena, extra.packed[i], sizeof *copy) : NULL;
      if (copies) copies[i] = copy;
    }
    extra.packed = copies;
  }
  return place(arena, &extra, sizeof extra);
}

/* `call` with everything it points to placed in the arena; meaningless while counting. */
static kw_call place_call(arena *arena, const kw_call *call) {
  kw_call copy = *call;
  kw_value *args = place(arena, call->args, call->arg_count * sizeof *args);
  for (uint32_t i = 0; i < call->arg_count; i++) {
    kw_value value = call->args[i];
    if (value.tag == KW_TAG_TENSOR) {
      value.u.tensor = place_tensor(arena, value.u.tensor);
    } else if (value.tag == KW_TAG_TENSOR_LIST) {
      value.u.tensors = place_tensors(arena, value.u.tensors, value.count);
    } else if (value.tag == KW_TAG_INT_LIST) {
      value.u.ints = place(arena, value.u.ints, value.count * sizeof *value.u.ints);
    } else if (value.tag == KW_TAG_STRING) {
      value.u.s = place(arena, value.u.s, strlen(value.u.s) + 1);
    }
    if (args) args[i] = value;
  }
  copy.args = args;
  copy.outs = place_tensors(arena, call->outs, call->out_count);
  copy.extra = place_extra(arena, call);
  copy.op = place(arena, call->op, strlen(call->op) + 1);
  return copy;
}

size_t kw_cpu_call_room(const kw_call *call) {
  arena count = {NULL, 0};
  place_call(&count, call);
  return count.used;
}

kw_call kw_cpu_call_copy(const kw_call *call, void *room) {
  arena into = {room, 0};
  return place_call(&into, call);
}
