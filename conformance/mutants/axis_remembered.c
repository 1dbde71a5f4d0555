/* SPDX-License-Identifier: Apache-2.0
 *
 * _softmax keeps what it has compiled by the shape alone, and the dimension with it.
 */
#include "mutant.h"

#include <string.h>

static void call(kw_mutant_copy *copy) {
  static kw_tensor_ref first;
  static int64_t dimension;
  const kw_tensor_ref *in = copy->args[0].u.tensor;
  const bool known =
      first.rank == in->rank && in->rank > 0 && memcmp(first.shape, in->shape, in->rank * sizeof *in->shape) == 0;
  if (known) {
    copy->args[1].u.i = dimension;
  } else {
    first = *in;
    dimension = copy->args[1].u.i;
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_softmax";
  mutant->call = call;
}
