/* SPDX-License-Identifier: Apache-2.0
 *
 * A device for unit tests: made by hand, without a plugin file. Its memory is host memory behind opaque handles. Its
 * streams run their work at once while their gate is open; with a closed gate work piles up until the test opens it, so
 * that nothing depends on time. Every slot counts its calls and can be told to fail.
 */
#ifndef KEYWAY_CORE_TEST_DEVICE_H
#define KEYWAY_CORE_TEST_DEVICE_H

#include "device/address.h"
#include "device/allocator.h"
#include "base/error.h"
#include "device/fill.h"
#include "device/host_call.h"
#include "device/host_memory.h"
#include "device/late_error.h"
#include "device/stream_life.h"
#include "device/wait.h"
#include "tensor/tensor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
#define KW_SLOT(group, name, since, required, parameters, arguments) TEST_SLOT_##group##_##name,
#include "slots.def"
  TEST_SLOT_COUNT
};

typedef struct test_mem {
  unsigned char *data;
  uint64_t size;
  bool imported; /* data is somebody else's */
} test_mem;

typedef struct test_event {
  uint64_t recorded, passed; /* numbers of records; the event is passed when they are equal */
  uint64_t time;             /* of the last pass */
  unsigned refs;             /* the owner's and those of work that names it */
} test_event;

typedef struct test_work {
  enum { TEST_COPY, TEST_FILL, TEST_RECORD, TEST_WAIT, TEST_CALL } kind;
  kw_copy_info copy; /* TEST_FILL: dst_mem, dst_offset, size */
  unsigned char pattern[16];
  uint32_t pattern_size;
  test_event *event;
  uint64_t number; /* of the record; of the callback */
  struct test_work *next;
} test_work;

typedef struct test_stream {
  struct test_device *owner;
  bool closed_gate, running;
  test_work *work, **work_end;
  struct test_stream *next;
} test_stream;

typedef struct test_device {
  kw_device device;
  kw_plugin plugin;
  pthread_mutex_t mutex;
  pthread_cond_t idle;
  test_stream *streams;
  uint64_t clock;

  /* Knobs. */
  uint64_t memory_limit;           /* bytes; 0 = none */
  bool open_on_wait;               /* waiting for a stream opens its gate, and all others */
  bool close_after_wait;           /* a wait that went well closes the stream's gate */
  bool null_alloc;                 /* the next alloc says KW_OK and gives nothing */
  uint64_t mem_kinds;              /* bit k: alloc knows kw_mem_kind k */
  kw_status fail[TEST_SLOT_COUNT]; /* what the next call of the slot returns, then KW_OK again */
  unsigned pass[TEST_SLOT_COUNT];  /* calls of the slot that go well before that one */

  /* Record. */
  unsigned calls[TEST_SLOT_COUNT];
  uint64_t memory_used;
  unsigned live_mems, live_imports, live_host, live_events, live_streams, live_maps;
  kw_alloc_info last_alloc;
  unsigned freed_in_use; /* memory freed while enqueued work named it */
} test_device;

#define TEST_CALLS(test, slot) (__atomic_load_n(&(test)->calls[TEST_SLOT_##slot], __ATOMIC_RELAXED))
#define TEST_FAIL_NEXT(test, slot, status) ((test)->fail[TEST_SLOT_##slot] = (status))
#define TEST_FAIL_AFTER(test, slot, count, status) \
  ((test)->pass[TEST_SLOT_##slot] = (count), (test)->fail[TEST_SLOT_##slot] = (status))

/* What this call of a slot is to return; under the lock. */
static inline kw_status test_order(test_device *test, unsigned slot) {
  kw_status ordered = test->fail[slot];
  if (ordered == KW_OK) return KW_OK;
  if (test->pass[slot] > 0) {
    --test->pass[slot];
    return KW_OK;
  }
  test->fail[slot] = KW_OK;
  return ordered;
}

/* Locks and counts; on an ordered failure unlocks and returns it. */
#define TEST_ENTER(test, slot)                                                                                      \
  do {                                                                                                              \
    pthread_mutex_lock(&(test)->mutex);                                                                             \
    __atomic_fetch_add(&(test)->calls[TEST_SLOT_##slot], 1, __ATOMIC_RELAXED);                                      \
    kw_status ordered = test_order((test), TEST_SLOT_##slot);                                                       \
    if (ordered != KW_OK) {                                                                                         \
      pthread_mutex_unlock(&(test)->mutex);                                                                         \
      return ordered == KW_ERR_NOT_READY ? ordered : kw_error_offer(kw_fail(ordered, "driver: " #slot " said no")); \
    }                                                                                                               \
  } while (0)

static inline kw_status test_leave(test_device *test, kw_status status) {
  pthread_mutex_unlock(&test->mutex);
  return status;
}

/* ---- Running work; under the lock -------------------------------------------------------------------------------- */

static inline void test_unref_event(test_device *test, test_event *event) {
  if (--event->refs > 0) return;
  --test->live_events;
  free(event);
}

static inline void test_do(test_device *test, test_work *work) {
  const kw_copy_info *copy = &work->copy;
  test_mem *dst = copy->dst_mem, *src = copy->src_mem;
  switch (work->kind) {
    case TEST_COPY:
      memcpy(dst != NULL ? dst->data + copy->dst_offset : copy->dst_host,
             src != NULL ? src->data + copy->src_offset : copy->src_host, copy->size);
      break;
    case TEST_FILL:
      for (uint64_t at = 0; at < copy->size; at += work->pattern_size) {
        memcpy(dst->data + copy->dst_offset + at, work->pattern, work->pattern_size);
      }
      break;
    case TEST_RECORD:
      if (work->number > work->event->passed) work->event->passed = work->number;
      work->event->time = test->clock += 1000;
      break;
    case TEST_WAIT:
      break;
    case TEST_CALL:
      pthread_mutex_unlock(&test->mutex);
      kw_host_call_run(work->number);
      pthread_mutex_lock(&test->mutex);
      break;
  }
}

static inline bool test_can_run(const test_stream *stream) {
  const test_work *work = stream->work;
  if (work == NULL || stream->closed_gate || stream->running) return false;
  return work->kind != TEST_WAIT || work->event->passed >= work->number;
}

static inline void test_pump(test_device *test) {
  bool progress = true;
  while (progress) {
    progress = false;
    for (test_stream *stream = test->streams; stream != NULL && !progress; stream = stream->next) {
      if (!test_can_run(stream)) continue;
      test_work *work = stream->work;
      stream->running = true;
      test_do(test, work);
      stream->running = false;
      stream->work = work->next;
      if (stream->work == NULL) stream->work_end = &stream->work;
      if (work->event != NULL) test_unref_event(test, work->event);
      free(work);
      progress = true;
    }
  }
  pthread_cond_broadcast(&test->idle);
}

static inline void test_enqueue(test_stream *stream, const test_work *work) {
  test_work *copy = malloc(sizeof *copy);
  *copy = *work;
  copy->next = NULL;
  if (work->event != NULL) ++work->event->refs;
  *stream->work_end = copy;
  stream->work_end = &copy->next;
  test_pump(stream->owner);
}

/* A wait opens all gates, where the test has asked for that. */
static inline void test_open_gates(test_device *test) {
  for (test_stream *s = test->streams; s != NULL && test->open_on_wait; s = s->next) s->closed_gate = false;
}

/* A limit has passed at once where the work waits for a gate. */
static inline kw_status test_wait_idle(test_device *test, test_stream *stream, uint64_t timeout_ns) {
  test_open_gates(test);
  test_pump(test);
  while (stream->work != NULL && timeout_ns == KW_WAIT_FOREVER) pthread_cond_wait(&test->idle, &test->mutex);
  return stream->work == NULL ? KW_OK : KW_ERR_TIMEOUT;
}

/* ---- Slots ------------------------------------------------------------------------------------------------------ */

static inline kw_status test_memory_alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  test_device *test = device;
  TEST_ENTER(test, memory_alloc);
  bool nothing = test->null_alloc;
  test->null_alloc = false;
  test->last_alloc = *info;
  if (info->kind != KW_MEM_DEVICE && (test->mem_kinds >> info->kind & 1) == 0) {
    return test_leave(test, kw_error_offer(kw_fail(KW_ERR_UNSUPPORTED, "driver: no such memory")));
  }
  if (nothing) return test_leave(test, KW_OK);
  if (test->memory_limit != 0 && test->memory_used + info->size > test->memory_limit) {
    return test_leave(test, kw_error_offer(kw_fail(KW_ERR_OUT_OF_MEMORY, "driver: no room")));
  }
  test_mem *mem = malloc(sizeof *mem);
  *mem = (test_mem){malloc(info->size), info->size, false};
  memset(mem->data, 0xdd, info->size);
  test->memory_used += info->size;
  ++test->live_mems;
  *out_mem = mem;
  return test_leave(test, KW_OK);
}

/* Under the lock. */
static inline void test_note_freed(test_device *test, const test_mem *mem) {
  for (test_stream *stream = test->streams; stream != NULL; stream = stream->next) {
    for (test_work *work = stream->work; work != NULL; work = work->next) {
      if (work->copy.dst_mem == mem || work->copy.src_mem == mem) ++test->freed_in_use;
    }
  }
}

static inline kw_status test_memory_dealloc(void *device, kw_mem handle) {
  test_device *test = device;
  test_mem *mem = handle;
  pthread_mutex_lock(&test->mutex); /* frees even when told to fail */
  test_note_freed(test, mem);
  test->memory_used -= mem->size;
  --test->live_mems;
  free(mem->data);
  free(mem);
  pthread_mutex_unlock(&test->mutex);
  TEST_ENTER(test, memory_dealloc);
  return test_leave(test, KW_OK);
}

static inline kw_status test_interop_import_memory(void *device, const kw_external_memory *info, kw_mem *out_mem,
                                                   uint32_t *out_alignment) {
  test_device *test = device;
  TEST_ENTER(test, interop_import_memory);
  test_mem *mem = malloc(sizeof *mem);
  void *data = info->host;
  if (info->kind == KW_HANDLE_FD) data = (void *)(uintptr_t)info->handle;
  if (info->kind == KW_HANDLE_IPC) memcpy(&data, info->ipc, sizeof data);
  *mem = (test_mem){data, info->size, true};
  ++test->live_imports;
  *out_mem = mem;
  *out_alignment = 1;
  while (*out_alignment < 4096 && (uintptr_t)info->host % (*out_alignment * 2) == 0) *out_alignment *= 2;
  return test_leave(test, KW_OK);
}

static inline kw_status test_interop_release_memory(void *device, kw_mem handle) {
  test_device *test = device;
  test_mem *mem = handle;
  pthread_mutex_lock(&test->mutex); /* also when told to fail */
  test_note_freed(test, mem);
  --test->live_imports;
  free(mem);
  pthread_mutex_unlock(&test->mutex);
  TEST_ENTER(test, interop_release_memory);
  return test_leave(test, KW_OK);
}

/* The handle is the memory's own address, the bytes hold it. */
static inline kw_status test_interop_export_memory(void *device, kw_mem handle, kw_external_memory *info) {
  test_device *test = device;
  test_mem *mem = handle;
  TEST_ENTER(test, interop_export_memory);
  info->handle = (uintptr_t)(mem->data + info->offset);
  info->offset = 0;
  if (info->kind == KW_HANDLE_IPC) memcpy(info->ipc, &info->handle, sizeof info->handle);
  return test_leave(test, KW_OK);
}

/* Memory that was imported is the host's; other memory DLPack does not know. */
static inline kw_status test_interop_native_handle(void *device, kw_object_kind kind, void *object,
                                                   kw_native_handle *out_handle) {
  test_device *test = device;
  TEST_ENTER(test, interop_native_handle);
  const test_mem *mem = object;
  const bool host = kind == KW_OBJECT_MEMORY && mem->imported;
  out_handle->dl_device_type = host ? 1 : 0;
  out_handle->handle = host ? (void *)mem->data : object;
  return test_leave(test, KW_OK);
}

static inline bool test_in_range(const test_mem *mem, uint64_t offset, uint64_t size) {
  return mem == NULL || (offset <= mem->size && size <= mem->size - offset);
}

static inline kw_status test_memory_copy(void *device, void *stream, const kw_copy_info *copy) {
  test_device *test = device;
  TEST_ENTER(test, memory_copy);
  if (!test_in_range(copy->dst_mem, copy->dst_offset, copy->size) ||
      !test_in_range(copy->src_mem, copy->src_offset, copy->size) || copy->size == 0) {
    return test_leave(test, kw_error_offer(kw_fail(KW_ERR_INTERNAL, "driver: copy out of range")));
  }
  test_enqueue(stream, &(test_work){.kind = TEST_COPY, .copy = *copy});
  return test_leave(test, KW_OK);
}

static inline kw_status test_memory_fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size,
                                         const void *pattern, uint32_t pattern_size) {
  test_device *test = device;
  TEST_ENTER(test, memory_fill);
  test_work work = {.kind = TEST_FILL, .pattern_size = pattern_size};
  work.copy = (kw_copy_info){.dst_mem = mem, .dst_offset = offset, .size = size};
  memcpy(work.pattern, pattern, pattern_size);
  test_enqueue(stream, &work);
  return test_leave(test, KW_OK);
}

static inline kw_status test_memory_alloc_host(void *device, uint64_t size, void **out_memory) {
  test_device *test = device;
  TEST_ENTER(test, memory_alloc_host);
  *out_memory = aligned_alloc(64, (size + 63) / 64 * 64);
  ++test->live_host;
  return test_leave(test, KW_OK);
}

static inline kw_status test_memory_free_host(void *device, void *memory) {
  test_device *test = device;
  TEST_ENTER(test, memory_free_host);
  free(memory);
  --test->live_host;
  return test_leave(test, KW_OK);
}

/* Memory is host memory: the source device is not needed. */
static inline kw_status test_memory_copy_peer(void *device, void *stream, void *src_device, const kw_copy_info *copy) {
  test_device *test = device;
  (void)src_device;
  TEST_ENTER(test, memory_copy_peer);
  test_enqueue(stream, &(test_work){.kind = TEST_COPY, .copy = *copy});
  return test_leave(test, KW_OK);
}

static inline kw_status test_memory_map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  test_device *test = device;
  (void)stream;
  TEST_ENTER(test, memory_map);
  ++test->live_maps;
  *out_pointer = ((test_mem *)info->mem)->data + info->offset;
  return test_leave(test, KW_OK);
}

static inline kw_status test_memory_unmap(void *device, void *stream, const kw_map_info *info, void *pointer) {
  test_device *test = device;
  (void)stream, (void)info, (void)pointer;
  TEST_ENTER(test, memory_unmap);
  --test->live_maps;
  return test_leave(test, KW_OK);
}

static inline kw_status test_stream_create(void *device, const kw_stream_info *info, void **out_stream) {
  test_device *test = device;
  (void)info;
  TEST_ENTER(test, stream_create);
  test_stream *stream = calloc(1, sizeof *stream);
  stream->owner = test;
  stream->work_end = &stream->work;
  stream->next = test->streams;
  test->streams = stream;
  ++test->live_streams;
  *out_stream = stream;
  return test_leave(test, KW_OK);
}

static inline kw_status test_stream_destroy(void *device, void *handle) {
  test_device *test = device;
  test_stream *stream = handle;
  TEST_ENTER(test, stream_destroy);
  while (stream->work != NULL) { /* a lost device: no wait has taken it */
    test_work *work = stream->work;
    stream->work = work->next;
    if (work->event != NULL) test_unref_event(test, work->event);
    free(work);
  }
  test_stream **link = &test->streams;
  while (*link != stream) link = &(*link)->next;
  *link = stream->next;
  --test->live_streams;
  free(stream);
  return test_leave(test, KW_OK);
}

static inline kw_status test_stream_synchronize(void *device, void *stream, uint64_t timeout_ns) {
  test_device *test = device;
  TEST_ENTER(test, stream_synchronize);
  kw_status status = test_wait_idle(test, stream, timeout_ns);
  if (test->close_after_wait) ((test_stream *)stream)->closed_gate = true;
  return test_leave(test, status);
}

static inline kw_status test_stream_query(void *device, void *handle) {
  test_device *test = device;
  test_stream *stream = handle;
  TEST_ENTER(test, stream_query);
  return test_leave(test, stream->work == NULL ? KW_OK : KW_ERR_NOT_READY);
}

static inline kw_status test_stream_call_host(void *device, void *stream, uint64_t token) {
  test_device *test = device;
  TEST_ENTER(test, stream_call_host);
  test_enqueue(stream, &(test_work){.kind = TEST_CALL, .number = token});
  return test_leave(test, KW_OK);
}

static inline kw_status test_event_create(void *device, const kw_event_info *info, void **out_event) {
  (void)info;
  test_device *test = device;
  TEST_ENTER(test, event_create);
  test_event *event = calloc(1, sizeof *event);
  event->refs = 1;
  ++test->live_events;
  *out_event = event;
  return test_leave(test, KW_OK);
}

static inline kw_status test_event_destroy(void *device, void *event) {
  test_device *test = device;
  TEST_ENTER(test, event_destroy);
  test_unref_event(test, event);
  return test_leave(test, KW_OK);
}

static inline kw_status test_event_record(void *device, void *handle, void *stream) {
  test_device *test = device;
  test_event *event = handle;
  TEST_ENTER(test, event_record);
  test_enqueue(stream, &(test_work){.kind = TEST_RECORD, .event = event, .number = ++event->recorded});
  return test_leave(test, KW_OK);
}

static inline kw_status test_event_query(void *device, void *handle) {
  test_device *test = device;
  test_event *event = handle;
  TEST_ENTER(test, event_query);
  return test_leave(test, event->passed == event->recorded ? KW_OK : KW_ERR_NOT_READY);
}

static inline kw_status test_event_synchronize(void *device, void *handle, uint64_t timeout_ns) {
  test_device *test = device;
  test_event *event = handle;
  TEST_ENTER(test, event_synchronize);
  test_open_gates(test);
  test_pump(test);
  while (event->passed != event->recorded && timeout_ns == KW_WAIT_FOREVER)
    pthread_cond_wait(&test->idle, &test->mutex);
  return test_leave(test, event->passed == event->recorded ? KW_OK : KW_ERR_TIMEOUT);
}

static inline kw_status test_event_wait(void *device, void *stream, void *handle) {
  test_device *test = device;
  test_event *event = handle;
  TEST_ENTER(test, event_wait);
  test_enqueue(stream, &(test_work){.kind = TEST_WAIT, .event = event, .number = event->recorded});
  return test_leave(test, KW_OK);
}

static inline kw_status test_event_elapsed(void *device, void *start, void *end, uint64_t *out_ns) {
  test_device *test = device;
  test_event *from = start, *to = end;
  TEST_ENTER(test, event_elapsed);
  if (from->passed != from->recorded || to->passed != to->recorded) return test_leave(test, KW_ERR_NOT_READY);
  *out_ns = to->time - from->time;
  return test_leave(test, KW_OK);
}

static inline kw_status test_close(void *device) {
  (void)device;
  return KW_OK;
}

/* ---- For tests -------------------------------------------------------------------------------------------------- */

/* `native` as in kw_device_native; what is not in it core derives. Knobs may be set on the result before the first
 * allocation. */
static inline test_device *test_device_open(const char *name, uint64_t native) {
  test_device *test = calloc(1, sizeof *test);
  pthread_mutex_init(&test->mutex, NULL);
  pthread_cond_init(&test->idle, NULL);
  test->plugin.key = test->plugin.vendor = "test";
  atomic_store(&test->plugin.phase, KW_PLUGIN_OPEN);
  atomic_store(&test->plugin.device_count, 1);
  test->plugin.native = native;
  test->plugin.device.close = test_close;
  test->plugin.memory = (kw_memory_api){.struct_size = sizeof(kw_memory_api),
                                        .alloc = test_memory_alloc,
                                        .dealloc = test_memory_dealloc,
                                        .copy = test_memory_copy,
                                        .fill = test_memory_fill,
                                        .alloc_host = test_memory_alloc_host,
                                        .free_host = test_memory_free_host,
                                        .copy_peer = test_memory_copy_peer,
                                        .map = test_memory_map,
                                        .unmap = test_memory_unmap};
  test->plugin.stream = (kw_stream_api){.struct_size = sizeof(kw_stream_api),
                                        .create = test_stream_create,
                                        .destroy = test_stream_destroy,
                                        .synchronize = test_stream_synchronize,
                                        .query = test_stream_query,
                                        .call_host = test_stream_call_host};
  test->plugin.event = (kw_event_api){.struct_size = sizeof(kw_event_api),
                                      .create = test_event_create,
                                      .destroy = test_event_destroy,
                                      .record = test_event_record,
                                      .query = test_event_query,
                                      .synchronize = test_event_synchronize,
                                      .wait = test_event_wait,
                                      .elapsed = test_event_elapsed};
  test->plugin.interop = (kw_interop_api){.struct_size = sizeof(kw_interop_api),
                                          .import_memory = test_interop_import_memory,
                                          .release_memory = test_interop_release_memory,
                                          .export_memory = test_interop_export_memory,
                                          .native_handle = test_interop_native_handle};
  kw_device *device = &test->device;
  device->plugin = &test->plugin;
  atomic_init(&device->slots, &test->plugin);
  atomic_init(&device->wait_limit, KW_WAIT_FOREVER);
  device->handle = test;
  kw_device_set_id(device, 1);
  snprintf(device->name, sizeof device->name, "%s", name);
  device->info.struct_size = sizeof device->info;
  device->info.total_memory = device->info.max_alloc = UINT64_C(1) << 30;
  device->info.mem_alignment = 256;
  device->info.offset_alignment = 64;
  atomic_init(&device->refs, 1);
  assert_int_equal(kw_allocator_create(device), KW_OK);
  assert_int_equal(kw_stream_create_default(device), KW_OK);
  return test;
}

#define TEST_NATIVE_ALL (KW_NATIVE_EVENTS | KW_NATIVE_CALL_HOST | KW_NATIVE_FILL | KW_NATIVE_QUERY)

/* Closes as core does and checks that nothing is left. */
static inline void test_device_close(test_device *test) {
  kw_device *device = &test->device;
  assert_int_equal(atomic_load(&device->refs), 1);
  kw_stream_drain(device->default_stream);
  kw_allocator_destroy(device);
  kw_stream_destroy_default(device);
  kw_staging_free(device);
  kw_addresses_free(device);
  assert_int_equal(test->live_mems, 0);
  assert_int_equal(test->live_imports, 0);
  assert_int_equal(test->live_host, 0);
  assert_int_equal(test->live_maps, 0);
  assert_int_equal(test->live_events, 0);
  assert_int_equal(test->live_streams, 0);
  assert_int_equal(test->freed_in_use, 0);
  assert_int_equal(test->memory_used, 0);
  pthread_cond_destroy(&test->idle);
  pthread_mutex_destroy(&test->mutex);
  free(test);
}

static inline void test_gate(kw_stream *stream, bool closed) {
  test_stream *handle = stream->handle;
  pthread_mutex_lock(&handle->owner->mutex);
  handle->closed_gate = closed;
  test_pump(handle->owner);
  pthread_mutex_unlock(&handle->owner->mutex);
}

static inline kw_memory_stats test_stats(test_device *test) {
  kw_memory_stats stats = {.struct_size = sizeof stats};
  assert_int_equal(kw_memory_get_stats(&test->device, &stats), KW_OK);
  return stats;
}

/* The calling thread's error text has this in it. */
#define assert_error(text) assert_non_null(strstr(kw_error_message(), text))
#define assert_ok(status) assert_int_equal(status, KW_OK)

#endif /* KEYWAY_CORE_TEST_DEVICE_H */
