/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of addresses. The stretches of a range are in an array in their order, found by bisection; a new one goes
 * behind the one that was taken last, so that what is left of a pointer to freed memory meets nothing for long.
 */
#include "device/address.h"

#include "base/error.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT UINT64_C(512)     /* bytes */
#define LARGEST (UINT64_C(1) << 42) /* bytes of a range, tried first; then halves of it, down to ... */
#define SMALLEST (UINT64_C(1) << 30)

typedef struct space {
  kw_device *device;
  uintptr_t start;
  uint64_t size;
  uintptr_t next; /* where the last stretch that was taken ends */
  kw_stretch *stretches;
  size_t count, room; /* `room` is how many there is memory for */
  struct space *after;
} space;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static space *spaces; /* of all devices: there are few */

void kw_stretch_lock(void) {
  pthread_mutex_lock(&lock);
}

void kw_stretch_unlock(void) {
  pthread_mutex_unlock(&lock);
}

/* ---- Ranges; under the lock -------------------------------------------------------------------------------------- */

static space *space_of(const kw_device *device) {
  space *found = spaces;
  while (found != NULL && found->device != device) found = found->after;
  return found;
}

static space *space_at(uintptr_t address) {
  space *found = spaces;
  while (found != NULL && address - found->start >= found->size) found = found->after;
  return found;
}

static space *make_space(kw_device *device) {
  space *made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  void *start = MAP_FAILED;
  for (made->size = LARGEST; made->size >= SMALLEST; made->size /= 2) {
    start = mmap(NULL, made->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start != MAP_FAILED) break;
  }
  if (start == MAP_FAILED) {
    free(made);
    return NULL;
  }
  madvise(start, made->size, MADV_DONTDUMP);
  made->device = device;
  made->start = made->next = (uintptr_t)start;
  made->after = spaces;
  spaces = made;
  return made;
}

/* How many stretches start at or before the address: most often all, for who takes one goes behind them. */
static size_t count_up_to(const space *in, uintptr_t address) {
  size_t low = 0, high = in->count;
  if (high == 0 || in->stretches[high - 1].start <= address) return high;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (in->stretches[middle].start <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Where the gap behind stretch number place - 1 has room, before stretch number `place`; 0 when it has none. */
static uintptr_t room_before(const space *in, size_t place, uintptr_t from, uint64_t size, uint64_t alignment) {
  const kw_stretch *before = place > 0 ? &in->stretches[place - 1] : NULL;
  uintptr_t start = before != NULL ? before->start + before->size + 1 : in->start;
  if (start < from) start = from;
  start = (start + alignment - 1) & ~(uintptr_t)(alignment - 1);
  const uintptr_t end = place < in->count ? in->stretches[place].start : in->start + in->size;
  return start < end && size < end - start ? start : 0;
}

/* The first room from `from` on; *out_place is where in the array a stretch there belongs. */
static uintptr_t find_room(const space *in, uintptr_t from, uint64_t size, uint64_t alignment, size_t *out_place) {
  for (*out_place = count_up_to(in, from); *out_place <= in->count; ++*out_place) {
    const uintptr_t start = room_before(in, *out_place, from, size, alignment);
    if (start != 0) return start;
  }
  return 0;
}

/* Room for one more stretch. What is there stays: a tensor that comes and goes costs no memory each time. */
static bool make_room(space *in) {
  if (in->count < in->room) return true;
  const size_t room = in->room > 0 ? 2 * in->room : 64;
  kw_stretch *grown = realloc(in->stretches, room * sizeof *grown);
  if (grown == NULL) return false;
  in->stretches = grown;
  in->room = room;
  return true;
}

/* ---- Stretches --------------------------------------------------------------------------------------------------- */

kw_status kw_stretch_take(kw_device *device, uint64_t size, uint64_t alignment, void *owner, void **out_address) {
  if (alignment < ALIGNMENT) alignment = ALIGNMENT;
  pthread_mutex_lock(&lock);
  space *in = space_of(device);
  if (in == NULL) in = make_space(device);
  size_t place = 0;
  uintptr_t start = in != NULL ? find_room(in, in->next, size, alignment, &place) : 0;
  if (in != NULL && start == 0) start = find_room(in, in->start, size, alignment, &place);
  const bool taken = start != 0 && make_room(in);
  if (taken) {
    kw_stretch *at = &in->stretches[place];
    if (place < in->count) memmove(at + 1, at, (in->count - place) * sizeof *at);
    *at = (kw_stretch){start, size, owner, NULL};
    ++in->count;
    in->next = start + size + 1;
    *out_address = (void *)start;
  }
  pthread_mutex_unlock(&lock);
  if (taken) return KW_OK;
  return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s has no %" PRIu64 " addresses left. Release some (kw_address_release).",
                 device->name, size);
}

kw_stretch *kw_stretch_find(const void *address) {
  const uintptr_t at = (uintptr_t)address;
  const space *in = space_at(at);
  const size_t place = in != NULL ? count_up_to(in, at) : 0;
  if (place == 0) return NULL;
  kw_stretch *found = &in->stretches[place - 1];
  return at - found->start <= found->size ? found : NULL;
}

void kw_stretch_give(kw_stretch *stretch) {
  space *in = space_at(stretch->start);
  const size_t behind = in->count - (size_t)(stretch - in->stretches) - 1;
  if (behind > 0) memmove(stretch, stretch + 1, behind * sizeof *stretch);
  --in->count;
}

kw_device *kw_stretch_device(const void *address) {
  pthread_mutex_lock(&lock);
  const space *in = space_at((uintptr_t)address);
  kw_device *device = in != NULL ? in->device : NULL;
  pthread_mutex_unlock(&lock);
  return device;
}

void kw_addresses_free(kw_device *device) {
  pthread_mutex_lock(&lock);
  space **link = &spaces;
  while (*link != NULL && (*link)->device != device) link = &(*link)->after;
  space *gone = *link;
  if (gone != NULL) *link = gone->after;
  pthread_mutex_unlock(&lock);
  if (gone == NULL) return;
  munmap((void *)gone->start, gone->size);
  free(gone->stretches);
  free(gone);
}
