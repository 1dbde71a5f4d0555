/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream that is refused leaves what was made for it before its flags were looked at.
 */
#include "mutant.h"

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  kw_status status = kw_mutant_real.stream.create(device, info, out_stream);
  if (status != KW_OK) kw_mutant_lose_memory(4096);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.create = create;
}
