/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams are created whatever their flags ask for.
 */
#include "mutant.h"

static kw_status create(void *device, const kw_stream_info *info, void **out_made) {
  kw_stream_info plain = *info;
  plain.flags &= KW_STREAM_DEFAULT;
  return kw_mutant_real.stream.create(device, &plain, out_made);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.create = create;
}
