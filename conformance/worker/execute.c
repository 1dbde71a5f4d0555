/* SPDX-License-Identifier: Apache-2.0
 *
 * Running a program, act by act.
 */
#include "worker/execute.h"

#include "base/need.h"
#include "base/stream_hold.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 8, BALLAST = 40 * PIECES };

typedef struct execution {
  kw_device *devices[2]; /* the second NULL where the program has only one */
  const kw_program *p;
  const kw_program_order *order;
  bool waited;
  kw_execution *out;
  kw_tensor *bases[KW_PROGRAM_STORAGES]; /* a dense tensor over the whole of each storage that is there */
  kw_stream *streams[KW_PROGRAM_STREAMS];
  kw_stream *beside;           /* of no act */
  kw_tensor *ballast[BALLAST]; /* keep_back */
  uint32_t ballast_count;
  kw_generator *generators[2];
  kw_event **events;
  kw_plan *plans[KW_PROGRAM_CALLS];
  void *written[KW_PROGRAM_ACTS];
  kw_hold *holds[KW_PROGRAM_STREAMS];
  kw_graph *graphs[KW_PROGRAM_GRAPHS + 1];
  uint32_t recording; /* the graph; 0: none */
} execution;

static kw_status wait_for_all(const execution *x) {
  const kw_status status = kw_device_synchronize(x->devices[0]);
  const kw_status other = x->devices[1] ? kw_device_synchronize(x->devices[1]) : KW_OK;
  return status == KW_OK ? other : status;
}

size_t kw_program_dense_size(const kw_case_tensor *tensor) {
  return (size_t)tensor->numel * kw_element_size(tensor->dtype);
}

void *kw_program_gather(const kw_case_tensor *tensor, const void *storage) {
  const size_t item = kw_element_size(tensor->dtype);
  char *dense = kw_need(kw_program_dense_size(tensor));
  kw_case_walk walk = kw_case_walk_start(tensor);
  for (int64_t i = 0; i < tensor->numel; i++, kw_case_walk_next(&walk))
    memcpy(dense + (size_t)i * item, (const char *)storage + (size_t)walk.at * item, item);
  return dense;
}

/* ---- What a program begins with ---------------------------------------------------------------------------------- */

/* A dense tensor of the storage's size, filled with `bytes`, on the default stream. */
static kw_status make_storage(kw_device *device, const kw_program_storage *s, const void *bytes, kw_tensor **out) {
  const int64_t count = (int64_t)kw_program_elements(s);
  kw_status status = kw_tensor_create(device, s->dtype, 1, &count, out);
  return status == KW_OK ? kw_tensor_write(*out, bytes) : status;
}

static kw_status make_storages(execution *x) {
  kw_status status = KW_OK;
  for (uint32_t s = 0; s < x->p->storage_count && status == KW_OK; s++) {
    const kw_program_storage *storage = &x->p->storages[s];
    if (!storage->used || storage->maker >= 0) continue;
    void *bytes = kw_need(storage->size);
    kw_program_fill(x->p, s, storage->fill, bytes);
    status = make_storage(x->devices[storage->device], storage, bytes, &x->bases[s]);
    free(bytes);
  }
  return status;
}

/* Memory that no act gets: a segment of core's cache for small requests, but for `left` bytes, so that core looks early
 * for what others have released, and uses it again. */
static kw_status keep_back(execution *x, uint32_t stream, int64_t left) {
  enum { SEGMENT = 2 << 20, PIECE = SEGMENT / PIECES };
  kw_status status = KW_OK;
  for (int i = 0; i < PIECES && status == KW_OK && x->ballast_count < BALLAST; i++) {
    const int64_t size = i + 1 == PIECES ? PIECE - left : PIECE;
    status = kw_tensor_create_on(x->streams[stream], KW_U8, 1, &size, &x->ballast[x->ballast_count]);
    x->ballast_count += status == KW_OK;
  }
  return status;
}

/* Puts poison where results will be allocated first, for a result that comes too late must not find its own in memory
 * that an earlier run gave back; where no memory is used again within the program, all of them. */
static kw_status scrub(execution *x, uint32_t stream) {
  const int64_t left = x->p->defaults ? 128 << 10 : INT64_C(512) << (x->p->number + stream) % 4;
  unsigned char *poison = kw_need((size_t)left);
  kw_tensor *rest = NULL;
  memset(poison, KW_PROGRAM_POISON, (size_t)left);
  kw_status status = keep_back(x, stream, left);
  if (status == KW_OK) status = kw_tensor_create_on(x->streams[stream], KW_U8, 1, &left, &rest);
  if (status == KW_OK) status = kw_tensor_write_async(rest, poison, x->streams[stream]);
  const kw_status late = kw_stream_synchronize(x->streams[stream]);
  kw_tensor_release(rest);
  free(poison);
  return status == KW_OK ? late : status;
}

static kw_status make_events(execution *x) {
  kw_status status = KW_OK;
  x->events = kw_need(x->order->event_count * sizeof(kw_event *));
  for (uint32_t i = 0; i < x->order->step_count && status == KW_OK && !x->waited; i++) {
    const kw_program_step *step = &x->order->steps[i];
    if (step->kind == KW_STEP_RECORD)
      status = kw_event_create(x->devices[kw_program_device_of(x->p, step->stream)], &x->events[step->event]);
  }
  return status;
}

static kw_status begin(execution *x) {
  kw_status status = KW_OK;
  for (uint32_t d = 0; d < 2 && x->devices[d] && status == KW_OK; d++) {
    status = kw_memory_trim(x->devices[d]);
    if (status == KW_OK) status = kw_generator_create(x->devices[d], 0, &x->generators[d]);
  }
  for (uint32_t s = 0; s < x->p->stream_count && status == KW_OK; s++) {
    kw_device *device = x->devices[kw_program_device_of(x->p, s)];
    if (kw_program_is_default(x->p, s)) {
      x->streams[s] = kw_stream_default(device);
    } else {
      status = kw_stream_create(device, &x->streams[s]);
    }
  }
  for (uint32_t s = 0; s < x->p->stream_count && status == KW_OK; s++) status = scrub(x, s);
  if (status == KW_OK) status = kw_stream_create(x->devices[0], &x->beside);
  if (status == KW_OK) status = make_events(x);
  return status == KW_OK ? make_storages(x) : status;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* What a call is made with; views end with it. */
typedef struct call_arguments {
  kw_value args[KW_MAX_ARGS];
  kw_tensor *tensors[KW_CASE_TENSORS];  /* views; lists point into this */
  kw_tensor *results[KW_SUITE_RESULTS]; /* views */
  kw_tensor *outs[KW_SUITE_RESULTS];    /* as the call takes them */
} call_arguments;

/* A view of a storage, by the function that an application would use. */
static kw_status make_view(const execution *x, int storage, const kw_case_tensor *t, kw_tensor **out) {
  const kw_tensor *base = x->bases[storage];
  if (!base) return KW_ERR_INTERNAL;
  if (kw_tensor_describe(base)->dtype == t->dtype)
    return kw_tensor_as_strided(base, t->rank, t->shape, t->strides, t->offset, out);
  const uint64_t place = (uint64_t)t->offset * kw_element_size(t->dtype);
  return kw_tensor_reinterpret(base, t->dtype, t->rank, t->shape, t->strides, place, out);
}

static kw_status make_arguments(const execution *x, const kw_program_call *call, call_arguments *a) {
  const kw_case *c = &call->c;
  kw_status status = KW_OK;
  memset(a, 0, sizeof *a);
  for (uint32_t r = 0; r < c->result_count && status == KW_OK; r++) {
    if (call->outs[r] < 0 || (call->allocated[r] && !x->bases[call->outs[r]])) continue;
    status = make_view(x, call->outs[r], &c->outs[r], &a->results[r]);
    if (r < c->op->result_count) a->outs[r] = a->results[r];
  }
  for (uint32_t i = 0; i < KW_CASE_TENSORS && status == KW_OK; i++) {
    const kw_case_tensor *t = &c->tensors[i];
    if (!t->given) continue;
    if (t->output) {
      a->tensors[i] = a->results[t->result];
      a->outs[t->result] = NULL; /* the op's own argument */
    } else {
      status = make_view(x, call->places[i], t, &a->tensors[i]);
    }
  }
  for (uint32_t i = 0; i < c->arg_count; i++) {
    a->args[i] = kw_case_arg_value(c, i);
    if (a->args[i].tag == KW_TAG_TENSOR) a->args[i] = kw_arg_tensor(a->tensors[i]);
    if (a->args[i].tag == KW_TAG_TENSOR_LIST)
      a->args[i] = kw_arg_tensor_list(&a->tensors[c->args[i].first], a->args[i].count);
    if (a->args[i].tag == KW_TAG_GENERATOR) a->args[i] = kw_arg_generator(x->generators[call->device]);
  }
  return status;
}

static void free_arguments(const kw_program_call *call, call_arguments *a) {
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    if (!call->c.tensors[i].output) kw_tensor_release(a->tensors[i]);
  }
  for (uint32_t r = 0; r < KW_SUITE_RESULTS; r++) kw_tensor_release(a->results[r]);
}

/* A random op draws from a state that follows from the call, whatever ran before; in a graph from that of the launch.
 */
static kw_status set_generator(const execution *x, const kw_program_call *call, bool in_graph) {
  const int index = kw_suite_op_generator(call->c.op);
  if (index < 0 || in_graph) return KW_OK;
  const bool named = kw_case_arg_value(&call->c, (uint32_t)index).tag == KW_TAG_GENERATOR;
  const kw_rng rng = kw_case_rng(&call->c, call->seed, 0);
  const kw_generator_state state = {.struct_size = sizeof state, .seed = rng.seed, .offset = rng.offset};
  return kw_generator_set_state(named ? x->generators[call->device] : kw_generator_default(x->devices[call->device]),
                                &state);
}

/* What the random ops of a graph draw from: the same for both generators, another one at each launch. */
static kw_status set_generators(const execution *x, uint32_t graph, uint32_t launch) {
  const kw_generator_state state = {
      .struct_size = sizeof state, .seed = kw_program_launch_seed(x->p, graph, launch), .offset = launch};
  kw_status status = KW_OK;
  for (uint32_t d = 0; d < 2 && x->devices[d] && status == KW_OK; d++) {
    status = kw_generator_set_state(x->generators[d], &state);
    if (status == KW_OK) status = kw_generator_set_state(kw_generator_default(x->devices[d]), &state);
  }
  return status;
}

/* The results that core has allocated are the program's storages. Where the device did not take the call, the host
 * fills them, and what a relay should have. */
static kw_status take_results(execution *x, uint32_t index, const call_arguments *a) {
  const kw_program_call *call = &x->p->calls[index];
  kw_status status = KW_OK;
  for (uint32_t r = 0; r < call->c.result_count && status == KW_OK; r++) {
    const int place = call->outs[r];
    const kw_program_storage *storage = &x->p->storages[place >= 0 ? place : 0];
    const bool relayed = place >= 0 && storage->relay == (int)index && x->out->refused[index];
    if (!relayed && (!call->allocated[r] || x->bases[place])) continue; /* a graph's call, made again */
    kw_tensor **base = &x->bases[place];
    if (!relayed || !*base) *base = a->outs[r];
    const kw_case_tensor *wanted = &call->c.outs[r];
    if (x->out->refused[index]) {
      void *bytes = kw_need(storage->size);
      kw_program_fill(x->p, (uint32_t)place, storage->instead, bytes);
      status = *base ? kw_tensor_write(*base, bytes) : make_storage(x->devices[storage->device], storage, bytes, base);
      free(bytes);
    } else if (!*base || kw_tensor_describe(*base)->dtype != wanted->dtype ||
               kw_tensor_describe(*base)->numel != wanted->numel) {
      snprintf(x->out->failure, sizeof x->out->failure, "%s: result %u has another dtype or size than the op's",
               call->c.id, r);
    }
  }
  return status;
}

/* What the inputs hold just before the call, in the waited run. */
static kw_status record_inputs(execution *x, uint32_t index) {
  const kw_program_call *call = &x->p->calls[index];
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < KW_CASE_TENSORS && status == KW_OK; i++) {
    const kw_case_tensor *t = &call->c.tensors[i];
    const int place = !t->given ? KW_PLACE_NONE : t->output ? call->outs[t->result] : call->places[i];
    if (place < 0 || (t->output && !t->read)) continue;
    void *bytes = kw_need(x->p->storages[place].size);
    status = kw_tensor_read(x->bases[place], bytes);
    free(x->out->inputs[index][i]);
    x->out->inputs[index][i] = NULL;
    if (status == KW_OK) x->out->inputs[index][i] = kw_program_gather(t->output ? &call->c.outs[t->result] : t, bytes);
    free(bytes);
  }
  return status;
}

/* And what the results hold just after it. */
static kw_status record_results(execution *x, uint32_t index) {
  const kw_program_call *call = &x->p->calls[index];
  kw_status status = wait_for_all(x);
  for (uint32_t r = 0; r < call->c.result_count && status == KW_OK; r++) {
    if (call->outs[r] < 0) continue;
    void *bytes = kw_need(x->p->storages[call->outs[r]].size);
    status = kw_tensor_read(x->bases[call->outs[r]], bytes);
    free(x->out->results[index][r]);
    x->out->results[index][r] = status == KW_OK ? kw_program_gather(&call->c.outs[r], bytes) : NULL;
    free(bytes);
  }
  return status;
}

static uint64_t segments(const execution *x) {
  uint64_t count = 0;
  for (uint32_t d = 0; d < 2 && x->devices[d]; d++) {
    kw_memory_stats stats = {.struct_size = sizeof stats};
    if (kw_memory_get_stats(x->devices[d], &stats) == KW_OK) count += stats.plugin_allocs;
  }
  return count;
}

static kw_status make_call(execution *x, uint32_t index, uint32_t on, bool in_graph) {
  kw_stream *stream = x->streams[on];
  const uint64_t before = segments(x);
  const kw_program_call *call = &x->p->calls[index];
  const kw_op *op = kw_op_find(call->c.op->name);
  const uint32_t count = call->c.op->result_count;
  call_arguments a;
  const bool judged = x->waited && !call->loose;
  kw_status status = judged ? record_inputs(x, index) : KW_OK;
  if (status == KW_OK) status = set_generator(x, call, in_graph);
  if (status != KW_OK) return status;
  status = make_arguments(x, call, &a);
  kw_math_mode_set(call->mode);
  kw_autocast_set(call->autocast, NULL);
  if (status == KW_OK && call->form == KW_FORM_PLAN && !x->waited) {
    status = kw_plan_make(op, stream, a.args, call->c.arg_count, a.outs, count, NULL, &x->plans[index]);
    if (status == KW_OK) status = kw_plan_run(x->plans[index], stream, a.args, call->c.arg_count, a.outs, count);
  } else if (status == KW_OK) {
    status = kw_op_call(op, stream, a.args, call->c.arg_count, a.outs, count);
  }
  kw_math_mode_set(KW_MATH_HIGHEST);
  kw_autocast_set(KW_DTYPE_NONE, NULL);
  x->out->refused[index] = status == KW_ERR_NOT_IMPLEMENTED;
  if (status == KW_OK || x->out->refused[index]) status = take_results(x, index, &a);
  free_arguments(call, &a);
  if (status == KW_OK && judged) status = record_results(x, index);
  if (status == KW_OK && segments(x) > before && !x->recording)
    status = keep_back(x, on, 20 << 10); /* it has grown the cache */
  return status;
}

/* ---- Acts -------------------------------------------------------------------------------------------------------- */

/* Gives work a chance to run that should not: round trips on a stream of no act. */
static void linger(const execution *x) {
  enum { ROUNDS = 24 };
  kw_tensor *tensor = NULL;
  unsigned char bytes[64] = {0};
  if (kw_tensor_create_on(x->beside, KW_U8, 1, &(int64_t){sizeof bytes}, &tensor) != KW_OK) return;
  for (int i = 0; i < ROUNDS; i++) {
    if (kw_tensor_write_async(tensor, bytes, x->beside) == KW_OK) kw_tensor_read_async(tensor, bytes, x->beside);
    kw_stream_synchronize(x->beside);
    sched_yield();
  }
  kw_tensor_release(tensor);
}

static void open_hold(execution *x, uint32_t stream) {
  if (!x->holds[stream]) return;
  linger(x);
  kw_hold_open(x->holds[stream]);
  x->holds[stream] = NULL;
}

static kw_status launch(const execution *x, uint32_t graph, uint32_t on, uint32_t launch) {
  const kw_status status = set_generators(x, graph, launch);
  return status == KW_OK ? kw_graph_launch(x->graphs[graph], x->streams[on]) : status;
}

/* A call, recorded where the program says so and the run is free. A graph is launched behind its last call. */
static kw_status make_recorded_call(execution *x, uint32_t act) {
  const kw_program_act *a = &x->p->acts[act];
  kw_stream *stream = x->streams[a->stream];
  const bool last = act + 1 == x->p->act_count || x->p->acts[act + 1].graph != a->graph;
  const bool first = act == 0 || a[-1].graph != a->graph;
  if (a->graph == 0) return make_call(x, a->index, a->stream, false);
  kw_status status = KW_OK;
  if (x->waited) {
    if (first) status = set_generators(x, a->graph, 0);
    return status == KW_OK ? make_call(x, a->index, a->stream, true) : status;
  }
  if (first) status = kw_graph_begin(stream);
  if (status != KW_OK) return status;
  x->recording = a->graph;
  status = make_call(x, a->index, a->stream, true);
  if (status != KW_OK || !last) return status;
  x->recording = 0;
  status = kw_graph_end(stream, &x->graphs[a->graph]);
  return status == KW_OK ? launch(x, a->graph, a->stream, 0) : status;
}

/* The waited run makes a graph's calls once more, each waited for, into the same results. */
static kw_status repeat_calls(execution *x, uint32_t graph, uint32_t launch) {
  kw_status status = set_generators(x, graph, launch);
  for (uint32_t a = 0; a < x->p->act_count && status == KW_OK; a++) {
    const kw_program_act *act = &x->p->acts[a];
    if (act->kind != KW_ACT_CALL || act->graph != graph) continue;
    status = make_call(x, act->index, act->stream, true);
    if (status == KW_OK) status = wait_for_all(x);
  }
  return status;
}

/* Reads or writes a part of a storage. */
static kw_status transfer(execution *x, uint32_t act) {
  const kw_program_act *a = &x->p->acts[act];
  const kw_program_storage *s = &x->p->storages[a->index];
  void **host = a->kind == KW_ACT_READ ? &x->out->read[act] : &x->written[act];
  kw_tensor *part = NULL;
  *host = kw_need((size_t)a->count * kw_element_size(s->dtype));
  kw_status status = kw_tensor_as_strided(x->bases[a->index], 1, (int64_t[]){(int64_t)a->count}, (int64_t[]){1},
                                          (int64_t)a->first, &part);
  if (status != KW_OK) return status;
  if (a->kind == KW_ACT_READ) {
    status = kw_tensor_read_async(part, *host, x->streams[a->stream]);
  } else {
    kw_program_written(x->p, act, *host);
    status = kw_tensor_write_async(part, *host, x->streams[a->stream]);
  }
  kw_tensor_release(part);
  return status;
}

static kw_status copy(const execution *x, const kw_program_act *a) {
  const int64_t count = (int64_t)kw_program_elements(&x->p->storages[a->index]), step = 1;
  kw_tensor *from = NULL, *to = NULL;
  kw_status status = kw_tensor_as_strided(x->bases[a->index], 1, &count, &step, 0, &from);
  if (status == KW_OK) status = kw_tensor_as_strided(x->bases[a->to], 1, &count, &step, 0, &to);
  if (status == KW_OK) status = kw_tensor_copy_async(to, x->streams[a->stream], from, x->streams[a->from]);
  kw_tensor_release(from);
  kw_tensor_release(to);
  return status;
}

static kw_status do_act(execution *x, uint32_t act) {
  const kw_program_act *a = &x->p->acts[act];
  kw_stream *stream = x->streams[a->stream];
  kw_tensor **base = &x->bases[a->index];
  switch (a->kind) {
    case KW_ACT_CALL:
      return make_recorded_call(x, act);
    case KW_ACT_READ:
    case KW_ACT_WRITE:
      return transfer(x, act);
    case KW_ACT_RELEASE:
      kw_tensor_release(*base);
      *base = NULL;
      return KW_OK;
    case KW_ACT_HOLD:
      return x->waited ? KW_OK : kw_hold_close(stream, &x->holds[a->stream]);
    case KW_ACT_LAUNCH:
      return x->waited ? repeat_calls(x, a->index, 1 + a->number) : launch(x, a->index, a->stream, 1 + a->number);
    case KW_ACT_COPY:
      return copy(x, a);
    case KW_ACT_OPEN:
      if (!x->waited) open_hold(x, a->stream);
      return KW_OK;
  }
  return KW_ERR_INTERNAL;
}

static kw_status do_step(execution *x, const kw_program_step *step) {
  if (step->kind == KW_STEP_ACT) {
    const kw_status status = do_act(x, step->act);
    return status == KW_OK && x->waited ? wait_for_all(x) : status;
  }
  if (x->waited) return KW_OK;
  return step->kind == KW_STEP_RECORD ? kw_event_record(x->events[step->event], x->streams[step->stream])
                                      : kw_stream_wait_event(x->streams[step->stream], x->events[step->event]);
}

static void fail(execution *x, const char *what, kw_status status) {
  if (*x->out->failure) return;
  snprintf(x->out->failure, sizeof x->out->failure, "%s: %s: %s: %s", x->waited ? "waited run" : "free run", what,
           kw_status_name(status), kw_error_message());
}

static void do_steps(execution *x) {
  for (uint32_t i = 0; i < x->order->step_count && !*x->out->failure; i++) {
    const kw_program_step *step = &x->order->steps[i];
    const kw_status status = do_step(x, step);
    kw_hold_step();
    if (status == KW_OK) continue;
    char what[320] = "an event";
    const kw_program_act *act = &x->p->acts[step->act];
    const bool call = step->kind == KW_STEP_ACT && act->kind == KW_ACT_CALL;
    if (step->kind == KW_STEP_ACT)
      snprintf(what, sizeof what, "act %u%s%s", act->number, call ? ", " : "",
               call ? x->p->calls[act->index].c.id : "");
    fail(x, what, status);
  }
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static void read_all(execution *x) {
  for (uint32_t s = 0; s < x->p->storage_count && !*x->out->failure; s++) {
    if (!x->bases[s]) continue;
    x->out->held[s] = kw_need(x->p->storages[s].size);
    const kw_status status = kw_tensor_read(x->bases[s], x->out->held[s]);
    if (status != KW_OK) fail(x, "reading what the program has left", status);
  }
}

static void end(execution *x) {
  for (uint32_t g = 0; g <= KW_PROGRAM_GRAPHS; g++) kw_graph_destroy(x->graphs[g]);
  for (uint32_t c = 0; c < KW_PROGRAM_CALLS; c++) kw_plan_destroy(x->plans[c]);
  for (uint32_t s = 0; s < KW_PROGRAM_STORAGES; s++) kw_tensor_release(x->bases[s]);
  for (uint32_t e = 0; x->events && e < x->order->event_count; e++) kw_event_destroy(x->events[e]);
  for (uint32_t s = 0; s < KW_PROGRAM_STREAMS; s++) {
    if (!kw_program_is_default(x->p, s)) kw_stream_destroy(x->streams[s]);
  }
  for (uint32_t b = 0; b < x->ballast_count; b++) kw_tensor_release(x->ballast[b]);
  kw_stream_destroy(x->beside);
  for (uint32_t d = 0; d < 2; d++) kw_generator_destroy(x->generators[d]);
  for (uint32_t a = 0; a < KW_PROGRAM_ACTS; a++) free(x->written[a]);
  free(x->events);
}

void kw_execute(kw_device *device, const char *second, const kw_program *program, const kw_program_order *order,
                bool waited, kw_execution *out) {
  execution *x = kw_need(sizeof *x);
  *x = (execution){.devices = {device}, .p = program, .order = order, .waited = waited, .out = out};
  memset(out, 0, sizeof *out);
  if (program->two && kw_device_open(second, &x->devices[1]) != KW_OK) {
    snprintf(out->untried, sizeof out->untried, "%s cannot be opened: %s", second, kw_error_message());
    free(x);
    return;
  }
  const kw_status begun = begin(x);
  if (begun == KW_OK) {
    do_steps(x);
  } else {
    fail(x, "what the program begins with", begun);
  }
  for (uint32_t s = 0; s < KW_PROGRAM_STREAMS; s++) open_hold(x, s);
  uint32_t last[KW_PROGRAM_STREAMS];
  const uint32_t used = *out->failure ? 0 : kw_program_last_streams(program, last);
  for (uint32_t s = 0; s < used; s++) {
    const kw_status status = kw_stream_synchronize(x->streams[last[s]]);
    if (status != KW_OK) fail(x, "at the end", status);
  }
  const kw_status late = wait_for_all(x);
  if (late != KW_OK) fail(x, "at the end", late);
  read_all(x);
  end(x);
  if (x->devices[1] && kw_device_close(x->devices[1]) != KW_OK) fail(x, "closing the second device", KW_ERR_BUSY);
  free(x);
}

void kw_execution_free(kw_execution *e) {
  for (uint32_t a = 0; a < KW_PROGRAM_ACTS; a++) free(e->read[a]);
  for (uint32_t s = 0; s < KW_PROGRAM_STORAGES; s++) free(e->held[s]);
  for (uint32_t c = 0; c < KW_PROGRAM_CALLS; c++) {
    for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) free(e->inputs[c][i]);
    for (uint32_t r = 0; r < KW_SUITE_RESULTS; r++) free(e->results[c][r]);
  }
  memset(e, 0, sizeof *e);
}
