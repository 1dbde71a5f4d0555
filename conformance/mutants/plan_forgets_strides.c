/* SPDX-License-Identifier: Apache-2.0
 *
 * What add.Tensor prepares is found by the shape of the result alone, and holds the strides of the operands that were
 * there first. After PyTorch pull request 175597 and flash-attention pull request 2298: keys of compiled kernels left
 * out the strides of inputs, and an expanded operand got the kernel of a dense one.
 */
#include "mutant.h"

#include <string.h>

typedef struct plan {
  kw_tensor_ref first, operand; /* the result's shape, and argument 0 */
} plan;

static kw_status prepare(const kw_call *call, void **out_prepared) {
  enum { MOST = 4096 };
  static plan plans[MOST];
  static int count;
  const kw_tensor_ref *out = call->outs[0];
  for (int i = 0; i < count && !*out_prepared; i++) {
    const kw_tensor_ref *first = &plans[i].first;
    if (first->rank != out->rank || first->dtype != out->dtype) continue;
    if (memcmp(first->shape, out->shape, out->rank * sizeof *out->shape) == 0) *out_prepared = &plans[i];
  }
  if (*out_prepared || count == MOST) return KW_OK;
  plans[count] = (plan){*out, *call->args[0].u.tensor};
  *out_prepared = &plans[count++];
  return KW_OK;
}

/* Strides that reach no further than those that are right: nothing else's memory is read. */
static void call(kw_mutant_copy *copy) {
  const plan *plan = copy->call.prepared;
  kw_tensor_ref *operand = &copy->arg_tensors[0];
  if (!plan || plan->operand.rank != operand->rank || copy->outs[0] == operand) return;
  kw_tensor_ref changed = *operand;
  memcpy(changed.strides, plan->operand.strides, sizeof changed.strides);
  if (kw_mutant_extent(&changed) <= kw_mutant_extent(operand)) *operand = changed;
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->prepare = prepare;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->call = call;
  mutant->kernel = kernel;
}
