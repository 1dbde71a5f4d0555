/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices, their memory, faults, and the last message. */
#include "internal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char last_message[2048];

const char *kw_engine_message(void) {
  return last_message;
}

kw_engine_status kw_engine_fail(kw_engine_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_message, sizeof last_message, format, arguments);
  va_end(arguments);
  return status;
}

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

static uint64_t due[KW_ENGINE_FAULT_COUNT]; /* 0: never */
static pthread_once_t faults_once = PTHREAD_ONCE_INIT;

static void read_faults(void) {
  static const char *const names[] = {"alloc:", "launch:", "late:", "lost:"};
  const char *text = getenv("KEYWAY_ENGINE_FAULT");
  for (int i = 0; text && *text && i < KW_ENGINE_FAULT_COUNT; ++i) {
    for (const char *at = text; at; at = strchr(at, ',')) {
      at += *at == ',';
      if (strncmp(at, names[i], strlen(names[i])) == 0) due[i] = strtoull(at + strlen(names[i]), NULL, 10);
    }
  }
}

bool kw_engine_fault_is_due(kw_engine_fault fault, uint64_t number) {
  pthread_once(&faults_once, read_faults);
  return due[fault] == number;
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

struct kw_engine_device {
  _Atomic uint64_t losses;
  _Atomic uint64_t used;
  kw_engine_order order; /* these three under orders_lock */
  uint64_t left;         /* until it happens */
  bool held;
};

static kw_engine_device devices[KW_ENGINE_DEVICE_LIMIT];

uint32_t kw_engine_device_count(void) {
  const char *text = getenv("KEYWAY_ENGINE_DEVICES");
  unsigned long count = text ? strtoul(text, NULL, 10) : 1;
  return (uint32_t)(count < KW_ENGINE_DEVICE_LIMIT ? count : KW_ENGINE_DEVICE_LIMIT);
}

kw_engine_device *kw_engine_device_get(uint32_t index) {
  return &devices[index];
}

uint64_t kw_engine_device_losses(const kw_engine_device *device) {
  return device->losses;
}

void kw_engine_device_lose(kw_engine_device *device) {
  ++device->losses;
}

uint64_t kw_engine_device_used(const kw_engine_device *device) {
  return device->used;
}

bool kw_engine_device_take(kw_engine_device *device, uint64_t size) {
  if (size > KW_ENGINE_DEVICE_MEMORY) return false;
  if (atomic_fetch_add(&device->used, size) + size <= KW_ENGINE_DEVICE_MEMORY) return true;
  device->used -= size;
  return false;
}

void kw_engine_device_give(kw_engine_device *device, uint64_t size) {
  device->used -= size;
}

/* ---- Orders ------------------------------------------------------------------------------------------------------ */

static pthread_mutex_t orders_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t orders_changed = PTHREAD_COND_INITIALIZER;

kw_engine_status kw_engine_device_order(kw_engine_device *device, uint32_t order, uint64_t nth) {
  if (order > KW_ENGINE_ORDER_HOLD) return kw_engine_fail(KW_ENGINE_INVALID, "there is no order %u", (unsigned)order);
  pthread_mutex_lock(&orders_lock);
  device->order = (kw_engine_order)order;
  device->left = nth;
  device->held = false;
  pthread_cond_broadcast(&orders_changed);
  pthread_mutex_unlock(&orders_lock);
  return KW_ENGINE_OK;
}

/* Under the lock. Once: what comes after goes well. */
static bool order_is_due(kw_engine_device *device, kw_engine_order order) {
  if (device->order != order || --device->left > 0) return false;
  device->order = KW_ENGINE_ORDER_NONE;
  return true;
}

bool kw_engine_order_is_due(kw_engine_device *device, kw_engine_order order) {
  pthread_mutex_lock(&orders_lock);
  const bool due = order_is_due(device, order);
  pthread_mutex_unlock(&orders_lock);
  return due;
}

void kw_engine_order_pass(kw_engine_device *device, bool works) {
  pthread_mutex_lock(&orders_lock);
  if (works && order_is_due(device, KW_ENGINE_ORDER_HOLD)) device->held = true;
  while (device->held) pthread_cond_wait(&orders_changed, &orders_lock);
  pthread_mutex_unlock(&orders_lock);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kw_engine_allocation *allocations; /* by address */
static size_t count, capacity;

/* How many begin at `pointer` or before it. */
static size_t find_place(const void *pointer) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if ((uintptr_t)allocations[middle].base <= (uintptr_t)pointer) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static bool add_allocation(const kw_engine_allocation *allocation) {
  pthread_mutex_lock(&lock);
  if (count == capacity) {
    size_t wanted = capacity ? 2 * capacity : 256;
    kw_engine_allocation *grown = realloc(allocations, wanted * sizeof *grown);
    if (grown) {
      allocations = grown;
      capacity = wanted;
    }
  }
  bool room = count < capacity;
  if (room) {
    size_t place = find_place(allocation->base);
    memmove(&allocations[place + 1], &allocations[place], (count++ - place) * sizeof *allocations);
    allocations[place] = *allocation;
  }
  pthread_mutex_unlock(&lock);
  return room;
}

kw_engine_status kw_engine_alloc(kw_engine_device *device, kw_engine_memory_kind kind, size_t size, size_t alignment,
                                 void **out_base) {
  static _Atomic uint64_t calls;
  kw_engine_allocation added = {.size = size, .kind = kind, .device = device};
  const size_t line = alignment > 256 ? alignment : 256;
  const uint64_t counted = device && kind != KW_ENGINE_MEMORY_HOST ? size : 0;
  if (kw_engine_fault_is_due(KW_ENGINE_FAULT_ALLOC, ++calls))
    return kw_engine_fail(KW_ENGINE_OUT_OF_MEMORY, "injected: allocation %llu fails", (unsigned long long)calls);
  if (kind == KW_ENGINE_MEMORY_DEVICE && kw_engine_order_is_due(device, KW_ENGINE_ORDER_ALLOC))
    return kw_engine_fail(KW_ENGINE_OUT_OF_MEMORY, "injected: a test has ordered this allocation to fail");
  if (size == 0 || (line & (line - 1)) != 0) return kw_engine_fail(KW_ENGINE_INVALID, "no size, or no such alignment");
  if (size > KW_ENGINE_DEVICE_MEMORY ||
      (counted && atomic_fetch_add(&device->used, counted) + counted > KW_ENGINE_DEVICE_MEMORY)) {
    if (size <= KW_ENGINE_DEVICE_MEMORY) device->used -= counted;
    return kw_engine_fail(KW_ENGINE_OUT_OF_MEMORY, "%llu bytes are more than the device has left",
                          (unsigned long long)size);
  }
  added.base = aligned_alloc(line, (size + line - 1) / line * line);
  if (added.base && add_allocation(&added)) {
    *out_base = added.base;
    return KW_ENGINE_OK;
  }
  free(added.base);
  if (counted) device->used -= counted;
  return kw_engine_fail(KW_ENGINE_OUT_OF_MEMORY, "the host has no %llu bytes left", (unsigned long long)size);
}

kw_engine_status kw_engine_free(void *base) {
  kw_engine_allocation gone = {0};
  pthread_mutex_lock(&lock);
  size_t place = find_place(base);
  if (place > 0 && allocations[place - 1].base == base) {
    gone = allocations[place - 1];
    memmove(&allocations[place - 1], &allocations[place], (count-- - place) * sizeof *allocations);
  }
  if (count == 0) {
    free(allocations);
    allocations = NULL;
    capacity = 0;
  }
  pthread_mutex_unlock(&lock);
  if (!gone.base) return kw_engine_fail(KW_ENGINE_INVALID, "%p is not the base of an allocation", base);
  if (gone.device && gone.kind != KW_ENGINE_MEMORY_HOST) gone.device->used -= gone.size;
  free(base);
  return KW_ENGINE_OK;
}

/* Apart from the others: these may lie between pages that were adopted. */
typedef struct adopted {
  char *base;
  size_t size;
  struct adopted *next;
} adopted;

static adopted *all_adopted; /* under the lock */

/* The first that has some of these bytes, or NULL. */
static adopted *find_adopted(const char *base, size_t size) {
  adopted *found = all_adopted;
  while (found && (base + size <= found->base || found->base + found->size <= base)) found = found->next;
  return found;
}

kw_engine_status kw_engine_adopt(void *base, size_t size) {
  adopted *added = malloc(sizeof *added);
  if (!added) return kw_engine_fail(KW_ENGINE_OUT_OF_MEMORY, "no host memory for a record");
  *added = (adopted){.base = base, .size = size};
  pthread_mutex_lock(&lock);
  const bool is_new = !find_adopted(base, size);
  if (is_new) {
    added->next = all_adopted;
    all_adopted = added;
  }
  pthread_mutex_unlock(&lock);
  if (is_new) return KW_ENGINE_OK;
  free(added);
  return kw_engine_fail(KW_ENGINE_INVALID, "some of the %zu bytes at %p are known already", size, base);
}

kw_engine_status kw_engine_disown(void *base) {
  pthread_mutex_lock(&lock);
  adopted **link = &all_adopted;
  while (*link && (*link)->base != base) link = &(*link)->next;
  adopted *gone = *link;
  if (gone) *link = gone->next;
  pthread_mutex_unlock(&lock);
  free(gone);
  return gone ? KW_ENGINE_OK : kw_engine_fail(KW_ENGINE_INVALID, "nothing that was adopted begins at %p", base);
}

bool kw_engine_find(const void *pointer, kw_engine_allocation *out_allocation) {
  bool found = false;
  pthread_mutex_lock(&lock);
  size_t place = find_place(pointer);
  if (place > 0) {
    *out_allocation = allocations[place - 1];
    found = (uintptr_t)pointer < (uintptr_t)out_allocation->base + out_allocation->size;
  }
  const adopted *foreign = found ? NULL : find_adopted(pointer, 1);
  if (foreign) {
    *out_allocation =
        (kw_engine_allocation){.base = foreign->base, .size = foreign->size, .kind = KW_ENGINE_MEMORY_FOREIGN};
    found = true;
  }
  pthread_mutex_unlock(&lock);
  return found;
}
