/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies by a buffer that all share, and copies whose end comes late.
 */
#include "mutant_copy.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 65536, PAGE = 4096, YIELDS = 20 };

static kw_copy_kind changed_kind;

static kw_status no_memory(void) {
  return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory");
}

/* Where a copy reads, and where it writes: host memory or the device's. */
static const unsigned char *source_of(const kw_copy_info *info) {
  return info->kind == KW_COPY_HOST_TO_DEVICE ? info->src_host : kw_mutant_memory_at(info->src_mem, info->src_offset);
}

static unsigned char *target_of(const kw_copy_info *info) {
  return info->kind == KW_COPY_DEVICE_TO_HOST ? info->dst_host : kw_mutant_memory_at(info->dst_mem, info->dst_offset);
}

/* ---- By a buffer ------------------------------------------------------------------------------------------------- */

static unsigned char buffer[LARGE];

typedef struct transfer {
  const unsigned char *from;
  unsigned char *to;
  uint64_t size;
} transfer;

static void copy_by_buffer(void *user) {
  transfer *self = user;
  for (uint64_t at = 0; at < self->size; at += LARGE) {
    const uint64_t size = self->size - at < LARGE ? self->size - at : LARGE;
    memcpy(buffer, self->from + at, size);
    for (int i = 0; i < YIELDS; i++) sched_yield();
    memcpy(self->to + at, buffer, size);
  }
  free(self);
}

static kw_status enqueue_by_buffer(void *device, void *stream, const kw_copy_info *info) {
  if (info->kind != changed_kind || info->size < LARGE) return kw_mutant_real.memory.copy(device, stream, info);
  transfer *self = malloc(sizeof *self);
  if (!self) return no_memory();
  *self = (transfer){source_of(info), target_of(info), info->size};
  return kw_mutant_enqueue(device, stream, copy_by_buffer, self);
}

void kw_mutant_copy_by_buffer(kw_mutant *mutant, kw_copy_kind kind) {
  changed_kind = kind;
  mutant->memory.copy = enqueue_by_buffer;
}

/* ---- Without the last page --------------------------------------------------------------------------------------- */

typedef struct last_page {
  void *stream;
  unsigned char *to;
  const unsigned char *from; /* the host's memory, or `bytes` */
  unsigned char bytes[PAGE]; /* what the device held in its turn */
} last_page;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static last_page *left; /* of the latest large copy; NULL when it is on its way */

static void store(void *user) {
  last_page *self = user;
  memcpy(self->to, self->from, PAGE);
  free(self);
}

/* Puts what is left of a copy on its stream. */
static kw_status store_left(void *device) {
  pthread_mutex_lock(&lock);
  last_page *self = left;
  left = NULL;
  pthread_mutex_unlock(&lock);
  return self ? kw_mutant_enqueue(device, self->stream, store, self) : KW_OK;
}

static kw_status copy_but_last_page(void *device, void *stream, const kw_copy_info *info) {
  kw_copy_info changed = *info;
  kw_status status = store_left(device);
  if (status != KW_OK || info->kind != changed_kind || info->size <= LARGE) {
    return status == KW_OK ? kw_mutant_real.memory.copy(device, stream, info) : status;
  }
  last_page *self = malloc(sizeof *self);
  if (!self) return no_memory();
  changed.size -= PAGE;
  status = kw_mutant_real.memory.copy(device, stream, &changed);
  self->stream = stream;
  self->to = target_of(info) + changed.size;
  self->from = info->kind == KW_COPY_HOST_TO_DEVICE ? source_of(info) + changed.size : self->bytes;
  if (status == KW_OK && self->from == self->bytes) {
    changed.dst_host = self->bytes;
    changed.src_offset += changed.size;
    changed.size = PAGE;
    status = kw_mutant_real.memory.copy(device, stream, &changed);
  }
  pthread_mutex_lock(&lock);
  left = self;
  pthread_mutex_unlock(&lock);
  return status;
}

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  kw_status status = store_left(device);
  return status == KW_OK ? kw_mutant_real.stream.synchronize(device, stream, timeout_ns) : status;
}

void kw_mutant_leave_last_page(kw_mutant *mutant, kw_copy_kind kind) {
  changed_kind = kind;
  mutant->memory.copy = copy_but_last_page;
  mutant->stream.synchronize = synchronize;
}
