/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks as they are mapped here.
 */
#include "base/array.h"
#include "isolate/host/host.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct block {
  uint64_t number;
  uint64_t size;
  unsigned char *base; /* NULL: it could not be mapped */
} block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static block *blocks;
static uint32_t count;
static uint64_t last_number;

void kw_host_add_block(uint32_t number, uint64_t size, int descriptor) {
  void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  pthread_mutex_lock(&lock);
  block *items = kw_array_grow(blocks, count, sizeof *items);
  if (items != NULL) {
    blocks = items;
    blocks[count++] = (block){number, size, base != MAP_FAILED ? base : NULL};
  }
  if (number > last_number) last_number = number;
  pthread_cond_broadcast(&arrived);
  pthread_mutex_unlock(&lock);
}

/* Under the lock; NULL: it has ended, or was never made. The application numbers them in the order of sending. */
static block *find(uint64_t number) {
  if (number == 0 || number > UINT32_MAX) return NULL;
  while (number > last_number) pthread_cond_wait(&arrived, &lock);
  for (uint32_t i = 0; i < count; i++)
    if (blocks[i].number == number) return &blocks[i];
  return NULL;
}

unsigned char *kw_host_block(uint64_t number, uint64_t offset, uint64_t size) {
  pthread_mutex_lock(&lock);
  const block *b = find(number);
  const bool fits = b != NULL && b->base != NULL && offset <= b->size && size <= b->size - offset;
  unsigned char *bytes = fits ? b->base + offset : NULL;
  pthread_mutex_unlock(&lock);
  return bytes;
}

void kw_host_pass_block(uint64_t number) {
  unsigned char *head = kw_host_block(number, 0, KW_BLOCK_HEAD);
  if (head != NULL) atomic_store((_Atomic uint32_t *)(void *)head, 1);
}

kw_status kw_host_drop_block(kw_question *q) {
  const uint64_t number = kw_take_u64(&q->in);
  pthread_mutex_lock(&lock);
  block *b = find(number);
  if (b != NULL) {
    if (b->base != NULL) munmap(b->base, b->size);
    *b = blocks[--count];
  }
  pthread_mutex_unlock(&lock);
  return KW_OK;
}
