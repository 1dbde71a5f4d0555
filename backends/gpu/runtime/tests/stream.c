/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams, events and graphs of the test driver.
 */
#include "driver.h"

#include <stdlib.h>
#include <time.h>

int driver_check(const void *handle, uint32_t what) {
  return handle && *(const uint32_t *)handle == what ? OK : INVALID_HANDLE;
}

int driver_check_stream(void *handle, stream **out_stream) {
  context *home;
  int error = driver_enter(&home);
  if (!error) error = driver_check(handle, STREAM);
  if (!error && ((stream *)handle)->home != home) error = INVALID_CONTEXT;
  if (!error) *out_stream = handle;
  return error;
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

static bool record(graph *to, const kw_engine_task *task) {
  if (to->count == to->capacity) {
    size_t capacity = to->capacity ? 2 * to->capacity : 16;
    kw_engine_task *tasks = realloc(to->tasks, capacity * sizeof *tasks);
    if (!tasks) return false;
    to->tasks = tasks;
    to->capacity = capacity;
  }
  to->tasks[to->count++] = *task;
  return true;
}

int driver_push(stream *to, const kw_engine_task *task) {
  pthread_mutex_lock(&to->lock);
  int error = OK;
  if (to->recording) {
    error = record(to->recording, task) ? OK : OUT_OF_MEMORY;
  } else {
    error = driver_error(to->home, kw_engine_queue_push(to->queue, task));
  }
  pthread_mutex_unlock(&to->lock);
  return error;
}

API(cuStreamCreate, hipStreamCreateWithFlags)(void **out, unsigned flags) {
  context *home;
  int error = driver_enter(&home);
  if (error) return error;
  if (flags > 1) return INVALID_VALUE;
  stream *s = calloc(1, sizeof *s);
  if (!s) return OUT_OF_MEMORY;
  error = driver_error(home, kw_engine_queue_create(home->device, &s->queue));
  if (error) {
    free(s);
    return error;
  }
  s->what = STREAM;
  s->home = home;
  pthread_mutex_init(&s->lock, NULL);
  *out = s;
  return OK;
}

/* Waits for what it has: the backends have waited before. */
API(cuStreamDestroy_v2, hipStreamDestroy)(void *handle) {
  stream *s = handle;
  if (driver_check(handle, STREAM) != OK) return INVALID_HANDLE;
  s->what = 0;
  kw_engine_queue_destroy(s->queue);
  pthread_mutex_destroy(&s->lock);
  int error = s->home->sticky;
  free(s);
  return error;
}

static int wait_for(void *handle, uint64_t ns) {
  stream *s;
  int error = driver_check_stream(handle, &s);
  if (error) return error;
  if (s->recording) return CAPTURE_UNSUPPORTED;
  return driver_error(s->home, kw_engine_queue_wait(s->queue, ns));
}

API(cuStreamSynchronize, hipStreamSynchronize)(void *s) {
  return wait_for(s, KW_ENGINE_FOREVER);
}

API(cuStreamQuery, hipStreamQuery)(void *s) {
  return wait_for(s, 0);
}

/* A number in pinned memory that the host counts up. A device looks again and again, and so does this. */
typedef struct awaited {
  _Atomic uint32_t *address;
  uint32_t value;
} awaited;

static void await_value(void *data) {
  const awaited *a = data;
  while ((int32_t)(*a->address - a->value) < 0) nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
  free(data);
}

static int wait_value(void *handle, void *address, uint32_t value, unsigned flags) {
  stream *s;
  int error = driver_check_stream(handle, &s);
  if (error) return error;
  if (flags != 0 || (uintptr_t)address % 4 != 0 || !driver_owns(s->home, address, 4, KW_ENGINE_MEMORY_HOST))
    return INVALID_VALUE;
  if (s->recording) return CAPTURE_UNSUPPORTED;
  awaited *a = malloc(sizeof *a);
  if (!a) return OUT_OF_MEMORY;
  *a = (awaited){address, value};
  kw_engine_task task = {.kind = KW_ENGINE_CALL};
  task.u.call.function = await_value;
  task.u.call.data = a;
  error = driver_push(s, &task);
  if (error) free(a);
  return error;
}

#ifdef KW_TEST_HIP
API(, hipStreamWaitValue32)(void *s, void *address, uint32_t value, unsigned flags, uint32_t mask) {
  return mask == ~0u ? wait_value(s, address, value, flags) : NOT_SUPPORTED;
}
#else
API(cuStreamWaitValue32_v2, )(void *s, uint64_t address, uint32_t value, unsigned flags) {
  return wait_value(s, (void *)(uintptr_t)address, value, flags);
}
#endif

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* One record of an event; freed when its event and every task that names it are done with it. */
typedef struct marker {
  kw_engine_event passed; /* 1 when it is */
  uint64_t users;
} marker;

typedef struct event {
  uint32_t what;
  context *home;
  bool timed;
  marker *last; /* NULL before the first record, under the lock */
} event;

static pthread_mutex_t markers_lock = PTHREAD_MUTEX_INITIALIZER;

static void leave_marker(void *data) {
  marker *m = data;
  pthread_mutex_lock(&markers_lock);
  bool unused = m && --m->users == 0;
  pthread_mutex_unlock(&markers_lock);
  if (unused) free(m);
}

/* The event's last record, for the caller to leave, or NULL. */
static marker *last_marker(event *e) {
  pthread_mutex_lock(&markers_lock);
  marker *m = e->last;
  if (m) ++m->users;
  pthread_mutex_unlock(&markers_lock);
  return m;
}

static int check_event(void *handle, event **out) {
  context *home;
  int error = driver_enter(&home);
  if (!error) error = driver_check(handle, EVENT);
  if (!error) *out = handle;
  return error;
}

API(cuEventCreate, hipEventCreateWithFlags)(void **out, unsigned flags) {
  context *home;
  int error = driver_enter(&home);
  if (error) return error;
  event *e = calloc(1, sizeof *e);
  if (!e) return OUT_OF_MEMORY;
  *e = (event){.what = EVENT, .home = home, .timed = !(flags & 2)};
  *out = e;
  return OK;
}

API(cuEventDestroy_v2, hipEventDestroy)(void *handle) {
  event *e = handle;
  if (driver_check(handle, EVENT) != OK) return INVALID_HANDLE;
  int error = e->home->sticky;
  e->what = 0;
  leave_marker(e->last);
  free(e);
  return error;
}

/* `task` names the marker, which the caller has taken for it; behind it comes its leaving. */
static int push_with(stream *s, marker *m, const kw_engine_task *task) {
  kw_engine_task leave = {.kind = KW_ENGINE_CALL};
  leave.u.call.function = leave_marker;
  leave.u.call.data = m;
  pthread_mutex_lock(&s->lock);
  kw_engine_status status = kw_engine_queue_push(s->queue, task);
  const bool taken = status == KW_ENGINE_OK;
  if (taken) status = kw_engine_queue_push(s->queue, &leave); /* lost meanwhile: it stays allocated */
  pthread_mutex_unlock(&s->lock);
  if (!taken) leave_marker(m);
  return driver_error(s->home, status);
}

API(cuEventRecord, hipEventRecord)(void *handle, void *on) {
  event *e;
  stream *s;
  int error = check_event(handle, &e);
  if (!error) error = driver_check_stream(on, &s);
  if (error) return error;
  if (e->home != s->home) return INVALID_HANDLE;
  if (s->recording) return CAPTURE_UNSUPPORTED;
  marker *m = calloc(1, sizeof *m);
  if (!m) return OUT_OF_MEMORY;
  m->users = 2; /* the event and the task */
  const kw_engine_task task = {.kind = KW_ENGINE_NOTHING, .signal = &m->passed, .signal_value = 1};
  error = push_with(s, m, &task);
  if (error) {
    leave_marker(m);
    return error;
  }
  pthread_mutex_lock(&markers_lock);
  marker *before = e->last;
  e->last = m;
  pthread_mutex_unlock(&markers_lock);
  leave_marker(before);
  return OK;
}

API(cuStreamWaitEvent, hipStreamWaitEvent)(void *on, void *handle, unsigned flags) {
  event *e;
  stream *s;
  int error = check_event(handle, &e);
  if (!error) error = driver_check_stream(on, &s);
  if (error) return error;
  if (flags != 0) return INVALID_VALUE;
  if (s->recording) return CAPTURE_UNSUPPORTED;
  marker *m = last_marker(e);
  if (!m) return OK;
  kw_engine_task task = {.kind = KW_ENGINE_WAIT};
  task.u.event.event = &m->passed;
  task.u.event.value = 1;
  return push_with(s, m, &task);
}

static int wait_event(void *handle, uint64_t ns) {
  event *e;
  int error = check_event(handle, &e);
  if (error) return error;
  marker *m = last_marker(e);
  if (m) error = driver_error(e->home, kw_engine_event_wait(&m->passed, 1, ns));
  leave_marker(m);
  return error;
}

API(cuEventQuery, hipEventQuery)(void *e) {
  return wait_event(e, 0);
}

API(cuEventSynchronize, hipEventSynchronize)(void *e) {
  return wait_event(e, KW_ENGINE_FOREVER);
}

/* When the event was passed, in nanoseconds. */
static int event_time(void *handle, uint64_t *out_ns) {
  event *e;
  uint64_t begin_ns;
  int error = check_event(handle, &e);
  marker *m = error ? NULL : last_marker(e);
  if (!error && (!e->timed || !m)) error = INVALID_HANDLE;
  if (!error) error = driver_error(e->home, kw_engine_event_wait(&m->passed, 1, 0));
  if (!error && !kw_engine_event_times(&m->passed, 1, &begin_ns, out_ns)) error = NOT_READY;
  leave_marker(m);
  return error;
}

API(cuEventElapsedTime, hipEventElapsedTime)(float *ms, void *start, void *end) {
  uint64_t from, to;
  int error = event_time(start, &from);
  if (!error) error = event_time(end, &to);
  if (!error) *ms = (float)((double)(int64_t)(to - from) * 1e-6);
  return error;
}

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

API(cuStreamBeginCapture_v2, hipStreamBeginCapture)(void *handle, int mode) {
  stream *s;
  int error = driver_check_stream(handle, &s);
  if (error) return error;
  if (mode < 0 || mode > 2 || s->recording) return INVALID_VALUE;
  s->recording = calloc(1, sizeof *s->recording);
  if (!s->recording) return OUT_OF_MEMORY;
  s->recording->what = GRAPH;
  s->recording->home = s->home;
  return OK;
}

API(cuStreamEndCapture, hipStreamEndCapture)(void *handle, void **out) {
  stream *s;
  int error = driver_check_stream(handle, &s);
  if (error) return error;
  if (!s->recording) return INVALID_VALUE;
  *out = s->recording;
  s->recording = NULL;
  return OK;
}

/* What can be launched is a graph, too. */
API(cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags)(void **out, void *handle, uint64_t flags) {
  if (driver_check(handle, GRAPH) != OK || flags != 0) return INVALID_VALUE;
  const graph *from = handle;
  graph *to = calloc(1, sizeof *to);
  if (!to) return OUT_OF_MEMORY;
  *to = (graph){.what = GRAPH, .home = from->home};
  for (size_t i = 0; i < from->count; ++i) {
    if (record(to, &from->tasks[i])) continue;
    free(to->tasks);
    free(to);
    return OUT_OF_MEMORY;
  }
  *out = to;
  return OK;
}

API(cuGraphLaunch, hipGraphLaunch)(void *handle, void *on) {
  stream *s;
  const graph *g = handle;
  int error = driver_check_stream(on, &s);
  if (!error) error = driver_check(handle, GRAPH);
  if (!error && g->home != s->home) error = INVALID_HANDLE;
  for (size_t i = 0; i < (error ? 0 : g->count) && !error; ++i) error = driver_push(s, &g->tasks[i]);
  return error;
}

API(cuGraphDestroy, hipGraphDestroy)(void *handle) {
  graph *g = handle;
  if (driver_check(handle, GRAPH) != OK) return INVALID_VALUE;
  g->what = 0;
  free(g->tasks);
  free(g);
  return OK;
}

API(cuGraphExecDestroy, hipGraphExecDestroy)(void *handle) {
  return NAME(cuGraphDestroy, hipGraphDestroy)(handle);
}
