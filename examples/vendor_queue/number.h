/* SPDX-License-Identifier: Apache-2.0
 *
 * One number of any dtype that the chip knows.
 */
#ifndef ACME_NUMBER_H
#define ACME_NUMBER_H

#include <keyway/plugin.h>

typedef struct number {
  bool integral; /* `i` counts, otherwise `f`: either holds its dtype's values exactly */
  int64_t i;
  double f;
} number;

#define CHIP_INTEGERS                                                                                                \
  (KW_DTYPE_BIT(KW_BOOL) | KW_DTYPE_BIT(KW_U8) | KW_DTYPE_BIT(KW_I8) | KW_DTYPE_BIT(KW_I16) | KW_DTYPE_BIT(KW_I32) | \
   KW_DTYPE_BIT(KW_I64))
#define CHIP_FLOATS (KW_DTYPE_BIT(KW_F16) | KW_DTYPE_BIT(KW_BF16) | KW_DTYPE_BIT(KW_F32) | KW_DTYPE_BIT(KW_F64))
#define CHIP_DTYPES (CHIP_INTEGERS | CHIP_FLOATS)

uint32_t number_size(kw_dtype dtype); /* bytes */
number number_load(kw_dtype dtype, const void *item);
/* Floats round once, to nearest even; integers wrap; a float out of an integer's range saturates, and NaN gives 0. */
void number_store(kw_dtype dtype, void *item, number value);
/* Of an int, a float, or a Scalar that is not complex. */
number number_of(const kw_value *value);

static inline number number_real(double f) {
  return (number){.f = f};
}
static inline number number_integer(int64_t i) {
  return (number){.integral = true, .i = i};
}
static inline double number_as_real(number value) {
  return value.integral ? (double)value.i : value.f;
}

#endif /* ACME_NUMBER_H */
