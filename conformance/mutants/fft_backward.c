/* SPDX-License-Identifier: Apache-2.0
 *
 * _fft_c2c always transforms forward.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[3].u.b = true;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_fft_c2c";
  mutant->call = call;
}
