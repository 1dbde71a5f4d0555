/* SPDX-License-Identifier: Apache-2.0
 *
 * argmin along the second of two dimensions gives the last of equal smallest elements, not the first.
 */
#include "mutant.h"

#include <string.h>

static void element(const kw_mutant_element *e) {
  const kw_tensor_ref *in = e->call->args[0].u.tensor;
  const kw_value *dim = &e->call->args[1];
  if (in->rank != 2 || dim->tag != KW_TAG_INT || dim->u.i != 1) return;
  int64_t row = e->index * in->shape[1], *index = e->out;
  const void *smallest = kw_mutant_at(in, row + *index);
  for (int64_t k = *index + 1; k < in->shape[1]; k++) {
    if (memcmp(kw_mutant_at(in, row + k), smallest, kw_mutant_item_size(in->dtype)) == 0) *index = k;
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "argmin";
  mutant->element = element;
}
