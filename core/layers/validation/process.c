/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of the thread is read by few instructions, that of the process by system calls.
 */
#include "layers/validation/process.h"

#include <fenv.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Rounding, flushing and trapping; not the flags, which arithmetic raises. */
static uint64_t float_control(void) {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr() & ~0x3fu;
#else
  return (uint64_t)fegetround();
#endif
}

void kw_process_take(kw_process *process, bool whole) {
  process->float_control = float_control();
  process->thread_locale = uselocale((locale_t)0);
  process->whole = whole;
  if (!whole) return;
  pthread_sigmask(SIG_SETMASK, NULL, &process->blocked);
  for (int i = 1; i <= 64; i++) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(i, NULL, &action);
    process->handlers[i] = action.sa_handler;
  }
  snprintf(process->locale, sizeof process->locale, "%s", setlocale(LC_ALL, NULL));
  if (getcwd(process->directory, sizeof process->directory) == NULL) process->directory[0] = '\0';
}

const char *kw_process_change(const kw_process *before, const kw_process *after) {
  if (before->float_control != after->float_control) return "the thread's floating-point environment";
  if (before->thread_locale != after->thread_locale) return "the thread's locale";
  if (!before->whole) return NULL;
  for (int i = 1; i <= 64; i++) {
    if (sigismember(&before->blocked, i) != sigismember(&after->blocked, i)) return "which signals the thread blocks";
    if (before->handlers[i] != after->handlers[i]) return "a handler of a signal";
  }
  if (strcmp(before->locale, after->locale) != 0) return "the locale";
  return strcmp(before->directory, after->directory) != 0 ? "the working directory" : NULL;
}
