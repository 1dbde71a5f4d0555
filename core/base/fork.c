/* SPDX-License-Identifier: Apache-2.0
 *
 * One flag, which the fork handler of runtime.c sets in the child.
 */
#include "base/fork.h"

#include "base/error.h"

atomic_bool kw_fork_in_child;
atomic_uint kw_release_bars;

kw_status kw_fork_refuse(void) {
  return kw_fail(KW_ERR_UNSUPPORTED,
                 "this process was forked from one that uses Keyway, and devices do not survive a fork: exec a new "
                 "program, or call Keyway only after the fork");
}

void kw_fork_mark_child(void) {
  atomic_fetch_add(&kw_release_bars, 1);
  atomic_store_explicit(&kw_fork_in_child, true, memory_order_release);
}
