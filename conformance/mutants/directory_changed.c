/* SPDX-License-Identifier: Apache-2.0
 *
 * Creating a stream changes the working directory.
 */
#include "mutant.h"

#include <unistd.h>

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  static unsigned count; /* the suite's test creates its streams from one thread */
  if (chdir(count++ % 2 ? "/" : "/proc") != 0) return KW_ERR_IO;
  return kw_mutant_real.stream.create(device, info, out_stream);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.create = create;
}
