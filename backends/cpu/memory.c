/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory: host pointers. The system grants more memory than there is and kills the process that uses it, so this file
 * keeps account and refuses what the machine cannot hold.
 */
#include "cpu.h"
#include "fill.h"
#include "graph.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KNOWN_FLAGS (KW_MEM_EXPORTABLE | KW_MEM_IPC)
#define HUGE_BYTES (UINT64_C(4) << 20) /* of a block that has a huge page, wherever it lies, and is worth them */

static kw_status check(const kw_cpu_device *cpu, const kw_alloc_info *info) {
  kw_status status = kw_cpu_check_critical(cpu->host, 0, info->next);
  if (status != KW_OK) return status;
  if (info->kind > KW_MEM_MANAGED || (info->flags & KW_FLAGS_CRITICAL & ~KNOWN_FLAGS) != 0) {
    return kw_cpu_error(cpu->host, KW_ERR_UNSUPPORTED,
                        "memory of kind %u with flags 0x%llx: the cpu has kinds 0 to 3, exportable or for IPC",
                        info->kind, (unsigned long long)info->flags);
  }
  if (info->alignment <= KW_CPU_ALIGNMENT) return KW_OK;
  return kw_cpu_error(cpu->host, KW_ERR_INVALID_ARGUMENT, "memory aligned to %llu: the cpu aligns to at most %d",
                      (unsigned long long)info->alignment, KW_CPU_ALIGNMENT);
}

/* A first touch of huge pages is one fault for each, of plain ones 512. Where the system has none for us nothing
 * changes, so that a refusal is no error. */
static void ask_for_huge_pages(void *memory, uint64_t size) {
#ifdef MADV_HUGEPAGE
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = ((uintptr_t)memory + page - 1) / page * page;
  const uintptr_t end = ((uintptr_t)memory + size) / page * page;
  if (size >= HUGE_BYTES) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)size;
#endif
}

static kw_status memory_alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_cpu_device *cpu = device;
  const bool shared = (info->flags & KNOWN_FLAGS) != 0;
  kw_status status = check(cpu, info);
  if (status != KW_OK) return status;
  uint64_t held = atomic_load(&cpu->held);
  do {
    if (info->size > cpu->total || held > cpu->total - info->size) {
      return kw_cpu_error(cpu->host, KW_ERR_OUT_OF_MEMORY,
                          "%llu bytes asked for, %llu of the %llu bytes that this device may take are in use",
                          (unsigned long long)info->size, (unsigned long long)held, (unsigned long long)cpu->total);
    }
  } while (!atomic_compare_exchange_weak(&cpu->held, &held, held + info->size));

  uint64_t rounded = (info->size + KW_CPU_ALIGNMENT - 1) / KW_CPU_ALIGNMENT * KW_CPU_ALIGNMENT;
  kw_cpu_block *memory = shared ? kw_cpu_shared_create(info->size, (info->flags & KW_MEM_IPC) != 0)
                                : aligned_alloc(KW_CPU_ALIGNMENT, sizeof *memory + rounded);
  if (!memory) {
    atomic_fetch_sub(&cpu->held, info->size);
    return kw_cpu_error(cpu->host, KW_ERR_OUT_OF_MEMORY, "%s of %llu bytes failed",
                        shared ? "memfd_create, or mapping it," : "aligned_alloc", (unsigned long long)info->size);
  }
  if (!shared) {
    ask_for_huge_pages(memory, sizeof *memory + rounded);
    memory->size = info->size;
    memory->file = -1;
  }
  *out_mem = memory + 1;
  return KW_OK;
}

static kw_status memory_free(void *device, kw_mem mem) {
  kw_cpu_device *cpu = device;
  kw_cpu_block *memory = kw_cpu_block_of(mem);
  atomic_fetch_sub(&cpu->held, memory->size);
  if (memory->file >= 0) {
    kw_cpu_shared_destroy(memory);
  } else {
    free(memory);
  }
  return KW_OK;
}

/* All memory is the host's: its pointers are the device's, and what either writes the other sees. */
static kw_status memory_map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  kw_cpu_device *cpu = device;
  (void)stream;
  if ((info->flags & KW_FLAGS_CRITICAL & ~(KW_MAP_READ | KW_MAP_WRITE)) != 0) {
    return kw_cpu_error(cpu->host, KW_ERR_UNSUPPORTED, "a map with flags 0x%llx: the cpu knows reading and writing",
                        (unsigned long long)info->flags);
  }
  *out_pointer = (char *)info->mem + info->offset;
  return KW_OK;
}

static kw_status memory_unmap(void *device, void *stream, const kw_map_info *info, void *pointer) {
  (void)device, (void)stream, (void)info, (void)pointer;
  return KW_OK;
}

static kw_status memory_usage(void *device, uint64_t *out_free, uint64_t *out_total) {
  kw_cpu_device *cpu = device;
  *out_total = cpu->total;
  *out_free = cpu->total - atomic_load(&cpu->held);
  return KW_OK;
}

/* ---- Copy and fill --------------------------------------------------------------------------------------------- */

static void copy(const kw_cpu_stream *stream, void *to, const void *from, size_t size) {
  const uint64_t begin = kw_cpu_activity_begin(stream);
  memcpy(to, from, size);
  kw_cpu_activity_end(stream, KW_ACTIVITY_COPY, 0, begin);
}

typedef struct copy_task {
  kw_cpu_task task;
  void *to;
  const void *from;
  size_t size;
} copy_task;

static kw_status run_copy(kw_cpu_stream *stream, kw_cpu_task *task) {
  const copy_task *order = (copy_task *)task;
  copy(stream, order->to, order->from, order->size);
  return KW_OK;
}

static kw_status memory_copy(void *device, void *stream_pointer, const kw_copy_info *info) {
  kw_cpu_device *cpu = device;
  kw_cpu_stream *stream = stream_pointer;
  if (info->kind > KW_COPY_DEVICE_TO_DEVICE) {
    return kw_cpu_error(cpu->host, KW_ERR_INVALID_ARGUMENT, "copy of kind %u: kinds 0 to 2 exist", info->kind);
  }
  void *to = info->kind == KW_COPY_DEVICE_TO_HOST ? info->dst_host : (char *)info->dst_mem + info->dst_offset;
  const void *from =
      info->kind == KW_COPY_HOST_TO_DEVICE ? info->src_host : (const char *)info->src_mem + info->src_offset;
  if (stream->is_default) {
    pthread_mutex_lock(&stream->lock);
    copy(stream, to, from, info->size);
    pthread_mutex_unlock(&stream->lock);
    return KW_OK;
  }
  copy_task *task = kw_cpu_task_create(stream, sizeof *task, run_copy);
  if (!task) return KW_ERR_OUT_OF_MEMORY;
  task->to = to;
  task->from = from;
  task->size = info->size;
  kw_cpu_stream_submit(stream, &task->task);
  return KW_OK;
}

static void fill(const kw_cpu_stream *stream, const kw_cpu_fill *fill) {
  const uint64_t begin = kw_cpu_activity_begin(stream);
  kw_cpu_fill_run(fill);
  kw_cpu_activity_end(stream, KW_ACTIVITY_FILL, 0, begin);
}

typedef struct fill_task {
  kw_cpu_task task;
  kw_cpu_fill fill;
} fill_task;

static kw_status run_fill(kw_cpu_stream *stream, kw_cpu_task *task) {
  fill(stream, &((fill_task *)task)->fill);
  return KW_OK;
}

static kw_status memory_fill(void *device, void *stream_pointer, kw_mem mem, uint64_t offset, uint64_t size,
                             const void *pattern, uint32_t pattern_size) {
  kw_cpu_device *cpu = device;
  kw_cpu_stream *stream = stream_pointer;
  if (pattern_size == 0 || pattern_size > 16 || (pattern_size & (pattern_size - 1)) || size % pattern_size != 0) {
    return kw_cpu_error(cpu->host, KW_ERR_INVALID_ARGUMENT,
                        "fill of %llu bytes with a pattern of %u: patterns have 1, 2, 4, 8 or 16 bytes and divide it",
                        (unsigned long long)size, pattern_size);
  }
  kw_cpu_fill order = {.to = (char *)mem + offset, .size = size, .pattern_size = pattern_size};
  memcpy(order.pattern, pattern, pattern_size);
  if (stream->is_default) {
    pthread_mutex_lock(&stream->lock);
    fill(stream, &order);
    pthread_mutex_unlock(&stream->lock);
    return KW_OK;
  }
  if (stream->recording) return kw_cpu_graph_add_fill(stream->recording, &order);
  fill_task *task = kw_cpu_task_create(stream, sizeof *task, run_fill);
  if (!task) return KW_ERR_OUT_OF_MEMORY;
  task->fill = order;
  kw_cpu_stream_submit(stream, &task->task);
  return KW_OK;
}

const kw_memory_api kw_cpu_memory_api = {
    .struct_size = sizeof(kw_memory_api),
    .alloc = memory_alloc,
    .dealloc = memory_free,
    .copy = memory_copy,
    .fill = memory_fill,
    .usage = memory_usage,
    .map = memory_map,
    .unmap = memory_unmap,
};
