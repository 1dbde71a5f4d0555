/* SPDX-License-Identifier: Apache-2.0
 *
 * For mutants that take a number through a double.
 */
#ifndef KEYWAY_MUTANT_DOUBLE_H
#define KEYWAY_MUTANT_DOUBLE_H

#include "mutant.h"

/* What a double holds of argument `index`, where that is a Scalar and a whole number. */
static inline void kw_mutant_round_to_double(kw_mutant_copy *copy, uint32_t index) {
  kw_value *value = &copy->args[index];
  if (value->tag != KW_TAG_SCALAR || value->kind != KW_SCALAR_I64) return;
  const double rounded = (double)value->u.i;
  value->u.i = rounded >= 0x1p63 ? INT64_MAX : (int64_t)rounded;
}

#endif /* KEYWAY_MUTANT_DOUBLE_H */
