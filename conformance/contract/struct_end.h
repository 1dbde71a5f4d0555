/* SPDX-License-Identifier: Apache-2.0
 *
 * For the check abi/structs_end: a device under a small host that gives it nothing which does not end where memory
 * ends. Slots are called in struct_end.c, kernels in struct_end_kernel.c.
 */
#ifndef KEYWAY_CONTRACT_STRUCT_END_H
#define KEYWAY_CONTRACT_STRUCT_END_H

#include "guest.h"
#include "op_table.h"

#define KW_AT_END "with structs that end where memory ends"

/* Bytes of each piece of memory: any tensor of a call fits. */
enum { KW_END_BYTES = 1 << 16 };

typedef struct kw_end_bench {
  kw_guest guest;
  void *plugin, *device, *stream;
  uint32_t alignment; /* of memory */
} kw_end_bench;

/* What was put at ends, to be taken away together. */
typedef struct kw_ends {
  struct {
    void *begin; /* of its pages */
    size_t size;
  } pages[128];
  uint32_t count;
} kw_ends;

/* A copy that ends where memory ends. */
void *kw_end_put(kw_ends *ends, const void *from, size_t size);
/* From here on nobody may touch what was put there. */
void kw_end_take_away(kw_ends *ends);

/* KW_END_BYTES of zeroes on the device. */
kw_mem kw_end_alloc(const kw_end_bench *bench);
void kw_end_clear(const kw_end_bench *bench, kw_mem mem);

/* Keeps a kernel that a plugin offers; a slot of the host. */
kw_status kw_end_keep_kernel(void *ctx, const kw_kernel_desc *kernel);
/* Calls all kernels that were kept. */
void kw_end_run_kernels(const kw_end_bench *bench);

#endif /* KEYWAY_CONTRACT_STRUCT_END_H */
