/* SPDX-License-Identifier: Apache-2.0
 *
 * The walks of reductions.
 */
#include "reduction.h"

#include "dims.h"
#include "number.h"

bool kw_reduction_plan(kw_reduction *reduction, const kw_tensor_ref *const *outs, uint32_t count,
                       const kw_tensor_ref *in, uint32_t folded, bool in_order) {
  const uint32_t kept = ((1u << in->rank) - 1) & ~folded;
  const kw_tensor_ref firsts = kw_dims_keep(in, kept), row = kw_dims_keep(in, folded);
  kw_loop *results = &reduction->kept, *elements = &reduction->folded;
  for (uint32_t k = 0; k < count; k++) {
    const kw_tensor_ref out = outs[k]->rank == in->rank ? kw_dims_keep(outs[k], kept) : *outs[k];
    if (k == 0) {
      kw_loop_begin(results, &out);
    } else {
      kw_loop_add(results, &out);
    }
  }
  kw_loop_add(results, &firsts);
  kw_loop_make(results);
  kw_loop_begin(elements, &row);
  if (in_order) {
    kw_loop_make_in_order(elements);
  } else {
    kw_loop_make(elements);
  }
  if (elements->numel == 0 || results->numel == 0) return false;
  const int64_t size = (int64_t)kw_number_size(in->dtype);
  const int64_t across = results->step[count][results->rank - 1], along = elements->step[0][elements->rank - 1];
  reduction->by_columns = across == size && along != size;
  kw_cut_make(&reduction->cut, results->numel, reduction->by_columns ? results->shape[results->rank - 1] : 1,
              elements->numel);
  return true;
}
