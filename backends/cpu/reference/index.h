/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that join, choose and place elements: the same for every compute type. Where an index is out of range, what
 * was to be read or written there stays as it was.
 */
#ifndef KEYWAY_REFERENCE_INDEX_H
#define KEYWAY_REFERENCE_INDEX_H

#include "reference.h"

kw_status kw_index_cat(const kw_call *call);
kw_status kw_index_embedding(const kw_call *call);
kw_status kw_index_select(const kw_call *call);
kw_status kw_index_gather(const kw_call *call);
kw_status kw_index_scatter(const kw_call *call); /* scatter.src and scatter.value */
kw_status kw_index_get(const kw_call *call);     /* index.Tensor */
kw_status kw_index_put(const kw_call *call);     /* index_put without accumulate */

/* True when all index tensors of argument `arg`, a tensor or a list, are i64 or i32. */
bool kw_index_is_index(const kw_call *call, uint32_t arg);

#endif /* KEYWAY_REFERENCE_INDEX_H */
