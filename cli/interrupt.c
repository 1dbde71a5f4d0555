/* SPDX-License-Identifier: Apache-2.0
 *
 * The handler does all itself: what the program waits for may never come.
 */
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

static const char *_Atomic unfinished;
static _Atomic pid_t children[KW_CLI_CHILDREN]; /* 0: room */

static void end(int signal_number) {
  for (int i = 0; i < KW_CLI_CHILDREN; i++) {
    const pid_t child = atomic_load(&children[i]);
    if (child > 0) kill(child, SIGKILL);
  }
  const char *file = atomic_load(&unfinished);
  if (file != NULL) unlink(file);
  _exit(128 + signal_number);
}

void kw_cli_interrupt_listen(void) {
  static const int signals[] = {SIGINT, SIGTERM};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    struct sigaction action = {.sa_handler = end}, old;
    const bool ignored = sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN;
    if (!ignored) sigaction(signals[i], &action, NULL);
  }
}

void kw_cli_interrupt_file(const char *path) {
  atomic_store(&unfinished, path);
}

static void replace_child(pid_t from, pid_t to) {
  for (int i = 0; i < KW_CLI_CHILDREN; i++) {
    if (atomic_compare_exchange_strong(&children[i], &(pid_t){from}, to)) return;
  }
}

void kw_cli_interrupt_child_begin(pid_t child) {
  replace_child(0, child);
}

void kw_cli_interrupt_child_end(pid_t child) {
  replace_child(child, 0);
}
