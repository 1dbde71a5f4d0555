/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompositions: ops served by other ops on the same device.
 */
#ifndef KEYWAY_CORE_DECOMPOSE_H
#define KEYWAY_CORE_DECOMPOSE_H

#include "base/math_mode.h"
#include "call/compose.h"
#include "device/device.h"

/* Serves an op by other ops. args are normalised, outs complete but for absent results. */
typedef kw_status (*kw_decompose_fn)(kw_composition *c, const kw_value *args, kw_tensor **outs);

/* How a row computes. */
#define KW_WIDE 1u    /* 16-bit floats in f32, rounded once at the end */
#define KW_NOT_F64 2u /* too coarsely for f64 */

/* An op, the ops that it becomes, and how: a row of op/decompositions.def. */
typedef struct kw_decomposition {
  const char *op, *needs;
  kw_decompose_fn serve;
  uint32_t how;
} kw_decomposition;

/* The decomposition that serves an op on a device for this key dtype, where `math` allows a kernel of what it leads to;
 * or NULL. */
const kw_decomposition *kw_decompose_find(const kw_op *op, const kw_device *device, kw_dtype key, kw_math math);

/* Serves a call by it; bit i of `cast`: a kernel would have argument i in the key dtype. */
kw_status kw_decompose_serve(const kw_decomposition *by, kw_stream *stream, kw_dtype key, uint32_t cast,
                             const kw_value *args, kw_tensor **outs);

/* The functions of the rows. */
#define KW_DECOMPOSITION(op, needs, function, how) \
  kw_status kw_decompose_##function(kw_composition *c, const kw_value *args, kw_tensor **outs);
#include "op/decompositions.def"

#endif /* KEYWAY_CORE_DECOMPOSE_H */
