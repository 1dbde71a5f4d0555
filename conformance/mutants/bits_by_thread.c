/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

#include <sys/syscall.h>
#include <unistd.h>

/* sum, launched by another thread than the process's first, gives the neighbour of what it should. */
static void element(const kw_mutant_element *e) {
  if (syscall(SYS_gettid) != getpid()) *(unsigned char *)e->out ^= 1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sum";
  mutant->element = element;
}
