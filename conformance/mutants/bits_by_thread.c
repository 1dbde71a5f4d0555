/* SPDX-License-Identifier: Apache-2.0
 *
 * sum flips the lowest bit of its result when it is launched by any thread but the process's first.
 */
#include "mutant.h"

#include <sys/syscall.h>
#include <unistd.h>

static void element(const kw_mutant_element *e) {
  if (syscall(SYS_gettid) != getpid()) *(unsigned char *)e->out ^= 1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sum";
  mutant->element = element;
}
