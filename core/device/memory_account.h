/* SPDX-License-Identifier: Apache-2.0
 *
 * The account of a device's memory: what kw_memory_stats tells, counted without a lock. Each number is right by itself;
 * together they are while no thread allocates or frees.
 */
#ifndef KEYWAY_CORE_MEMORY_ACCOUNT_H
#define KEYWAY_CORE_MEMORY_ACCOUNT_H

#include <keyway/keyway.h>

#include <stdatomic.h>

/* Bytes now, and the most there have been. */
typedef struct kw_memory_level {
  atomic_ullong now, peak;
} kw_memory_level;

typedef struct kw_memory_account {
  kw_memory_level allocated, held;
  atomic_ullong allocations, releases; /* what is live is the difference */
  atomic_ullong plugin_allocs, plugin_frees, oom_retries, oom_failures;
  atomic_ullong traced_in_use, traced_reserved; /* the levels that the trace has last */
} kw_memory_account;

static inline void kw_memory_count(atomic_ullong *number) {
  atomic_fetch_add_explicit(number, 1, memory_order_relaxed);
}

static inline void kw_memory_rise(kw_memory_level *level, uint64_t size) {
  const unsigned long long now = atomic_fetch_add_explicit(&level->now, size, memory_order_relaxed) + size;
  unsigned long long peak = atomic_load_explicit(&level->peak, memory_order_relaxed);
  while (__builtin_expect(now > peak, 0) && !atomic_compare_exchange_weak(&level->peak, &peak, now)) {
  }
}

/* The peak starts anew. What rises meanwhile counts. */
static inline void kw_memory_reset(kw_memory_level *level) {
  atomic_store(&level->peak, 0);
  kw_memory_rise(level, 0);
}

static inline void kw_memory_fall(kw_memory_level *level, uint64_t size) {
  atomic_fetch_sub_explicit(&level->now, size, memory_order_relaxed);
}

/* A buffer of so many bytes becomes live. */
static inline void kw_memory_count_live(kw_memory_account *account, uint64_t size) {
  kw_memory_count(&account->allocations);
  kw_memory_rise(&account->allocated, size);
}

/* It is released. */
static inline void kw_memory_count_released(kw_memory_account *account, uint64_t size) {
  kw_memory_fall(&account->allocated, size);
  kw_memory_count(&account->releases);
}

/* The plugin has freed so many bytes. */
static inline void kw_memory_count_freed(kw_memory_account *account, uint64_t size) {
  kw_memory_fall(&account->held, size);
  kw_memory_count(&account->plugin_frees);
}

/* What is counted first is read last: what is live is never negative. */
static inline kw_memory_stats kw_memory_account_read(kw_memory_account *account) {
  const uint64_t releases = atomic_load(&account->releases);
  kw_memory_stats stats = {.allocations = atomic_load(&account->allocations)};
  stats.live = stats.allocations - releases;
  stats.allocated = atomic_load(&account->allocated.now);
  stats.allocated_peak = atomic_load(&account->allocated.peak);
  stats.held = atomic_load(&account->held.now);
  stats.held_peak = atomic_load(&account->held.peak);
  stats.plugin_frees = atomic_load(&account->plugin_frees);
  stats.plugin_allocs = atomic_load(&account->plugin_allocs);
  stats.oom_failures = atomic_load(&account->oom_failures);
  stats.oom_retries = atomic_load(&account->oom_retries);
  return stats;
}

#endif /* KEYWAY_CORE_MEMORY_ACCOUNT_H */
