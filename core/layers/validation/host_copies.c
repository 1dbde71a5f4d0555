/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over host memory when a copy is enqueued and when it has been waited for. The memory is read by the system,
 * which says so where it is gone, rather than by instructions that would trap.
 */
#include "layers/validation/host_copies.h"

#include "base/log.h"
#include "layers/validation/objects.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define COPIES 256u       /* that are looked after at a time */
#define SUMMED (1u << 20) /* bytes at either end that are summed */
#define PIECE 16384u

typedef struct host_copy {
  const void *host; /* NULL: free */
  uint64_t size, sum, count;
  uint32_t slot;
  bool reads_host, there; /* it can still be told whether it was changed */
  const char *function;
  const void *place;
} host_copy;

static host_copy copies[COPIES];

/* The system read `length` bytes there; false: there is no such memory, or this system reads none, which is said. */
static bool was_read(ssize_t count, uint64_t length) {
  static bool said;
  if (count == (ssize_t)length) return true;
  if (count < 0 && errno != EFAULT && !said) {
    kw_log(KW_LOG_WARN,
           "validation: nobody looks for changes of memory that copies read: process_vm_readv does not work here (%s)",
           strerror(errno));
    said = true;
  }
  return false;
}

static bool sum_range(const char *from, uint64_t size, uint64_t *sum) {
  static char piece[PIECE];
  for (uint64_t at = 0; at < size; at += PIECE) {
    const uint64_t length = size - at < PIECE ? size - at : PIECE;
    const struct iovec to = {piece, length}, source = {(void *)(uintptr_t)(from + at), length};
    if (!was_read(process_vm_readv(getpid(), &to, 1, &source, 1, 0), length)) return false;
    for (uint64_t i = 0; i < length; i++) *sum = (*sum ^ (unsigned char)piece[i]) * UINT64_C(0x100000001b3);
  }
  return true;
}

/* False: the memory cannot be read. */
static bool sum_of(const void *host, uint64_t size, uint64_t *out_sum) {
  const char *begin = host;
  *out_sum = UINT64_C(0xcbf29ce484222325);
  if (size <= 2 * (uint64_t)SUMMED) return sum_range(begin, size, out_sum);
  return sum_range(begin, SUMMED, out_sum) && sum_range(begin + size - SUMMED, SUMMED, out_sum);
}

static bool meets(const host_copy *copy, const void *memory, uint64_t size) {
  return copy->host != NULL && (const char *)memory < (const char *)copy->host + copy->size &&
         (const char *)copy->host < (const char *)memory + size;
}

void kw_host_copies_add(uint32_t slot, uint64_t count, const void *host, uint64_t size, bool reads_host) {
  bool there = reads_host;
  host_copy *place = NULL;
  for (uint32_t i = 0; i < COPIES; i++) {
    host_copy *copy = &copies[i];
    if (copy->host == NULL) place = copy;
    if (!meets(copy, host, size)) continue;
    if (!reads_host) copy->there = false; /* what this one writes may come to it, in order */
    if (!copy->reads_host) there = false; /* and the other way */
  }
  if (place == NULL) return;
  const kw_checked_call *call = kw_checked_now();
  *place = (host_copy){host, size, 0, count, slot, reads_host, there, call->function, call->place};
  if (there) place->there = sum_of(host, size, &place->sum);
}

void kw_host_copies_passed(const uint64_t *seen) {
  char place[KW_PLACE_SIZE];
  uint64_t sum;
  for (uint32_t i = 0; i < COPIES; i++) {
    host_copy *copy = &copies[i];
    if (copy->host == NULL || seen[copy->slot] < copy->count) continue;
    const bool gone = copy->there && !sum_of(copy->host, copy->size, &sum);
    if (copy->there && (gone || sum != copy->sum)) {
      kw_misuse_note(
          "host-memory-changed",
          "the memory that %s at %s copies from has %s before the copy was waited for: what arrives is not said",
          copy->function, kw_place(copy->place, place), gone ? "gone" : "changed");
    }
    copy->host = NULL;
  }
}

bool kw_host_copies_use(const void *memory, uint64_t size) {
  for (uint32_t i = 0; i < COPIES; i++) {
    if (meets(&copies[i], memory, size)) return true;
  }
  return false;
}
