/* SPDX-License-Identifier: Apache-2.0
 *
 * What of the process a plugin has to leave alone, as far as an application's own threads do not change it all the
 * time.
 */
#ifndef KEYWAY_CORE_VALIDATION_PROCESS_H
#define KEYWAY_CORE_VALIDATION_PROCESS_H

#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kw_process {
  uint64_t float_control; /* of the thread, as the next */
  locale_t thread_locale;
  bool whole;       /* the rest is there, too: system calls tell it */
  sigset_t blocked; /* of the thread */
  void (*handlers[65])(int);
  char locale[128];
  char directory[1024];
} kw_process;

/* `whole`: with what costs many system calls. */
void kw_process_take(kw_process *out_process, bool whole);
/* What has changed, in words; NULL: nothing. */
const char *kw_process_change(const kw_process *before, const kw_process *after);

#endif /* KEYWAY_CORE_VALIDATION_PROCESS_H */
