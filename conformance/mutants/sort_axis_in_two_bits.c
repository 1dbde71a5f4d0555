/* SPDX-License-Identifier: Apache-2.0
 *
 * sort.stable counts its dimension from the last one and keeps two bits of that: the fifth from the end is taken for
 * the last. After pytorch issues 154890 and 187016: along a leading dimension of five a device did not sort.
 */
#include "mutant.h"

static void keep_two_bits(kw_mutant_copy *copy) {
  const int64_t rank = copy->arg_tensors[0].rank;
  kw_value *dim = &copy->args[2];
  if (dim->tag != KW_TAG_INT || rank == 0) return;
  const int64_t from_end = dim->u.i < 0 ? -1 - dim->u.i : rank - 1 - dim->u.i;
  dim->u.i = rank - 1 - from_end % 4;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sort.stable";
  mutant->call = keep_two_bits;
}
