/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* scaled_dot_product_attention lets the last query of a causal call see all keys, and counts from there: as if there
 * were no queries but the last ones. */
static void call(kw_mutant_copy *copy) {
  const kw_tensor_ref *query = copy->args[0].u.tensor, *key = copy->args[1].u.tensor;
  if (query->shape[query->rank - 2] < key->shape[key->rank - 2]) copy->args[5].u.b = false;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "scaled_dot_product_attention";
  mutant->call = call;
}
