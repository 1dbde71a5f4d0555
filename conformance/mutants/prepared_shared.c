/* SPDX-License-Identifier: Apache-2.0
 *
 * What is prepared for one signature is shared by all who ask for it, and the first who gives it back ends it for the
 * others. After OCCA issue 185: freeing one kernel freed every kernel with the same hash.
 */
#include "mutant.h"

#include <string.h>

enum { SIGNATURES = 4096 };

typedef struct prepared {
  char op[48];
  kw_dtype dtype;
  int64_t size;
  bool ended;
} prepared;

static prepared all[SIGNATURES];
static unsigned count;

static kw_status prepare(const kw_call *call, void **out_prepared) {
  const kw_tensor_ref *out = call->out_count > 0 ? call->outs[0] : NULL;
  const kw_dtype dtype = out ? out->dtype : KW_DTYPE_NONE;
  const int64_t size = out && out->rank > 0 ? out->shape[0] : 0;
  unsigned i = 0;
  while (i < count && (strcmp(all[i].op, call->op) != 0 || all[i].dtype != dtype || all[i].size != size)) i++;
  if (i == SIGNATURES) return KW_OK;
  if (i == count) {
    strncpy(all[i].op, call->op, sizeof all[i].op - 1);
    all[i].dtype = dtype;
    all[i].size = size;
    count++;
  }
  all[i].ended = false;
  *out_prepared = &all[i];
  return KW_OK;
}

static kw_status release(void *user, void *one) {
  (void)user;
  if (one) ((prepared *)one)->ended = true;
  return KW_OK;
}

static kw_status launch(const kw_call *call) {
  const prepared *one = call->prepared;
  return one && one->ended ? kw_mutant_run_to(call, 0) : kw_mutant_launch_real(call);
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->prepare = prepare;
  kernel->release = release;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->launch = launch;
  mutant->kernel = kernel;
}
