/* SPDX-License-Identifier: Apache-2.0
 *
 * Where memory lies: what is known of a device's memory beyond its kw_mem. Memory that came from outside, or that
 * others may have, can be one place under two names.
 */
#ifndef KEYWAY_GPU_PLACE_H
#define KEYWAY_GPU_PLACE_H

#include <keyway/gpu.h>

typedef struct kw_gpu_place {
  enum {
    KW_GPU_PLACE_OWN,   /* nothing else lies there */
    KW_GPU_PLACE_HOST,  /* at `host`, where other memory may begin or end */
    KW_GPU_PLACE_SHARED /* perhaps where other memory of this kind or at a host address lies */
  } kind;
  uintptr_t host;
} kw_gpu_place;

/* Memory that is not the device's own alone, or of another kind than KW_MEM_DEVICE. */
typedef struct kw_gpu_memory {
  kw_mem mem;
  kw_mem_kind kind;
  bool imported;
  kw_gpu_place place;
  struct kw_gpu_memory *next;
} kw_gpu_memory;

/* Takes over the entry, of malloc. */
void kw_gpu_memory_note(kw_gpu_device *device, kw_gpu_memory *memory);
/* The entry of allocated or of imported memory, which is the caller's then; NULL where there is none. */
kw_gpu_memory *kw_gpu_memory_forget(kw_gpu_device *device, kw_mem mem, bool imported);

kw_gpu_place kw_gpu_memory_place(kw_gpu_device *device, kw_mem mem);

/* Bytes of memory. */
typedef struct kw_gpu_range {
  kw_mem mem;
  kw_gpu_place place;
  int64_t begin, end;
} kw_gpu_range;

/* Whether a byte of one may be a byte of the other. */
bool kw_gpu_ranges_meet(const kw_gpu_range *a, const kw_gpu_range *b);

#endif /* KEYWAY_GPU_PLACE_H */
