/* SPDX-License-Identifier: Apache-2.0
 *
 * From masks to index tensors, one for each dimension that a mask stands for.
 */
#include "call/index_mask.h"

#include "base/error.h"
#include "base/ref.h"
#include "call/nested.h"
#include "op/fail.h"

#include <string.h>

enum { INDICES = 1 }; /* the argument; argument 0 is the tensor that is indexed */

static bool is_mask(const kw_tensor *entry) {
  return entry && (entry->ref.dtype == KW_BOOL || entry->ref.dtype == KW_U8);
}

bool kw_index_mask_present(const kw_request *request) {
  const kw_shape_rule rule = request->op->row.shape;
  if ((rule != KW_SHAPE_INDEX && rule != KW_SHAPE_INDEX_PUT) || request->arg_count <= INDICES) return false;
  const kw_value *list = &request->args[INDICES];
  if (request->args[0].tag != KW_TAG_TENSOR || list->tag != KW_TAG_TENSOR_LIST) return false;
  bool any = false;
  for (uint32_t k = 0; k < list->count; ++k) any = any || is_mask(kw_value_entry(list, k));
  return any;
}

/* The entries of the list without masks. */
typedef struct expansion {
  kw_tensor *entries[KW_MAX_RANK];
  bool made[KW_MAX_RANK]; /* here: to be released */
  uint32_t count;
} expansion;

static void release(expansion *e) {
  for (uint32_t i = 0; i < e->count; ++i) {
    if (e->made[i]) kw_tensor_release(e->entries[i]);
  }
}

/* Mask number k stands for dimensions of `self` from e->count on. */
static kw_status check_mask(const kw_op *op, const kw_tensor_ref *self, uint32_t k, const kw_tensor_ref *mask,
                            const expansion *e) {
  const uint32_t first = e->count;
  char text[KW_SHAPE_TEXT], whole[KW_SHAPE_TEXT];
  if (mask->rank == 0) {
    return kw_op_fail(op, INDICES, "entry %u is a mask of rank 0, which stands for no dimension", k);
  }
  if (first + mask->rank <= self->rank &&
      memcmp(mask->shape, self->shape + first, mask->rank * sizeof mask->shape[0]) == 0) {
    return KW_OK;
  }
  return kw_op_fail(op, INDICES, "entry %u is a mask of shape %s, which is not that of '%s', %s, from dimension %u on",
                    k, kw_shape_text(mask->rank, mask->shape, text), op->schema.args[0].name,
                    kw_shape_text(self->rank, self->shape, whole), first);
}

/* One index tensor for each dimension of the mask: the columns of its places. */
static kw_status add_places(kw_stream *stream, const kw_tensor *mask, expansion *e) {
  const kw_value arg = kw_arg_tensor(mask);
  kw_tensor *places = NULL;
  kw_status status = kw_call_nested(kw_op_find("nonzero"), stream, &arg, 1, &places, 1);
  for (uint32_t d = 0; d < mask->ref.rank && status == KW_OK; ++d) {
    status = kw_tensor_select(places, 1, d, &e->entries[e->count]);
    if (status == KW_OK) e->made[e->count++] = true;
  }
  kw_tensor_release(places);
  return status;
}

static kw_status expand(const kw_request *request, expansion *e) {
  const kw_tensor_ref *self = request->args[0].u.tensor;
  const kw_value *list = &request->args[INDICES];
  for (uint32_t k = 0; k < list->count; ++k) {
    kw_tensor *entry = (kw_tensor *)(uintptr_t)kw_value_entry(list, k);
    if (e->count == KW_MAX_RANK) {
      return kw_op_fail(request->op, INDICES, "with its masks it indexes more than %d dimensions", KW_MAX_RANK);
    }
    if (!is_mask(entry)) {
      e->entries[e->count++] = entry;
      continue;
    }
    kw_status status = check_mask(request->op, self, k, &entry->ref, e);
    if (status != KW_OK) return status;
    status = add_places(request->stream, entry, e);
    if (status != KW_OK) return kw_wrap(status, "%s: the places of mask %u", request->op->schema.name, k);
  }
  return KW_OK;
}

kw_status kw_index_mask_call(const kw_request *request) {
  const kw_op *op = request->op;
  if (request->arg_count > op->schema.arg_count) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: %u arguments were given, the op has %u", op->schema.name,
                   request->arg_count, op->schema.arg_count);
  }
  expansion e = {.count = 0};
  kw_value args[KW_MAX_ARGS];
  kw_status status = expand(request, &e);
  if (status == KW_OK) {
    memcpy(args, request->args, request->arg_count * sizeof *args);
    args[INDICES] = kw_arg_tensor_list(e.entries, e.count);
    status = kw_call_nested(op, request->stream, args, request->arg_count, request->outs, request->out_count);
  }
  release(&e);
  return status;
}
