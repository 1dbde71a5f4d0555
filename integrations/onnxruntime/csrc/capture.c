/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs that are captured (option "graph"): the third run with an annotation (run option "gpu_graph_id", 0 without one;
 * -1 captures nothing) is recorded as a graph of Keyway's, and ONNX Runtime has it launched in place of later runs. The
 * thread of the run records, from the first node's calls to the end of the run.
 */
#include "capture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The first run lets ONNX Runtime plan its memory, the second one has it. */
#define RUNS_BEFORE 2

typedef struct captured {
  int annotation;
  unsigned runs;   /* that began */
  unsigned nodes;  /* that one of them has: one with less of them ended early */
  kw_graph *graph; /* NULL: not yet */
  struct captured *next;
} captured;

struct captures {
  pthread_mutex_t mutex; /* of the list, and of what it says */
  captured *all;
  pthread_mutex_t replaying; /* held by whoever uses a graph of the list */
  kw_stream *stream;         /* that replays */
};

/* This thread's run, of a session that captures. */
static _Thread_local struct {
  provider *of; /* NULL: there is none */
  captured *as;
  unsigned nodes;    /* that have run */
  bool records;      /* it is the one that is captured, by */
  kw_stream *stream; /* NULL: no node has run yet */
  bool failed;
} current;

OrtStatus *capture_enable(provider *self) {
  OrtStatus *status;
  if (kw_ort_api_version < KW_ORT_API_CAPTURE)
    return kw_ort_refuse(ORT_NOT_IMPLEMENTED,
                         "the option 'graph' needs ONNX Runtime 1.%d or newer: providers like this one cannot capture "
                         "runs for an older one",
                         KW_ORT_API_CAPTURE);
  if (self->captures) return NULL;
  self->captures = calloc(1, sizeof *self->captures);
  if (!self->captures) return kw_ort_refuse(ORT_FAIL, "no memory for the option 'graph'");
  pthread_mutex_init(&self->captures->mutex, NULL);
  pthread_mutex_init(&self->captures->replaying, NULL);
  status = kw_ort_status(kw_stream_create(self->device, &self->captures->stream), "a stream for graphs");
  if (status) capture_end(self);
  return status;
}

void capture_end(provider *self) {
  if (!self->captures) return;
  for (captured *each = self->captures->all, *next; each; each = next) {
    next = each->next;
    kw_graph_destroy(each->graph);
    free(each);
  }
  kw_stream_destroy(self->captures->stream);
  pthread_mutex_destroy(&self->captures->replaying);
  pthread_mutex_destroy(&self->captures->mutex);
  free(self->captures);
  self->captures = NULL;
}

/* The link to it, or the end of the list. Under the mutex. */
static captured **find(captures *captures, int annotation) {
  captured **link = &captures->all;
  while (*link && (*link)->annotation != annotation) link = &(*link)->next;
  return link;
}

/* Under the mutex. NULL: no memory. */
static captured *find_or_make(captures *captures, int annotation) {
  captured **link = find(captures, annotation);
  if (!*link) *link = calloc(1, sizeof **link);
  if (*link) (*link)->annotation = annotation;
  return *link;
}

/* A run of this thread's that nobody has ended. */
static void abandon(void) {
  if (current.stream) kw_graph_end(current.stream, NULL);
  memset(&current, 0, sizeof current);
}

/* ---- Of a run ---------------------------------------------------------------------------------------------------- */

OrtStatus *capture_on_run_start(provider *self, const OrtRunOptions *options) {
  const char *text = kw_ort->GetRunConfigEntry(options, "gpu_graph_id");
  const int annotation = text ? atoi(text) : 0;
  captured *as;
  bool records;
  if (current.of == self) abandon();
  if (!self->captures || !self->has_nodes || annotation == -1) return NULL;
  pthread_mutex_lock(&self->captures->mutex);
  as = find_or_make(self->captures, annotation);
  records = as && !as->graph && as->runs++ >= RUNS_BEFORE;
  pthread_mutex_unlock(&self->captures->mutex);
  if (!as) return kw_ort_refuse(ORT_FAIL, "no memory for a run that is captured");
  if (records && self->host_input)
    return kw_ort_refuse(ORT_EP_FAIL,
                         "Keyway: the run cannot be captured: the input '%s' of the model is read on the host, where a "
                         "replay would not look (run option gpu_graph_id=-1 runs without capturing)",
                         self->host_input);
  memset(&current, 0, sizeof current);
  current.of = self;
  current.as = as;
  current.records = records;
  return NULL;
}

OrtStatus *capture_before_node(const provider *self, kw_stream *stream) {
  OrtStatus *status;
  if (current.of != self) return NULL;
  ++current.nodes;
  if (!current.records || current.stream || current.failed) return NULL;
  status = kw_ort_status(kw_graph_begin(stream), "capturing the run");
  if (status)
    current.failed = true;
  else
    current.stream = stream;
  return status;
}

void capture_node_failed(const provider *self) {
  if (current.of == self) current.failed = true;
}

OrtStatus *capture_copy(void) {
  if (!current.of || !current.records) return NULL;
  current.failed = true;
  return kw_ort_refuse(ORT_EP_FAIL,
                       "Keyway: the run cannot be captured: a value is copied between host and device, which a replay "
                       "would not repeat. Bind all inputs and outputs in the device's memory (IoBinding), give sizes "
                       "that are not fixed (add_free_dimension_override_by_name), or run with gpu_graph_id=-1");
}

bool capture_records(const kw_stream *stream) {
  return current.of && current.stream == stream;
}

/* What was recorded has not run yet. */
static OrtStatus *finish(kw_stream *stream, captured *as, pthread_mutex_t *mutex) {
  kw_graph *graph = NULL;
  OrtStatus *status = kw_ort_status(kw_graph_end(stream, &graph), "capturing the run");
  if (!status) status = kw_ort_status(kw_graph_launch(graph, stream), "the run that was captured");
  if (!status) status = kw_ort_status(kw_stream_synchronize(stream), "the run that was captured");
  pthread_mutex_lock(mutex);
  if (!status && !as->graph) as->graph = graph, graph = NULL;
  pthread_mutex_unlock(mutex);
  kw_graph_destroy(graph); /* of a run that failed, or that another thread captured as well */
  return status;
}

/* Less of the model was asked for than before with this annotation: a replay would lack the rest. */
static OrtStatus *refuse_part(unsigned nodes, unsigned nodes_before) {
  return kw_ort_refuse(
      ORT_EP_FAIL,
      "Keyway: the run cannot be captured: %u of its nodes have run, and %u in an earlier one. Ask for "
      "the same outputs, or take another number for it (run option gpu_graph_id)",
      nodes, nodes_before);
}

OrtStatus *capture_on_run_end(provider *self) {
  captured *as = current.as;
  unsigned most;
  if (current.of != self) return NULL;
  current.of = NULL;
  pthread_mutex_lock(&self->captures->mutex);
  if (!current.records && current.nodes > as->nodes) as->nodes = current.nodes;
  most = as->nodes;
  pthread_mutex_unlock(&self->captures->mutex);
  if (current.records && current.nodes == 0 && !current.failed)
    return kw_ort_refuse(ORT_EP_FAIL,
                         "Keyway: the run cannot be captured: other threads than its own computed its nodes, as "
                         "execution mode ORT_PARALLEL has it. Take ORT_SEQUENTIAL");
  if (!current.stream) return NULL;
  if (!current.failed && current.nodes == most) return finish(current.stream, as, &self->captures->mutex);
  OrtStatus *status = kw_ort_status(kw_graph_end(current.stream, NULL), "the end of a capture");
  return status || current.failed ? status : refuse_part(current.nodes, most);
}

/* ---- For ONNX Runtime -------------------------------------------------------------------------------------------- */

static kw_graph *graph_of(const provider *self, int annotation) {
  kw_graph *graph = NULL;
  if (!self->captures) return NULL;
  pthread_mutex_lock(&self->captures->mutex);
  captured *found = *find(self->captures, annotation);
  if (found) graph = found->graph;
  pthread_mutex_unlock(&self->captures->mutex);
  return graph;
}

static bool is_enabled(const ort_ep *slots) {
  return ((const provider *)slots)->captures != NULL;
}

static bool is_captured(const ort_ep *slots, int annotation) {
  return graph_of((const provider *)slots, annotation) != NULL;
}

static OrtStatus *replay(ort_ep *slots, int annotation) {
  const provider *self = (const provider *)slots;
  kw_graph *graph;
  kw_status status = KW_OK;
  if (!self->captures) return kw_ort_refuse(ORT_INVALID_ARGUMENT, "Keyway: the option 'graph' is off");
  pthread_mutex_lock(&self->captures->replaying);
  graph = graph_of(self, annotation);
  if (graph) status = kw_graph_launch(graph, self->captures->stream);
  if (graph && status == KW_OK) status = kw_stream_synchronize(self->captures->stream);
  pthread_mutex_unlock(&self->captures->replaying);
  if (!graph) return kw_ort_refuse(ORT_INVALID_ARGUMENT, "Keyway: no run was captured as %d", annotation);
  return kw_ort_status(status, "a run that was captured");
}

static OrtStatus *release_captured(ort_ep *slots, int annotation) {
  captures *captures = ((provider *)slots)->captures;
  kw_graph *graph = NULL;
  kw_status status;
  if (!captures) return NULL;
  pthread_mutex_lock(&captures->replaying);
  pthread_mutex_lock(&captures->mutex);
  captured *found = *find(captures, annotation);
  if (found) {
    graph = found->graph;
    found->graph = NULL;
    found->runs = 0; /* its values may be other ones now */
  }
  pthread_mutex_unlock(&captures->mutex);
  status = kw_graph_destroy(graph);
  pthread_mutex_unlock(&captures->replaying);
  return kw_ort_status(status, "the end of a run that was captured");
}

static OrtGraphCaptureNodeAssignmentPolicy policy(const ort_ep *slots) {
  (void)slots;
  return OrtGraphCaptureNodeAssignmentPolicy_ALL_NODES_ON_EP;
}

void capture_fill(ort_ep *slots) {
  slots->IsGraphCaptureEnabled = is_enabled;
  slots->IsGraphCaptured = is_captured;
  slots->ReplayGraph = replay;
  slots->GetGraphCaptureNodeAssignmentPolicy = policy;
  slots->ReleaseCapturedGraph = release_captured;
}
