/* SPDX-License-Identifier: Apache-2.0
 *
 * A call is laid out twice by the same code: once to count, once to copy.
 */
#include "call/call_copy.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 16 /* of every piece */

typedef struct layout {
  char *base; /* NULL while counting */
  size_t used;
} layout;

/* Room for `size` bytes, a copy of `data`; NULL while counting. */
static void *place(layout *l, const void *data, size_t size) {
  const size_t at = l->used;
  l->used += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (!l->base) return NULL;
  return size > 0 ? memcpy(l->base + at, data, size) : l->base + at;
}

static const kw_tensor_ref *const *place_tensors(layout *l, const kw_tensor_ref *const *tensors, uint32_t count) {
  const kw_tensor_ref **copies = place(l, tensors, count * sizeof *tensors);
  for (uint32_t i = 0; i < count; ++i) {
    const kw_tensor_ref *copy = tensors[i] ? place(l, tensors[i], sizeof *tensors[i]) : NULL;
    if (copies) copies[i] = copy;
  }
  return copies;
}

static void place_contents(layout *l, kw_value *value) {
  switch (value->tag) {
    case KW_TAG_TENSOR:
      value->u.tensor = place(l, value->u.tensor, sizeof *value->u.tensor);
      break;
    case KW_TAG_TENSOR_LIST:
      value->u.tensors = place_tensors(l, value->u.tensors, value->count);
      break;
    case KW_TAG_INT_LIST:
      value->u.ints = place(l, value->u.ints, value->count * sizeof *value->u.ints);
      break;
    case KW_TAG_STRING:
      value->u.s = place(l, value->u.s, strlen(value->u.s) + 1);
      break;
    default:
      break;
  }
}

static kw_call *place_call(layout *l, const kw_call *call) {
  kw_call *copy = place(l, call, sizeof *call);
  kw_value *args = place(l, call->args, call->arg_count * sizeof *call->args);
  for (uint32_t i = 0; i < call->arg_count; ++i) {
    kw_value value = call->args[i];
    place_contents(l, &value);
    if (args) args[i] = value;
  }
  const kw_tensor_ref *const *outs = place_tensors(l, call->outs, call->out_count);
  const kw_call_extra *extra = call->extra ? place(l, call->extra, sizeof *call->extra) : NULL;
  if (!copy) return NULL;
  copy->args = args;
  copy->outs = outs;
  copy->extra = extra;
  return copy;
}

kw_call *kw_call_copy(const kw_call *call) {
  layout l = {NULL, 0};
  place_call(&l, call);
  l = (layout){malloc(l.used), 0};
  return l.base ? place_call(&l, call) : NULL;
}
