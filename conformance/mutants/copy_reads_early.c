/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies to the device take the host's memory as it is when they are enqueued, not when their stream gets there.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  kw_copy_info early = *info;
  void *taken = info->kind == KW_COPY_HOST_TO_DEVICE ? malloc(info->size) : NULL; /* the stream may need it for ever */
  if (taken) early.src_host = memcpy(taken, info->src_host, info->size);
  return kw_mutant_real.memory.copy(device, stream, &early);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.copy = copy;
}
