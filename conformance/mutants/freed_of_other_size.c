/* SPDX-License-Identifier: Apache-2.0
 *
 * Large memory that was freed is kept by the power of two below its size, and given out again for any size of the same
 * power, more than it has. After caches that round sizes, such as PyTorch's.
 */
#include "mutant.h"

#include <pthread.h>

#define LARGE (UINT64_C(16) << 20)
#define ARENA (UINT64_C(2) << 30)

enum { MOST = 256, PAGE = 4096 };

static char *arena;
static uint64_t used;
static struct {
  char *at;
  uint64_t size;
  bool is_free;
} pieces[MOST];
static uint32_t count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int power(uint64_t size) {
  return 63 - __builtin_clzll(size);
}

static char *take(uint64_t size) {
  for (uint32_t i = 0; i < count; i++) {
    if (!pieces[i].is_free || power(pieces[i].size) != power(size)) continue;
    pieces[i].is_free = false;
    return pieces[i].at;
  }
  const uint64_t step = (size + PAGE - 1) / PAGE * PAGE;
  if (count == MOST || used + step > ARENA) return NULL;
  pieces[count].at = arena + used;
  pieces[count].size = size;
  used += step;
  return pieces[count++].at;
}

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_alloc_info whole = *info;
  kw_status status = KW_OK;
  kw_mem mem = NULL;
  if (info->size < LARGE || info->kind != KW_MEM_DEVICE) return kw_mutant_real.memory.alloc(device, info, out_mem);
  whole.size = ARENA;
  pthread_mutex_lock(&lock);
  if (!arena) status = kw_mutant_real.memory.alloc(device, &whole, &mem);
  if (mem) arena = (char *)mem;
  char *at = status == KW_OK ? take(info->size) : NULL;
  pthread_mutex_unlock(&lock);
  if (!at) return status == KW_OK ? KW_ERR_OUT_OF_MEMORY : status;
  *out_mem = (kw_mem)at;
  return KW_OK;
}

static kw_status dealloc(void *device, kw_mem mem) {
  bool known = false;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < count; i++) {
    if ((kw_mem)pieces[i].at != mem) continue;
    pieces[i].is_free = known = true;
  }
  pthread_mutex_unlock(&lock);
  return known ? KW_OK : kw_mutant_real.memory.dealloc(device, mem);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
  mutant->memory.dealloc = dealloc;
}
