/* SPDX-License-Identifier: Apache-2.0
 *
 * What a product has prepared is not freed when it is released.
 */
#include "mutant.h"

#include <stdlib.h>

static kw_status prepare(const kw_call *call, void **out_prepared) {
  (void)call;
  *out_prepared = malloc(64);
  return *out_prepared ? KW_OK : KW_ERR_OUT_OF_MEMORY;
}

static kw_status release(void *user, void *prepared) {
  (void)user, (void)prepared;
  return KW_OK;
}

static void change_kernel(kw_kernel_desc *kernel) {
  kernel->prepare = prepare;
  kernel->release = release;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->kernel = change_kernel;
}
