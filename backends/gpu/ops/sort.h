/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorting, stable and without atomics: the same bits every time.
 */
#ifndef KEYWAY_GPU_SORT_H
#define KEYWAY_GPU_SORT_H

#include "lower/plan.h"

/* Items are a key and a entry's number, one word of 64 bits (a tensor of KW_I64: the key above 32 bits of number) or
 * two (KW_C128: key, number). Entries of equal keys are in the order of their numbers. Kernels read items with
 * kernels/items.kw. */

/* Sorts rows of `length` items, one after the other, each in the order of its numbers, with keys of `key_bytes`. The
 * result is in `items` or in a temporary. */
kw_gpu_tensor kw_gpu_sort_items(kw_gpu_plan *plan, const kw_gpu_tensor *items, int64_t length, uint32_t key_bytes);

/* The elements along dimension `dim` in order, equal ones by position, NaN as the greatest: a row of items for each row
 * of elements, whose entries are positions along the dimension. */
kw_gpu_tensor kw_gpu_sort_order(kw_gpu_plan *plan, const kw_gpu_tensor *self, uint32_t dim, bool descending);

/* Entries that belong to groups, group by group and in each in their order: those of group g are the items
 * [starts[g], starts[g + 1]). Kernels read items with kernels/items.kw. */
typedef struct kw_gpu_groups {
  kw_gpu_tensor items;  /* a entry's number and its group's, one word of 64 bits or two */
  kw_gpu_tensor starts; /* i64 [groups + 1] */
  bool wide;            /* two words */
} kw_gpu_groups;

/* Entry number i belongs to group keys[i], below `groups`; to none where that is negative. `keys` is i64, contiguous
 * and not empty. */
kw_gpu_groups kw_gpu_group(kw_gpu_plan *plan, const kw_gpu_tensor *keys, int64_t groups);

#endif /* KEYWAY_GPU_SORT_H */
