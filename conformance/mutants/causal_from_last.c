/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* scaled_dot_product_attention lets the last query of a causal call see all keys, and counts from there: as if there
 * were no queries but the last ones. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  const kw_tensor_ref *query = call->args[0].u.tensor, *key = call->args[1].u.tensor;
  if (query->shape[query->rank - 2] < key->shape[key->rank - 2]) copy.args[5].u.b = false;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "scaled_dot_product_attention";
  mutant->launch = launch;
}
