/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that sort along a dimension, by merging.
 */
#include "sort.h"

#include "number.h"
#include "selection.h"
#include "walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The elements along the dimension. */
typedef struct line {
  kw_dtype dtype;
  const char *at;
  int64_t count;
  int64_t step; /* bytes */
  bool descending;
} line;

static bool is_less(kw_dtype dtype, const void *a, const void *b) {
  if (kw_number_is_integer(dtype)) return kw_number_load_int(dtype, a) < kw_number_load_int(dtype, b);
  const double x = kw_number_load(dtype, a), y = kw_number_load(dtype, b); /* exact */
  return x < y || (isnan(y) && !isnan(x));
}

/* Whether element i has to stand before element j, which does not follow it now. */
static bool goes_first(const line *l, int64_t i, int64_t j) {
  const void *a = l->at + i * l->step, *b = l->at + j * l->step;
  return l->descending ? is_less(l->dtype, b, a) : is_less(l->dtype, a, b);
}

/* Merges the sorted runs [begin, middle) and [middle, end) of `from`; of equal elements those of the first go first. */
static void merge(const line *l, const int64_t *from, int64_t begin, int64_t middle, int64_t end, int64_t *to) {
  int64_t a = begin, b = middle;
  for (int64_t i = begin; i < end; i++) {
    bool second = a == middle || (b < end && goes_first(l, from[b], from[a]));
    to[i] = from[second ? b++ : a++];
  }
}

/* Merge sort, from runs of one upwards. Returns the one of the two arrays, of `count` indices each, that has the order.
 */
static const int64_t *sort_line(const line *l, int64_t *order, int64_t *spare) {
  for (int64_t i = 0; i < l->count; i++) order[i] = i;
  for (int64_t width = 1; width < l->count; width *= 2) {
    for (int64_t begin = 0; begin < l->count; begin += 2 * width) {
      const int64_t middle = begin + width < l->count ? begin + width : l->count;
      const int64_t end = middle + width < l->count ? middle + width : l->count;
      merge(l, order, begin, middle, end, spare);
    }
    int64_t *merged = spare;
    spare = order;
    order = merged;
  }
  return order;
}

const int64_t *kw_sort_order(kw_dtype dtype, const char *at, int64_t count, int64_t step, bool descending,
                             int64_t *room) {
  const line l = {dtype, at, count, step, descending};
  return sort_line(&l, room, room + count);
}

/* The starts of all lines of a tensor, as a tensor of the same rank. */
static kw_tensor_ref line_starts(const kw_tensor_ref *tensor, uint32_t dim) {
  kw_tensor_ref starts = *tensor;
  if (starts.rank > 0) starts.shape[dim] = 1;
  return starts;
}

static int64_t line_step(const kw_tensor_ref *tensor, uint32_t dim) {
  return tensor->rank > 0 ? tensor->strides[dim] * (int64_t)kw_number_size(tensor->dtype) : 0;
}

/* The first elements of each sorted line of argument 0, and their indices, as many as the outputs have; a tensor of
 * rank 0 is a line of one. */
static kw_status sort_lines(const kw_call *call, int64_t named, bool descending) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *values = call->outs[0], *indices = call->outs[1];
  if (self->dtype > KW_F64 || values->dtype != self->dtype || indices->dtype != KW_I64) return KW_ERR_INVALID_ARGUMENT;
  const uint32_t dim = (uint32_t)(named < 0 ? named + self->rank : named);
  const int64_t kept = values->rank > 0 ? values->shape[dim] : 1;
  const int64_t value_step = line_step(values, dim), index_step = line_step(indices, dim);
  line l = {.dtype = self->dtype, .count = self->rank > 0 ? self->shape[dim] : 1, .descending = descending};
  l.step = line_step(self, dim);
  int64_t *order = malloc(2 * (size_t)l.count * sizeof *order + 1);
  if (!order) return KW_ERR_OUT_OF_MEMORY;
  const kw_tensor_ref starts[] = {line_starts(self, dim), line_starts(values, dim), line_starts(indices, dim)};
  kw_walk walk;
  kw_walk_start(&walk, starts[0].rank, starts[0].shape);
  for (int t = 0; t < 3; t++) kw_walk_add(&walk, &starts[t]);
  for (; walk.left > 0; kw_walk_next(&walk)) {
    l.at = walk.at[0];
    const int64_t *sorted = sort_line(&l, order, order + l.count);
    for (int64_t i = 0; i < kept; i++) {
      memcpy(walk.at[1] + i * value_step, l.at + sorted[i] * l.step, kw_number_size(l.dtype));
      kw_number_store_int(KW_I64, walk.at[2] + i * index_step, sorted[i]);
    }
  }
  free(order);
  return KW_OK;
}

kw_status kw_sort_all(const kw_call *call) {
  return sort_lines(call, call->args[1].u.i, call->args[2].u.b);
}

kw_status kw_sort_stable(const kw_call *call) {
  return sort_lines(call, call->args[2].u.i, call->args[3].u.b);
}

kw_status kw_sort_top(const kw_call *call) {
  return sort_lines(call, call->args[2].u.i, call->args[3].u.b);
}

/* Whether every place that a sorter names is one of `count`; if not, the sorter, argument 5, is to blame. */
static bool names_places(const kw_call *call, const kw_tensor_ref *sorter, int64_t count) {
  kw_walk walk;
  kw_walk_start(&walk, sorter->rank, sorter->shape);
  kw_walk_add(&walk, sorter);
  for (; walk.left > 0; kw_walk_next(&walk)) {
    const int64_t place = kw_number_load_int(KW_I64, walk.at[0]);
    if (place >= 0 && place < count) continue;
    kw_selection_blame(call, 5);
    return false;
  }
  return true;
}

/* How many elements of a line in ascending order stand before the value: those that are less, with `right` those that
 * equal it, too. `order`: their places in the line, NULL where they stand in order themselves. */
static int64_t count_before(const line *l, const char *order, int64_t order_step, const void *value, bool right) {
  int64_t low = 0, high = l->count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const int64_t place = order ? kw_number_load_int(KW_I64, order + middle * order_step) : middle;
    const void *element = l->at + place * l->step;
    if (right ? is_less(l->dtype, value, element) : !is_less(l->dtype, element, value)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/* One line serves all values; of several, each those of the values' row. */
static kw_tensor_ref sequence_starts(const kw_tensor_ref *tensor) {
  kw_tensor_ref starts = line_starts(tensor, tensor->rank - 1u);
  if (starts.rank == 1) starts.rank = 0;
  return starts;
}

kw_status kw_sort_search(const kw_call *call) {
  const kw_tensor_ref *sequence = call->args[0].u.tensor, *self = call->args[1].u.tensor, *out = call->outs[0];
  const kw_tensor_ref *sorter = call->args[5].tag == KW_TAG_TENSOR ? call->args[5].u.tensor : NULL;
  const kw_value *side = &call->args[4];
  const bool right = call->args[3].u.b || (side->tag == KW_TAG_STRING && strcmp(side->u.s, "right") == 0);
  if (sequence->dtype > KW_F64 || self->dtype != sequence->dtype || (out->dtype != KW_I64 && out->dtype != KW_I32)) {
    return KW_ERR_INVALID_ARGUMENT;
  }
  const uint32_t last = sequence->rank - 1u;
  line l = {.dtype = sequence->dtype, .count = sequence->shape[last], .step = line_step(sequence, last)};
  if (sorter && !names_places(call, sorter, l.count)) return KW_OK;
  const kw_tensor_ref lines = sequence_starts(sequence), orders = sequence_starts(sorter ? sorter : sequence);
  kw_walk walk;
  kw_walk_start(&walk, self->rank, self->shape);
  kw_walk_add(&walk, out);
  kw_walk_add(&walk, self);
  kw_walk_add(&walk, &lines);
  kw_walk_add(&walk, &orders);
  for (; walk.left > 0; kw_walk_next(&walk)) {
    l.at = walk.at[2];
    const int64_t place =
        count_before(&l, sorter ? walk.at[3] : NULL, sorter ? line_step(sorter, last) : 0, walk.at[1], right);
    kw_number_store_int(out->dtype, walk.at[0], place);
  }
  return KW_OK;
}
