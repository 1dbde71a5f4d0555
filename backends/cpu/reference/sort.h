/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that sort along a dimension: the same for every compute type, since elements are only compared and moved. NaN
 * is the greatest; equal elements keep their order.
 */
#ifndef KEYWAY_REFERENCE_SORT_H
#define KEYWAY_REFERENCE_SORT_H

#include "reference.h"

/* The order of `count` elements, `step` bytes from each other: room for 2 * count indices comes from the caller, and
 * where in it the sorted ones begin is returned. */
const int64_t *kw_sort_order(kw_dtype dtype, const char *at, int64_t count, int64_t step, bool descending,
                             int64_t *room);

kw_status kw_sort_all(const kw_call *call);    /* sort */
kw_status kw_sort_stable(const kw_call *call); /* sort.stable */
kw_status kw_sort_top(const kw_call *call);    /* topk */
kw_status kw_sort_search(const kw_call *call); /* searchsorted.Tensor */

#endif /* KEYWAY_REFERENCE_SORT_H */
