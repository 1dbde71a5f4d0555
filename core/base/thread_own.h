/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that a thread holds until it ends.
 */
#ifndef KEYWAY_CORE_THREAD_OWN_H
#define KEYWAY_CORE_THREAD_OWN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* A pthread_key_t and one, made when it is first wanted; 0: not yet. A process may have no room for it now and have
 * some later. Without a lock, which a fork could leave held. */
typedef _Atomic uint64_t kw_thread_key;

static inline pthread_key_t kw_thread_key_of(kw_thread_key *key) {
  return (pthread_key_t)(atomic_load(key) - 1);
}

/* False when the process has no room for a key. */
static inline bool kw_thread_key_obtain(kw_thread_key *key, void (*end)(void *)) {
  if (atomic_load(key) != 0) return true;
  pthread_key_t made;
  uint64_t none = 0;
  if (pthread_key_create(&made, end) != 0) return false;
  if (!atomic_compare_exchange_strong(key, &none, (uint64_t)made + 1)) pthread_key_delete(made);
  return true;
}

/* Gives fresh memory (or NULL) to the calling thread, which ends it by `end`. Where the thread cannot keep it, it is
 * freed: NULL, as without memory. */
static inline void *kw_thread_own(kw_thread_key *key, void (*end)(void *), void *memory) {
  if (memory == NULL) return NULL;
  if (kw_thread_key_obtain(key, end) && pthread_setspecific(kw_thread_key_of(key), memory) == 0) return memory;
  free(memory);
  return NULL;
}

#endif /* KEYWAY_CORE_THREAD_OWN_H */
