/* SPDX-License-Identifier: Apache-2.0
 *
 * What mm prepares is found by shape alone, and holds the mode of the call that it was prepared for first. After
 * PyTorch pull request 195301, where the caches of compiled code needed guards for each of the modes of precision.
 */
#include "mutant_product.h"

#include <string.h>

typedef struct plan {
  int64_t shape[3];
  kw_math_mode mode;
} plan;

static kw_status prepare(const kw_call *call, void **out_prepared) {
  enum { MOST = 4096 };
  static plan plans[MOST];
  static int count;
  const kw_tensor_ref *a = call->args[0].u.tensor, *b = call->args[1].u.tensor;
  const plan wanted = {{a->shape[0], a->shape[1], b->shape[1]}, call->math_mode};
  for (int i = 0; i < count && !*out_prepared; i++) {
    if (memcmp(plans[i].shape, wanted.shape, sizeof wanted.shape) == 0) *out_prepared = &plans[i];
  }
  if (*out_prepared || count == MOST) return KW_OK;
  plans[count] = wanted;
  *out_prepared = &plans[count++];
  return KW_OK;
}

static kw_status launch(const kw_call *call) {
  const plan *plan = call->prepared;
  return plan && plan->mode != KW_MATH_HIGHEST ? kw_mutant_run_cut(call, 10) : kw_mutant_launch_real(call);
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->prepare = prepare;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->launch = launch;
  mutant->kernel = kernel;
}
