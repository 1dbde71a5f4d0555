/* SPDX-License-Identifier: Apache-2.0
 *
 * No mutant: a plugin with kernels of 20 ops, by which all of Core is served, in Core's dtypes.
 */
#include "mutant.h"

#include <string.h>

static bool is_primitive(const char *op) {
  static const char *const primitives[] = {"copy_",
                                           "add.Tensor",
                                           "mul.Tensor",
                                           "div.Tensor_mode",
                                           "pow.Tensor_Tensor",
                                           "exp",
                                           "log",
                                           "sin",
                                           "cos",
                                           "tanh",
                                           "erf",
                                           "le.Tensor",
                                           "bitwise_and.Tensor",
                                           "where.self",
                                           "sum.dim_IntList",
                                           "prod.dim_int",
                                           "bmm",
                                           "gather",
                                           "index_put",
                                           "random_.from"};
  for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++) {
    if (strcmp(op, primitives[i]) == 0) return true;
  }
  return false;
}

static bool leaves_out(kw_kernel_desc *kernel) {
  if (!is_primitive(kernel->op)) return true;
  if (strcmp(kernel->op, "copy_") == 0) return false; /* it converts what casts come from */
  kernel->dtypes.bits[0] &= KW_DTYPE_BIT(KW_BOOL) | KW_DTYPE_BIT(KW_U8) | KW_DTYPE_BIT(KW_I32) | KW_DTYPE_BIT(KW_I64) |
                            KW_DTYPE_BIT(KW_F16) | KW_DTYPE_BIT(KW_F32);
  return false;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->leaves_out = leaves_out;
}
