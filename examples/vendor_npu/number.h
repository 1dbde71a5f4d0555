/* SPDX-License-Identifier: Apache-2.0
 *
 * One number of any real dtype, for the kernels that convert: copy_, fill_ and the reference of our own op.
 */
#ifndef ACME_NPU_NUMBER_H
#define ACME_NPU_NUMBER_H

#include <keyway/plugin.h>

typedef struct npu_number {
  bool integral; /* `i` counts, otherwise `f`: either holds its dtype's values exactly */
  int64_t i;
  double f;
} npu_number;

/* The dtypes that the functions below take: all but complex. KW_DTYPE_BIT. */
#define NPU_REAL_DTYPES (KW_DTYPE_BIT(KW_F8E5M2 + 1) - 1)

/* Bytes of one element, by dtype. */
extern const uint8_t npu_itemsizes[];

npu_number npu_number_load(kw_dtype dtype, const void *item);

/* Converts by the op set's rules: floats round once to nearest even, and where out of range to infinity (NaN in
 * f8e4m3fn); float to integer truncates and saturates, NaN gives 0; integer to integer wraps; to bool: is it not zero?
 */
void npu_number_store(kw_dtype dtype, void *item, npu_number value);

/* The number in an argument that is an int, a float, or a Scalar that is not complex. */
npu_number npu_number_argument(const kw_value *value);

double npu_number_float(npu_number value);

#endif /* ACME_NPU_NUMBER_H */
