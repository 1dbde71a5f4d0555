/* SPDX-License-Identifier: Apache-2.0
 *
 * One lane's two sides, and the free lanes of a caller.
 */
#ifndef KEYWAY_CORE_LANE_H
#define KEYWAY_CORE_LANE_H

#include "isolate/wire/message.h"
#include "isolate/wire/wire.h"

/* What one word brings that both processes share may follow from what another one took away, by way of the other
 * process, whose part in it ThreadSanitizer cannot see: to it, all that comes follows from all that went before. */
#ifdef __SANITIZE_THREAD__
extern _Atomic uint32_t kw_crossings;
#endif
static inline void kw_cross(memory_order order) {
#ifdef __SANITIZE_THREAD__
  atomic_fetch_add_explicit(&kw_crossings, 1, order);
#else
  (void)order;
#endif
}

/* Waits until the state is `wanted`, `limit_ns` at most: it looks for a moment, then it sleeps. Whether it is. */
bool kw_lane_wait(_Atomic uint32_t *state, _Atomic uint32_t *sleeps, uint32_t wanted, uint64_t limit_ns);
/* Sets the state, and wakes who sleeps. */
void kw_lane_set(_Atomic uint32_t *state, _Atomic uint32_t *sleeps, uint32_t value);
/* Wakes all that wait for this state. */
void kw_lane_wake(_Atomic uint32_t *state);

/* Where the message begins that a caller writes, or that a server answers with. */
static inline kw_message kw_lane_writer(kw_wire_lane *lane) {
  return (kw_message){lane->payload, lane->payload + sizeof lane->payload, false};
}

/* The message of the other side's that is there. */
static inline kw_message kw_lane_reader(kw_wire_lane *lane) {
  const uint32_t size = atomic_load_explicit(&lane->size, memory_order_relaxed);
  if (size > sizeof lane->payload) return (kw_message){lane->payload, lane->payload, true};
  return (kw_message){lane->payload, lane->payload + size, false};
}

/* The lanes of one direction, at the caller. */
typedef struct kw_lanes {
  kw_wire_lane *lanes;
  bool by_thread; /* each thread keeps to a lane of its own, so that its calls run on one thread of the other side */
  _Atomic uint64_t taken;
  _Atomic uint64_t announced; /* their server was asked for */
} kw_lanes;

/* A lane for the calling thread: mostly the one that it had before, or the first that is free. *out_new: the other side
 * has to be told of it. */
uint32_t kw_lanes_take(kw_lanes *lanes, bool *out_new);
void kw_lanes_give(kw_lanes *lanes, uint32_t lane);

#endif /* KEYWAY_CORE_LANE_H */
