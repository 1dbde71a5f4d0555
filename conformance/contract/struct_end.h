/* SPDX-License-Identifier: Apache-2.0
 *
 * For the check abi/structs_end: a device under a small host that gives it nothing which does not end where memory
 * ends (struct_end_bench.c). Slots are called in struct_end.c, kernels in struct_end_kernel.c.
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

/* Whether a slot that may say no did what it was asked for; any other failure fails the test. */
bool kw_end_is_done(kw_status status, const char *call);
#define KW_END_IS_DONE(call) kw_end_is_done((call), #call)

/* Opens device 0, and keeps what the plugin offers (kw_guest_kernels); its stream is still to be made. */
void kw_end_open(kw_end_bench *bench);
void *kw_end_stream(const kw_end_bench *bench, uint64_t token);
void kw_end_wait(const kw_end_bench *bench);

/* False when the device has none of the kind or for the flags. */
bool kw_end_alloc_as(const kw_end_bench *bench, kw_mem_kind kind, uint64_t flags, uint64_t size, kw_mem *out_mem);
/* Copies KW_END_BYTES, from the host or to it. */
void kw_end_copy(const kw_end_bench *bench, kw_copy_kind kind, kw_mem mem, unsigned char *host);
/* KW_END_BYTES of zeroes on the device. */
kw_mem kw_end_alloc(const kw_end_bench *bench);
void kw_end_clear(const kw_end_bench *bench, kw_mem mem);

/* Calls all kernels of ops of this level. */
void kw_end_run_kernels(const kw_end_bench *bench, kw_level level);

#endif /* KEYWAY_CONTRACT_STRUCT_END_H */
