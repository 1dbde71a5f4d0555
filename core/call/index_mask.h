/* SPDX-License-Identifier: Apache-2.0
 *
 * Masks among the indices of index and index_put. How many places a mask selects shows only in the data, so no plan is
 * made for it: a call finds the places first, by nonzero, and goes on with those.
 */
#ifndef KEYWAY_CORE_INDEX_MASK_H
#define KEYWAY_CORE_INDEX_MASK_H

#include "call/request.h"

/* Whether a resolved request is for such an op and has a mask, bool or u8, among its indices. */
bool kw_index_mask_present(const kw_request *request);

/* The call with the indices that each mask stands for, one tensor for each dimension of the mask. Waits for the stream;
 * KW_ERR_BUSY while it records and in host callbacks. KW_ERR_INVALID_ARGUMENT where a mask has not the shape of the
 * dimensions that it stands for. */
kw_status kw_index_mask_call(const kw_request *request);

#endif /* KEYWAY_CORE_INDEX_MASK_H */
