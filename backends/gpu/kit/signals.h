/* SPDX-License-Identifier: Apache-2.0
 *
 * The process's handlers of signals around calls of a driver: those that bring a compiler have its handlers of crashes
 * set, some when they are loaded, some when a device is first asked for or opened. And a variable of the environment
 * that hwloc, beneath drivers, sets for itself when it is loaded.
 */
#ifndef KEYWAY_GPU_SIGNALS_H
#define KEYWAY_GPU_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

typedef struct kw_gpu_signals {
  struct sigaction handlers[NSIG];
  bool has_variable; /* HWLOC_PLUGINS_PATH */
} kw_gpu_signals;

void kw_gpu_signals_take(kw_gpu_signals *out_signals);
/* Sets back what has changed since; also a handler that the application set meanwhile on another thread. */
void kw_gpu_signals_set_back(const kw_gpu_signals *before);

#endif /* KEYWAY_GPU_SIGNALS_H */
