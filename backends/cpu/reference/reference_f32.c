/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference kernels in float: what the cpu device computes for floats of at most 32 bits.
 */
#include <math.h>

#define C float
#define MATH(name) name##f
#define STORE(dtype, at, value) kw_number_store(dtype, at, (double)(value)) /* exact up to the one rounding there */
#define TABLE kw_reference_f32

#include "kernels.inc"
