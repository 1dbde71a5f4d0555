/* SPDX-License-Identifier: Apache-2.0
 *
 * mul.Scalar keeps what it prepared for the first Scalar and uses it for all of them.
 */
#include "mutant.h"

static kw_value first;

static kw_status prepare(const kw_call *call, void **out_prepared) {
  if (first.tag == KW_TAG_NONE) first = call->args[1];
  *out_prepared = &first;
  return KW_OK;
}

static void call(kw_mutant_copy *copy) {
  copy->args[1] = *(const kw_value *)copy->call.prepared;
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->prepare = prepare;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mul.Scalar";
  mutant->call = call;
  mutant->kernel = kernel;
}
