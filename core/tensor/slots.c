/* SPDX-License-Identifier: Apache-2.0
 *
 * Slots of tensors, by the page, and the queue that threads fill their rings from.
 */
#include "tensor/slots.h"

#include "base/fork.h"
#include "base/thread_own.h"

#include <stdlib.h>

#define PAGE 64                  /* slots */
#define REFILL 32                /* slots that a ring gets above those that only wait there */
#define SPILL (KW_SLOT_RING / 2) /* slots that leave a ring which is full */

typedef struct slot {
  kw_tensor tensor;  /* first; stays readable: magic is 0 while the slot is free */
  struct slot *next; /* in the queue */
} slot;

typedef struct page {
  struct page *next;
  slot slots[PAGE];
} page;

__thread kw_slot_ring *kw_slot_ring_mine;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the queue and the pages */
static slot *first, **end = &first;
static page *pages; /* all, so that they are not lost */

static kw_thread_key cleanup_key;

/* ---- The queue; under the lock ----------------------------------------------------------------------------------- */

static void put(kw_tensor *free) {
  slot *last = (slot *)(void *)free;
  last->next = NULL;
  *end = last;
  end = &last->next;
}

static void add_page(void) {
  page *made = calloc(1, sizeof *made);
  if (!made) return;
  made->next = pages;
  pages = made;
  for (int i = 0; i < PAGE; ++i) put(&made->slots[i].tensor);
}

static kw_tensor *take(void) {
  if (!first) add_page();
  slot *taken = first;
  if (!taken) return NULL;
  first = taken->next;
  if (!first) end = &first;
  return &taken->tensor;
}

/* ---- A thread's ring --------------------------------------------------------------------------------------------- */

static void spill(kw_slot_ring *ring, uint32_t count) {
  pthread_mutex_lock(&lock);
  while (count-- > 0) put(kw_slot_ring_take(ring));
  pthread_mutex_unlock(&lock);
}

static void end_thread(void *pointer) {
  kw_slot_ring *ring = pointer;
  kw_slot_ring_mine = NULL;
  if (kw_fork_happened()) return;
  spill(ring, ring->count);
  free(ring);
}

/* Out of line, so that those who find a ring save no registers for those who make one. */
static __attribute__((noinline)) kw_slot_ring *make_ring(void) {
  return kw_slot_ring_mine = kw_thread_own(&cleanup_key, end_thread, calloc(1, sizeof(kw_slot_ring)));
}

/* NULL without memory. */
static kw_slot_ring *obtain_ring(void) {
  return kw_slot_ring_mine ? kw_slot_ring_mine : make_ring();
}

/* In a forked child a thread that does not exist there may have held the lock. */
kw_tensor *kw_tensor_slot_take_shared(void) {
  if (kw_fork_happened()) return calloc(1, sizeof(kw_tensor));
  kw_slot_ring *ring = obtain_ring();
  kw_tensor *taken = NULL;
  pthread_mutex_lock(&lock);
  while (ring && ring->count < KW_SLOTS_WAIT + REFILL && (taken = take())) kw_slot_ring_put(ring, taken);
  if (!ring) taken = take();
  pthread_mutex_unlock(&lock);
  return ring && ring->count > 0 ? kw_slot_ring_take(ring) : taken;
}

void kw_tensor_slot_give_shared(kw_tensor *tensor) {
  if (kw_fork_happened()) return;
  kw_slot_ring *ring = obtain_ring();
  if (ring && ring->count == KW_SLOT_RING) spill(ring, SPILL);
  if (ring) {
    kw_slot_ring_put(ring, tensor);
    return;
  }
  pthread_mutex_lock(&lock);
  put(tensor);
  pthread_mutex_unlock(&lock);
}
