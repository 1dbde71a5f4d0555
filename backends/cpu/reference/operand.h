/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of a call as kernels want them: which dtype to compute in, Scalars as elements.
 */
#ifndef KEYWAY_REFERENCE_OPERAND_H
#define KEYWAY_REFERENCE_OPERAND_H

#include "number.h"

/* One element of any dtype, on its own. */
typedef struct kw_element {
  kw_dtype dtype;
  _Alignas(16) char bytes[16];
} kw_element;

/* True for a value that takes part in promotion as a number: a Scalar, or an int, float or bool in its place. */
bool kw_operand_is_scalar(const kw_value *value);

/* True for a dtype that is given; false for none. */
bool kw_operand_is_dtype(const kw_value *value);

/* A Scalar as an element: bool, i64, f64 or c128. */
kw_element kw_operand_scalar(const kw_value *value);

/* A bound of clamp. An integer one past the range of an integer dtype is no bound: as a float it saturates where it
 * would wrap. */
kw_value kw_operand_bound(kw_value value, kw_dtype key);

/* Number `d` of an int[N] argument: one may stand for all. */
int64_t kw_operand_listed(const kw_value *list, uint32_t d);

/* How a loss's argument "reduction" counts. */
enum { KW_REDUCE_NONE, KW_REDUCE_MEAN, KW_REDUCE_SUM };

/* ATen's result_type over the tensors and Scalars among args[first .. first + count - 1]. */
kw_dtype kw_operand_promote(const kw_value *args, uint32_t first, uint32_t count);

/* True when every tensor among args[first .. first + count - 1] has a dtype between bool and f64. */
bool kw_operand_all_real(const kw_value *args, uint32_t first, uint32_t count);

/* The element at `at`, of dtype `dtype`, converted to the key dtype. */
kw_element kw_operand_as_key(kw_dtype dtype, const void *at, kw_dtype key);

#endif /* KEYWAY_REFERENCE_OPERAND_H */
