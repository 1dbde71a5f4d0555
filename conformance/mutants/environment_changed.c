/* SPDX-License-Identifier: Apache-2.0
 *
 * Creating a stream sets an environment variable.
 */
#include "mutant.h"

#include <stdio.h>
#include <stdlib.h>

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  static unsigned count; /* the suite's test creates its streams from one thread */
  char text[16];
  snprintf(text, sizeof text, "%u", ++count);
  setenv("KEYWAY_MUTANT_STREAMS", text, 1);
  return kw_mutant_real.stream.create(device, info, out_stream);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.create = create;
}
