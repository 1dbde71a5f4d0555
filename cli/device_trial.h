/* SPDX-License-Identifier: Apache-2.0
 *
 * Trying devices in processes of their own, side by side: open, allocate, copy, compute, close, exit. Whatever a plugin
 * does there happens to that process only.
 */
#ifndef KEYWAY_CLI_DEVICE_TRIAL_H
#define KEYWAY_CLI_DEVICE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct kw_device_trial {
  char name[160]; /* what kw_device_open takes */
  bool passed;    /* result */
  char text[600]; /* result: what went wrong; or a remark, "" usually. Not "" before: it is not to be tried */

  /* While it runs. */
  pid_t pid;
  int out; /* what the process says; -1: it has said all */
  char said[2048];
  uint32_t said_length, steps;
  int64_t cpu_ms;
} kw_device_trial;

/* Runs them all. `plugins`: paths of plugins to load first, NULL-terminated. A process that neither comes
 * further nor uses a CPU for KEYWAY_PROBE_TIMEOUT_MS, while none of the others does either, is ended. */
void kw_device_trials_run(kw_device_trial *trials, uint32_t count, const char *const *plugins);

/* The trial itself, in this process: says on stdout what it does next. The program's exit code. */
int kw_device_trial_run_here(const char *name);

#endif /* KEYWAY_CLI_DEVICE_TRIAL_H */
