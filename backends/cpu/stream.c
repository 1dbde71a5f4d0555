/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: a worker thread, from the first task on, and an ordered queue each; the default stream has neither.
 */
#include "cpu.h"
#include "wait.h"

#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK (256u << 10) /* at least: KW_THREAD_STACK of keyway.h */

void kw_cpu_stream_submit(kw_cpu_stream *stream, kw_cpu_task *task) {
  pthread_mutex_lock(&stream->lock);
  if (stream->last) {
    stream->last->next = task;
  } else {
    stream->first = task;
  }
  stream->last = task;
  stream->submitted++;
  pthread_cond_signal(&stream->arrived);
  pthread_mutex_unlock(&stream->lock);
}

static void report(kw_cpu_stream *stream, uint64_t call_id, kw_status status) {
  const kw_host_api *host = stream->device->host;
  char text[64];
  snprintf(text, sizeof text, "the kernel %s", kw_cpu_kernel_fault(status));
  host->report_async_error(host->ctx, stream->token, call_id, status, text);
}

/* Runs tasks in order until the stream is destroyed and its queue empty. */
static void *work(void *stream_pointer) {
  kw_cpu_stream *stream = stream_pointer;
  fesetenv(FE_DFL_ENV); /* not what the thread that created the stream has set */
  pthread_mutex_lock(&stream->lock);
  for (;;) {
    while (!stream->first && !stream->stopping) pthread_cond_wait(&stream->arrived, &stream->lock);
    kw_cpu_task *task = stream->first;
    if (!task) break;
    stream->first = task->next;
    if (!stream->first) stream->last = NULL;
    pthread_mutex_unlock(&stream->lock);

    kw_status status = task->run(stream, task);
    if (status != KW_OK) report(stream, task->call_id, status);
    free(task);

    pthread_mutex_lock(&stream->lock);
    stream->finished++;
    pthread_cond_broadcast(&stream->advanced);
  }
  pthread_mutex_unlock(&stream->lock);
  return NULL;
}

/* Signals belong to the application's threads: the worker blocks them all. Kernels and host functions run on it. */
static int start_worker(kw_cpu_stream *stream) {
  sigset_t all, before;
  pthread_attr_t attributes;
  size_t stack;
  int error = pthread_attr_init(&attributes);
  if (error != 0) return error;
  if (pthread_attr_getstacksize(&attributes, &stack) != 0 || stack < STACK) {
    pthread_attr_setstacksize(&attributes, STACK);
  }
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  error = pthread_create(&stream->worker, &attributes, work, stream);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return error;
}

/* A stream that only records never needs one. */
static bool has_worker(kw_cpu_stream *stream) {
  if (atomic_load_explicit(&stream->working, memory_order_relaxed)) return true;
  pthread_mutex_lock(&stream->lock);
  const int error = stream->working ? 0 : start_worker(stream);
  stream->working = error == 0;
  pthread_mutex_unlock(&stream->lock);
  if (error == 0) return true;
  kw_cpu_error(stream->device->host, KW_ERR_OUT_OF_MEMORY, "no thread for the stream: pthread_create: %s",
               strerrordesc_np(error));
  return false;
}

void *kw_cpu_task_create(kw_cpu_stream *stream, size_t size, kw_status (*run)(kw_cpu_stream *, kw_cpu_task *)) {
  if (!has_worker(stream)) return NULL;
  kw_cpu_task *task = malloc(size);
  if (!task) {
    kw_cpu_error(stream->device->host, KW_ERR_OUT_OF_MEMORY, "no host memory for a queue entry of %zu bytes", size);
    return NULL;
  }
  task->next = NULL;
  task->run = run;
  task->call_id = 0;
  return task;
}

static void release(kw_cpu_stream *stream) {
  pthread_cond_destroy(&stream->advanced);
  pthread_cond_destroy(&stream->arrived);
  pthread_mutex_destroy(&stream->lock);
  free(stream);
}

static kw_status stream_create(void *device, const kw_stream_info *info, void **out_stream) {
  kw_cpu_device *cpu = device;
  kw_status status = kw_cpu_check_critical(cpu->host, info->flags, info->next);
  if (status != KW_OK) return status;
  kw_cpu_stream *stream = calloc(1, sizeof *stream);
  if (!stream) return kw_cpu_error(cpu->host, KW_ERR_OUT_OF_MEMORY, "no host memory for a stream");
  stream->device = cpu;
  stream->token = info->token;
  stream->is_default = info->flags & KW_STREAM_DEFAULT;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if (stream->is_default) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&stream->lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
  pthread_cond_init(&stream->arrived, NULL);
  kw_cpu_condition_init(&stream->advanced);
  *out_stream = stream;
  return KW_OK;
}

static kw_status stream_destroy(void *device, void *stream_pointer) {
  kw_cpu_stream *stream = stream_pointer;
  (void)device;
  if (stream->working) {
    pthread_mutex_lock(&stream->lock);
    stream->stopping = true;
    pthread_cond_signal(&stream->arrived);
    pthread_mutex_unlock(&stream->lock);
    pthread_join(stream->worker, NULL);
  }
  release(stream);
  return KW_OK;
}

static kw_status stream_synchronize(void *device, void *stream_pointer, uint64_t timeout_ns) {
  kw_cpu_stream *stream = stream_pointer;
  const kw_cpu_deadline end = kw_cpu_deadline_in(timeout_ns);
  (void)device;
  /* The default stream: work of other threads holds the lock while it runs. */
  if (!kw_cpu_lock(&stream->lock, &end)) return KW_ERR_TIMEOUT;
  const uint64_t before = stream->submitted;
  while (stream->finished < before && kw_cpu_wait(&stream->advanced, &stream->lock, &end)) continue;
  const bool passed = stream->finished >= before;
  pthread_mutex_unlock(&stream->lock);
  return passed ? KW_OK : KW_ERR_TIMEOUT;
}

static kw_status stream_query(void *device, void *stream_pointer) {
  kw_cpu_stream *stream = stream_pointer;
  (void)device;
  if (stream->is_default) {
    if (pthread_mutex_trylock(&stream->lock) != 0) return KW_ERR_NOT_READY; /* another thread is running work */
    pthread_mutex_unlock(&stream->lock);
    return KW_OK;
  }
  pthread_mutex_lock(&stream->lock);
  bool idle = stream->finished == stream->submitted;
  pthread_mutex_unlock(&stream->lock);
  return idle ? KW_OK : KW_ERR_NOT_READY;
}

typedef struct callback_task {
  kw_cpu_task task;
  uint64_t token;
} callback_task;

static kw_status run_callback(kw_cpu_stream *stream, kw_cpu_task *task) {
  const kw_host_api *host = stream->device->host;
  return host->run_callback(host->ctx, ((callback_task *)task)->token);
}

static kw_status stream_call_host(void *device, void *stream_pointer, uint64_t callback_token) {
  kw_cpu_device *cpu = device;
  kw_cpu_stream *stream = stream_pointer;
  if (stream->is_default) {
    pthread_mutex_lock(&stream->lock);
    kw_status status = cpu->host->run_callback(cpu->host->ctx, callback_token);
    pthread_mutex_unlock(&stream->lock);
    return status;
  }
  callback_task *task = kw_cpu_task_create(stream, sizeof *task, run_callback);
  if (!task) return KW_ERR_OUT_OF_MEMORY;
  task->token = callback_token;
  kw_cpu_stream_submit(stream, &task->task);
  return KW_OK;
}

const kw_stream_api kw_cpu_stream_api = {
    .struct_size = sizeof(kw_stream_api),
    .create = stream_create,
    .destroy = stream_destroy,
    .synchronize = stream_synchronize,
    .query = stream_query,
    .call_host = stream_call_host,
};
