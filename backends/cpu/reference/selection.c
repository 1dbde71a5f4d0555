/* SPDX-License-Identifier: Apache-2.0
 *
 * The elements that indices choose from a tensor, walked one after the other.
 */
#include "selection.h"

#include "number.h"

#include <string.h>

void kw_selection_start(kw_selection *s, const kw_call *call, uint32_t arg, bool from_end, uint32_t rank,
                        const int64_t *shape) {
  s->call = call;
  s->arg = arg;
  s->from_end = from_end;
  s->count = 0;
  kw_walk_start(&s->walk, rank, shape);
}

void kw_selection_index(kw_selection *s, const kw_tensor_ref *indices, const kw_tensor_ref *table, uint32_t dim) {
  uint32_t k = s->count++;
  kw_walk_start(&s->by[k].walk, s->walk.rank, s->walk.shape);
  kw_walk_add(&s->by[k].walk, indices);
  s->by[k].dtype = indices->dtype;
  s->by[k].size = table->rank > 0 ? table->shape[dim] : 1;
  s->by[k].step = table->strides[dim] * (int64_t)kw_number_size(table->dtype);
}

/* A tensor of the selection's shape over `tensor`'s memory, with stride 0 everywhere so far. */
static kw_tensor_ref view_of(const kw_selection *s, const kw_tensor_ref *tensor) {
  kw_tensor_ref view = *tensor;
  view.rank = (uint8_t)s->walk.rank;
  memcpy(view.shape, s->walk.shape, sizeof view.shape);
  memset(view.strides, 0, sizeof view.strides);
  return view;
}

void kw_selection_lines(kw_selection *s, const kw_call *call, uint32_t arg, const kw_tensor_ref *table, int64_t dim) {
  const kw_tensor_ref *index = call->args[arg].u.tensor;
  uint32_t line = (uint32_t)(dim < 0 ? dim + (table->rank > 0 ? table->rank : 1) : dim);
  kw_selection_start(s, call, arg, false, index->rank, index->shape);
  kw_tensor_ref starts = view_of(s, table);
  for (uint32_t d = 0; d < index->rank; d++) starts.strides[d] = d == line ? 0 : table->strides[d];
  kw_walk_add(&s->walk, &starts);
  kw_selection_index(s, index, table, line);
}

void kw_selection_advanced(kw_selection *s, const kw_call *call, const kw_tensor_ref *table) {
  const kw_value *list = &call->args[1];
  bool indexed[KW_MAX_RANK] = {false};
  uint32_t first = KW_MAX_RANK, last = 0, count = 0;
  for (uint32_t d = 0; d < list->count; d++) {
    indexed[d] = list->u.tensors[d] != NULL;
    if (!indexed[d]) continue;
    if (count++ == 0) first = d;
    last = d;
  }
  /* The joint dimensions take the place of the indexed ones; where these do not follow each other, they go first. */
  uint32_t place = last - first + 1 == count ? first : 0;
  int64_t joint[KW_MAX_RANK], shape[KW_MAX_RANK], strides[KW_MAX_RANK];
  uint32_t joint_rank = kw_walk_join(list->u.tensors, list->count, joint), rank = 0;
  for (uint32_t d = 0; d <= table->rank; d++) {
    for (uint32_t j = 0; d == place && j < joint_rank; j++) {
      strides[rank] = 0;
      shape[rank++] = joint[j];
    }
    if (d == table->rank || indexed[d]) continue;
    strides[rank] = table->strides[d];
    shape[rank++] = table->shape[d];
  }
  kw_selection_start(s, call, 1, true, rank, shape);
  kw_tensor_ref starts = view_of(s, table);
  memcpy(starts.strides, strides, rank * sizeof *strides);
  kw_walk_add(&s->walk, &starts);
  for (uint32_t d = 0; d < list->count; d++) {
    if (!indexed[d]) continue;
    const kw_tensor_ref *indices = list->u.tensors[d];
    kw_tensor_ref spread = view_of(s, indices);
    for (uint32_t i = 0; i < indices->rank; i++) {
      uint32_t at = place + joint_rank - indices->rank + i;
      spread.strides[at] = indices->shape[i] == 1 ? 0 : indices->strides[i];
    }
    kw_selection_index(s, &spread, table, d);
  }
}

void kw_selection_reverse(kw_selection *s) {
  kw_walk_reverse(&s->walk);
  for (uint32_t k = 0; k < s->count; k++) kw_walk_reverse(&s->by[k].walk);
}

void kw_selection_blame(const kw_call *call, uint32_t arg) {
  const kw_call_extra *extra = call->extra;
  if (!extra || !extra->error_mem) return;
  uint32_t *word = (uint32_t *)(void *)((char *)extra->error_mem + extra->error_offset), none = 0;
  __atomic_compare_exchange_n(word, &none, extra->error_code + arg, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

char *kw_selection_at(const kw_selection *s) {
  char *at = s->walk.at[0];
  for (uint32_t k = 0; k < s->count; k++) {
    int64_t index = kw_number_load_int(s->by[k].dtype, s->by[k].walk.at[0]);
    if (s->from_end && index < 0) index += s->by[k].size;
    if (index < 0 || index >= s->by[k].size) {
      kw_selection_blame(s->call, s->arg);
      return NULL;
    }
    at += index * s->by[k].step;
  }
  return at;
}

void kw_selection_next(kw_selection *s) {
  kw_walk_next(&s->walk);
  for (uint32_t k = 0; k < s->count; k++) kw_walk_next(&s->by[k].walk);
}
