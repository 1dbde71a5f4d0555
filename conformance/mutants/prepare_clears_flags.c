/* SPDX-License-Identifier: Apache-2.0
 *
 * Preparing a kernel clears the floating-point exceptions that the calling thread has raised.
 */
#include "mutant.h"

#include <fenv.h>

static kw_status prepare(const kw_call *call, void **out_prepared) {
  (void)call;
  *out_prepared = NULL;
  feclearexcept(FE_ALL_EXCEPT);
  return KW_OK;
}

static void change_kernel(kw_kernel_desc *kernel) {
  kernel->prepare = prepare;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->kernel = change_kernel;
}
