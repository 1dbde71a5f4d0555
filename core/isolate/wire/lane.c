/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes: a futex each. The wake is left out where nobody sleeps; a process that lies about that delays itself, since
 * the application sleeps in slices.
 */
#include "isolate/wire/lane.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOKS 1000 /* about 20 us */

#ifdef __SANITIZE_THREAD__
_Atomic uint32_t kw_crossings;
#endif

static void pause_processor(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static bool look(_Atomic uint32_t *state, uint32_t wanted) {
  static _Atomic int processors;
  int count = atomic_load_explicit(&processors, memory_order_relaxed);
  if (count == 0) {
    count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    atomic_store_explicit(&processors, count, memory_order_relaxed);
  }
  for (int i = 0; i < (count > 1 ? LOOKS : 1); i++) {
    if (atomic_load_explicit(state, memory_order_acquire) == wanted) return true;
    pause_processor();
  }
  return false;
}

static bool wait_for(_Atomic uint32_t *state, _Atomic uint32_t *sleeps, uint32_t wanted, uint64_t limit_ns) {
  if (look(state, wanted)) return true;
  const struct timespec limit = {.tv_sec = (time_t)(limit_ns / 1000000000u), .tv_nsec = (long)(limit_ns % 1000000000u)};
  atomic_store(sleeps, 1);
  const uint32_t now = atomic_load(state);
  if (now != wanted) syscall(SYS_futex, state, FUTEX_WAIT, now, limit_ns == KW_WAIT_FOREVER ? NULL : &limit, NULL, 0);
  atomic_store(sleeps, 0);
  return atomic_load(state) == wanted;
}

bool kw_lane_wait(_Atomic uint32_t *state, _Atomic uint32_t *sleeps, uint32_t wanted, uint64_t limit_ns) {
  const bool is_wanted = wait_for(state, sleeps, wanted, limit_ns);
  kw_cross(memory_order_acquire);
  return is_wanted;
}

void kw_lane_wake(_Atomic uint32_t *state) {
  syscall(SYS_futex, state, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void kw_lane_set(_Atomic uint32_t *state, _Atomic uint32_t *sleeps, uint32_t value) {
  kw_cross(memory_order_release);
  atomic_store(state, value);
  if (atomic_load(sleeps) != 0) kw_lane_wake(state);
}

uint32_t kw_lanes_take(kw_lanes *lanes, bool *out_new) {
  static _Atomic uint32_t threads;
  static _Thread_local uint32_t hint = KW_WIRE_LANES;
  if (lanes->by_thread && hint == KW_WIRE_LANES) hint = atomic_fetch_add(&threads, 1) % KW_WIRE_LANES;
  for (;;) {
    uint64_t taken = atomic_load_explicit(&lanes->taken, memory_order_relaxed);
    while (~taken != 0) {
      const bool own = lanes->by_thread && (taken >> hint & 1) == 0;
      const uint32_t lane = own ? hint : (uint32_t)__builtin_ctzll(~taken);
      const uint64_t bit = UINT64_C(1) << lane;
      if (!atomic_compare_exchange_weak_explicit(&lanes->taken, &taken, taken | bit, memory_order_acquire,
                                                 memory_order_relaxed)) {
        continue;
      }
      if (lanes->by_thread) hint = lane;
      *out_new = (atomic_load_explicit(&lanes->announced, memory_order_relaxed) & bit) == 0;
      if (*out_new) atomic_fetch_or(&lanes->announced, bit);
      return lane;
    }
    nanosleep(&(struct timespec){.tv_nsec = 100000},
              NULL); /* 64 calls at once: one of them ends, or the process does */
  }
}

void kw_lanes_give(kw_lanes *lanes, uint32_t lane) {
  atomic_fetch_and_explicit(&lanes->taken, ~(UINT64_C(1) << lane), memory_order_release);
}
