/* SPDX-License-Identifier: Apache-2.0
 *
 * Result shapes of the ops that select by masks, and of topk.
 */
#include "infer.h"

kw_status kw_infer_nonzero(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)op;
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  *out = (kw_infer_dims){2, {self->numel, self->rank}};
  return KW_OK;
}
