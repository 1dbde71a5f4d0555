/* SPDX-License-Identifier: Apache-2.0
 *
 * Queues and events. One lock guards them all: tasks are long next to what happens under it.
 */
#include "internal.h"

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct entry {
  struct entry *next;
  uint64_t failing;      /* a launch that is to fail while it runs: its number; otherwise 0 */
  kw_engine_order order; /* or what a test has ordered of it */
  kw_engine_task task;
} entry;

struct kw_engine_queue {
  kw_engine_queue *next; /* of all */
  uint64_t number;       /* no queue has it again */
  kw_engine_device *device;
  uint64_t losses; /* of the device, as the queue was created */
  kw_engine_team *team;
  pthread_t thread;
  pthread_cond_t work;
  entry *first, **end;
  uint64_t given, done; /* tasks so far; equal: it is idle */
  uint32_t waiters;
  bool stop;
  kw_engine_status failure; /* not yet given to the host */
  char message[256];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed; /* an event passed, a queue that is waited for did a task */
static pthread_once_t changed_once = PTHREAD_ONCE_INIT;
static kw_engine_queue *queues;
static _Atomic uint64_t launches;

/* Time-outs are on the monotonic clock. */
static void make_condition(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
}

static void make_changed(void) {
  make_condition(&changed);
}

uint64_t kw_engine_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t kw_engine_launch_count(void) {
  return launches;
}

/* At the end of the process, for scripts/emulated.sh to add up. */
__attribute__((destructor)) static void write_count(void) {
  const char *path = getenv("KEYWAY_ENGINE_COUNT");
  FILE *file = path && launches > 0 ? fopen(path, "ae") : NULL;
  if (!file) return;
  fprintf(file, "%llu\n", (unsigned long long)launches);
  fclose(file);
}

/* A point in time for wait_until. */
static uint64_t deadline(uint64_t timeout_ns) {
  uint64_t now = kw_engine_now_ns();
  return timeout_ns > UINT64_MAX - now ? KW_ENGINE_FOREVER : now + timeout_ns;
}

/* Until something has changed, under the lock. False: it is too late. */
static bool wait_until(uint64_t end_ns) {
  if (end_ns == KW_ENGINE_FOREVER) return pthread_cond_wait(&changed, &lock) == 0;
  struct timespec end = {.tv_sec = (time_t)(end_ns / 1000000000u), .tv_nsec = (long)(end_ns % 1000000000u)};
  return pthread_cond_timedwait(&changed, &lock, &end) != ETIMEDOUT;
}

static bool is_lost(const kw_engine_queue *queue) {
  return kw_engine_device_losses(queue->device) != queue->losses;
}

static kw_engine_status fail_lost(void) {
  return kw_engine_fail(KW_ENGINE_LOST, "the device was lost");
}

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

static void fill(unsigned char *to, size_t size, const unsigned char *pattern, size_t pattern_size) {
  if (pattern_size == 1) {
    memset(to, pattern[0], size);
    return;
  }
  for (size_t at = 0; at < size; at += pattern_size) memcpy(to + at, pattern, pattern_size);
}

static void lose(kw_engine_device *device) {
  pthread_mutex_lock(&lock);
  kw_engine_device_lose(device);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static kw_engine_status run_launch(kw_engine_queue *queue, const entry *running) {
  const char *name = running->task.u.launch.kernel->name;
  if (running->failing)
    return kw_engine_fail(KW_ENGINE_FAILED, "injected: launch %llu, of %s, fails on the device",
                          (unsigned long long)running->failing, name);
  if (running->order == KW_ENGINE_ORDER_LATE)
    return kw_engine_fail(KW_ENGINE_FAILED, "injected: a test has ordered this launch, of %s, to fail", name);
  if (running->order == KW_ENGINE_ORDER_LOSE) {
    lose(queue->device);
    return kw_engine_fail(KW_ENGINE_LOST, "injected: a test has ordered the device to be lost, at a launch of %s",
                          name);
  }
  return kw_engine_team_run(queue->team, &running->task.u.launch);
}

static bool works(const kw_engine_task *task) {
  return task->kind == KW_ENGINE_LAUNCH || task->kind == KW_ENGINE_COPY || task->kind == KW_ENGINE_FILL;
}

/* Without the lock; a wait takes it. */
static kw_engine_status run_task(kw_engine_queue *queue, const entry *running, bool skip) {
  const kw_engine_task *task = &running->task;
  switch (task->kind) {
    case KW_ENGINE_LAUNCH:
      if (!skip) return run_launch(queue, running);
      break;
    case KW_ENGINE_COPY:
      if (!skip) memmove(task->u.copy.to, task->u.copy.from, task->u.copy.size);
      break;
    case KW_ENGINE_FILL:
      if (!skip) fill(task->u.fill.to, task->u.fill.size, task->u.fill.pattern, task->u.fill.pattern_size);
      break;
    case KW_ENGINE_WAIT:
      pthread_mutex_lock(&lock);
      while (task->u.event.event->passed < task->u.event.value && !is_lost(queue)) pthread_cond_wait(&changed, &lock);
      pthread_mutex_unlock(&lock);
      break;
    case KW_ENGINE_RESET:
      kw_engine_event_reset(task->u.event.event);
      break;
    case KW_ENGINE_CALL:
      task->u.call.function(task->u.call.data);
      break;
    case KW_ENGINE_NOTHING:
      break;
  }
  return KW_ENGINE_OK;
}

static void signal_locked(kw_engine_event *event, uint64_t value, uint64_t failed_queue) {
  if (event->passed < value) event->passed = value;
  event->failed_queue = failed_queue;
  pthread_cond_broadcast(&changed);
}

/* What the newest launch meets before it is taken, as its number says. */
static kw_engine_status launch_fault(kw_engine_queue *queue, uint64_t number) {
  if (kw_engine_fault_is_due(KW_ENGINE_FAULT_LOST, number)) {
    lose(queue->device);
    return kw_engine_fail(KW_ENGINE_LOST, "injected: the device is lost at launch %llu", (unsigned long long)number);
  }
  if (kw_engine_fault_is_due(KW_ENGINE_FAULT_LAUNCH, number))
    return kw_engine_fail(KW_ENGINE_REFUSED, "injected: launch %llu is refused", (unsigned long long)number);
  return KW_ENGINE_OK;
}

/* What a test has ordered of the launch at hand. */
static kw_engine_order ordered(kw_engine_device *device) {
  static const kw_engine_order orders[] = {KW_ENGINE_ORDER_LATE, KW_ENGINE_ORDER_LOSE};
  for (int i = 0; i < 2; ++i)
    if (kw_engine_order_is_due(device, orders[i])) return orders[i];
  return KW_ENGINE_ORDER_NONE;
}

static void *queue_main(void *argument) {
  kw_engine_queue *queue = argument;
  fesetenv(FE_DFL_ENV); /* not what the thread that asked for it has set */
  pthread_mutex_lock(&lock);
  for (;;) {
    entry *next = queue->first;
    if (!next) {
      if (queue->stop) break;
      pthread_cond_wait(&queue->work, &lock);
      continue;
    }
    queue->first = next->next;
    if (!queue->first) queue->end = &queue->first;
    if (is_lost(queue)) queue->failure = KW_ENGINE_LOST;
    bool skip = queue->failure != KW_ENGINE_OK;
    pthread_mutex_unlock(&lock);
    kw_engine_order_pass(queue->device, works(&next->task));
    const uint64_t begin = kw_engine_now_ns();
    kw_engine_status status = run_task(queue, next, skip);
    const uint64_t end = kw_engine_now_ns();
    pthread_mutex_lock(&lock);
    if (status != KW_ENGINE_OK) {
      queue->failure = status;
      strncpy(queue->message, kw_engine_message(), sizeof queue->message - 1);
    }
    kw_engine_event *event = next->task.signal;
    if (event) {
      event->begin_ns = begin;
      event->end_ns = end;
      signal_locked(event, next->task.signal_value, queue->failure != KW_ENGINE_OK ? queue->number : 0);
    }
    free(next);
    ++queue->done;
    if (queue->waiters > 0) pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

/* ---- Queues ------------------------------------------------------------------------------------------------------ */

kw_engine_status kw_engine_queue_create(kw_engine_device *device, kw_engine_queue **out_queue) {
  static uint64_t last_number;
  pthread_once(&changed_once, make_changed);
  kw_engine_queue *queue = calloc(1, sizeof *queue);
  if (queue) queue->team = kw_engine_team_create();
  if (!queue || !queue->team) {
    free(queue);
    return kw_engine_fail(KW_ENGINE_OUT_OF_MEMORY, "no host memory for a queue");
  }
  queue->device = device;
  queue->losses = kw_engine_device_losses(device);
  queue->end = &queue->first;
  pthread_cond_init(&queue->work, NULL);
  if (pthread_create(&queue->thread, NULL, queue_main, queue) != 0) {
    pthread_cond_destroy(&queue->work);
    kw_engine_team_destroy(queue->team);
    free(queue);
    return kw_engine_fail(KW_ENGINE_OUT_OF_MEMORY, "no thread for a queue");
  }
  pthread_mutex_lock(&lock);
  queue->number = ++last_number;
  queue->next = queues;
  queues = queue;
  pthread_mutex_unlock(&lock);
  *out_queue = queue;
  return KW_ENGINE_OK;
}

void kw_engine_queue_destroy(kw_engine_queue *queue) {
  pthread_mutex_lock(&lock);
  queue->stop = true;
  pthread_cond_signal(&queue->work);
  pthread_mutex_unlock(&lock);
  pthread_join(queue->thread, NULL);
  pthread_mutex_lock(&lock);
  kw_engine_queue **link = &queues;
  while (*link != queue) link = &(*link)->next;
  *link = queue->next;
  pthread_mutex_unlock(&lock);
  pthread_cond_destroy(&queue->work);
  kw_engine_team_destroy(queue->team);
  free(queue);
}

kw_engine_status kw_engine_queue_push(kw_engine_queue *queue, const kw_engine_task *task) {
  if (is_lost(queue)) return fail_lost();
  uint64_t number = 0;
  if (task->kind == KW_ENGINE_LAUNCH) {
    number = ++launches;
    kw_engine_status status = launch_fault(queue, number);
    if (status != KW_ENGINE_OK) return status;
  }
  entry *added = malloc(sizeof *added);
  if (!added) return kw_engine_fail(KW_ENGINE_OUT_OF_MEMORY, "no host memory for a task");
  *added = (entry){.task = *task, .order = number > 0 ? ordered(queue->device) : KW_ENGINE_ORDER_NONE};
  if (number > 0 && kw_engine_fault_is_due(KW_ENGINE_FAULT_LATE, number)) added->failing = number;
  pthread_mutex_lock(&lock);
  *queue->end = added;
  queue->end = &added->next;
  ++queue->given;
  pthread_cond_signal(&queue->work);
  pthread_mutex_unlock(&lock);
  return KW_ENGINE_OK;
}

/* Gives the queue's failure to the host, under the lock. */
static kw_engine_status take_failure(kw_engine_queue *queue) {
  if (is_lost(queue)) return fail_lost();
  kw_engine_status status = queue->failure;
  queue->failure = KW_ENGINE_OK;
  return status == KW_ENGINE_OK ? status : kw_engine_fail(status, "%s", queue->message);
}

kw_engine_status kw_engine_queue_wait(kw_engine_queue *queue, uint64_t timeout_ns) {
  const uint64_t end = deadline(timeout_ns);
  bool in_time = true;
  pthread_mutex_lock(&lock);
  const uint64_t last = queue->given; /* what comes later is not waited for */
  ++queue->waiters;
  while (queue->done < last && in_time) in_time = wait_until(end);
  --queue->waiters;
  kw_engine_status status = queue->done < last ? KW_ENGINE_NOT_READY : take_failure(queue);
  pthread_mutex_unlock(&lock);
  return status;
}

kw_engine_status kw_engine_queue_failure(kw_engine_queue *queue) {
  pthread_mutex_lock(&lock);
  kw_engine_status status = take_failure(queue);
  pthread_mutex_unlock(&lock);
  return status;
}

bool kw_engine_queue_is_idle(kw_engine_queue *queue) {
  pthread_mutex_lock(&lock);
  const bool idle = queue->done == queue->given;
  pthread_mutex_unlock(&lock);
  return idle;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

kw_engine_status kw_engine_event_wait(kw_engine_event *event, uint64_t value, uint64_t timeout_ns) {
  const uint64_t end = deadline(timeout_ns);
  kw_engine_status status = KW_ENGINE_OK;
  bool in_time = true;
  pthread_once(&changed_once, make_changed);
  pthread_mutex_lock(&lock);
  while (event->passed < value && in_time) in_time = wait_until(end);
  if (event->passed < value) {
    status = KW_ENGINE_NOT_READY;
  } else if (event->failed_queue) {
    kw_engine_queue *queue = queues;
    while (queue && queue->number != event->failed_queue) queue = queue->next;
    event->failed_queue = 0;
    if (queue) status = take_failure(queue);
  }
  pthread_mutex_unlock(&lock);
  return status;
}

void kw_engine_event_signal(kw_engine_event *event, uint64_t value) {
  pthread_once(&changed_once, make_changed);
  pthread_mutex_lock(&lock);
  signal_locked(event, value, 0);
  pthread_mutex_unlock(&lock);
}

void kw_engine_event_reset(kw_engine_event *event) {
  pthread_mutex_lock(&lock);
  event->passed = 0;
  event->failed_queue = 0;
  pthread_mutex_unlock(&lock);
}

bool kw_engine_event_times(const kw_engine_event *event, uint64_t value, uint64_t *out_begin_ns, uint64_t *out_end_ns) {
  pthread_mutex_lock(&lock);
  const bool passed = event->passed >= value;
  *out_begin_ns = event->begin_ns;
  *out_end_ns = event->end_ns;
  pthread_mutex_unlock(&lock);
  return passed;
}
