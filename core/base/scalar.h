/* SPDX-License-Identifier: Apache-2.0
 *
 * What a Scalar is as a number, and as an element of a tensor.
 */
#ifndef KEYWAY_CORE_SCALAR_H
#define KEYWAY_CORE_SCALAR_H

#include <keyway/types.h>

/* The number of a KW_TAG_SCALAR value as f64: an i64 rounds, of a complex number the real part. */
double kw_scalar_real(const kw_value *scalar);

/* Writes a KW_TAG_SCALAR value as one element of `dtype`: kw_dtype_size(dtype) bytes, at most 16. Floats round once, to
 * nearest even; integers wrap; a float out of an integer's range saturates and NaN gives 0; past the largest f8e4m3fn
 * is NaN. */
void kw_scalar_store(const kw_value *scalar, kw_dtype dtype, void *out_element);

#endif /* KEYWAY_CORE_SCALAR_H */
