/* SPDX-License-Identifier: Apache-2.0
 *
 * A fill with a pattern of several bytes begins with the pattern's second byte. (The kernel of fill_.Scalar takes no
 * call, so that the library fills instead.)
 */
#include "mutant.h"

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  unsigned char turned[16];
  for (uint32_t i = 0; i < pattern_size; i++) turned[i] = ((const unsigned char *)pattern)[(i + 1) % pattern_size];
  return kw_mutant_real.memory.fill(device, stream, mem, offset, size, turned, pattern_size);
}

static kw_status can_implement(const kw_call *call) {
  (void)call;
  return KW_ERR_NOT_IMPLEMENTED;
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->can_implement = can_implement;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.fill = fill;
  mutant->op = "fill_.Scalar";
  mutant->kernel = kernel;
}
