/* SPDX-License-Identifier: Apache-2.0
 *
 * What of the process a plugin has to leave alone: taken before it runs and after, then compared. For the helper that
 * looks at plugins and for the validation layer. (The conformance suite has its own,
 * conformance/contract/surroundings.h: it judges plugins through the public library alone, and tells from what to
 * what.)
 */
#ifndef KEYWAY_CORE_PROCESS_STATE_H
#define KEYWAY_CORE_PROCESS_STATE_H

#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct kw_process_state {
  uint64_t float_control; /* of the thread: rounding, flushing, trapping; not the flags, which arithmetic raises */
  locale_t thread_locale;
  bool whole;       /* the rest is there, too: system calls tell it */
  sigset_t blocked; /* of the thread */
  void (*handlers[65])(int);
  mode_t mask;            /* of files, umask; 0 where the system does not tell */
  dev_t directory_device; /* the working directory, by what it is: a name costs room on the stack */
  ino_t directory;
  uint32_t locale; /* a hash of its name, and of all variables */
  uint32_t environment;
} kw_process_state;

typedef enum kw_process_part {
  KW_PROCESS_SAME, /* no part has changed */
  KW_PROCESS_FLOAT,
  KW_PROCESS_THREAD_LOCALE,
  KW_PROCESS_BLOCKED,
  KW_PROCESS_HANDLER,
  KW_PROCESS_LOCALE,
  KW_PROCESS_DIRECTORY,
  KW_PROCESS_UMASK,
  KW_PROCESS_ENVIRONMENT,
} kw_process_part;

/* `whole`: with what costs many system calls. Changes nothing; other threads may run. The variables are read as getenv
 * reads them: not while another thread sets one. */
void kw_process_state_take(kw_process_state *out_state, bool whole);
/* The first part that differs. */
kw_process_part kw_process_state_change(const kw_process_state *before, const kw_process_state *after);
/* "the umask", ... */
const char *kw_process_part_text(kw_process_part part);

#endif /* KEYWAY_CORE_PROCESS_STATE_H */
