/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompositions: ops served by other ops on the same device.
 */
#ifndef KEYWAY_CORE_DECOMPOSE_H
#define KEYWAY_CORE_DECOMPOSE_H

#include "base/math_mode.h"
#include "device/device.h"

/* Serves an op by other ops. args are normalised, outs complete but for absent results. */
typedef kw_status (*kw_decompose_fn)(kw_stream *stream, const kw_value *args, kw_tensor **outs);

/* An op, the op that it becomes, and how. */
typedef struct kw_decomposition {
  const char *op, *by;
  kw_decompose_fn serve;
} kw_decomposition;

/* The decomposition that serves an op on a device for this key dtype, where `math` allows a kernel of what it leads to;
 * or NULL. */
const kw_decomposition *kw_decompose_find(const kw_op *op, const kw_device *device, kw_dtype key, kw_math math);

#endif /* KEYWAY_CORE_DECOMPOSE_H */
