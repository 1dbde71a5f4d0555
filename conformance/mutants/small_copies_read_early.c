/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies to the device of up to 256 bytes take the host's memory as it is when they are enqueued: they travel inside of
 * the command.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

enum { INLINE = 256 };

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  kw_copy_info early = *info;
  const bool is_small = info->kind == KW_COPY_HOST_TO_DEVICE && info->size <= INLINE;
  void *taken = is_small ? malloc(info->size) : NULL; /* the stream may need it for ever */
  if (taken) early.src_host = memcpy(taken, info->src_host, info->size);
  return kw_mutant_real.memory.copy(device, stream, &early);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.copy = copy;
}
