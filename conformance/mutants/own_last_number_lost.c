/* SPDX-License-Identifier: Apache-2.0
 *
 * A vendor's op with as many arguments as there can be, and its kernel takes the last one for 1. After pocl issue 197
 * (the arguments of kernels were counted wrongly) and Paddle pull request 51438 (an attribute of a custom plugin was
 * overwritten by the one behind it).
 */
#include "mutant_own.h"

static double weighed(const kw_call *call, int64_t i, double last) {
  double sum = 0;
  for (uint32_t k = 1; k + 1 < call->arg_count; k++) sum += call->args[k].u.f;
  return (sum + last) * kw_mutant_own_at(call->args[0].u.tensor, i);
}

static double right(const kw_call *call, int64_t i) {
  return weighed(call, i, call->args[call->arg_count - 1].u.f);
}

static double wrong(const kw_call *call, int64_t i) {
  return weighed(call, i, 1);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_own(mutant,
                    "mutant::weighed(Tensor self, float a=1.0, float b=1.0, float c=1.0, float d=1.0, float e=1.0, "
                    "float f=1.0, float g=1.0, float h=1.0, float i=1.0, float j=1.0, float k=1.0, float l=1.0, "
                    "float m=1.0, float n=1.0, float o=1.0, float p=1.0, float q=1.0, float r=1.0, float s=1.0, "
                    "float t=1.0, float u=1.0, float v=1.0, float w=1.0) -> Tensor",
                    "mutant::weighed", 24, right, wrong);
}
