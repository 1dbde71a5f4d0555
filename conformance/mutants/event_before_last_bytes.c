/* SPDX-License-Identifier: Apache-2.0
 *
 * Of a copy of more than 64 KiB to the host the last page is stored when its stream is waited for, or another copy
 * comes: an event passes before all of it is there.
 */
#include "mutant.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 65536, PAGE = 4096 };

typedef struct last_page {
  void *stream, *to;
  unsigned char bytes[PAGE];
} last_page;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static last_page *left; /* of the latest large copy; NULL when it is on its way */

static void store(void *user) {
  last_page *self = user;
  memcpy(self->to, self->bytes, PAGE);
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

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  kw_copy_info changed = *info;
  kw_status status = store_left(device);
  if (status != KW_OK || info->kind != KW_COPY_DEVICE_TO_HOST || info->size <= LARGE) {
    return status == KW_OK ? kw_mutant_real.memory.copy(device, stream, info) : status;
  }
  last_page *self = malloc(sizeof *self);
  if (!self) return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory");
  changed.size -= PAGE;
  status = kw_mutant_real.memory.copy(device, stream, &changed);
  self->stream = stream;
  self->to = (char *)info->dst_host + changed.size;
  changed.dst_host = self->bytes;
  changed.src_offset += changed.size;
  changed.size = PAGE;
  if (status == KW_OK) status = kw_mutant_real.memory.copy(device, stream, &changed);
  pthread_mutex_lock(&lock);
  left = self;
  pthread_mutex_unlock(&lock);
  return status;
}

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  kw_status status = store_left(device);
  return status == KW_OK ? kw_mutant_real.stream.synchronize(device, stream, timeout_ns) : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.copy = copy;
  mutant->stream.synchronize = synchronize;
}
