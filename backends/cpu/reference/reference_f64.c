/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference kernels in double: what the cpu device computes for f64, and the oracle for narrower floats.
 */
#include <math.h>

#define C double
#define MATH(name) name
#define STORE(dtype, at, value) kw_number_store(dtype, at, value)
#define TABLE kw_reference_f64

#include "kernels.inc"
