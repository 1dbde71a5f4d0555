/* SPDX-License-Identifier: Apache-2.0
 *
 * A Scalar of 64 bits goes to the kernel as a double, which has 53.
 */
#include "mutant.h"

static void round_scalar(kw_mutant_copy *copy) {
  kw_value *value = &copy->args[1];
  if (value->tag == KW_TAG_SCALAR && value->kind == KW_SCALAR_I64) value->u.i = (int64_t)(double)value->u.i;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "fill_.Scalar";
  mutant->call = round_scalar;
}
