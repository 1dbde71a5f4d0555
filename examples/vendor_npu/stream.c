/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: an ordered queue of commands and a worker thread that plays the device's command processor. The default
 * stream has one too: nothing here ever runs on the thread that enqueued it. With a real driver a stream is the
 * driver's queue, and this file shrinks to calls into it.
 */
#include "npu.h"

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef enum command_kind { COMMAND_COPY, COMMAND_TASK, COMMAND_CALLBACK } command_kind;

typedef struct command {
  struct command *next;
  command_kind kind;
  union {
    struct {
      void *destination;
      const void *source;
      uint64_t size;
    } copy;
    npu_task task;
    uint64_t callback_token;
  } u;
} command;

struct npu_stream {
  npu_device *device;
  uint64_t token;
  pthread_t worker;

  pthread_mutex_t lock; /* everything below */
  pthread_cond_t changed;
  command *first, **last; /* waiting, in order */
  command *entries;       /* queue_depth of them: with no more waiting, a stream allocates nothing */
  command *spare;         /* those of them that do not wait */
  uint64_t enqueued, finished;
  bool ending;
};

/* ---- The worker ------------------------------------------------------------------------------------------------- */

/* An error after its slot returned KW_OK. */
static void report_late(npu_stream *stream, uint64_t call_id, kw_status status, const char *message) {
  const kw_host_api *host = stream->device->host;
  host->report_async_error(host->ctx, stream->token, call_id, status, message);
}

static void execute(npu_stream *stream, command *work) {
  const kw_host_api *host = stream->device->host;
  npu_order_pass(&stream->device->order);
  npu_activity *activity = stream->device->activity;
  uint64_t begin = npu_activity_begin(activity);
  switch (work->kind) {
    case COMMAND_COPY:
      memcpy(work->u.copy.destination, work->u.copy.source, work->u.copy.size);
      npu_activity_end(activity, KW_ACTIVITY_COPY, 0, stream->token, begin);
      break;
    case COMMAND_TASK: {
      char message[160];
      kw_status status = work->u.task.ordered;
      if (status == KW_OK) {
        status = npu_task_run(stream->device->arena, &work->u.task, message, sizeof message);
      } else {
        snprintf(message, sizeof message, "a test has ordered this launch to fail");
      }
      npu_activity_end(activity, KW_ACTIVITY_LAUNCH, work->u.task.call_id, stream->token, begin);
      if (status != KW_OK) {
        report_late(stream, work->u.task.call_id, status, message);
      }
      break;
    }
    case COMMAND_CALLBACK: {
      kw_status status = host->run_callback(host->ctx, work->u.callback_token);
      if (status != KW_OK) {
        report_late(stream, 0, status, "the host refused to run a callback");
      }
      break;
    }
  }
}

/* An entry of the stream's own can be used again; the others came from the heap. Call with the lock held. */
static void command_done(npu_stream *stream, command *work) {
  if (work < stream->entries || work >= stream->entries + stream->device->queue_depth) {
    free(work);
    return;
  }
  work->next = stream->spare;
  stream->spare = work;
}

static void *worker_main(void *stream_ptr) {
  npu_stream *stream = stream_ptr;
  fesetenv(FE_DFL_ENV); /* a new thread has that of the one that created it, whatever it is */
  pthread_mutex_lock(&stream->lock);
  for (;;) {
    while (stream->first == NULL && !stream->ending) {
      pthread_cond_wait(&stream->changed, &stream->lock);
    }
    command *work = stream->first;
    if (work == NULL) {
      break; /* ending, and everything enqueued before is done */
    }
    stream->first = work->next;
    if (stream->first == NULL) {
      stream->last = &stream->first;
    }
    pthread_mutex_unlock(&stream->lock);

    execute(stream, work);

    pthread_mutex_lock(&stream->lock);
    command_done(stream, work);
    ++stream->finished;
    pthread_cond_broadcast(&stream->changed);
  }
  pthread_mutex_unlock(&stream->lock);
  return NULL;
}

/* The application's signals belong to the application's threads: a plugin's thread takes none. */
static int start_worker(npu_stream *stream) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&stream->worker, NULL, worker_main, stream);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

/* ---- Enqueueing ------------------------------------------------------------------------------------------------- */

/* A command to fill in, or NULL. */
static command *command_get(npu_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  command *work = stream->spare;
  if (work != NULL) {
    stream->spare = work->next;
  }
  pthread_mutex_unlock(&stream->lock);
  return work != NULL ? work : malloc(sizeof *work);
}

static kw_status command_put(npu_stream *stream, command *work) {
  work->next = NULL;
  pthread_mutex_lock(&stream->lock);
  *stream->last = work;
  stream->last = &work->next;
  ++stream->enqueued;
  pthread_cond_broadcast(&stream->changed);
  pthread_mutex_unlock(&stream->lock);
  return KW_OK;
}

static kw_status no_command(const npu_stream *stream) {
  return npu_fail(stream->device->host, KW_ERR_OUT_OF_MEMORY, "no host memory for a queue entry (%zu bytes)",
                  sizeof(command));
}

kw_status npu_stream_enqueue_copy(npu_stream *stream, void *destination, const void *source, uint64_t size) {
  command *work = command_get(stream);
  if (work == NULL) {
    return no_command(stream);
  }
  work->kind = COMMAND_COPY;
  work->u.copy.destination = destination;
  work->u.copy.source = source;
  work->u.copy.size = size;
  return command_put(stream, work);
}

kw_status npu_stream_enqueue_task(npu_stream *stream, const npu_task *task) {
  command *work = command_get(stream);
  if (work == NULL) {
    return no_command(stream);
  }
  work->kind = COMMAND_TASK;
  work->u.task = *task;
  npu_order *order = &stream->device->order;
  work->u.task.ordered = npu_order_due(order, KW_FAULT_LATE)   ? KW_ERR_INTERNAL
                         : npu_order_due(order, KW_FAULT_LOSE) ? KW_ERR_DEVICE_LOST
                                                               : KW_OK;
  return command_put(stream, work);
}

/* ---- The slots -------------------------------------------------------------------------------------------------- */

static kw_status npu_stream_create(void *device_ptr, const kw_stream_info *info, void **out_stream) {
  npu_device *device = device_ptr;
  kw_status status = npu_check_critical(device->host, info->flags, info->next);
  if (status != KW_OK) {
    return status;
  }
  npu_stream *stream = calloc(1, sizeof *stream);
  command *entries = calloc(device->queue_depth, sizeof *entries);
  if (stream == NULL || entries == NULL) {
    free(entries);
    free(stream);
    return npu_fail(device->host, KW_ERR_OUT_OF_MEMORY, "stream.create: no host memory for a queue of %llu commands",
                    (unsigned long long)device->queue_depth);
  }
  stream->device = device;
  stream->token = info->token;
  stream->last = &stream->first;
  stream->entries = entries;
  for (uint64_t i = 0; i < device->queue_depth; ++i) {
    command_done(stream, &entries[i]);
  }
  pthread_mutex_init(&stream->lock, NULL);
  pthread_condattr_t monotonic; /* a limit of a wait is no time of day, which somebody may set */
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&stream->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  int error = start_worker(stream);
  if (error != 0) {
    pthread_cond_destroy(&stream->changed);
    pthread_mutex_destroy(&stream->lock);
    free(entries);
    free(stream);
    return npu_fail(device->host, KW_ERR_OUT_OF_MEMORY, "stream.create: pthread_create failed with error %d (%s)",
                    error, strerror(error));
  }
  *out_stream = stream;
  return KW_OK;
}

static kw_status npu_stream_destroy(void *device, void *stream_ptr) {
  (void)device;
  npu_stream *stream = stream_ptr;
  pthread_mutex_lock(&stream->lock);
  stream->ending = true;
  pthread_cond_broadcast(&stream->changed);
  pthread_mutex_unlock(&stream->lock);
  pthread_join(stream->worker, NULL); /* it finishes what was enqueued */
  pthread_cond_destroy(&stream->changed);
  pthread_mutex_destroy(&stream->lock);
  free(stream->entries);
  free(stream);
  return KW_OK;
}

/* When a wait that begins now ends. Not for KW_WAIT_FOREVER. */
static struct timespec deadline_in(uint64_t timeout_ns) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  uint64_t ns = (uint64_t)end.tv_nsec + timeout_ns % 1000000000u;
  end.tv_sec += (time_t)(timeout_ns / 1000000000u + ns / 1000000000u);
  end.tv_nsec = (long)(ns % 1000000000u);
  return end;
}

static kw_status npu_stream_synchronize(void *device_ptr, void *stream_ptr, uint64_t timeout_ns) {
  npu_device *device = device_ptr;
  npu_stream *stream = stream_ptr;
  if (pthread_equal(pthread_self(), stream->worker)) {
    return npu_fail(device->host, KW_ERR_BUSY,
                    "stream.synchronize: called from a callback of the same stream, which "
                    "would wait for itself");
  }
  bool forever = timeout_ns == KW_WAIT_FOREVER, late = false;
  struct timespec end = deadline_in(forever ? 0 : timeout_ns);
  pthread_mutex_lock(&stream->lock);
  uint64_t target = stream->enqueued; /* what is enqueued meanwhile is not waited for */
  while (stream->finished < target && !late) {
    late = forever ? pthread_cond_wait(&stream->changed, &stream->lock) != 0
                   : pthread_cond_timedwait(&stream->changed, &stream->lock, &end) == ETIMEDOUT;
  }
  kw_status status = stream->finished >= target ? KW_OK : KW_ERR_TIMEOUT; /* the queue goes on all the same */
  pthread_mutex_unlock(&stream->lock);
  return status;
}

static kw_status npu_stream_query(void *device, void *stream_ptr) {
  (void)device;
  npu_stream *stream = stream_ptr;
  pthread_mutex_lock(&stream->lock);
  bool idle = stream->finished == stream->enqueued;
  pthread_mutex_unlock(&stream->lock);
  return idle ? KW_OK : KW_ERR_NOT_READY;
}

static kw_status npu_stream_call_host(void *device, void *stream_ptr, uint64_t callback_token) {
  (void)device;
  npu_stream *stream = stream_ptr;
  command *work = command_get(stream);
  if (work == NULL) {
    return no_command(stream);
  }
  work->kind = COMMAND_CALLBACK;
  work->u.callback_token = callback_token;
  return command_put(stream, work);
}

const kw_stream_api npu_stream_api = {
    .struct_size = sizeof(kw_stream_api),
    .create = npu_stream_create,
    .destroy = npu_stream_destroy,
    .synchronize = npu_stream_synchronize,
    .query = npu_stream_query,
    .call_host = npu_stream_call_host,
};
