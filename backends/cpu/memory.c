/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory: host pointers. The system grants more memory than there is and kills the process that uses it, so this file
 * keeps account and refuses what the machine cannot hold.
 */
#include "cpu.h"

#include <stdlib.h>
#include <string.h>

/* Stands right before the memory that the host sees. */
typedef struct block {
  _Alignas(KW_CPU_ALIGNMENT) uint64_t size; /* bytes, as asked for */
} block;

static kw_status memory_alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_cpu_device *cpu = device;
  if (kw_ext_check(info->next, NULL, 0) != KW_OK) return kw_cpu_refuse_extension(cpu->host);
  if (info->kind != KW_MEM_DEVICE || info->alignment > KW_CPU_ALIGNMENT) {
    return kw_cpu_error(cpu->host, KW_ERR_INVALID_ARGUMENT,
                        "memory of kind %u, aligned to %llu: the cpu has kind 0, aligned to at most %d", info->kind,
                        (unsigned long long)info->alignment, KW_CPU_ALIGNMENT);
  }
  uint64_t held = atomic_load(&cpu->held);
  do {
    if (info->size > cpu->total || held > cpu->total - info->size) {
      return kw_cpu_error(cpu->host, KW_ERR_OUT_OF_MEMORY,
                          "%llu bytes asked for, %llu of %llu bytes of physical memory are in use by this device",
                          (unsigned long long)info->size, (unsigned long long)held, (unsigned long long)cpu->total);
    }
  } while (!atomic_compare_exchange_weak(&cpu->held, &held, held + info->size));

  uint64_t rounded = (info->size + KW_CPU_ALIGNMENT - 1) / KW_CPU_ALIGNMENT * KW_CPU_ALIGNMENT;
  block *memory = aligned_alloc(KW_CPU_ALIGNMENT, sizeof(block) + rounded);
  if (!memory) {
    atomic_fetch_sub(&cpu->held, info->size);
    return kw_cpu_error(cpu->host, KW_ERR_OUT_OF_MEMORY, "aligned_alloc of %llu bytes failed",
                        (unsigned long long)info->size);
  }
  memory->size = info->size;
  *out_mem = memory + 1;
  return KW_OK;
}

static kw_status memory_free(void *device, kw_mem mem) {
  kw_cpu_device *cpu = device;
  block *memory = (block *)mem - 1;
  atomic_fetch_sub(&cpu->held, memory->size);
  free(memory);
  return KW_OK;
}

static kw_status memory_usage(void *device, uint64_t *out_free, uint64_t *out_total) {
  kw_cpu_device *cpu = device;
  *out_total = cpu->total;
  *out_free = cpu->total - atomic_load(&cpu->held);
  return KW_OK;
}

/* ---- Copy and fill --------------------------------------------------------------------------------------------- */

typedef struct copy_task {
  kw_cpu_task task;
  void *to;
  const void *from;
  size_t size;
} copy_task;

static kw_status run_copy(kw_cpu_stream *stream, kw_cpu_task *task) {
  copy_task *copy = (copy_task *)task;
  const uint64_t begin = kw_cpu_activity_begin(stream);
  memcpy(copy->to, copy->from, copy->size);
  kw_cpu_activity_end(stream, KW_ACTIVITY_COPY, 0, begin);
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
    const uint64_t begin = kw_cpu_activity_begin(stream);
    memcpy(to, from, info->size);
    kw_cpu_activity_end(stream, KW_ACTIVITY_COPY, 0, begin);
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

static void fill(char *to, uint64_t size, const char *pattern, uint32_t pattern_size) {
  for (uint64_t at = 0; at < size; at += pattern_size) memcpy(to + at, pattern, pattern_size);
}

typedef struct fill_task {
  kw_cpu_task task;
  char *to;
  uint64_t size;
  char pattern[16];
  uint32_t pattern_size;
} fill_task;

static kw_status run_fill(kw_cpu_stream *stream, kw_cpu_task *task) {
  fill_task *order = (fill_task *)task;
  const uint64_t begin = kw_cpu_activity_begin(stream);
  fill(order->to, order->size, order->pattern, order->pattern_size);
  kw_cpu_activity_end(stream, KW_ACTIVITY_FILL, 0, begin);
  return KW_OK;
}

static kw_status memory_fill(void *device, void *stream_pointer, kw_mem mem, uint64_t offset, uint64_t size,
                             const void *pattern, uint32_t pattern_size) {
  kw_cpu_device *cpu = device;
  kw_cpu_stream *stream = stream_pointer;
  char *to = (char *)mem + offset;
  if (pattern_size == 0 || pattern_size > 16 || (pattern_size & (pattern_size - 1)) || size % pattern_size != 0) {
    return kw_cpu_error(cpu->host, KW_ERR_INVALID_ARGUMENT,
                        "fill of %llu bytes with a pattern of %u: patterns have 1, 2, 4, 8 or 16 bytes and divide it",
                        (unsigned long long)size, pattern_size);
  }
  if (stream->is_default) {
    pthread_mutex_lock(&stream->lock);
    const uint64_t begin = kw_cpu_activity_begin(stream);
    fill(to, size, pattern, pattern_size);
    kw_cpu_activity_end(stream, KW_ACTIVITY_FILL, 0, begin);
    pthread_mutex_unlock(&stream->lock);
    return KW_OK;
  }
  fill_task *task = kw_cpu_task_create(stream, sizeof *task, run_fill);
  if (!task) return KW_ERR_OUT_OF_MEMORY;
  task->to = to;
  task->size = size;
  memcpy(task->pattern, pattern, pattern_size);
  task->pattern_size = pattern_size;
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
};
