/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that a thread holds until it ends.
 */
#ifndef KEYWAY_CORE_THREAD_OWN_H
#define KEYWAY_CORE_THREAD_OWN_H

#include <pthread.h>
#include <stdlib.h>

/* Gives fresh memory (or NULL) to the calling thread, for the key's destructor. Where the thread cannot keep it either,
 * it is freed: NULL, as without memory. */
static inline void *kw_thread_own(pthread_key_t key, void *memory) {
  if (memory == NULL || pthread_setspecific(key, memory) == 0) return memory;
  free(memory);
  return NULL;
}

#endif /* KEYWAY_CORE_THREAD_OWN_H */
