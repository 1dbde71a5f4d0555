/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams have numbers of 15 bits that are not given back: when 32,767 have been made there are no more, although all
 * were destroyed. After ROCm issue 748: a limit of signals was reached by those of work that was done long ago.
 */
#include "mutant.h"

#include <stdatomic.h>

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  static atomic_int made;
  if (atomic_fetch_add(&made, 1) < INT16_MAX) return kw_mutant_real.stream.create(device, info, out_stream);
  return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "no stream number is left");
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.create = create;
}
