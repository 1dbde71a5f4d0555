/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that join, choose and place elements: the same for every compute type. Where an index is out of range, what
 * was to be read or written there stays as it was.
 */
#ifndef KEYWAY_REFERENCE_INDEX_H
#define KEYWAY_REFERENCE_INDEX_H

#include "selection.h"

kw_status kw_index_cat(const kw_call *call);
kw_status kw_index_embedding(const kw_call *call);
kw_status kw_index_select(const kw_call *call);
kw_status kw_index_gather(const kw_call *call);
kw_status kw_index_scatter(const kw_call *call); /* scatter.src and scatter.value */
kw_status kw_index_get(const kw_call *call);     /* index.Tensor */
kw_status kw_index_put(const kw_call *call);     /* index_put without accumulate */

/* What indices choose from a table, to which their ops add what is read or written. Rows, of rank 1, of a table of rank
 * 2 by argument 1: as many as `rows` has, whose last dimension they are. */
void kw_index_rows(kw_selection *s, const kw_call *call, const kw_tensor_ref *table, const kw_tensor_ref *rows);
/* Slices along dimension argument 1 by argument 2; `slices` has the shape of all. */
void kw_index_slices(kw_selection *s, const kw_call *call, const kw_tensor_ref *table, const kw_tensor_ref *slices);
/* kw_selection_lines along dimension argument 1 by argument 2, and `values` beside them. */
void kw_index_lines(kw_selection *s, const kw_call *call, const kw_tensor_ref *table, const kw_tensor_ref *values);

/* True when all index tensors of argument `arg`, a tensor or a list, are i64 or i32. */
bool kw_index_is_index(const kw_call *call, uint32_t arg);

#endif /* KEYWAY_REFERENCE_INDEX_H */
