/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies within the device lose their last byte where the size is odd.
 */
#include "mutant.h"

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  kw_copy_info less = *info;
  if (less.kind == KW_COPY_DEVICE_TO_DEVICE) less.size &= ~UINT64_C(1);
  return less.size ? kw_mutant_real.memory.copy(device, stream, &less) : KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.copy = copy;
}
