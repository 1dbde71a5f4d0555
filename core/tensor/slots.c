/* SPDX-License-Identifier: Apache-2.0
 *
 * Slots of tensors, by the page. Those that are free wait in a queue: a handle that an application uses after its
 * release is told from a living one for as long as that takes, which is why a page is made before the queue runs short.
 */
#include "tensor/slots.h"

#include "base/fork.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 64        /* slots */
#define QUEUE_LEAST 32 /* slots that wait at least before the first of them serves again */

typedef union slot {
  kw_tensor tensor; /* stays readable: magic is 0 while the slot is free */
  struct {
    unsigned char unused[sizeof(kw_tensor)];
    union slot *next; /* in the queue */
  } free;
} slot;

typedef struct page {
  struct page *next;
  slot slots[PAGE];
} page;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the queue and the pages */
static slot *first, **end = &first;
static size_t waiting;
static page *pages; /* all, so that they are not lost */

/* Under the lock. */
static void put(slot *free) {
  free->free.next = NULL;
  *end = free;
  end = &free->free.next;
  ++waiting;
}

/* Under the lock. */
static void add_page(void) {
  page *made = calloc(1, sizeof *made);
  if (!made) return;
  made->next = pages;
  pages = made;
  for (int i = 0; i < PAGE; ++i) put(&made->slots[i]);
}

/* In a forked child a thread that does not exist there may have held the lock. */
kw_tensor *kw_tensor_slot_take(void) {
  if (kw_fork_happened()) return calloc(1, sizeof(kw_tensor));
  pthread_mutex_lock(&lock);
  if (waiting <= QUEUE_LEAST) add_page();
  slot *taken = first;
  if (taken) {
    first = taken->free.next;
    if (!first) end = &first;
    --waiting;
  }
  pthread_mutex_unlock(&lock);
  return taken ? memset(&taken->tensor, 0, sizeof taken->tensor) : NULL;
}

void kw_tensor_slot_give(kw_tensor *tensor) {
  if (kw_fork_happened()) return;
  pthread_mutex_lock(&lock);
  put((slot *)(void *)tensor);
  pthread_mutex_unlock(&lock);
}
