/* SPDX-License-Identifier: Apache-2.0
 *
 * A call whose tensors are host memory: each gets a place in a block, and its descriptor names that place.
 */
#include "isolate/reference.h"

#include "base/dtype.h"
#include "base/error.h"
#include "isolate/block.h"

#include "isolate/wire/call_codec.h"

#define PLACE UINT64_C(64) /* where tensors begin in the block */

/* Bytes from the first element to past the last one. */
static uint64_t extent(const kw_tensor_ref *t) {
  uint64_t last = 0;
  if (t->numel == 0) return 0;
  for (uint32_t d = 0; d < t->rank; d++) last += (uint64_t)(t->shape[d] - 1) * (uint64_t)t->strides[d];
  return (last + 1) * kw_dtype_size(t->dtype);
}

typedef struct carried {
  kw_arena arena;
  uint64_t size;        /* of the block so far */
  unsigned char *bytes; /* of the block; NULL while sizes are added up */
  bool starved;
} carried;

/* The descriptor with its place in the block instead of its memory; and its bytes go there. */
static kw_tensor_ref *carry(carried *c, const kw_tensor_ref *t) {
  if (t == NULL) return NULL;
  kw_tensor_ref *copy = kw_arena_take(&c->arena, sizeof *copy);
  if (copy == NULL) {
    c->starved = true;
    return NULL;
  }
  *copy = *t;
  copy->mem = (kw_mem)(uintptr_t)(c->size + 1); /* the receiver adds where the block lies, less 1: NULL is no memory */
  copy->offset = 0;
  const uint64_t size = extent(t);
  if (c->bytes != NULL && size > 0) memcpy(c->bytes + c->size, (const char *)t->mem + t->offset, size);
  c->size += (size + PLACE - 1) / PLACE * PLACE;
  return copy;
}

static const kw_tensor_ref *const *carry_all(carried *c, const kw_tensor_ref *const *tensors, uint32_t count) {
  const kw_tensor_ref **copies = kw_arena_take(&c->arena, count * sizeof *copies);
  if (copies == NULL) c->starved = true;
  for (uint32_t i = 0; copies != NULL && i < count; i++) copies[i] = carry(c, tensors[i]);
  return copies;
}

static void carry_call(carried *c, const kw_call *call, kw_call *out_call) {
  kw_value *args = kw_arena_take(&c->arena, call->arg_count * sizeof *args);
  *out_call = *call;
  out_call->args = args;
  if (args == NULL) c->starved = true;
  for (uint32_t i = 0; args != NULL && i < call->arg_count; i++) {
    args[i] = call->args[i];
    if (args[i].tag == KW_TAG_TENSOR) args[i].u.tensor = carry(c, args[i].u.tensor);
    if (args[i].tag == KW_TAG_TENSOR_LIST) args[i].u.tensors = carry_all(c, args[i].u.tensors, args[i].count);
  }
  out_call->outs = carry_all(c, call->outs, call->out_count);
}

static void bring_back(const kw_tensor_ref *to, const kw_tensor_ref *carried_to, const unsigned char *bytes) {
  if (to == NULL || carried_to == NULL) return;
  memcpy((char *)to->mem + to->offset, bytes + (uintptr_t)carried_to->mem - 1, extent(to));
}

static kw_status ask(kw_link *link, uint32_t op, const kw_call *call, const kw_block_place *place) {
  kw_exchange x;
  kw_status status = kw_exchange_begin(&x, link, KW_CODE_REFERENCE, KW_PACE_WORK, "reference");
  if (status != KW_OK) return status;
  kw_put_u64(&x.out, op);
  kw_put_u64(&x.out, place->number);
  kw_put_u64(&x.out, place->offset);
  kw_put_call(&x.out, call, 0, 0);
  return kw_exchange_end(&x, kw_exchange_run(&x));
}

kw_status kw_reference_run(kw_link *link, uint32_t op, const kw_call *call) {
  carried c = {0};
  kw_call there;
  carry_call(&c, call, &there);
  const kw_block_place place = kw_staging_get(link, c.size > 0 ? c.size : 1);
  kw_status status = KW_ERR_OUT_OF_MEMORY;
  if (place.number != 0 && !c.starved) {
    c.bytes = place.bytes;
    c.size = 0;
    carry_call(&c, call, &there);
    status = c.starved ? KW_ERR_OUT_OF_MEMORY : ask(link, op, &there, &place);
  }
  for (uint32_t i = 0; status == KW_OK && i < call->out_count; i++) bring_back(call->outs[i], there.outs[i], c.bytes);
  if (place.number != 0) kw_staging_back(link, place.number);
  kw_arena_free(&c.arena);
  return status;
}
