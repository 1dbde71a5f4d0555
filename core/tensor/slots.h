/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of tensors: a table of handles that is never given back, so that a handle whose tensor was released can be
 * looked at for as long as the process lives.
 *
 * Slots that are free wait in a ring of the thread that gave them back, those that its ring has no room for in a queue
 * of all threads. A handle that an application uses after its release is told from a living one for as long as its slot
 * waits: while at least KW_SLOTS_WAIT others have come behind it.
 */
#ifndef KEYWAY_CORE_SLOTS_H
#define KEYWAY_CORE_SLOTS_H

#include "tensor/tensor.h"

#define KW_SLOTS_WAIT 32
#define KW_SLOT_RING 256 /* a power of two */

typedef struct kw_slot_ring {
  uint32_t first, count;
  kw_tensor *slots[KW_SLOT_RING];
} kw_slot_ring;

extern __thread kw_slot_ring *kw_slot_ring_mine __attribute__((tls_model("initial-exec"))); /* NULL: not made yet */

static inline void kw_slot_ring_put(kw_slot_ring *ring, kw_tensor *slot) {
  ring->slots[(ring->first + ring->count++) % KW_SLOT_RING] = slot;
}
static inline kw_tensor *kw_slot_ring_take(kw_slot_ring *ring) {
  --ring->count;
  kw_tensor *slot = ring->slots[ring->first++ % KW_SLOT_RING];
  if (!slot) __builtin_unreachable();
  return slot;
}

/* Where the ring does not serve. */
__attribute__((cold)) kw_tensor *kw_tensor_slot_take_shared(void);
__attribute__((cold)) void kw_tensor_slot_give_shared(kw_tensor *tensor);

/* A tensor that is not alive yet, with what the last one left in it; NULL without memory. Any thread. */
static inline kw_tensor *kw_tensor_slot_take(void) {
  kw_slot_ring *ring = kw_slot_ring_mine;
  return ring && ring->count > KW_SLOTS_WAIT ? kw_slot_ring_take(ring) : kw_tensor_slot_take_shared();
}

/* The tensor is not alive any more. */
static inline void kw_tensor_slot_give(kw_tensor *tensor) {
  kw_slot_ring *ring = kw_slot_ring_mine;
  if (ring && ring->count < KW_SLOT_RING) {
    kw_slot_ring_put(ring, tensor);
  } else {
    kw_tensor_slot_give_shared(tensor);
  }
}

#endif /* KEYWAY_CORE_SLOTS_H */
