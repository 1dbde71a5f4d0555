/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointwise functions for families whose ops are made of them.
 */
#ifndef KEYWAY_CPU_FAST_POINTWISE_H
#define KEYWAY_CPU_FAST_POINTWISE_H

#include "fast.h"

/* Whether a function works on tensors of that dtype here. */
bool kw_pointwise_serves(kw_pointwise_fn function, kw_dtype dtype);

/* out = function(in[0], in[1], ...): tensors that broadcast to `out` and have its dtype, but for masks. */
kw_status kw_pointwise_apply(const kw_host_api *host, kw_pointwise_fn function, const kw_tensor_ref *out,
                             const kw_tensor_ref *const *in);

#endif /* KEYWAY_CPU_FAST_POINTWISE_H */
