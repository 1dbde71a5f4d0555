/* SPDX-License-Identifier: Apache-2.0
 *
 * A device's table of plans: in buckets those that calls made; all of them in lists, by whether calls made them,
 * callers own them, or they wait for their launches to end.
 */
#include "call/plan_cache.h"

#include "base/error.h"
#include "call/launch.h"
#include "device/device.h"
#include "device/late_error.h"
#include "device/wait.h"

#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* tables and bookkeeping; not held while a plugin runs */

#define BUCKETS 1024
#define MAX_PLANS 4096

struct kw_plan_table {
  pthread_mutex_t build; /* one build at a time, so that prepare runs once per signature */
  kw_plan *buckets[BUCKETS];
  uint32_t count;
  kw_plan *live;     /* plans that calls made and that have references, in a bucket or not */
  kw_plan *owned;    /* the same of plans that callers own: apart, so that counting their launches passes no others */
  kw_plan *retired;  /* plans without references, apart for the same reason: they are looked for after every build */
  uint64_t launches; /* by the own calls of plans that live no more */
};

/* Both under the lock. The flags decide on the list. */
static void link_plan(kw_plan *plan) {
  struct kw_plan_table *table = atomic_load(&plan->device->plans);
  kw_plan **head = plan->retired ? &table->retired : plan->owned ? &table->owned : &table->live;
  plan->next_of_device = *head;
  plan->link_of_device = head;
  if (*head) (*head)->link_of_device = &plan->next_of_device;
  *head = plan;
}

static void unlink_plan(kw_plan *plan) {
  if (!plan->link_of_device) return;
  *plan->link_of_device = plan->next_of_device;
  if (plan->next_of_device) plan->next_of_device->link_of_device = plan->link_of_device;
  plan->link_of_device = NULL;
}

static uint64_t count_own_calls(const kw_plan *plan) {
  return atomic_load_explicit(&plan->own_calls, memory_order_relaxed) & KW_CALL_ID_NUMBERS;
}

uint64_t kw_plan_count_launches(const kw_device *device) {
  struct kw_plan_table *table = atomic_load(&device->plans);
  if (!table) return 0;
  pthread_mutex_lock(&lock);
  uint64_t launches = table->launches;
  for (const kw_plan *plan = table->owned; plan; plan = plan->next_of_device) launches += count_own_calls(plan);
  pthread_mutex_unlock(&lock);
  return launches;
}

void kw_plan_unref(kw_plan *plan) {
  if (!plan || atomic_fetch_sub(&plan->refs, 1) != 1) return;
  pthread_mutex_lock(&lock);
  if (plan->link_of_device) atomic_load(&plan->device->plans)->launches += count_own_calls(plan);
  bool keep = plan->device && plan->link_of_device && plan->prepared;
  unlink_plan(plan);
  if (keep) {
    plan->retired = true;
    link_plan(plan);
  }
  pthread_mutex_unlock(&lock);
  if (!keep) kw_plan_free(plan);
}

/* A plan whose launches have not ended yet. */
static void retire_again(kw_plan *plan) {
  pthread_mutex_lock(&lock);
  link_plan(plan);
  pthread_mutex_unlock(&lock);
}

void kw_plan_reap(kw_device *device) {
  if (kw_stream_in_callback()) return;
  struct kw_plan_table *table = atomic_load(&device->plans);
  if (!table) return;
  kw_plan *reaped = NULL;
  pthread_mutex_lock(&lock);
  while (table->retired) {
    kw_plan *plan = table->retired;
    unlink_plan(plan);
    plan->next_in_bucket = reaped;
    reaped = plan;
  }
  pthread_mutex_unlock(&lock);
  if (!reaped) return;
  const bool passed = kw_stream_drain_all(device) == KW_OK;
  while (reaped) {
    kw_plan *next = reaped->next_in_bucket;
    if (passed) {
      kw_plan_free(reaped);
    } else {
      retire_again(reaped);
    }
    reaped = next;
  }
}

/* Drops the table's references. Returns the plans to unref outside the lock, chained by next_in_bucket. */
static kw_plan *empty_buckets(struct kw_plan_table *table) {
  kw_plan *dropped = NULL;
  for (uint32_t b = 0; b < BUCKETS; ++b) {
    while (table->buckets[b]) {
      kw_plan *plan = table->buckets[b];
      table->buckets[b] = plan->next_in_bucket;
      plan->next_in_bucket = dropped;
      dropped = plan;
    }
  }
  table->count = 0;
  return dropped;
}

static void unref_chain(kw_plan *plan) {
  while (plan) {
    kw_plan *next = plan->next_in_bucket;
    kw_plan_unref(plan);
    plan = next;
  }
}

/* Releases all that was prepared; the device has no work in flight. */
static void free_table(kw_device *device) {
  struct kw_plan_table *table = atomic_load(&device->plans);
  if (!table) return;
  kw_launch_forget_device(device);
  pthread_mutex_lock(&lock);
  kw_plan *dropped = empty_buckets(table);
  while (table->live || table->owned || table->retired) {
    /* A thread's cache may still hold the plan; it never matches again and only its memory is left to free. */
    kw_plan *plan = table->live ? table->live : table->owned ? table->owned : table->retired;
    unlink_plan(plan);
    kw_plan_release_prepared(plan);
    plan->device = NULL;
    if (plan->retired) kw_plan_free(plan);
  }
  pthread_mutex_unlock(&lock);
  unref_chain(dropped);
  pthread_mutex_destroy(&table->build);
  free(table);
  atomic_store(&device->plans, NULL);
}

/* The device's table, made for its first plan; NULL without memory. */
static struct kw_plan_table *obtain_table(kw_device *device) {
  struct kw_plan_table *table = atomic_load(&device->plans);
  if (table) return table;
  pthread_mutex_lock(&lock);
  table = atomic_load(&device->plans);
  if (!table && (table = calloc(1, sizeof *table))) {
    pthread_mutex_init(&table->build, NULL);
    device->free_plan_table = free_table;
    atomic_store(&device->plans, table);
  }
  pthread_mutex_unlock(&lock);
  if (!table) kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for the plan table of %s", device->name);
  return table;
}

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

static uint64_t request_hash(const kw_request *request) {
  uint64_t hash = mix(request->op->id, request->arg_count);
  for (uint32_t i = 0; i < request->arg_count; ++i) {
    const kw_value *value = &request->args[i];
    hash = mix(hash, kw_value_head(value));
    if (value->tag == KW_TAG_TENSOR) {
      hash = mix(hash, kw_value_as_tensor(value)->fingerprint.low);
    } else if (value->tag == KW_TAG_INT || value->tag == KW_TAG_FLOAT ||
               (value->tag == KW_TAG_SCALAR && value->kind != KW_SCALAR_BOOL)) {
      hash = mix(hash, (uint64_t)value->u.i);
    } else if (value->tag == KW_TAG_INT_LIST) {
      for (uint32_t k = 0; k < value->count; ++k) hash = mix(hash, (uint64_t)value->u.ints[k]);
    } else if (value->tag == KW_TAG_TENSOR_LIST) {
      for (uint32_t k = 0; k < value->count; ++k) {
        const kw_tensor *entry = kw_value_entry(value, k);
        hash = mix(hash, entry ? entry->fingerprint.low : 0);
      }
    }
  }
  return hash;
}

static kw_plan *find_plan(struct kw_plan_table *table, uint64_t hash, const kw_request *request) {
  pthread_mutex_lock(&lock);
  kw_plan *plan = table->buckets[hash % BUCKETS];
  while (plan && !(plan->hash == hash && kw_plan_matches(plan, request))) plan = plan->next_in_bucket;
  if (plan) atomic_fetch_add(&plan->refs, 1);
  pthread_mutex_unlock(&lock);
  return plan;
}

kw_status kw_plan_obtain(const kw_request *request, kw_plan **out_plan) {
  struct kw_plan_table *table = obtain_table(request->device);
  if (!table) return KW_ERR_OUT_OF_MEMORY;
  uint64_t hash = request_hash(request);
  if ((*out_plan = find_plan(table, hash, request))) return KW_OK;
  pthread_mutex_lock(&table->build);
  kw_status status = KW_OK;
  kw_plan *dropped = NULL;
  kw_plan *plan = find_plan(table, hash, request); /* another thread may have been faster */
  if (!plan) {
    status = kw_plan_build(request, &plan);
    if (status == KW_OK) {
      plan->hash = hash;
      pthread_mutex_lock(&lock);
      if (table->count == MAX_PLANS) dropped = empty_buckets(table);
      plan->next_in_bucket = table->buckets[hash % BUCKETS];
      table->buckets[hash % BUCKETS] = plan;
      table->count++;
      atomic_fetch_add(&plan->refs, 1);
      link_plan(plan);
      pthread_mutex_unlock(&lock);
    }
  }
  pthread_mutex_unlock(&table->build);
  unref_chain(dropped);
  kw_plan_reap(request->device);
  *out_plan = plan;
  return status;
}

kw_status kw_plan_own(const kw_request *request, kw_plan **out_plan) {
  struct kw_plan_table *table = obtain_table(request->device);
  if (!table) return KW_ERR_OUT_OF_MEMORY;
  pthread_mutex_lock(&table->build);
  kw_status status = kw_plan_build(request, out_plan);
  pthread_mutex_unlock(&table->build);
  if (status != KW_OK) return status;
  pthread_mutex_lock(&lock);
  (*out_plan)->owned = true;
  link_plan(*out_plan);
  pthread_mutex_unlock(&lock);
  return KW_OK;
}
