/* SPDX-License-Identifier: Apache-2.0
 *
 * What drivers change of the process when they are loaded, or when a device is first asked for or opened, and the kit
 * sets back: handlers of signals, since those that bring a compiler have its handlers of crashes set; and a variable of
 * hwloc's that PoCL (Debian's 3.1) sets, which programs that this one starts would inherit.
 */
#ifndef KEYWAY_GPU_PROCESS_H
#define KEYWAY_GPU_PROCESS_H

#include <signal.h>
#include <stdbool.h>

typedef struct kw_gpu_process {
  struct sigaction handlers[NSIG];
  bool is_known[NSIG]; /* of a handler: a signal that could not be asked about keeps what it has */
  bool has_variable;   /* HWLOC_PLUGINS_PATH */
} kw_gpu_process;

/* Around a call of a driver. */
void kw_gpu_process_take(kw_gpu_process *out_process);
/* Sets back what has changed since; also a handler that the application set meanwhile on another thread. */
void kw_gpu_process_set_back(const kw_gpu_process *before);

#endif /* KEYWAY_GPU_PROCESS_H */
