/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether this process is a fork of one that uses Keyway. Such a child has none of its parent's threads, so that a lock
 * which one of them held is held for good, and its devices are the parent's.
 */
#ifndef KEYWAY_CORE_FORK_H
#define KEYWAY_CORE_FORK_H

#include <keyway/types.h>

#include <pthread.h>
#include <stdatomic.h>

extern atomic_bool kw_fork_in_child;

static inline bool kw_fork_happened(void) {
  return atomic_load_explicit(&kw_fork_in_child, memory_order_acquire);
}

/* Reasons in this process why the release of a tensor is not the plain one: it is such a child; maps (device/map.c). */
extern atomic_uint kw_release_bars;

static inline bool kw_release_is_barred(void) {
  return atomic_load_explicit(&kw_release_bars, memory_order_acquire) != 0;
}

/* KW_ERR_UNSUPPORTED, with its text. */
kw_status kw_fork_refuse(void);

/* KW_ERR_UNSUPPORTED in a forked child: nothing that takes a lock or touches a device may go on. */
static inline kw_status kw_fork_check(void) {
  return __builtin_expect(kw_fork_happened(), 0) ? kw_fork_refuse() : KW_OK;
}

/* Says so. For the handler that runs in the child. */
void kw_fork_mark_child(void);

/* From here on no fork happens while a thread holds the mutex: a child finds it free, and what it guards whole. For
 * mutexes under which no other of these is taken; not from several threads at once. */
void kw_fork_hold(pthread_mutex_t *mutex);

#endif /* KEYWAY_CORE_FORK_H */
