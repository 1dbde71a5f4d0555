/* SPDX-License-Identifier: Apache-2.0
 *
 * Handlers of signals and a variable, taken and set back.
 */
#include "kit/process.h"

#include <stdlib.h>

#define VARIABLE "HWLOC_PLUGINS_PATH"

void kw_gpu_process_take(kw_gpu_process *out_process) {
  for (int i = 1; i < NSIG; ++i) out_process->is_known[i] = sigaction(i, NULL, &out_process->handlers[i]) == 0;
  out_process->has_variable = getenv(VARIABLE) != NULL;
}

void kw_gpu_process_set_back(const kw_gpu_process *before) {
  struct sigaction now;
  for (int i = 1; i < NSIG; ++i) {
    if (before->is_known[i] && sigaction(i, NULL, &now) == 0 && now.sa_handler != before->handlers[i].sa_handler)
      sigaction(i, &before->handlers[i], NULL);
  }
  if (!before->has_variable) unsetenv(VARIABLE);
}
