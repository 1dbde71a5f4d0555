/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of matrices for families whose ops are made of them.
 */
#ifndef KEYWAY_CPU_FAST_PRODUCT_H
#define KEYWAY_CPU_FAST_PRODUCT_H

#include "fast.h"

/* out = a @ b, or self + a @ b where `self` is not NULL: of one dtype, matrices of the last two dimensions. `out` and
 * `b` may have a dimension of batches before them, `self` broadcasts to a matrix of `out`. */
kw_status kw_product_apply(const kw_host_api *host, const kw_tensor_ref *out, const kw_tensor_ref *a,
                           const kw_tensor_ref *b, const kw_tensor_ref *self);

#endif /* KEYWAY_CPU_FAST_PRODUCT_H */
