/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host has written through a map is brought to the device with the next launch or copy, and graphs are none:
 * they read what was there before.
 */
#include "mutant_graph.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* recursive by nobody: slots below do not come back here */
static struct {
  char *at;
  void *bytes; /* NULL: nothing is due */
  uint64_t size;
} due;

static void bring(void) {
  pthread_mutex_lock(&lock);
  if (due.bytes) memcpy(due.at, due.bytes, due.size);
  free(due.bytes);
  due.bytes = NULL;
  pthread_mutex_unlock(&lock);
}

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  bring();
  const kw_status status = kw_mutant_real.memory.map(device, stream, info, out_pointer);
  if (status == KW_OK && info->flags == KW_MAP_WRITE) {
    pthread_mutex_lock(&lock);
    due.at = *out_pointer;
    due.size = info->size;
    due.bytes = malloc(info->size);
    if (due.bytes) memcpy(due.bytes, due.at, info->size);
    pthread_mutex_unlock(&lock);
  }
  return status;
}

/* Changes places: what the host has written is due, and what was there is there. */
static kw_status unmap(void *device, void *stream, const kw_map_info *info, void *pointer) {
  pthread_mutex_lock(&lock);
  for (uint64_t i = 0; due.bytes && due.at == pointer && i < due.size; i++) {
    char *before = due.bytes, written = due.at[i];
    due.at[i] = before[i];
    before[i] = written;
  }
  pthread_mutex_unlock(&lock);
  return kw_mutant_real.memory.unmap(device, stream, info, pointer);
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  bring();
  return kw_mutant_real.memory.copy(device, stream, info);
}

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  bring();
  return kw_mutant_real.memory.fill(device, stream, mem, offset, size, pattern, pattern_size);
}

static kw_status launch(const kw_call *call) {
  bring();
  return kw_mutant_launch_real(call);
}

static bool replay(const kw_mutant_replay *replay) {
  return replay->call != NULL;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.map = map;
  mutant->memory.unmap = unmap;
  mutant->memory.copy = copy;
  mutant->memory.fill = fill;
  mutant->launch = launch;
  kw_mutant_add_graph(mutant, "*", replay);
}
