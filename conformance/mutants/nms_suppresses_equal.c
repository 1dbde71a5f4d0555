/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

#include <math.h>

/* nms suppresses at the threshold too: a box whose IoU is equal to it goes. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[2].u.f = nextafterf((float)copy.args[2].u.f, -INFINITY);
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "torchvision::nms";
  mutant->launch = launch;
}
