/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams are refused when a field that is reserved is not zero.
 */
#include "mutant.h"

static kw_status create(void *device, const kw_stream_info *info, void **out_made) {
  if (info->reserved != 0) return KW_ERR_INVALID_ARGUMENT;
  return kw_mutant_real.stream.create(device, info, out_made);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.create = create;
}
