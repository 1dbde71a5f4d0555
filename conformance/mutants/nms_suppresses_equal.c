/* SPDX-License-Identifier: Apache-2.0
 *
 * nms suppresses a box whose IoU equals the threshold, too.
 */
#include "mutant.h"

#include <math.h>

static void call(kw_mutant_copy *copy) {
  copy->args[2].u.f = nextafterf((float)copy->args[2].u.f, -INFINITY);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "torchvision::nms";
  mutant->call = call;
}
