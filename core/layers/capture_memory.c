/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers by their address: one that is made where another one was is told by the call that made it.
 */
#include "layers/capture_memory.h"

#include "base/fork.h"
#include "base/log.h"
#include "device/stream.h"
#include "device/wait.h"
#include "layers/capture_file.h"

#include <pthread.h>
#include <stdlib.h>

/* What is known by an address. */
typedef struct entry {
  const void *address; /* of a buffer, a graph or a map; NULL: free */
  uint64_t number;     /* 0: nothing is known */
  uint64_t hash;       /* of an imported buffer's contents, as the file has them */
} entry;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static entry *entries; /* open addressing; a power of two */
static size_t room, count;
static uint64_t last_number;

void kw_capture_memory_start(void) {
  kw_fork_hold(&mutex);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static entry *place_of(entry *table, size_t size, const void *address) {
  size_t at = (size_t)(((uintptr_t)address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (size - 1);
  while (table[at].address != NULL && table[at].address != address) at = (at + 1) & (size - 1);
  return &table[at];
}

/* Under the mutex. NULL when memory ran out. */
static entry *obtain(const void *address) {
  if (2 * count >= room) {
    const size_t more = room > 0 ? 2 * room : 1024;
    entry *table = calloc(more, sizeof *table);
    if (table == NULL) return NULL;
    for (size_t i = 0; i < room; ++i)
      if (entries[i].address != NULL) *place_of(table, more, entries[i].address) = entries[i];
    free(entries);
    entries = table;
    room = more;
  }
  entry *found = place_of(entries, room, address);
  if (found->address == NULL) {
    found->address = address;
    ++count;
  }
  return found;
}

static uint64_t renew(const void *address) {
  pthread_mutex_lock(&mutex);
  entry *found = obtain(address);
  if (found != NULL) *found = (entry){.address = address, .number = ++last_number};
  const uint64_t number = found != NULL ? found->number : 0;
  pthread_mutex_unlock(&mutex);
  return number;
}

static uint64_t number_of(const void *address) {
  pthread_mutex_lock(&mutex);
  const uint64_t number = room > 0 ? place_of(entries, room, address)->number : 0;
  pthread_mutex_unlock(&mutex);
  return number;
}

/* ---- Contents ---------------------------------------------------------------------------------------------------- */

/* The whole buffer's bytes, once all work that the device was given has ended; a stream of its own, since the others
 * may record. */
static kw_status read_buffer(kw_tensor *whole, void *data) {
  kw_device *device = whole->device;
  kw_stream *stream = NULL;
  kw_status status = kw_stream_may_wait("capture");
  if (status == KW_OK) status = kw_stream_drain_all(device);
  if (status == KW_OK) status = kw_stream_create(device, &stream);
  if (status == KW_OK) status = kw_tensor_read_async(whole, data, stream);
  if (status == KW_OK) status = kw_stream_synchronize(stream);
  kw_stream_destroy(stream);
  return status;
}

static uint64_t hash_of(const unsigned char *data, size_t size) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a, by words where there are some */
  for (; size >= 8; data += 8, size -= 8) {
    uint64_t word;
    memcpy(&word, data, 8);
    hash = (hash ^ word) * UINT64_C(0x100000001b3);
    hash ^= hash >> 29;
  }
  for (; size > 0; ++data, --size) hash = (hash ^ *data) * UINT64_C(0x100000001b3);
  return hash;
}

/* Under no lock: waits for the device. */
static void write_contents(const kw_tensor *tensor, uint64_t number) {
  kw_buffer *buffer = tensor->buffer;
  const int64_t size = (int64_t)buffer->size, step = 1;
  void *data = malloc(buffer->size);
  kw_tensor *whole = NULL;
  kw_status status =
      data != NULL ? kw_tensor_on_buffer(buffer, KW_U8, 1, &size, &step, 0, &whole) : KW_ERR_OUT_OF_MEMORY;
  if (status == KW_OK) status = read_buffer(whole, data);
  const uint64_t hash = status == KW_OK ? hash_of(data, buffer->size) : 0;
  bool changed = status == KW_OK;
  if (status == KW_OK && buffer->imported) {
    pthread_mutex_lock(&mutex);
    entry *found = place_of(entries, room, buffer);
    changed = found->hash != hash;
    found->hash = hash;
    pthread_mutex_unlock(&mutex);
  }
  if (changed) {
    kw_bytes record = {0};
    kw_capture_view(&record, number, 0, &whole->ref);
    kw_capture_file_put(KW_CAPTURE_WRITE, &record, data, buffer->size);
  } else if (status != KW_OK) {
    kw_log(KW_LOG_WARN, "the capture lacks what is in %llu bytes on %s: they cannot be read now (%s)",
           (unsigned long long)buffer->size, tensor->device->name, kw_error_message());
    kw_error_clear();
  }
  if (whole != NULL) kw_tensor_release(whole);
  free(data);
}

static void put_buffer(const kw_tensor *tensor, uint64_t number) {
  kw_bytes record = {0};
  kw_capture_u64(&record, number);
  kw_capture_u64(&record, tensor->buffer->size);
  kw_capture_text(&record, tensor->device->name);
  kw_capture_file_put(KW_CAPTURE_BUFFER, &record, NULL, 0);
}

/* ---- What the layer asks ----------------------------------------------------------------------------------------- */

uint64_t kw_capture_buffer(const kw_tensor *tensor) {
  return number_of(tensor->buffer);
}

void kw_capture_new_buffer(const kw_tensor *tensor, bool told) {
  const uint64_t number = renew(tensor->buffer);
  if (!told) put_buffer(tensor, number);
}

void kw_capture_forget_buffer(const kw_tensor *tensor) {
  pthread_mutex_lock(&mutex);
  entry *found = obtain(tensor->buffer);
  if (found != NULL) *found = (entry){.address = tensor->buffer};
  pthread_mutex_unlock(&mutex);
}

void kw_capture_know(const kw_tensor *tensor, bool overwrites) {
  const kw_buffer *buffer = tensor->buffer;
  if (buffer == NULL || !kw_capture_file_takes()) return;
  uint64_t number = number_of(buffer);
  const bool known = number != 0;
  if (!known) {
    number = renew(buffer);
    put_buffer(tensor, number);
  }
  if ((known && !buffer->imported) || buffer->size == 0) return;
  const uint64_t covered = (uint64_t)tensor->ref.numel * kw_dtype_size(tensor->ref.dtype);
  if (!overwrites || covered < buffer->size) write_contents(tensor, number);
}

void kw_capture_begin_writing(const void *pointer) {
  renew(pointer);
}

bool kw_capture_end_writing(const void *pointer) {
  pthread_mutex_lock(&mutex);
  entry *found = pointer != NULL && room > 0 ? place_of(entries, room, pointer) : NULL;
  const bool writes = found != NULL && found->number != 0;
  if (writes) found->number = 0;
  pthread_mutex_unlock(&mutex);
  return writes;
}

uint64_t kw_capture_new_graph(const kw_graph *graph) {
  return renew(graph);
}

uint64_t kw_capture_graph(const kw_graph *graph) {
  return graph != NULL ? number_of(graph) : 0;
}
