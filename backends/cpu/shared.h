/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that other processes may map: a sealed memfd each. Its size is fixed for good, so that no process can take
 * pages away from another that uses them.
 */
#ifndef KEYWAY_CPU_SHARED_H
#define KEYWAY_CPU_SHARED_H

#include "cpu.h"

/* Stands right before the memory of an allocation, in memory of this process alone. */
typedef struct kw_cpu_block {
  _Alignas(KW_CPU_ALIGNMENT) uint64_t size; /* bytes, as asked for */
  int file;                                 /* the memfd of memory that is shared; otherwise -1, and nothing follows */
  bool ipc;                                 /* other processes may find it by bytes: by the token */
  uint8_t token[16];
} kw_cpu_block;

static inline kw_cpu_block *kw_cpu_block_of(kw_mem mem) {
  return (kw_cpu_block *)mem - 1;
}

/* The block before `size` bytes of a new memfd; NULL without memory or descriptors. */
kw_cpu_block *kw_cpu_shared_create(uint64_t size, bool ipc);
void kw_cpu_shared_destroy(kw_cpu_block *block);

/* Writes the bytes by which other processes find the memfd of a block that is for that. */
void kw_cpu_shared_name(const kw_cpu_block *block, uint8_t bytes[KW_IPC_SIZE]);
/* A descriptor of the memfd that such bytes name, for the caller to close; -1 when they name none, and then, or when
 * mapping gives NULL, `reason` says why. */
int kw_cpu_shared_find(const uint8_t bytes[KW_IPC_SIZE], const char **out_reason);

/* Maps [offset, offset + size) of a sealed memfd. */
void *kw_cpu_shared_map(int file, uint64_t offset, uint64_t size, bool read_only, const char **out_reason);
/* `memory` and `size` as mapped. */
void kw_cpu_shared_unmap(void *memory, uint64_t size);

#endif /* KEYWAY_CPU_SHARED_H */
