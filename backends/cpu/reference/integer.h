/* SPDX-License-Identifier: Apache-2.0
 *
 * Integer arithmetic of the op set, on int64_t: two's complement wraps, nothing is undefined. Narrower dtypes and bool
 * compute here too and are cut to their width when stored. Each function reads its operands from x[0], x[1] ...
 */
#ifndef KEYWAY_REFERENCE_INTEGER_H
#define KEYWAY_REFERENCE_INTEGER_H

#include <stdint.h>

typedef int64_t (*kw_int_fn)(const int64_t *x);

int64_t kw_int_add(const int64_t *x); /* x0 + x2 * x1 */
int64_t kw_int_sub(const int64_t *x); /* x0 - x2 * x1 */
int64_t kw_int_mul(const int64_t *x);
int64_t kw_int_div_trunc(const int64_t *x); /* by zero: 0; the smallest by -1: itself */
int64_t kw_int_div_floor(const int64_t *x);
int64_t kw_int_neg(const int64_t *x);
int64_t kw_int_abs(const int64_t *x);
int64_t kw_int_pow(const int64_t *x); /* negative exponent: what is left of 1 / x0^-x1 when cut to an integer */
int64_t kw_int_max(const int64_t *x);
int64_t kw_int_min(const int64_t *x);
int64_t kw_int_clamp(const int64_t *x);      /* to [x1, x2]; x2 where x1 > x2 */
int64_t kw_int_clamp_low(const int64_t *x);  /* x1 only */
int64_t kw_int_clamp_high(const int64_t *x); /* x2 only */
int64_t kw_int_relu(const int64_t *x);
int64_t kw_int_eq(const int64_t *x);
int64_t kw_int_ne(const int64_t *x);
int64_t kw_int_lt(const int64_t *x);
int64_t kw_int_le(const int64_t *x);
int64_t kw_int_gt(const int64_t *x);
int64_t kw_int_ge(const int64_t *x);
int64_t kw_int_logical_and(const int64_t *x);
int64_t kw_int_logical_or(const int64_t *x);
int64_t kw_int_logical_xor(const int64_t *x);
int64_t kw_int_logical_not(const int64_t *x);
int64_t kw_int_bitwise_and(const int64_t *x);
int64_t kw_int_bitwise_or(const int64_t *x);
int64_t kw_int_bitwise_xor(const int64_t *x);
int64_t kw_int_bitwise_not(const int64_t *x);
int64_t kw_int_same(const int64_t *x);  /* x0 */
int64_t kw_int_false(const int64_t *x); /* 0, whatever x0 */
int64_t kw_int_sign(const int64_t *x);
int64_t kw_int_fmod(const int64_t *x);               /* of x0's sign; by zero: 0 */
int64_t kw_int_remainder(const int64_t *x);          /* of x1's sign; by zero: 0 */
int64_t kw_int_addcmul(const int64_t *x);            /* x0 + x3 * x1 * x2 */
int64_t kw_int_threshold(const int64_t *x);          /* x2 where x0 is at most x1, otherwise x0 */
int64_t kw_int_threshold_backward(const int64_t *x); /* 0 where x1 is at most x2, otherwise x0 */
/* A negative shift counts as one by more bits than there are. Narrower dtypes need no width: the bits that leave them
 * upwards are cut off when stored, downwards they hold copies of the sign. */
int64_t kw_int_left_shift(const int64_t *x);
int64_t kw_int_right_shift(const int64_t *x);

#endif /* KEYWAY_REFERENCE_INTEGER_H */
