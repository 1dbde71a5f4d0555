/* SPDX-License-Identifier: Apache-2.0
 *
 * SIGINT, SIGTERM and SIGHUP as a wish that the run looks at.
 */
#include "run/stop.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_int wish;

static void note(int signal_number) {
  atomic_store(&wish, signal_number);
}

void kw_stop_listen(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND | SA_RESTART}, old;
    const bool ignored = sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN; /* by nohup, say */
    if (!ignored) sigaction(signals[i], &action, NULL);
  }
}

int kw_stop_signal(void) {
  return atomic_load(&wish);
}
