/* SPDX-License-Identifier: Apache-2.0
 *
 * Handlers of signals, taken and set back.
 */
#include "kit/signals.h"

#include <stdlib.h>

#define VARIABLE "HWLOC_PLUGINS_PATH"

void kw_gpu_signals_take(kw_gpu_signals *out_signals) {
  for (int i = 1; i < NSIG; ++i) sigaction(i, NULL, &out_signals->handlers[i]);
  out_signals->has_variable = getenv(VARIABLE) != NULL;
}

void kw_gpu_signals_set_back(const kw_gpu_signals *before) {
  struct sigaction now;
  for (int i = 1; i < NSIG; ++i) {
    if (sigaction(i, NULL, &now) == 0 && now.sa_handler != before->handlers[i].sa_handler)
      sigaction(i, &before->handlers[i], NULL);
  }
  if (!before->has_variable) unsetenv(VARIABLE);
}
