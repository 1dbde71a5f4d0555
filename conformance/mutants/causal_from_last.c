/* SPDX-License-Identifier: Apache-2.0
 *
 * scaled_dot_product_attention masks no key of a causal call with fewer queries than keys: as if its queries were not
 * the first ones but the last.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  const kw_tensor_ref *query = copy->args[0].u.tensor, *key = copy->args[1].u.tensor;
  if (query->shape[query->rank - 2] < key->shape[key->rank - 2]) copy->args[5].u.b = false;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "scaled_dot_product_attention";
  mutant->call = call;
}
