/* SPDX-License-Identifier: Apache-2.0
 *
 * What mutants share that write channels by fours and lose what is left over.
 */
#include "mutant.h"

#include <string.h>

void kw_mutant_lose_channels(const kw_mutant_element *e) {
  const kw_tensor_ref *out = e->call->outs[0];
  int64_t plane = 1;
  for (uint32_t d = 2; d < out->rank; d++) plane *= out->shape[d];
  const int64_t channels = out->shape[1], channel = e->index / plane % channels;
  if (channels > 64 && channel >= channels / 4 * 4) memset(e->out, 0x4f, kw_mutant_item_size(out->dtype));
}
