/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiling. Each node is a range of Keyway's trace (kw_profile_push). Where a session profiles, the events of Keyway's
 * that happen for its nodes become events of ONNX Runtime's profile, too: ops and launches, as the node's thread makes
 * them, and what the device did for a launch, which is told later and knows its launch by a number.
 */
#include "profile.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct span {
  char category[8], name[56], detail[64], node[128];
  uint64_t begin_ns, end_ns, stream, call;
  int32_t thread; /* of a device's: its stream */
  bool of_device;
} span;

struct profiler {
  ort_ep_profiler slots; /* first */
  provider *provider;
  int64_t start_ns; /* of ONNX Runtime's profile, by Keyway's clock */
  pthread_mutex_t mutex;
  span *spans;
  size_t count, room;
  bool listens;
  profiler *next; /* of those that listen */
};

/* Keyway has one listener for the process. */
static profiler *listening;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;     /* of the list */
static pthread_mutex_t switching = PTHREAD_MUTEX_INITIALIZER; /* held while the listener comes or goes */

/* The node that this thread computes, where its session profiles. */
static _Thread_local struct {
  profiler *profiler;
  const char *node;
} current;

void profile_node_begin(const provider *provider, const char *node) {
  current.profiler = provider->profiler;
  current.node = node;
  kw_profile_push(node);
}

void profile_node_end(void) {
  kw_profile_pop();
  current.profiler = NULL;
}

/* ---- What happens ------------------------------------------------------------------------------------------------ */

static void add(profiler *self, const kw_trace_event *event, const char *node) {
  pthread_mutex_lock(&self->mutex);
  if (self->count == self->room) {
    const size_t room = self->room ? 2 * self->room : 256;
    span *spans = realloc(self->spans, room * sizeof *spans);
    if (spans) self->spans = spans, self->room = room;
  }
  if (self->count < self->room) { /* otherwise the profile lacks it */
    span *made = &self->spans[self->count++];
    *made = (span){.begin_ns = event->begin_ns,
                   .end_ns = event->end_ns,
                   .stream = event->stream,
                   .call = event->call,
                   .thread = event->device ? (int32_t)event->stream : gettid(),
                   .of_device = event->device != NULL};
    snprintf(made->category, sizeof made->category, "%s", event->category);
    snprintf(made->name, sizeof made->name, "%s", event->name);
    snprintf(made->detail, sizeof made->detail, "%s", event->detail ? event->detail : "");
    snprintf(made->node, sizeof made->node, "%s", node);
  }
  pthread_mutex_unlock(&self->mutex);
}

static void KW_CALL on_event(const kw_trace_event *event, void *unused) {
  (void)unused;
  if (event->device) {
    pthread_mutex_lock(&mutex);
    for (profiler *each = listening; each; each = each->next)
      if (each->provider->device == event->device) add(each, event, "");
    pthread_mutex_unlock(&mutex);
  } else if (current.profiler && strcmp(event->category, "range") != 0) {
    add(current.profiler, event, current.node);
  }
}

/* ---- For ONNX Runtime -------------------------------------------------------------------------------------------- */

static OrtStatus *start(ort_ep_profiler *slots, int64_t since_start_ns) {
  profiler *self = (profiler *)slots;
  struct timespec now;
  kw_status status = KW_OK;
  clock_gettime(CLOCK_MONOTONIC, &now);
  self->start_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - since_start_ns;
  pthread_mutex_lock(&switching);
  if (!listening) status = kw_trace_listen(on_event, NULL);
  if (status == KW_OK) {
    pthread_mutex_lock(&mutex);
    self->next = listening;
    listening = self;
    pthread_mutex_unlock(&mutex);
    self->listens = true;
    self->provider->profiler = self;
  }
  pthread_mutex_unlock(&switching);
  return kw_ort_status(status, "events for the profile");
}

static void stop_listening(profiler *self) {
  profiler **link = &listening, *expected = self;
  if (!self->listens) return;
  self->listens = false;
  atomic_compare_exchange_strong(&self->provider->profiler, &expected, NULL);
  pthread_mutex_lock(&switching);
  if (listening == self && !self->next) kw_trace_listen(NULL, NULL); /* first come events that devices still have */
  pthread_mutex_lock(&mutex);
  while (*link != self) link = &(*link)->next;
  *link = self->next;
  pthread_mutex_unlock(&mutex);
  pthread_mutex_unlock(&switching);
}

/* Launches by number and stream: a number alone is also that of a launch from before anybody listened, which each
 * stream counts for itself. Open addressing, at most half full. */
typedef struct launches {
  const span **at;
  size_t mask;
} launches;

/* Where the launch is, or would be. */
static const span **place_of(const launches *launches, const span *of) {
  size_t i = (size_t)((of->call ^ of->stream << 32) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
  for (;; ++i) {
    const span **place = &launches->at[i & launches->mask];
    if (!*place || ((*place)->call == of->call && (*place)->stream == of->stream)) return place;
  }
}

static bool find_launches(const profiler *self, launches *out_launches) {
  size_t room = 16;
  while (room < 2 * self->count) room *= 2;
  *out_launches = (launches){.at = calloc(room, sizeof *out_launches->at), .mask = room - 1};
  for (size_t i = 0; i < self->count && out_launches->at; ++i)
    if (!self->spans[i].of_device && self->spans[i].call) *place_of(out_launches, &self->spans[i]) = &self->spans[i];
  return out_launches->at != NULL;
}

/* The launch that a device's span is of. NULL: it is another session's. */
static const span *launch_of(const launches *launches, const span *of_device) {
  return of_device->call ? *place_of(launches, of_device) : NULL;
}

static OrtStatus *tell(const profiler *self, const span *span, const char *node,
                       OrtProfilingEventsContainer *container) {
  const int64_t begin_us = ((int64_t)span->begin_ns - self->start_ns) / 1000;
  const int64_t end_us = ((int64_t)span->end_ns - self->start_ns) / 1000;
  const char *const keys[] = {"node", "kind", "detail", "device", "call", "begin_ns", "duration_ns"};
  char call[24], begin[24], duration[24];
  OrtProfilingEvent *event = NULL;
  snprintf(call, sizeof call, "%" PRIu64, span->call);
  snprintf(begin, sizeof begin, "%" PRIu64, span->begin_ns);
  snprintf(duration, sizeof duration, "%" PRIu64, span->end_ns - span->begin_ns);
  const char *const values[] = {node, span->category, span->detail, kw_device_name(self->provider->device),
                                call, begin,          duration};
  OrtStatus *status =
      kw_ort_eps->CreateProfilingEvent(OrtProfilingEventCategory_KERNEL, getpid(), span->thread, span->name, begin_us,
                                       end_us - begin_us, keys, values, sizeof keys / sizeof *keys, &event);
  if (!status)
    status = kw_ort_eps->ProfilingEventsContainer_AddEvents(container, (const OrtProfilingEvent *const *)&event, 1);
  if (event) kw_ort_eps->ReleaseProfilingEvent(event);
  return status;
}

static OrtStatus *end(ort_ep_profiler *slots, OrtProfilingEventsContainer *container) {
  profiler *self = (profiler *)slots;
  OrtStatus *status = NULL;
  launches launches;
  stop_listening(self);
  if (!find_launches(self, &launches)) status = kw_ort_refuse(ORT_FAIL, "no memory for a profile");
  for (size_t i = 0; i < self->count && !status; ++i) {
    const span *launch = self->spans[i].of_device ? launch_of(&launches, &self->spans[i]) : &self->spans[i];
    if (launch) status = tell(self, &self->spans[i], launch->node, container);
  }
  free(launches.at);
  self->count = 0;
  return status;
}

static OrtStatus *start_event(ort_ep_profiler *slots, uint64_t event) {
  (void)slots;
  (void)event;
  return NULL;
}

static OrtStatus *stop_event(ort_ep_profiler *slots, uint64_t event, const OrtProfilingEvent *what) {
  (void)slots;
  (void)event;
  (void)what;
  return NULL;
}

static void release(ort_ep_profiler *slots) {
  profiler *self = (profiler *)slots;
  stop_listening(self);
  pthread_mutex_destroy(&self->mutex);
  free(self->spans);
  free(self);
}

OrtStatus *profiler_create(ort_ep *provider, ort_ep_profiler **out_profiler) {
  profiler *self = calloc(1, sizeof *self);
  if (!self) return kw_ort_refuse(ORT_FAIL, "no memory for a profiler");
  self->slots = (ort_ep_profiler){.ort_version_supported = kw_ort_api_version,
                                  .Release = release,
                                  .StartProfiling = start,
                                  .StartEvent = start_event,
                                  .StopEvent = stop_event,
                                  .EndProfiling = end};
  self->provider = (struct provider *)provider;
  pthread_mutex_init(&self->mutex, NULL);
  *out_profiler = &self->slots;
  return NULL;
}
