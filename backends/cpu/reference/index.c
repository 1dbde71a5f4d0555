/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that join, choose and place elements by index.
 */
#include "index.h"

#include "move.h"
#include "operand.h"
#include "selection.h"

#include <string.h>

bool kw_index_is_index(const kw_call *call, uint32_t arg) {
  const kw_value *value = &call->args[arg];
  uint32_t count = value->tag == KW_TAG_TENSOR_LIST ? value->count : 1;
  for (uint32_t k = 0; k < count; k++) {
    const kw_tensor_ref *indices = value->tag == KW_TAG_TENSOR_LIST ? value->u.tensors[k] : value->u.tensor;
    if (indices && indices->dtype != KW_I64 && indices->dtype != KW_I32) return false;
  }
  return true;
}

/* ---- Joining --------------------------------------------------------------------------------------------------- */

kw_status kw_index_cat(const kw_call *call) {
  const kw_value *list = &call->args[0];
  kw_tensor_ref part = *call->outs[0];
  int64_t dim = call->args[1].u.i, item = (int64_t)kw_number_size(part.dtype);
  if (item == 0) return KW_ERR_INVALID_ARGUMENT;
  if (dim < 0) dim += part.rank;
  for (uint32_t k = 0; k < list->count; k++) {
    const kw_tensor_ref *entry = list->u.tensors[k];
    if (entry->numel == 0) continue; /* [0] has another rank than the result */
    kw_walk walk;
    kw_walk_start(&walk, entry->rank, entry->shape);
    kw_walk_add(&walk, &part);
    kw_walk_add(&walk, entry);
    for (; walk.left > 0; kw_walk_next(&walk)) kw_number_convert(entry->dtype, walk.at[1], part.dtype, walk.at[0]);
    part.offset += (uint64_t)(entry->shape[dim] * part.strides[dim] * item);
  }
  return KW_OK;
}

/* ---- Choosing -------------------------------------------------------------------------------------------------- */

/* Fills the output, which has the selection's shape, with what is selected. */
static kw_status take(kw_selection *s, kw_dtype dtype) {
  const kw_tensor_ref *out = s->call->outs[0];
  if (out->dtype != dtype || !kw_index_is_index(s->call, s->arg)) return KW_ERR_INVALID_ARGUMENT;
  kw_walk_add(&s->walk, out);
  for (; s->walk.left > 0; kw_selection_next(s)) {
    const char *at = kw_selection_at(s);
    if (at) kw_number_convert(dtype, at, dtype, s->walk.at[1]);
  }
  return KW_OK;
}

void kw_index_rows(kw_selection *s, const kw_call *call, const kw_tensor_ref *table, const kw_tensor_ref *rows) {
  kw_tensor_ref indices = *call->args[1].u.tensor, row = *table;
  indices.shape[indices.rank++] = 1; /* all elements of a row have the same index */
  row.rank = 1;
  row.shape[0] = table->shape[1];
  row.strides[0] = table->strides[1];
  kw_selection_start(s, call, 1, false, rows->rank, rows->shape);
  kw_walk_add(&s->walk, &row);
  kw_selection_index(s, &indices, table, 0);
}

void kw_index_slices(kw_selection *s, const kw_call *call, const kw_tensor_ref *table, const kw_tensor_ref *slices) {
  const kw_tensor_ref *index = call->args[2].u.tensor;
  int64_t dim = call->args[1].u.i;
  if (dim < 0) dim += table->rank > 0 ? table->rank : 1;
  kw_tensor_ref starts = *table, along = *index;
  along.rank = slices->rank;
  for (uint32_t d = 0; d < slices->rank; d++) along.shape[d] = 1;
  if (slices->rank > 0) {
    along.shape[dim] = index->numel;
    along.strides[dim] = index->rank > 0 ? index->strides[0] : 0;
  }
  if (table->rank > 0) starts.shape[dim] = 1;
  kw_selection_start(s, call, 2, false, slices->rank, slices->shape);
  kw_walk_add(&s->walk, &starts);
  kw_selection_index(s, &along, table, (uint32_t)dim);
}

void kw_index_lines(kw_selection *s, const kw_call *call, const kw_tensor_ref *table, const kw_tensor_ref *values) {
  kw_tensor_ref beside = *values; /* at least as large as index, whose rank may be 0 where this one's is 1 */
  kw_selection_lines(s, call, 2, table, call->args[1].u.i);
  if (beside.rank > s->walk.rank) beside.rank = (uint8_t)s->walk.rank;
  kw_walk_add(&s->walk, &beside);
}

kw_status kw_index_embedding(const kw_call *call) {
  const kw_tensor_ref *weight = call->args[0].u.tensor;
  kw_selection s;
  kw_index_rows(&s, call, weight, call->outs[0]);
  return take(&s, weight->dtype);
}

kw_status kw_index_select(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor;
  kw_selection s;
  kw_index_slices(&s, call, self, call->outs[0]);
  return take(&s, self->dtype);
}

kw_status kw_index_gather(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor;
  kw_selection s;
  kw_selection_lines(&s, call, 2, self, call->args[1].u.i);
  return take(&s, self->dtype);
}

kw_status kw_index_get(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor;
  kw_selection s;
  kw_selection_advanced(&s, call, self);
  return take(&s, self->dtype);
}

/* ---- Placing --------------------------------------------------------------------------------------------------- */

/* Writes the walk's tensor 1 to what is selected of the output. */
static void place(kw_selection *s) {
  kw_dtype dtype = s->call->outs[0]->dtype;
  if (s->call->user == kw_reference_first_wins) kw_selection_reverse(s);
  for (; s->walk.left > 0; kw_selection_next(s)) {
    char *at = kw_selection_at(s);
    if (at) kw_number_convert(dtype, s->walk.at[1], dtype, at);
  }
}

kw_status kw_index_scatter(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *out = call->outs[0];
  const kw_value *src = &call->args[3];
  bool scalar = kw_operand_is_scalar(src);
  if (out->dtype != self->dtype || !kw_index_is_index(call, 2)) return KW_ERR_INVALID_ARGUMENT;
  if (!scalar && src->u.tensor->dtype != self->dtype) return KW_ERR_INVALID_ARGUMENT;
  kw_move_elements(self, out);
  kw_selection s;
  kw_element value;
  if (scalar) {
    value = kw_operand_scalar(src);
    value = kw_operand_as_key(value.dtype, value.bytes, self->dtype);
    kw_selection_lines(&s, call, 2, out, call->args[1].u.i);
    kw_walk_add_constant(&s.walk, value.bytes);
  } else {
    kw_index_lines(&s, call, out, src->u.tensor);
  }
  place(&s);
  return KW_OK;
}

kw_status kw_index_put(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *values = call->args[2].u.tensor, *out = call->outs[0];
  if (out->dtype != self->dtype || values->dtype != self->dtype) return KW_ERR_INVALID_ARGUMENT;
  if (!kw_index_is_index(call, 1)) return KW_ERR_INVALID_ARGUMENT;
  kw_move_elements(self, out);
  kw_selection s;
  kw_selection_advanced(&s, call, out);
  kw_walk_add(&s.walk, values);
  place(&s);
  return KW_OK;
}
