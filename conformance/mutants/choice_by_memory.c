/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of copy_ take no call while more than 64 MiB of the device's memory are in use: what they would keep beside
 * it might not fit.
 */
#include "mutant.h"

#include <stdatomic.h>

enum { MOST = 64 << 20 };

static atomic_uint_least64_t large; /* live allocations of more than that */

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  const kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  if (status == KW_OK && info->size > MOST) atomic_fetch_add(&large, 1);
  return status;
}

static kw_status can_implement(const kw_call *call) {
  (void)call;
  return atomic_load(&large) == 0 ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->can_implement = can_implement;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
  mutant->op = "copy_";
  mutant->kernel = kernel;
}
