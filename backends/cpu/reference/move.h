/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that move values and compute nothing: the same for every compute type.
 */
#ifndef KEYWAY_REFERENCE_MOVE_H
#define KEYWAY_REFERENCE_MOVE_H

#include "reference.h"

/* Converts the elements of a tensor, which broadcasts to the shape of `to`, into that. */
void kw_move_elements(const kw_tensor_ref *from, const kw_tensor_ref *to);

kw_status kw_move_fill_scalar(const kw_call *call);
kw_status kw_move_copy(const kw_call *call);        /* copy_ and fill_.Tensor: argument 1 broadcasts to the output */
kw_status kw_move_to_copy(const kw_call *call);     /* argument 0 */
kw_status kw_move_masked_fill(const kw_call *call); /* argument 2, a Scalar or a tensor, where argument 1 is true */
kw_status kw_move_where(const kw_call *call);       /* bits unchanged where the chosen operand has the key dtype */

#endif /* KEYWAY_REFERENCE_MOVE_H */
