/* SPDX-License-Identifier: Apache-2.0
 *
 * A device for leaves_test: the cpu plugin with an abs that leaves processes behind, in a way of its own per dtype, of
 * seven elements. Each says "abs: begun" on stderr when it has.
 *
 *   i8   leaves a child
 *   i16  leaves one that nobody can find: in a session of its own, its parent gone
 *   i32  leaves both, goes elsewhere (chdir), and crashes
 *   i64  leaves both, and sleeps for ever
 *   u8   leaves a child, and sleeps for ever
 */
#include "mutant.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void sleep_for_ever(void) {
  for (;;) pause();
}

static void leave_child(void) {
  if (fork() == 0) sleep_for_ever();
}

static void leave_daemon(void) {
  const pid_t parent = fork();
  if (parent == 0) {
    setsid();
    leave_child();
    _exit(0);
  }
  waitpid(parent, NULL, 0);
}

static void element(const kw_mutant_element *e) {
  const kw_tensor_ref *out = e->call->outs[0];
  if (out->numel != 7 || e->index != 0) return;
  if (out->dtype != KW_I16) leave_child();
  if (out->dtype == KW_I16 || out->dtype == KW_I32 || out->dtype == KW_I64) leave_daemon();
  fprintf(stderr, "abs: begun\n");
  if (out->dtype == KW_I32 && chdir("/") == 0) abort();
  if (out->dtype == KW_I64 || out->dtype == KW_U8) sleep_for_ever();
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "abs";
  mutant->element = element;
}
