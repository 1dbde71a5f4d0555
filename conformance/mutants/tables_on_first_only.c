/* SPDX-License-Identifier: Apache-2.0
 *
 * erf finds its table of constants on the first device only; on the second one it is all zeros. After buun-llama-cpp
 * pull request 18: constant memory was written on the device that happened to be current, and the others computed with
 * zeros.
 */
#include "mutant_two.h"

#include <string.h>

static void element(const kw_mutant_element *e) {
  if (e->call->device == kw_mutant_device(1)) memset(e->out, 0, kw_mutant_item_size(e->call->outs[0]->dtype));
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
  mutant->op = "erf";
  mutant->element = element;
}
