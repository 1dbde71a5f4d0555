/* SPDX-License-Identifier: Apache-2.0
 *
 * From acts to steps: what each stream has seen of the others, as vector clocks, and the events where that is too
 * little.
 */
#include "program/order.h"

#include "base/need.h"

#include <stdlib.h>
#include <string.h>

/* clock[t]: so many acts of stream t are over before whatever comes next. */
typedef uint32_t clock[KW_PROGRAM_STREAMS];

/* An event: all that its stream had seen when it was recorded. */
typedef struct recorded {
  uint32_t stream;
  clock seen;
} recorded;

/* By storage: the act of each stream that read it last, and that which changed it last, counted from 1 on its stream.
 */
typedef struct last_uses {
  clock reads;
  uint32_t writer, write; /* stream, and its act; 0: none but the host, before all */
} last_uses;

typedef struct ordering {
  kw_program_order *out;
  clock seen[KW_PROGRAM_STREAMS]; /* by stream; [s][s] counts its own acts */
  last_uses uses[KW_PROGRAM_STORAGES];
  recorded events[KW_PROGRAM_STEPS];
} ordering;

static void add_step(ordering *o, kw_step_kind kind, uint32_t act, uint32_t event, uint32_t stream) {
  if (o->out->step_count == KW_PROGRAM_STEPS) abort();
  o->out->steps[o->out->step_count++] = (kw_program_step){kind, act, event, stream};
}

static uint32_t record(ordering *o, uint32_t stream) {
  const uint32_t event = o->out->event_count++;
  o->events[event].stream = stream;
  memcpy(o->events[event].seen, o->seen[stream], sizeof(clock));
  add_step(o, KW_STEP_RECORD, 0, event, stream);
  return event;
}

/* Makes `stream` wait until act number `number` of another stream is over: by the first event that says so. */
static void wait_for(ordering *o, uint32_t stream, uint32_t other, uint32_t number) {
  if (other == stream || o->seen[stream][other] >= number) return;
  uint32_t event = 0;
  while (event < o->out->event_count && (o->events[event].stream != other || o->events[event].seen[other] < number))
    event++;
  if (event == o->out->event_count) event = record(o, other);
  add_step(o, KW_STEP_WAIT, 0, event, stream);
  for (uint32_t s = 0; s < KW_PROGRAM_STREAMS; s++) {
    if (o->events[event].seen[s] > o->seen[stream][s]) o->seen[stream][s] = o->events[event].seen[s];
  }
}

/* Whether the act before is recorded into the same graph: while a stream records, it cannot wait for events. */
static bool is_inside(const kw_program *program, uint32_t act) {
  const kw_program_act *a = &program->acts[act];
  return act > 0 && a->graph > 0 && a[-1].graph == a->graph;
}

/* What an act waits for; of the first call of a graph, what all of its calls do. */
static void wait_for_uses(ordering *o, const kw_program *program, uint32_t act) {
  kw_program_use uses[KW_PROGRAM_USES];
  uint32_t last_act = act;
  if (is_inside(program, act)) return;
  while (last_act + 1 < program->act_count && is_inside(program, last_act + 1)) last_act++;
  for (uint32_t a = act; a <= last_act; a++) {
    const uint32_t count = kw_program_uses(program, &program->acts[a], uses);
    for (uint32_t u = 0; u < count; u++) {
      const last_uses *last = &o->uses[uses[u].storage];
      const uint32_t stream = uses[u].stream;
      wait_for(o, stream, last->writer, last->write);
      for (uint32_t s = 0; s < KW_PROGRAM_STREAMS && uses[u].changes; s++) wait_for(o, stream, s, last->reads[s]);
    }
  }
}

static void order_act(ordering *o, const kw_program *program, uint32_t act) {
  kw_program_use uses[KW_PROGRAM_USES];
  const uint32_t stream = program->acts[act].stream;
  const uint32_t count = kw_program_uses(program, &program->acts[act], uses);
  wait_for_uses(o, program, act);
  add_step(o, KW_STEP_ACT, act, 0, stream);
  if (count == 0) return;
  const uint32_t from = program->acts[act].from;
  ++o->seen[stream][stream];
  if (program->acts[act].kind == KW_ACT_COPY) ++o->seen[from][from];
  for (uint32_t u = 0; u < count; u++) {
    last_uses *last = &o->uses[uses[u].storage];
    const uint32_t on = uses[u].stream, number = o->seen[on][on];
    last->reads[on] = number;
    if (!uses[u].changes) continue;
    last->writer = on;
    last->write = number;
  }
  /* Every third event comes right behind the act that others may wait for, the others when somebody does. */
  const bool recording = act + 1 < program->act_count && is_inside(program, act + 1);
  if (program->stream_count > 1 && act % 3 == 0 && !recording) record(o, stream);
}

uint32_t kw_program_last_streams(const kw_program *program, uint32_t out_streams[KW_PROGRAM_STREAMS]) {
  uint32_t count = 0;
  for (uint32_t a = program->act_count; a-- > 0;) {
    uint32_t known = 0;
    while (known < count && out_streams[known] != program->acts[a].stream) known++;
    if (known == count) out_streams[count++] = program->acts[a].stream;
  }
  return count;
}

void kw_program_order_make(const kw_program *program, kw_program_order *out_order) {
  ordering *o = calloc(1, sizeof *o);
  if (!o) kw_out_of_memory();
  out_order->step_count = out_order->event_count = 0;
  o->out = out_order;
  for (uint32_t a = 0; a < program->act_count; a++) order_act(o, program, a);
  free(o);
}
