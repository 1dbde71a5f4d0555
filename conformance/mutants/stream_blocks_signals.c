/* SPDX-License-Identifier: Apache-2.0
 *
 * Creating a stream blocks all signals, so that the thread that it starts gets none, and does not set the mask back.
 * What the process starts from then on begins with them blocked.
 */
#include "mutant.h"

#include <signal.h>

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  return kw_mutant_real.stream.create(device, info, out_stream);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.create = create;
}
