/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorting, stable and without atomics: the same bits every time.
 */
#ifndef KEYWAY_GPU_SORT_H
#define KEYWAY_GPU_SORT_H

#include "plan.h"

/* Things that belong to groups, group by group and in each in their order: those of group g are the items
 * [starts[g], starts[g + 1]). Kernels read items with kernels/items.kw. */
typedef struct kw_gpu_groups {
  kw_gpu_tensor items;  /* a thing's number and its group's, one word of 64 bits or two */
  kw_gpu_tensor starts; /* i64 [groups + 1] */
  bool wide;            /* two words */
} kw_gpu_groups;

/* Thing number i belongs to group keys[i], below `groups`; to none where that is negative. `keys` is i64, contiguous
 * and not empty. */
kw_gpu_groups kw_gpu_group(kw_gpu_plan *plan, const kw_gpu_tensor *keys, int64_t groups);

#endif /* KEYWAY_GPU_SORT_H */
