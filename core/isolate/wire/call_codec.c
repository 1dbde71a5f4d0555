/* SPDX-License-Identifier: Apache-2.0
 *
 * A call in a message: its numbers, its values, its results, and what few calls need.
 */
#include "isolate/wire/call_codec.h"

#include "isolate/wire/slot_codec.h"

#define ABSENT UINT64_MAX /* instead of a tensor's first word */

/* Memory for `count` things, of which each has at least 8 bytes of the message: a count that is garbage takes none. */
static void *take_array(kw_message *m, kw_arena *arena, uint64_t count, uint64_t size) {
  void *array = count <= (uint64_t)(m->end - m->at) / 8 ? kw_arena_take(arena, count * size) : NULL;
  if (array == NULL) m->broken = true;
  return array;
}

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

void kw_put_tensor(kw_message *m, const kw_tensor_ref *t) {
  if (t == NULL) {
    kw_put_u64(m, ABSENT);
    return;
  }
  kw_put_u64(m, (uint64_t)t->dtype | (uint64_t)t->rank << 16 | (uint64_t)t->alignment << 32);
  kw_put_u64(m, t->layout);
  kw_put_u64(m, (uintptr_t)t->mem);
  kw_put_u64(m, t->offset);
  kw_put_u64(m, (uint64_t)t->numel);
  kw_put_raw(m, t->shape, t->rank * sizeof *t->shape);
  kw_put_raw(m, t->strides, t->rank * sizeof *t->strides);
}

kw_tensor_ref *kw_take_tensor(kw_message *m, kw_arena *arena) {
  const uint64_t word = kw_take_u64(m);
  if (word == ABSENT) return NULL;
  const uint32_t rank = (word >> 16) & 0xff;
  kw_tensor_ref *t = rank <= KW_MAX_RANK ? kw_arena_take(arena, sizeof *t) : NULL;
  if (t == NULL) {
    m->broken = true;
    return NULL;
  }
  t->struct_size = sizeof *t;
  t->dtype = (kw_dtype)word;
  t->rank = (uint8_t)rank;
  t->alignment = (uint32_t)(word >> 32);
  t->layout = kw_take_u32(m);
  t->mem = (kw_mem)(uintptr_t)kw_take_u64(m);
  t->offset = kw_take_u64(m);
  t->numel = (int64_t)kw_take_u64(m);
  kw_take_raw(m, t->shape, rank * sizeof *t->shape);
  kw_take_raw(m, t->strides, rank * sizeof *t->strides);
  return t;
}

void kw_put_tensors(kw_message *m, const kw_tensor_ref *const *tensors, uint32_t count) {
  kw_put_u64(m, count);
  for (uint32_t i = 0; i < count; i++) kw_put_tensor(m, tensors[i]);
}

kw_tensor_ref **kw_take_tensors(kw_message *m, kw_arena *arena, uint32_t *out_count) {
  const uint32_t count = kw_take_u32(m);
  kw_tensor_ref **tensors = take_array(m, arena, count, sizeof *tensors);
  *out_count = tensors != NULL ? count : 0;
  for (uint32_t i = 0; i < *out_count && !m->broken; i++) tensors[i] = kw_take_tensor(m, arena);
  return tensors;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void put_value(kw_message *m, const kw_value *value) {
  kw_put_u64(m, (uint64_t)value->tag | (uint64_t)value->kind << 16 | (uint64_t)value->count << 32);
  switch (value->tag) {
    case KW_TAG_TENSOR:
      kw_put_tensor(m, value->u.tensor);
      break;
    case KW_TAG_TENSOR_LIST:
      kw_put_tensors(m, value->u.tensors, value->count);
      break;
    case KW_TAG_INT_LIST:
      kw_put_raw(m, value->u.ints, value->count * sizeof *value->u.ints);
      break;
    case KW_TAG_STRING:
      kw_put_text(m, value->u.s);
      break;
    case KW_TAG_GENERATOR: /* the host's business */
      break;
    default:
      kw_put_raw(m, &value->u, sizeof value->u);
  }
}

static void take_value(kw_message *m, kw_arena *arena, kw_value *value) {
  const uint64_t word = kw_take_u64(m);
  value->tag = (kw_tag)word;
  value->kind = (kw_scalar_kind)(word >> 16);
  value->count = (uint32_t)(word >> 32);
  switch (value->tag) {
    case KW_TAG_TENSOR:
      value->u.tensor = kw_take_tensor(m, arena);
      break;
    case KW_TAG_TENSOR_LIST:
      value->u.tensors = (const kw_tensor_ref *const *)kw_take_tensors(m, arena, &value->count);
      break;
    case KW_TAG_INT_LIST: {
      int64_t *ints = take_array(m, arena, value->count, sizeof *ints);
      if (ints != NULL) kw_take_raw(m, ints, value->count * sizeof *ints);
      value->u.ints = ints;
      break;
    }
    case KW_TAG_STRING:
      kw_take_string(m, arena, &value->u.s);
      break;
    case KW_TAG_GENERATOR:
      break;
    default:
      kw_take_raw(m, &value->u, sizeof value->u);
  }
}

void kw_put_values(kw_message *m, const kw_value *values, uint32_t count) {
  kw_put_u64(m, count);
  for (uint32_t i = 0; i < count; i++) put_value(m, &values[i]);
}

kw_value *kw_take_values(kw_message *m, kw_arena *arena, uint32_t *out_count) {
  const uint32_t count = kw_take_u32(m);
  kw_value *values = take_array(m, arena, count, sizeof *values);
  *out_count = values != NULL ? count : 0;
  for (uint32_t i = 0; i < *out_count && !m->broken; i++) take_value(m, arena, &values[i]);
  return values;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static void put_extra(kw_message *m, const kw_call_extra *extra, uint32_t arg_count) {
  kw_put_u64(m, extra != NULL);
  if (extra == NULL) return;
  kw_put_u64(m, extra->error_code);
  kw_put_u64(m, (uintptr_t)extra->error_mem);
  kw_put_u64(m, extra->error_offset);
  kw_put_raw(m, &extra->rng, sizeof extra->rng);
  kw_put_u64(m, extra->packed != NULL);
  for (uint32_t i = 0; extra->packed != NULL && i < arg_count; i++) {
    const kw_packed *packed = extra->packed[i];
    kw_put_u64(m, packed != NULL);
    if (packed != NULL) kw_put_raw(m, packed, sizeof *packed);
  }
}

static const kw_call_extra *take_extra(kw_message *m, kw_arena *arena, uint32_t arg_count) {
  if (kw_take_u64(m) == 0) return NULL;
  kw_call_extra *extra = kw_arena_take(arena, sizeof *extra);
  if (extra == NULL) {
    m->broken = true;
    return NULL;
  }
  extra->struct_size = sizeof *extra;
  extra->error_code = kw_take_u32(m);
  extra->error_mem = (kw_mem)(uintptr_t)kw_take_u64(m);
  extra->error_offset = kw_take_u64(m);
  kw_take_raw(m, &extra->rng, sizeof extra->rng);
  if (kw_take_u64(m) == 0) return extra;
  const kw_packed **packed = take_array(m, arena, arg_count, sizeof *packed);
  for (uint32_t i = 0; packed != NULL && i < arg_count && !m->broken; i++) {
    if (kw_take_u64(m) == 0) continue;
    kw_packed *form = kw_arena_take(arena, sizeof *form);
    if (form == NULL) {
      m->broken = true;
      break;
    }
    kw_take_raw(m, form, sizeof *form);
    form->struct_size = sizeof *form;
    packed[i] = form;
  }
  extra->packed = packed;
  return extra;
}

void kw_put_call(kw_message *m, const kw_call *call, uint64_t device, uint64_t prepared) {
  kw_put_u64(m, device);
  kw_put_u64(m, (uintptr_t)call->stream);
  kw_put_u64(m, prepared);
  kw_put_u64(m, call->math_mode);
  kw_put_u64(m, call->flags);
  kw_put_u64(m, (uintptr_t)call->workspace);
  kw_put_u64(m, call->workspace_offset);
  kw_put_u64(m, call->workspace_size);
  kw_put_u64(m, call->call_id);
  kw_put_values(m, call->args, call->arg_count);
  kw_put_tensors(m, call->outs, call->out_count);
  put_extra(m, call->extra, call->arg_count);
}

void kw_take_call(kw_message *m, kw_arena *arena, kw_call *out_call) {
  *out_call = (kw_call){.struct_size = sizeof *out_call};
  out_call->device = (void *)(uintptr_t)kw_take_u64(m);
  out_call->stream = (void *)(uintptr_t)kw_take_u64(m);
  out_call->prepared = (void *)(uintptr_t)kw_take_u64(m);
  out_call->math_mode = kw_take_u32(m);
  out_call->flags = kw_take_u64(m);
  out_call->workspace = (kw_mem)(uintptr_t)kw_take_u64(m);
  out_call->workspace_offset = kw_take_u64(m);
  out_call->workspace_size = kw_take_u64(m);
  out_call->call_id = kw_take_u64(m);
  out_call->args = kw_take_values(m, arena, &out_call->arg_count);
  out_call->outs = (const kw_tensor_ref *const *)kw_take_tensors(m, arena, &out_call->out_count);
  out_call->extra = take_extra(m, arena, out_call->arg_count);
}
