/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams are created whatever hangs on their info, as if no extension were critical.
 */
#include "mutant.h"

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  kw_stream_info bare = *info;
  bare.next = NULL;
  return kw_mutant_real.stream.create(device, &bare, out_stream);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.create = create;
}
