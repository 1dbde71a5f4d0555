/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of a tensor by sets of its dimensions: bit d of a mask is dimension d.
 */
#ifndef KEYWAY_REFERENCE_DIMS_H
#define KEYWAY_REFERENCE_DIMS_H

#include "reference.h"

/* The dimensions in `mask`, in order; the others stand at index 0. */
kw_tensor_ref kw_dims_keep(const kw_tensor_ref *tensor, uint32_t mask);

/* The dimensions that an argument "dim" names (an int, a list, or none for all) of a tensor of rank `rank`. */
uint32_t kw_dims_named(const kw_value *dim, uint32_t rank);

/* Dimension `dim` seen as two: [groups, size / groups]. */
kw_tensor_ref kw_dims_split(const kw_tensor_ref *tensor, uint32_t dim, int64_t groups);

/* A tensor that has the dimensions in `mask`, seen with all of `like`'s: it repeats along the others. */
kw_tensor_ref kw_dims_spread(kw_tensor_ref tensor, const kw_tensor_ref *like, uint32_t mask);

#endif /* KEYWAY_REFERENCE_DIMS_H */
