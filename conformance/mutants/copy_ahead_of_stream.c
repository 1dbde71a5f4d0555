/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies run at once, whatever work their stream still has.
 */
#include "mutant.h"

static void *default_stream;

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  kw_status status = kw_mutant_real.stream.create(device, info, out_stream);
  if (status == KW_OK && (info->flags & KW_STREAM_DEFAULT)) default_stream = *out_stream;
  return status;
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  (void)stream;
  return kw_mutant_real.memory.copy(device, default_stream, info);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.create = create;
  mutant->memory.copy = copy;
}
