/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

#include <math.h>

/* nms suppresses at the threshold too: a box whose IoU is equal to it goes. */
static void call(kw_mutant_copy *copy) {
  copy->args[2].u.f = nextafterf((float)copy->args[2].u.f, -INFINITY);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "torchvision::nms";
  mutant->call = call;
}
