/* SPDX-License-Identifier: Apache-2.0
 *
 * One flag, which the fork handler of runtime.c sets in the child; and mutexes that are held over a fork.
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

/* ---- Held over a fork -------------------------------------------------------------------------------------------- */

static pthread_mutex_t *held[8];
static uint32_t held_count;

static void hold(void) {
  for (uint32_t i = 0; i < held_count; i++) pthread_mutex_lock(held[i]);
}

static void let_go(void) {
  for (uint32_t i = held_count; i-- > 0;) pthread_mutex_unlock(held[i]);
}

void kw_fork_hold(pthread_mutex_t *mutex) {
  if (held_count == sizeof held / sizeof held[0]) return;
  if (held_count == 0 && pthread_atfork(hold, let_go, let_go) != 0) return; /* no memory */
  held[held_count++] = mutex;
}
