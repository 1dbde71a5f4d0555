/* SPDX-License-Identifier: Apache-2.0
 *
 * add.Scalar to i64 adds the lower 32 bits of the Scalar. After PyTorch issue 78848: adding 2^32 to integers changed
 * nothing on MPS, on some machines.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_value *scalar = &copy->args[1];
  if (scalar->kind == KW_SCALAR_I64) scalar->u.i = (int32_t)scalar->u.i;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Scalar";
  mutant->call = call;
}
