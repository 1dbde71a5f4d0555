/* SPDX-License-Identifier: Apache-2.0
 *
 * Creating a stream prints a line.
 */
#include "mutant.h"

#include <stdio.h>

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  puts("a stream was created");
  return kw_mutant_real.stream.create(device, info, out_stream);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.create = create;
}
