/* SPDX-License-Identifier: Apache-2.0
 *
 * A table from addresses to objects. What has ended stays in it for a while, so that who uses it still can be told
 * where that was; what begins at the same address takes its place.
 */
#include "layers/validation/objects.h"

#include "base/error.h"
#include "base/fork.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 65536u
#define REMEMBERED 65536u /* ended objects */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kw_object *buckets[BUCKETS];
static kw_object *first_ended, *last_ended;
static uint32_t ended_count;

static __thread kw_checked_call *now __attribute__((tls_model("initial-exec")));

const char *kw_kind_name(kw_kind kind) {
  static const char *const names[] = {"device", "stream", "event",       "tensor", "plan",   "generator",
                                      "graph",  "window", "host-memory", "map",    "address"};
  return names[kind];
}

void kw_objects_start(void) {
  kw_fork_hold(&lock);
}

void kw_objects_lock(void) {
  pthread_mutex_lock(&lock);
}

void kw_objects_unlock(void) {
  pthread_mutex_unlock(&lock);
}

kw_checked_call *kw_checked_now(void) {
  return now;
}

/* ---- The table, under the lock ----------------------------------------------------------------------------------- */

static kw_object **bucket_of(const void *address) {
  const uint64_t bits = (uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15);
  return &buckets[bits >> 48];
}

/* Objects have their addresses for themselves; of places in memory there may be one of each kind. */
static kw_object *find(kw_kind kind, const void *address) {
  const bool any = kind < KW_KIND_HOST;
  kw_object *object = *bucket_of(address);
  while (object != NULL &&
         (object->address != address || (any ? object->kind >= KW_KIND_HOST : object->kind != kind))) {
    object = object->next;
  }
  return object;
}

kw_object *kw_object_find(kw_kind kind, const void *address) {
  kw_object *object = address != NULL ? find(kind, address) : NULL;
  return object != NULL && object->lives && object->kind == kind ? object : NULL;
}

static void take_out(kw_object *object) {
  kw_object **at = bucket_of(object->address);
  while (*at != NULL && *at != object) at = &(*at)->next;
  if (*at != NULL) *at = object->next;
}

/* Frees the oldest ended objects past the limit; those that a call still uses later. */
static void forget_oldest(void) {
  while (ended_count > REMEMBERED && first_ended->users == 0) {
    kw_object *object = first_ended;
    first_ended = object->later;
    if (first_ended == NULL) last_ended = NULL;
    ended_count--;
    object->queued = false;
    if (object->lives) continue; /* revived: it is in the table */
    take_out(object);
    free(object->order);
    free(object);
  }
}

static void remember_ended(kw_object *object) {
  object->lives = false;
  object->ended = now != NULL ? now->place : NULL;
  if (object->queued) return;
  object->queued = true;
  object->later = NULL;
  *(last_ended != NULL ? &last_ended->later : &first_ended) = object;
  last_ended = object;
  ended_count++;
  forget_oldest();
}

static kw_object *keeper(const kw_object *object) {
  return object->kind != KW_KIND_DEVICE && !object->borrowed ? object->device : NULL;
}

/* A device has ended when it was closed as often as opened, and nothing keeps it; its default stream and generator with
 * it. */
static void end_device_if_free(kw_object *device) {
  if (device->refs > 0 || device->children > 0 || !device->lives) return;
  remember_ended(device);
  for (uint32_t i = 0; i < BUCKETS; i++) {
    for (kw_object *object = buckets[i]; object != NULL; object = object->next) {
      if (object->lives && object->borrowed && object->device == device) remember_ended(object);
    }
  }
}

static void end_object(kw_object *object) {
  kw_object *device = keeper(object);
  if (object->kind == KW_KIND_DEVICE) {
    end_device_if_free(object);
    return;
  }
  remember_ended(object);
  if (device == NULL) return;
  device->children--;
  end_device_if_free(device);
}

/* ---- Using ------------------------------------------------------------------------------------------------------- */

void kw_checked_begin(kw_checked_call *call) {
  call->around = now;
  now = call;
}

void kw_checked_end(kw_checked_call *call) {
  now = call->around;
  if (call->used_count == 0) return;
  kw_objects_lock();
  for (uint32_t i = 0; i < call->used_count; i++) call->used[i]->users--;
  kw_objects_unlock();
}

bool kw_checked_suspect(const char *id) {
  if (now->suspect == NULL) now->suspect = id;
  return true;
}

void kw_checked_judge(const kw_checked_call *call, const kw_status *status) {
  char here[KW_PLACE_SIZE];
  if (call->suspect == NULL || status == NULL) return;
  if (*status != KW_OK) {
    kw_wrap(*status, "validation: %s", call->suspect);
  } else {
    kw_misuse_note(call->suspect, "%s at %s: the library let it pass", call->function, kw_place(call->place, here));
  }
}

/* What is wrong with an address as an object of this kind. */
static void refuse(const kw_checked_call *call, const char *argument, kw_kind kind, const void *address,
                   const kw_object *found) {
  char id[48], here[KW_PLACE_SIZE], begun[KW_PLACE_SIZE], ended[KW_PLACE_SIZE];
  const char *expected = kw_kind_name(kind), *place = kw_place(call->place, here);
  const bool result = strncmp(argument, KW_RESULTS_ARGUMENT, sizeof KW_RESULTS_ARGUMENT - 1) == 0;
  const char *next = result ? "; set it to NULL, and the call makes one" : "";
  if (found == NULL) {
    snprintf(id, sizeof id, "%s-foreign", expected);
    kw_misuse(id, "%s at %s: argument %s: %p is no %s that this library has given out%s", call->function, place,
              argument, address, expected, next);
  } else if (found->kind != kind) {
    snprintf(id, sizeof id, "%s-expected", expected);
    kw_misuse(id, "%s at %s: argument %s: a %s stands where a %s is expected; it was made at %s", call->function, place,
              argument, kw_kind_name(found->kind), expected, kw_place(found->begun, begun));
  } else {
    snprintf(id, sizeof id, "%s-ended", expected);
    kw_misuse(id, "%s at %s: argument %s: the %s has ended, at %s; it was made at %s%s", call->function, place,
              argument, expected, kw_place(found->ended, ended), kw_place(found->begun, begun), next);
  }
}

bool kw_object_use(kw_checked_call *call, const char *argument, kw_kind kind, const void *address) {
  kw_objects_lock();
  kw_object *object = find(kind, address);
  const bool good = object != NULL && object->kind == kind && object->lives;
  const kw_object told = object != NULL ? *object : (kw_object){0};
  if (good && call->used_count < sizeof call->used / sizeof call->used[0]) {
    call->used[call->used_count++] = object;
    object->users++;
  }
  kw_objects_unlock();
  if (!good) refuse(call, argument, kind, address, object != NULL ? &told : NULL);
  return good;
}

/* ---- Beginnings and ends ----------------------------------------------------------------------------------------- */

void kw_object_begin(kw_kind kind, const void *address, const void *of_device, bool borrowed) {
  if (address == NULL) return;
  kw_objects_lock();
  kw_object *object = find(kind, address);
  if (object == NULL || !object->lives) {
    kw_object *made = calloc(1, sizeof *made);
    if (made != NULL) {
      if (object != NULL) take_out(object);
      *made = (kw_object){.address = address, .kind = kind, .lives = true, .borrowed = borrowed};
      made->begun = now != NULL ? now->place : NULL;
      made->device = kind != KW_KIND_DEVICE && of_device != NULL ? find(KW_KIND_DEVICE, of_device) : NULL;
      if (keeper(made) != NULL) keeper(made)->children++;
      made->next = *bucket_of(address);
      *bucket_of(address) = made;
    }
    object = made;
  }
  if (object != NULL && !borrowed) object->refs++;
  kw_objects_unlock();
}

/* Under the lock: which rule giving it back breaks, or NULL. */
static const char *fault_of_giving(const kw_object *object, kw_kind kind) {
  if (object == NULL || object->kind != kind) return "foreign";
  if (!object->lives || (object->refs == 0 && !object->borrowed)) return "ended-twice";
  return object->users > 0 && object->refs == 1 && kind != KW_KIND_DEVICE ? "ended-while-used" : NULL;
}

bool kw_object_give(kw_kind kind, const void *address, bool *out_last) {
  char id[48], here[KW_PLACE_SIZE], begun[KW_PLACE_SIZE], ended[KW_PLACE_SIZE];
  *out_last = false;
  kw_objects_lock();
  kw_object *object = find(kind, address);
  const char *fault = fault_of_giving(object, kind);
  const kw_object told = object != NULL ? *object : (kw_object){0};
  if (fault == NULL && object->refs > 0) {
    *out_last = --object->refs == 0;
    if (*out_last) end_object(object);
  }
  kw_objects_unlock();
  if (fault == NULL) return true;
  snprintf(id, sizeof id, "%s-%s", kw_kind_name(kind), fault);
  if (object == NULL || object->kind != kind) {
    refuse(now, kw_kind_name(kind), kind, address, object != NULL ? &told : NULL);
  } else if (strcmp(fault, "ended-twice") == 0) {
    kw_misuse(id, "%s at %s: the %s has ended before, at %s; it was made at %s", now->function,
              kw_place(now->place, here), kw_kind_name(kind), kw_place(told.ended, ended), kw_place(told.begun, begun));
  } else {
    kw_misuse(id, "%s at %s: the %s ends while another thread uses it; it was made at %s", now->function,
              kw_place(now->place, here), kw_kind_name(kind), kw_place(told.begun, begun));
  }
  return false;
}

void kw_object_revive(kw_kind kind, const void *address) {
  kw_objects_lock();
  kw_object *object = find(kind, address);
  if (object != NULL && object->refs == 0) {
    object->refs = 1;
    if (!object->lives && keeper(object) != NULL) keeper(object)->children++;
    object->lives = true;
  }
  kw_objects_unlock();
}

/* ---- Leaks ------------------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
  const kw_object *x = *(kw_object *const *)a, *y = *(kw_object *const *)b;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  return (uintptr_t)x->begun < (uintptr_t)y->begun ? -1 : (uintptr_t)x->begun > (uintptr_t)y->begun;
}

void kw_objects_report_leaks(void) {
  char id[48], begun[KW_PLACE_SIZE];
  kw_objects_lock();
  uint32_t count = 0, at = 0;
  for (uint32_t i = 0; i < BUCKETS; i++) {
    for (const kw_object *object = buckets[i]; object != NULL; object = object->next) count += object->lives;
  }
  kw_object **left = calloc((size_t)count + 1, sizeof *left);
  for (uint32_t i = 0; i < BUCKETS && left != NULL; i++) {
    for (kw_object *object = buckets[i]; object != NULL; object = object->next) {
      if (object->lives && object->refs > 0) left[at++] = object;
    }
  }
  kw_objects_unlock();
  if (left == NULL) return;
  qsort(left, at, sizeof *left, by_place);
  for (uint32_t i = 0, end; i < at; i = end) {
    end = i + 1;
    while (end < at && by_place(&left[i], &left[end]) == 0) end++;
    snprintf(id, sizeof id, "%s-leaked", kw_kind_name(left[i]->kind));
    kw_misuse_note(id, "%u made at %s and not given back until the process ends", end - i,
                   kw_place(left[i]->begun, begun));
  }
  free(left);
}
