/* SPDX-License-Identifier: Apache-2.0
 *
 * Prefix sums and products as steps, for lowerings that are made of them.
 */
#ifndef KEYWAY_GPU_SCAN_H
#define KEYWAY_GPU_SCAN_H

#include "lower/plan.h"

/* Every element along dimension `dim` becomes the sum (`opcode` KW_REDUCE_SUM) or product (KW_REDUCE_PROD) of those up
 * to and with it. `out` has the shape and dtype of `in`, and may be it. */
void kw_gpu_scan(kw_gpu_plan *plan, int32_t opcode, const kw_gpu_tensor *out, const kw_gpu_tensor *in, uint32_t dim);

#endif /* KEYWAY_GPU_SCAN_H */
