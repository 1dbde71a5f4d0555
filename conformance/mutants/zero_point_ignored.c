/* SPDX-License-Identifier: Apache-2.0
 *
 * dequantize_per_tensor subtracts no zero point.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[2].u.i = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "quantized_decomposed::dequantize_per_tensor";
  mutant->call = call;
}
