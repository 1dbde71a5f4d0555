/* SPDX-License-Identifier: Apache-2.0
 *
 * What compositions are made with.
 */
#include "call/compose.h"

#include "base/dtype.h"
#include "base/error.h"
#include "base/scalar.h"
#include "call/nested.h"
#include "call/record.h"
#include "call/value.h"
#include "op/op.h"

#include <assert.h>
#include <string.h>

const char *kw_compose_first(const kw_composition *c) {
  return c->ops[0]->schema.name;
}

kw_status kw_compose_end(kw_composition *c) {
  kw_compose_drop(c, 0, NULL, NULL);
  return c->status;
}

#ifndef NDEBUG
/* Whether the row names the op: a device without it would not be asked for this composition otherwise. Casts are asked
 * about by themselves. */
static bool is_named(const kw_composition *c, const char *op) {
  const kw_op *const *named = c->ops;
  while (*named && strcmp((*named)->schema.name, op) != 0) named++;
  return *named || strcmp(op, "copy_") == 0;
}
#endif

kw_status kw_compose_calls(kw_composition *c, const char *op, const kw_value *args, uint32_t count, kw_tensor **outs,
                           uint32_t results) {
  assert(is_named(c, op));
  if (c->status == KW_OK) c->status = kw_call_nested(kw_op_lookup(op), c->stream, args, count, outs, results);
  return c->status;
}

kw_status kw_compose_call(kw_composition *c, const char *op, const kw_value *args, uint32_t count, kw_tensor **outs) {
  return kw_compose_calls(c, op, args, count, outs, outs ? 1 : 0);
}

kw_tensor *kw_compose_take(kw_composition *c, kw_status status, kw_tensor *tensor) {
  if (c->status == KW_OK) c->status = status;
  if (status != KW_OK || !tensor) return NULL;
  if (c->count == KW_COMPOSITION_MAX) {
    kw_tensor_release(tensor);
    c->status = kw_fail(KW_ERR_INTERNAL, "a composition of more than %d tensors", KW_COMPOSITION_MAX);
    return NULL;
  }
  return c->made[c->count++] = tensor;
}

void kw_compose_drop(kw_composition *c, uint32_t since, const kw_tensor *kept, const kw_tensor *also) {
  uint32_t left = since;
  for (uint32_t i = since; i < c->count; ++i) {
    if (c->made[i] == kept || c->made[i] == also) {
      c->made[left++] = c->made[i];
    } else {
      kw_tensor_release(c->made[i]);
    }
  }
  c->count = left;
}

kw_tensor *kw_compose_op(kw_composition *c, const char *op, uint32_t count, const kw_value *args) {
  kw_tensor *out = NULL;
  kw_status status = kw_compose_call(c, op, args, count, &out);
  return kw_compose_take(c, status, out);
}

void kw_compose_into(kw_composition *c, kw_tensor *out, const char *op, uint32_t count, const kw_value *args) {
  if (!out) return;
  if (kw_dtype_is_float(out->ref.dtype) && out->ref.dtype != c->dtype) {
    kw_compose_put(c, out, kw_compose_op(c, op, count, args));
  } else {
    kw_compose_call(c, op, args, count, &out);
  }
}

kw_tensor *kw_compose_last(kw_composition *c, kw_tensor *out, const char *op, uint32_t count, const kw_value *args) {
  if (!out) return kw_compose_op(c, op, count, args);
  kw_compose_into(c, out, op, count, args);
  return out;
}

kw_tensor *kw_compose_new(kw_composition *c, kw_dtype dtype, uint32_t rank, const int64_t *shape) {
  if (c->status != KW_OK) return NULL;
  kw_tensor *tensor = NULL;
  kw_status status = kw_tensor_create_for_call(c->stream, dtype, rank, shape, &tensor);
  return kw_compose_take(c, status, tensor);
}

/* Dense memory by the plugin's fill, or core's in its place; strided memory from one filled element. */
void kw_compose_fill(kw_composition *c, kw_tensor *tensor, kw_value scalar) {
  if (c->status != KW_OK || !tensor || tensor->ref.numel == 0) return;
  if (!kw_ref_is_contiguous(&tensor->ref)) {
    kw_compose_put(c, tensor, kw_compose_number(c, tensor->ref.dtype, scalar));
    return;
  }
  const uint32_t item = kw_dtype_item(tensor->ref.dtype);
  unsigned char pattern[16];
  kw_scalar_store(&scalar, tensor->ref.dtype, pattern);
  const uint64_t offset = tensor->ref.offset - tensor->buffer->offset;
  c->status = kw_record_or_fill(tensor->buffer, c->stream, offset, (uint64_t)tensor->ref.numel * item, pattern, item);
}

kw_tensor *kw_compose_number(kw_composition *c, kw_dtype dtype, kw_value scalar) {
  kw_tensor *element = kw_compose_new(c, dtype, 0, NULL);
  kw_compose_fill(c, element, scalar);
  return element;
}

void kw_compose_put(kw_composition *c, kw_tensor *out, kw_tensor *tensor) {
  if (out) kw_compose_call(c, "copy_", (kw_value[]){T(out), T(tensor)}, 2, NULL);
}

kw_tensor *kw_compose_cast(kw_composition *c, kw_tensor *tensor, kw_dtype dtype) {
  if (c->status != KW_OK || tensor->ref.dtype == dtype) return tensor;
  kw_tensor *converted = kw_compose_new(c, dtype, tensor->ref.rank, tensor->ref.shape);
  kw_compose_put(c, converted, tensor);
  return converted;
}

kw_tensor *kw_compose_arg(kw_composition *c, const kw_value *arg) {
  if (arg->tag == KW_TAG_SCALAR) return kw_compose_number(c, c->dtype, *arg);
  if (arg->tag != KW_TAG_TENSOR) return NULL;
  kw_tensor *tensor = kw_value_as_tensor(arg);
  if (c->cast >> (arg - c->args) & 1) tensor = kw_compose_cast(c, tensor, c->key);
  return kw_compose_cast(c, tensor, c->dtype);
}

kw_tensor *kw_compose_view(kw_composition *c, kw_tensor *tensor, uint32_t rank, const int64_t *shape) {
  if (c->status != KW_OK) return NULL;
  if (!kw_ref_is_contiguous(&tensor->ref)) {
    kw_tensor *dense = kw_compose_new(c, tensor->ref.dtype, tensor->ref.rank, tensor->ref.shape);
    kw_compose_put(c, dense, tensor);
    tensor = dense;
  }
  if (c->status != KW_OK) return NULL;
  kw_tensor *view = NULL;
  kw_status status = kw_tensor_view(tensor, rank, shape, &view);
  return kw_compose_take(c, status, view);
}

kw_tensor *kw_compose_flat(kw_composition *c, kw_tensor *tensor) {
  return c->status == KW_OK ? kw_compose_view(c, tensor, 1, &tensor->ref.numel) : NULL;
}

kw_tensor *kw_compose_expand(kw_composition *c, kw_tensor *tensor, uint32_t rank, const int64_t *shape) {
  if (c->status != KW_OK) return NULL;
  kw_tensor *view = NULL;
  kw_status status = kw_tensor_expand(tensor, rank, shape, &view);
  return kw_compose_take(c, status, view);
}

kw_tensor *kw_compose_unsqueeze(kw_composition *c, kw_tensor *tensor, int64_t dim) {
  if (c->status != KW_OK) return NULL;
  kw_tensor *view = NULL;
  kw_status status = kw_tensor_unsqueeze(tensor, dim, &view);
  return kw_compose_take(c, status, view);
}

kw_tensor *kw_compose_select(kw_composition *c, kw_tensor *tensor, int64_t dim, int64_t index) {
  if (c->status != KW_OK) return NULL;
  kw_tensor *view = NULL;
  kw_status status = kw_tensor_select(tensor, dim, index, &view);
  return kw_compose_take(c, status, view);
}

kw_tensor *kw_compose_along(kw_composition *c, kw_tensor *row, uint32_t dim, uint32_t rank) {
  if (c->status != KW_OK) return NULL;
  int64_t shape[KW_MAX_RANK];
  for (uint32_t d = 0; d < rank; ++d) shape[d] = d == dim ? row->ref.numel : 1;
  return kw_compose_view(c, row, rank, shape);
}

kw_tensor *kw_compose_slice(kw_composition *c, kw_tensor *tensor, int64_t dim, int64_t start, int64_t end) {
  if (c->status != KW_OK) return NULL;
  kw_tensor *part = NULL;
  kw_status status = kw_tensor_slice(tensor, dim, start, end, 1, &part);
  return kw_compose_take(c, status, part);
}

kw_tensor *kw_compose_iota(kw_composition *c, int64_t count) {
  kw_tensor *numbers = kw_compose_new(c, KW_I64, 1, &count);
  if (count > 0) kw_compose_fill(c, kw_compose_slice(c, numbers, 0, 0, 1), kw_arg_scalar_i64(0));
  for (int64_t done = 1; done < count && c->status == KW_OK; done *= 2) {
    const uint32_t since = c->count;
    const int64_t more = count - done < done ? count - done : done;
    kw_tensor *from = kw_compose_slice(c, numbers, 0, 0, more);
    kw_tensor *to = kw_compose_slice(c, numbers, 0, done, done + more);
    kw_tensor *step = kw_compose_integer(c, KW_I64, done);
    kw_compose_call(c, "add.Tensor", (kw_value[]){T(from), T(step)}, 2, &to);
    kw_compose_drop(c, since, NULL, NULL);
  }
  return numbers;
}

kw_tensor *kw_compose_not(kw_composition *c, kw_tensor *mask) {
  return kw_compose_le(c, mask, kw_compose_integer(c, KW_BOOL, 0));
}

kw_tensor *kw_compose_reduce(kw_composition *c, const char *op, kw_tensor *x, const int64_t *dims, uint32_t count) {
  return KW_OP(c, op, T(x), kw_arg_int_list(dims, count), kw_arg_bool(true));
}
