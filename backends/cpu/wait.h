/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock that nobody sets, and waits that end at a limit on it.
 */
#ifndef KEYWAY_CPU_WAIT_H
#define KEYWAY_CPU_WAIT_H

#include <keyway/types.h>

#include <errno.h>
#include <pthread.h>
#include <time.h>
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

/* CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t kw_cpu_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* When a wait ends; made once, however often the wait is woken before. */
typedef struct kw_cpu_deadline {
  bool never;
  bool now; /* a question: who asks does not sleep until a timer has rung */
  struct timespec at;
} kw_cpu_deadline;

static inline kw_cpu_deadline kw_cpu_deadline_in(uint64_t timeout_ns) {
  kw_cpu_deadline end = {.never = timeout_ns == KW_WAIT_FOREVER, .now = timeout_ns == 0};
  if (end.never) return end;
  clock_gettime(CLOCK_MONOTONIC, &end.at);
  const uint64_t ns = (uint64_t)end.at.tv_nsec + timeout_ns % 1000000000u;
  end.at.tv_sec += (time_t)(timeout_ns / 1000000000u + ns / 1000000000u);
  end.at.tv_nsec = (long)(ns % 1000000000u);
  return end;
}

/* A condition for kw_cpu_wait. */
static inline void kw_cpu_condition_init(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
}

/* Until the condition is signalled, or for no reason; false: it is too late. */
static inline bool kw_cpu_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, const kw_cpu_deadline *end) {
  if (end->never) return pthread_cond_wait(condition, mutex) == 0;
  return !end->now && pthread_cond_timedwait(condition, mutex, &end->at) != ETIMEDOUT;
}

/* False: it is too late, and the mutex is not locked. */
static inline bool kw_cpu_lock(pthread_mutex_t *mutex, const kw_cpu_deadline *end) {
  if (end->never) return pthread_mutex_lock(mutex) == 0;
  if (pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &end->at) != 0) return false;
#ifdef __SANITIZE_THREAD__ /* which does not see this way of locking */
  __tsan_mutex_pre_lock(mutex, 0);
  __tsan_mutex_post_lock(mutex, 0, 0);
#endif
  return true;
}

#endif /* KEYWAY_CPU_WAIT_H */
