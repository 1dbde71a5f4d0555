/* SPDX-License-Identifier: Apache-2.0
 *
 * What is copied from the second device to the host are the bytes of the allocation of the first one that was made
 * there as the same number. After FastNN issue 7: Device::cuda(n) silently gives device 0 for every n.
 */
#include "mutant_two.h"

#include <pthread.h>

enum { MOST = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  char *mem; /* NULL: none or freed */
  uint64_t size;
} made[2][MOST];
static unsigned counts[2];

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  const int d = device == kw_mutant_device(1);
  pthread_mutex_lock(&lock);
  if (status == KW_OK && counts[d] < MOST) {
    made[d][counts[d]].mem = *out_mem;
    made[d][counts[d]++].size = info->size;
  }
  pthread_mutex_unlock(&lock);
  return status;
}

static kw_status release(void *device, kw_mem mem) {
  const int d = device == kw_mutant_device(1);
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < counts[d]; i++) {
    if (made[d][i].mem == mem) made[d][i].mem = NULL;
  }
  pthread_mutex_unlock(&lock);
  return kw_mutant_real.memory.dealloc(device, mem);
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  kw_copy_info changed = *info;
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < counts[1] && i < counts[0]; i++) {
    const bool same = made[1][i].mem == info->src_mem && made[0][i].mem && info->kind == KW_COPY_DEVICE_TO_HOST;
    if (same && info->src_offset + info->size <= made[0][i].size) changed.src_mem = made[0][i].mem;
  }
  pthread_mutex_unlock(&lock);
  return kw_mutant_real.memory.copy(device, stream, device == kw_mutant_device(1) ? &changed : info);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
  mutant->memory.alloc = alloc;
  mutant->memory.dealloc = release;
  mutant->memory.copy = copy;
}
