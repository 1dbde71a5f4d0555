/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks: a memfd each, whose descriptor goes over the socket and is closed on both sides once it is mapped.
 */
#include "isolate/block.h"

#include "base/array.h"
#include "isolate/wire/lane.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define STAGING_LEAST UINT64_C(65536)     /* bytes; sizes double from here on */
#define STAGING_KEPT (UINT64_C(64) << 20) /* bytes of free pieces that stay for the next copy ... */
#define STAGING_PIECES 32u                /* ... and their number: each is a mapping in both processes */

typedef struct block {
  uint32_t number; /* from 1, never used twice */
  uint64_t size;
  unsigned char *base;
  bool staging;
  bool free; /* of a piece for copies: nobody uses it */
} block;

struct kw_blocks {
  pthread_mutex_t lock;
  block *items;
  uint32_t count;
  uint32_t last_number;
  uint32_t free_count; /* free pieces, */
  uint64_t free_bytes; /* and the bytes in them */
};

struct kw_blocks *kw_blocks_make(void) {
  struct kw_blocks *blocks = calloc(1, sizeof *blocks);
  if (blocks != NULL) pthread_mutex_init(&blocks->lock, NULL);
  return blocks;
}

void kw_blocks_free(struct kw_blocks *blocks) {
  if (blocks == NULL) return;
  for (uint32_t i = 0; i < blocks->count; i++) munmap(blocks->items[i].base, blocks->items[i].size);
  free(blocks->items);
  pthread_mutex_destroy(&blocks->lock);
  free(blocks);
}

/* ---- Making and ending ------------------------------------------------------------------------------------------- */

/* A mapped memfd of the size, its descriptor in *out_descriptor. MAP_FAILED: none. */
static void *map_new(uint64_t size, int *out_descriptor) {
  *out_descriptor = -1;
  if (size > PTRDIFF_MAX) return MAP_FAILED;
  const int descriptor = memfd_create("keyway-block", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return MAP_FAILED;
  void *base = MAP_FAILED;
  /* The reserve comes first: without it a write to the memory would end the process when the machine has no more. */
  if (ftruncate(descriptor, (off_t)size) == 0 && fallocate(descriptor, 0, 0, (off_t)size) == 0 &&
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  if (base == MAP_FAILED) {
    close(descriptor);
  } else {
    *out_descriptor = descriptor;
  }
  return base;
}

/* Under the lock; the caller has the entry until the next one is made. NULL: no memory, or the process is gone. */
static block *make_locked(kw_link *link, uint64_t size, bool staging) {
  struct kw_blocks *blocks = link->blocks;
  block *items = kw_array_grow(blocks->items, blocks->count, sizeof *items);
  if (items == NULL) return NULL;
  blocks->items = items;
  int descriptor;
  void *base = map_new(size, &descriptor);
  if (base == MAP_FAILED) return NULL;
  const uint32_t number = ++blocks->last_number;
  const kw_wire_notice notice = {.what = KW_NOTICE_BLOCK, .number = number, .size = size};
  const bool sent = kw_link_notify(link, &notice, descriptor);
  close(descriptor);
  if (!sent) {
    munmap(base, size);
    return NULL;
  }
  items[blocks->count] = (block){.number = number, .size = size, .base = base, .staging = staging};
  return &items[blocks->count++];
}

static void tell_dropped(kw_link *link, uint32_t number) {
  kw_exchange x;
  if (kw_link_is_dead(link)) return;
  if (kw_exchange_begin(&x, link, KW_CODE_DROP_BLOCK, KW_PACE_QUICK, "a block's end") != KW_OK) return;
  kw_put_u64(&x.out, number);
  kw_exchange_end(&x, kw_exchange_run(&x));
}

/* Under the lock. */
static block remove_locked(struct kw_blocks *blocks, uint32_t index) {
  const block gone = blocks->items[index];
  blocks->items[index] = blocks->items[--blocks->count];
  return gone;
}

static void drop(kw_link *link, const block *gone) {
  tell_dropped(link, gone->number);
  munmap(gone->base, gone->size);
}

/* ---- Host memory ------------------------------------------------------------------------------------------------- */

void *kw_block_alloc(kw_link *link, uint64_t size) {
  pthread_mutex_lock(&link->blocks->lock);
  const block *made = make_locked(link, size, false);
  void *base = made != NULL ? made->base : NULL;
  pthread_mutex_unlock(&link->blocks->lock);
  return base;
}

bool kw_block_dealloc(kw_link *link, void *memory) {
  struct kw_blocks *blocks = link->blocks;
  block gone = {0};
  pthread_mutex_lock(&blocks->lock);
  for (uint32_t i = 0; i < blocks->count && gone.number == 0; i++) {
    if (blocks->items[i].base == memory && !blocks->items[i].staging) gone = remove_locked(blocks, i);
  }
  pthread_mutex_unlock(&blocks->lock);
  if (gone.number != 0) drop(link, &gone);
  return gone.number != 0;
}

bool kw_block_find(kw_link *link, const void *bytes, uint64_t size, kw_block_place *out_place) {
  struct kw_blocks *blocks = link->blocks;
  bool found = false;
  pthread_mutex_lock(&blocks->lock);
  for (uint32_t i = 0; i < blocks->count && !found; i++) {
    const block *b = &blocks->items[i];
    const uint64_t offset = (uintptr_t)bytes - (uintptr_t)b->base;
    found = !b->staging && offset < b->size && size <= b->size - offset;
    if (found) *out_place = (kw_block_place){b->number, offset, b->base + offset};
  }
  pthread_mutex_unlock(&blocks->lock);
  return found;
}

/* ---- Pieces for copies ------------------------------------------------------------------------------------------- */

/* The process sets it when a stream has passed the copy; it may also lie, and then its own copies get mixed up. */
static _Atomic uint32_t *passed_word(const block *b) {
  return (_Atomic uint32_t *)(void *)b->base;
}

/* Under the lock: the piece is free from here on, or no more. */
static void count_free(struct kw_blocks *blocks, block *b, bool free) {
  b->free = free;
  blocks->free_count += free ? 1u : UINT32_MAX;
  blocks->free_bytes += free ? b->size : 0 - b->size;
}

/* Under the lock. */
static void free_passed(struct kw_blocks *blocks) {
  for (uint32_t i = 0; i < blocks->count; i++) {
    block *b = &blocks->items[i];
    if (b->staging && !b->free && atomic_load(passed_word(b)) != 0) count_free(blocks, b, true);
  }
  kw_cross(memory_order_acquire);
}

/* Under the lock. */
static bool has_surplus(const struct kw_blocks *blocks) {
  return blocks->free_bytes > STAGING_KEPT || blocks->free_count > STAGING_PIECES;
}

/* A free piece beyond those that are kept, which is the caller's to drop; number 0: none. */
static block take_surplus(struct kw_blocks *blocks) {
  block gone = {0};
  pthread_mutex_lock(&blocks->lock);
  free_passed(blocks);
  const bool many = has_surplus(blocks);
  for (uint32_t i = 0; many && i < blocks->count && gone.number == 0; i++) {
    if (!blocks->items[i].free) continue;
    count_free(blocks, &blocks->items[i], false);
    gone = remove_locked(blocks, i);
  }
  pthread_mutex_unlock(&blocks->lock);
  return gone;
}

void kw_staging_trim(kw_link *link) {
  for (block gone; (gone = take_surplus(link->blocks)).number != 0;) drop(link, &gone);
}

static uint64_t rounded(uint64_t size) {
  uint64_t room = STAGING_LEAST;
  while (room < size) room *= 2;
  return room;
}

kw_block_place kw_staging_get(kw_link *link, uint64_t size) {
  struct kw_blocks *blocks = link->blocks;
  if (size > PTRDIFF_MAX / 2) return (kw_block_place){0};
  const uint64_t room = rounded(size + KW_BLOCK_HEAD);
  kw_block_place place = {0};
  pthread_mutex_lock(&blocks->lock);
  free_passed(blocks);
  block *b = NULL;
  for (uint32_t i = 0; i < blocks->count && b == NULL; i++) {
    if (blocks->items[i].free && blocks->items[i].size == room) b = &blocks->items[i];
  }
  if (b != NULL) count_free(blocks, b, false);
  if (b == NULL) b = make_locked(link, room, true);
  if (b != NULL) {
    atomic_store(passed_word(b), 0);
    place = (kw_block_place){b->number, KW_BLOCK_HEAD, b->base + KW_BLOCK_HEAD};
  }
  const bool many = has_surplus(blocks);
  pthread_mutex_unlock(&blocks->lock);
  if (many) kw_staging_trim(link);
  return place;
}

void kw_staging_back(kw_link *link, uint32_t number) {
  struct kw_blocks *blocks = link->blocks;
  pthread_mutex_lock(&blocks->lock);
  for (uint32_t i = 0; i < blocks->count; i++) {
    if (blocks->items[i].number == number) atomic_store(passed_word(&blocks->items[i]), 1);
  }
  pthread_mutex_unlock(&blocks->lock);
}

void kw_staging_pass(unsigned char *bytes) {
  atomic_store((_Atomic uint32_t *)(void *)(bytes - KW_BLOCK_HEAD), 1);
}
