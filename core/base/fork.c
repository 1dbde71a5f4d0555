/* SPDX-License-Identifier: Apache-2.0
 *
 * One flag, which the fork handler of runtime.c sets in the child.
 */
#include "base/fork.h"

#include "base/error.h"

#include <stdatomic.h>

static atomic_bool in_child;

bool kw_fork_happened(void) {
  return atomic_load_explicit(&in_child, memory_order_acquire);
}

kw_status kw_fork_check(void) {
  if (!kw_fork_happened()) return KW_OK;
  return kw_fail(KW_ERR_UNSUPPORTED,
                 "this process was forked from one that uses Keyway, and devices do not survive a fork: exec a new "
                 "program, or call Keyway only after the fork");
}

void kw_fork_mark_child(void) {
  atomic_store_explicit(&in_child, true, memory_order_release);
}
