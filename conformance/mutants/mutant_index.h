/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls whose indices are not those that were given.
 */
#ifndef KEYWAY_MUTANT_INDEX_H
#define KEYWAY_MUTANT_INDEX_H

#include "mutant.h"

/* A dense row of tensor->numel elements in i64 for tensor's elements, row-major; NULL when there is no memory. The
 * caller frees it. */
int64_t *kw_mutant_indices(const kw_tensor_ref *tensor);

/* Runs the cpu plugin's kernel of a call with argument `arg`, a tensor or a list of indices, replaced by what `change`
 * makes of copies of its tensors (`indices`: count of tensor `original`, in i64), and waits for the stream. */
typedef void (*kw_mutant_index_fn)(const kw_tensor_ref *original, int64_t *indices);
kw_status kw_mutant_run_indices(const kw_call *call, uint32_t arg, kw_mutant_index_fn change);

#endif /* KEYWAY_MUTANT_INDEX_H */
