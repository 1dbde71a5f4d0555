/* SPDX-License-Identifier: Apache-2.0
 *
 * A copy within the device moves 16 MiB at most. After ACCL issue 180 (of copies beyond 8 MB only the first part
 * arrives, for they are cut into pieces and one end mark is sent) and atsamd issue 981 (a length is cut to its field).
 */
#include "mutant.h"

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  kw_copy_info changed = *info;
  const uint64_t most = UINT64_C(1) << 24;
  if (info->kind == KW_COPY_DEVICE_TO_DEVICE && info->size > most) changed.size = most;
  return kw_mutant_real.memory.copy(device, stream, &changed);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.copy = copy;
}
