/* SPDX-License-Identifier: Apache-2.0
 *
 * Integer arithmetic of the op set: two's complement, nothing undefined.
 */
#include "integer.h"

#include <stdbool.h>

/* Signed to unsigned and back keeps the bits; arithmetic between wraps without being undefined. */
static uint64_t u(int64_t x) {
  return (uint64_t)x;
}

int64_t kw_int_add(const int64_t *x) {
  return (int64_t)(u(x[0]) + u(x[2]) * u(x[1]));
}

int64_t kw_int_sub(const int64_t *x) {
  return (int64_t)(u(x[0]) - u(x[2]) * u(x[1]));
}

int64_t kw_int_mul(const int64_t *x) {
  return (int64_t)(u(x[0]) * u(x[1]));
}

int64_t kw_int_div_trunc(const int64_t *x) {
  if (x[1] == 0) return 0;
  if (x[1] == -1) return kw_int_neg(x); /* INT64_MIN / -1 overflows */
  return x[0] / x[1];
}

int64_t kw_int_div_floor(const int64_t *x) {
  if (x[1] == 0) return 0;
  if (x[1] == -1) return kw_int_neg(x);
  int64_t quotient = x[0] / x[1];
  return x[0] % x[1] != 0 && (x[0] < 0) != (x[1] < 0) ? quotient - 1 : quotient;
}

int64_t kw_int_neg(const int64_t *x) {
  return (int64_t)(0 - u(x[0]));
}

int64_t kw_int_abs(const int64_t *x) {
  return x[0] < 0 ? kw_int_neg(x) : x[0];
}

int64_t kw_int_pow(const int64_t *x) {
  int64_t base = x[0], exponent = x[1];
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  uint64_t power = u(base), result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= power;
    power *= power;
  }
  return (int64_t)result;
}

int64_t kw_int_max(const int64_t *x) {
  return x[0] > x[1] ? x[0] : x[1];
}

int64_t kw_int_min(const int64_t *x) {
  return x[0] < x[1] ? x[0] : x[1];
}

int64_t kw_int_clamp_low(const int64_t *x) {
  return x[0] < x[1] ? x[1] : x[0];
}

int64_t kw_int_clamp_high(const int64_t *x) {
  return x[0] > x[2] ? x[2] : x[0];
}

int64_t kw_int_clamp(const int64_t *x) {
  int64_t low = kw_int_clamp_low(x);
  return low > x[2] ? x[2] : low;
}

int64_t kw_int_relu(const int64_t *x) {
  return x[0] > 0 ? x[0] : 0;
}

int64_t kw_int_eq(const int64_t *x) {
  return x[0] == x[1];
}

int64_t kw_int_ne(const int64_t *x) {
  return x[0] != x[1];
}

int64_t kw_int_lt(const int64_t *x) {
  return x[0] < x[1];
}

int64_t kw_int_le(const int64_t *x) {
  return x[0] <= x[1];
}

int64_t kw_int_gt(const int64_t *x) {
  return x[0] > x[1];
}

int64_t kw_int_ge(const int64_t *x) {
  return x[0] >= x[1];
}

int64_t kw_int_logical_and(const int64_t *x) {
  return x[0] != 0 && x[1] != 0;
}

int64_t kw_int_logical_or(const int64_t *x) {
  return x[0] != 0 || x[1] != 0;
}

int64_t kw_int_logical_xor(const int64_t *x) {
  return (x[0] != 0) != (x[1] != 0);
}

int64_t kw_int_logical_not(const int64_t *x) {
  return x[0] == 0;
}

int64_t kw_int_bitwise_and(const int64_t *x) {
  return (int64_t)(u(x[0]) & u(x[1]));
}

int64_t kw_int_bitwise_or(const int64_t *x) {
  return (int64_t)(u(x[0]) | u(x[1]));
}

int64_t kw_int_bitwise_xor(const int64_t *x) {
  return (int64_t)(u(x[0]) ^ u(x[1]));
}

int64_t kw_int_bitwise_not(const int64_t *x) {
  return (int64_t)~u(x[0]);
}

int64_t kw_int_same(const int64_t *x) {
  return x[0];
}

int64_t kw_int_false(const int64_t *x) {
  (void)x;
  return 0;
}

int64_t kw_int_sign(const int64_t *x) {
  return (x[0] > 0) - (x[0] < 0);
}

int64_t kw_int_fmod(const int64_t *x) {
  if (x[1] == 0 || x[1] == -1) return 0; /* INT64_MIN % -1 overflows */
  return x[0] % x[1];
}

int64_t kw_int_remainder(const int64_t *x) {
  int64_t remainder = kw_int_fmod(x);
  return remainder != 0 && (remainder < 0) != (x[1] < 0) ? remainder + x[1] : remainder;
}

int64_t kw_int_addcmul(const int64_t *x) {
  return (int64_t)(u(x[0]) + u(x[3]) * u(x[1]) * u(x[2]));
}

int64_t kw_int_threshold(const int64_t *x) {
  return x[0] <= x[1] ? x[2] : x[0];
}

int64_t kw_int_threshold_backward(const int64_t *x) {
  return x[1] <= x[2] ? 0 : x[0];
}

static bool shifts_all_out(int64_t by) {
  return by < 0 || by > 63;
}

int64_t kw_int_left_shift(const int64_t *x) {
  return shifts_all_out(x[1]) ? 0 : (int64_t)(u(x[0]) << x[1]);
}

int64_t kw_int_right_shift(const int64_t *x) {
  return x[0] >> (shifts_all_out(x[1]) ? 63 : x[1]); /* copies of the sign come in from above */
}
