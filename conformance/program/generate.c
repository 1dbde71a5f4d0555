/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole program, drawn act by act.
 */
#include "program/generate.h"

#include "case/layout.h"

#include <keyway/keyway.h>

#include <stdlib.h>
#include <string.h>

enum {
  FEWEST_CALLS = 5,
  LONG_GRAPH = 34, /* calls of the graphs that are long */
  /* percent */
  READ = 20,
  WRITE = 12,
  RELEASE = 25,
  REUSED = 60,
  HELD = 45,
  OPENED = 4,
  GRAPH = 8,
  LONG = 12,
  ALIKE = 60,
  LAUNCH = 20,
  CHANGED = 70,
  TWIN = 10,
  TURNED = 35,
  AGAIN = 8,
  TWO = 40,
  COPIED = 25,
  FEW_OPS = 60,
  SCENE = 15,
  MORE = 2 /* times as much of what brings the same ops together, in programs of few ops */
};

/* Some storage that something may still read, or the number of them when there is none. */
static uint32_t draw_storage(kw_draw *draw, const kw_program *program, bool changes) {
  for (int try = 0; try < 8 && program->storage_count > 0; try++) {
    const bool hot = draw->hot_count > 0 && try == 0 && kw_draw_percent(draw, 60);
    const uint32_t at =
        hot ? draw->hot[kw_draw_below(draw, draw->hot_count)] : kw_draw_below(draw, program->storage_count);
    const kw_program_storage *s = &program->storages[at];
    if (s->leaf || s->released || s->size == 0 || (changes && s->fixed)) continue;
    return at;
  }
  return program->storage_count;
}

/* What core has allocated and the last call has read, where there is such; otherwise as draw_storage: its memory is
 * used again soonest. */
static uint32_t draw_released(kw_draw *draw, const kw_program *program) {
  const kw_program_act *last = &program->acts[program->act_count - 1];
  const kw_program_call *call = &program->calls[last->kind == KW_ACT_CALL ? last->index : 0];
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    if (call->places[i] < 0 || program->storages[call->places[i]].maker < 0) continue;
    if (!program->storages[call->places[i]].released) return (uint32_t)call->places[i];
  }
  return draw_storage(draw, program, false);
}

/* The stream, or its neighbour of that device. */
static uint32_t stream_on(const kw_program *program, uint32_t stream, uint32_t device) {
  return kw_program_device_of(program, stream) == device ? stream : stream ^ 1;
}

/* The stream that core has allocated the storage for: it is the one that gets the memory again. */
static uint32_t stream_of(const kw_program *program, uint32_t storage) {
  for (uint32_t a = 0; a < program->act_count; a++) {
    const kw_program_act *act = &program->acts[a];
    if (act->kind == KW_ACT_CALL && (int)act->index == program->storages[storage].maker) return act->stream;
  }
  return stream_on(program, program->acts[program->act_count - 1].stream, program->storages[storage].device);
}

uint32_t kw_program_draw_stream(kw_draw *draw, const kw_program *program) {
  const uint32_t first =
      !program->two && program->act_count > 0 && program->acts[0].kind == KW_ACT_HOLD; /* see leave_default_stream */
  return first + kw_draw_below(draw, program->stream_count - first);
}

/* The stream of the calls, half of the time, otherwise any. */
static uint32_t draw_near(kw_draw *draw, const kw_program *program) {
  return kw_draw_percent(draw, 50) ? draw->stream : kw_program_draw_stream(draw, program);
}

/* Copies something to the other device, where the next calls are made: they may well read it. */
static void copy(kw_draw *draw, kw_program *program) {
  const uint32_t from = draw_storage(draw, program, false);
  if (from == program->storage_count || program->storage_count == KW_PROGRAM_STORAGES) return;
  const kw_program_storage source = program->storages[from];
  const kw_fill fill = source.maker >= 0 || source.relay >= 0 ? source.instead : source.fill;
  const uint32_t stream = stream_on(program, draw->stream, source.device);
  kw_program_act *act = kw_program_add_act(program, KW_ACT_COPY, from, stream ^ 1);
  if (!act) return;
  act->from = stream;
  act->to =
      (uint32_t)kw_program_add_storage(program, !source.device, source.dtype, kw_program_elements(&source), false);
  kw_program_storage *made = &program->storages[act->to];
  made->mixed = source.mixed;
  made->fixed = source.fixed;
  made->fill = source.fixed || source.dtype == KW_BOOL ? fill : KW_FILL_POISON;
  made->call = source.call;
  made->tensor = source.tensor;
  draw->stream = act->stream;
  kw_program_note_hot(draw, program, act);
}

/* Reads or writes a storage from element `first` on. */
static void transfer_from(kw_draw *draw, kw_program *program, kw_act_kind kind, uint32_t storage, uint32_t stream,
                          uint64_t first) {
  kw_program_act *act = kw_program_add_act(program, kind, storage, stream);
  if (!act) return;
  act->first = first;
  act->count = kw_program_elements(&program->storages[storage]) - first;
  if (kind == KW_ACT_WRITE) kw_program_note_hot(draw, program, act);
}

void kw_program_transfer(kw_draw *draw, kw_program *program, kw_act_kind kind, uint32_t storage, uint32_t stream) {
  if (storage == program->storage_count) return;
  const kw_program_storage *s = &program->storages[storage];
  const uint64_t count = kw_program_elements(s);
  const bool part = count > 1 && kw_draw_percent(draw, 50);
  const uint64_t first = part ? 1 + kw_draw_below(draw, (uint32_t)(count - 1 < 8 ? count - 1 : 8)) : 0;
  transfer_from(draw, program, kind, storage, stream_on(program, stream, s->device), first);
}

static void release(kw_draw *draw, kw_program *program) {
  const uint32_t storage = draw_released(draw, program);
  if (storage == program->storage_count || program->storages[storage].kept) return;
  if (!kw_program_add_act(program, KW_ACT_RELEASE, storage, draw->stream)) return;
  program->storages[storage].released = true;
  for (uint32_t h = 0; h < draw->hot_count; h++) {
    if (draw->hot[h] == storage) draw->hot[h--] = draw->hot[--draw->hot_count];
  }
  draw->apart = kw_draw_percent(draw, REUSED);
  if (draw->apart) draw->stream = stream_of(program, storage);
}

static void change_stream(kw_draw *draw, const kw_program *program) {
  for (uint32_t try = 0, last = draw->stream; try < 3 && draw->stream == last; try++)
    draw->stream = kw_program_draw_stream(draw, program);
}

/* What the host does between calls. Where memory was released, the next calls often go to its stream. */
static void draw_host_acts(kw_draw *draw, kw_program *program) {
  if (kw_draw_percent(draw, READ)) {
    const uint32_t storage = draw_storage(draw, program, false);
    kw_program_transfer(draw, program, KW_ACT_READ, storage, draw_near(draw, program));
  }
  if (kw_draw_percent(draw, WRITE)) {
    const uint32_t storage = draw_storage(draw, program, true);
    kw_program_transfer(draw, program, KW_ACT_WRITE, storage, draw_near(draw, program));
  }
  if (kw_draw_percent(draw, RELEASE)) release(draw, program);
  if (kw_draw_percent(draw, OPENED) && program->stream_count > 1)
    kw_program_add_act(program, KW_ACT_OPEN, 0, 1 + kw_draw_below(draw, program->stream_count - 1));
}

static bool is_relay(const kw_program *program, uint32_t call) {
  const int out = program->calls[call].outs[0];
  return out >= 0 && program->storages[out].relay == (int)call;
}

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

/* Begins another graph, of so many calls, or of calls like those of an earlier one. */
static void begin_graph_like(kw_draw *draw, const kw_program *program, uint32_t calls, uint32_t like) {
  draw->graph_calls = calls;
  draw->twin = KW_PROGRAM_ACTS;
  draw->graph = ++draw->graphs;
  uint32_t count = 0;
  for (uint32_t a = program->act_count; a-- > 0 && like > 0;) {
    const kw_program_act *act = &program->acts[a];
    if (act->kind != KW_ACT_CALL || act->graph != like || is_relay(program, act->index)) continue;
    draw->twin = a;
    count++;
  }
  if (count > 0) draw->graph_calls = count;
}

static void begin_graph(kw_draw *draw, const kw_program *program) {
  const uint32_t calls = kw_draw_percent(draw, LONG) ? LONG_GRAPH : 1 + kw_draw_below(draw, 5);
  const bool alike = draw->graphs > 0 && kw_draw_percent(draw, ALIKE);
  begin_graph_like(draw, program, calls, alike ? 1 + kw_draw_below(draw, draw->graphs) : 0);
}

/* The call that the next one of the graph is to be like. KW_PROGRAM_CALLS: none. */
static uint32_t next_twin(kw_draw *draw, const kw_program *program) {
  if (draw->twin >= program->act_count) return KW_PROGRAM_CALLS;
  const kw_program_act *act = &program->acts[draw->twin];
  do {
    draw->twin++;
  } while (draw->twin < program->act_count && program->acts[draw->twin].graph == act->graph &&
           is_relay(program, program->acts[draw->twin].index));
  return act->index;
}

void kw_program_launch(kw_draw *draw, kw_program *program, uint32_t graph) {
  kw_program_act found = {.kind = KW_ACT_LAUNCH, .index = graph};
  kw_program_use uses[KW_PROGRAM_USES];
  const uint32_t count = kw_program_uses(program, &found, uses);
  uint32_t changed = program->storage_count;
  bool fixed = false;
  for (uint32_t u = 0; u < count; u++) {
    const kw_program_storage *s = &program->storages[uses[u].storage];
    fixed |= s->fixed;
    if (!s->fixed && !uses[u].changes && s->size > 0 && kw_draw_percent(draw, 50)) changed = uses[u].storage;
  }
  if (count == 0) return;
  const uint32_t device = program->storages[uses[0].storage].device;
  const uint32_t stream =
      fixed ? KW_STREAM_OF_GRAPH : stream_on(program, kw_program_draw_stream(draw, program), device);
  if (!fixed && kw_draw_percent(draw, CHANGED)) kw_program_transfer(draw, program, KW_ACT_WRITE, changed, stream);
  kw_program_act *act = kw_program_add_act(program, KW_ACT_LAUNCH, graph, stream);
  if (act) kw_program_note_hot(draw, program, act);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Whether the call is of the op that the program is most about, where there is one; no relay. */
static bool is_main(const kw_draw *draw, const kw_program *program, uint32_t call) {
  if (is_relay(program, call)) return false;
  return draw->palette_count == 0 || program->calls[call].c.op == &draw->palette[0]->op;
}

/* One of the newest calls, but no relay; KW_PROGRAM_CALLS: there is none. */
static uint32_t draw_recent(kw_draw *draw, const kw_program *program) {
  uint32_t found = KW_PROGRAM_CALLS, skip = kw_draw_below(draw, 3);
  for (uint32_t a = program->act_count; a-- > 0;) {
    if (program->acts[a].kind != KW_ACT_CALL || !is_main(draw, program, program->acts[a].index)) continue;
    found = program->acts[a].index;
    if (skip-- == 0) break;
  }
  return found;
}

/* A call once more, its inputs in the same places, one of them changed meanwhile, but for its first element. */
static bool call_again(kw_draw *draw, kw_program *program, uint32_t earlier) {
  const kw_program_call *like = &program->calls[earlier];
  if (program->call_count == KW_PROGRAM_CALLS || !like->certain || like->mode != KW_MATH_HIGHEST) return false;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    if (like->places[i] >= 0 && program->storages[like->places[i]].released) return false;
  }
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    if (like->c.tensors[i].output) return false;
  }
  uint32_t changed = program->storage_count;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    if (like->places[i] >= 0 && !program->storages[like->places[i]].fixed) changed = (uint32_t)like->places[i];
  }
  const bool changes = changed < program->storage_count && program->storages[changed].size > 0;
  draw->stream = stream_on(program, draw->stream, like->device);
  if (changes && kw_program_elements(&program->storages[changed]) > 1)
    transfer_from(draw, program, KW_ACT_WRITE, changed, draw->stream, 1);
  const uint32_t at = program->call_count++;
  kw_program_call *call = &program->calls[at];
  *call = *like;
  call->chained |= changes;
  for (uint32_t r = 0; r < call->c.result_count; r++) {
    kw_case_tensor *out = &call->c.outs[r];
    if (!out->given) continue;
    kw_case_layout_dense(out);
    call->allocated[r] = true;
    call->outs[r] = kw_program_add_storage(program, call->device, out->dtype, out->extent, false);
    if (call->outs[r] < 0) return false;
    program->storages[call->outs[r]].maker = (int)at;
  }
  return kw_program_add_call(draw, program, at);
}

/* Whether all that the call needs has found a place. */
static bool placed(const kw_program_call *call) {
  bool all = true;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    all &= !call->c.tensors[i].given || call->c.tensors[i].output || call->places[i] >= 0;
  }
  for (uint32_t r = 0; r < call->c.result_count; r++) all &= !call->c.outs[r].given || call->outs[r] >= 0;
  return all;
}

bool kw_program_place_and_add(kw_draw *draw, kw_program *program, kw_program_call *call) {
  if (!call) return false;
  const uint32_t index = (uint32_t)(call - program->calls);
  kw_program_place_call(draw, program, call);
  draw->apart = false;
  return placed(call) && kw_program_add_call(draw, program, index);
}

static bool add_next(kw_draw *draw, kw_program *program) {
  const uint32_t recent = draw_recent(draw, program), way = kw_draw_below(draw, 100);
  const uint32_t more = draw->palette_count > 0 ? MORE : 1;
  kw_program_call *call = NULL;
  if (draw->graph_calls > 0) {
    const uint32_t twin = next_twin(draw, program);
    if (twin < KW_PROGRAM_CALLS) call = kw_program_draw_twin(draw, program, twin, false);
  } else if (recent < KW_PROGRAM_CALLS && way < AGAIN * more) {
    uint32_t earlier = kw_draw_below(draw, program->call_count);
    for (int try = 0; try < 6 && !is_main(draw, program, earlier); try++)
      earlier = kw_draw_below(draw, program->call_count);
    if (call_again(draw, program, earlier)) return true;
  } else if (recent < KW_PROGRAM_CALLS && way < (AGAIN + TWIN) * more) {
    change_stream(draw, program);
    const bool turned = kw_draw_percent(draw, TURNED);
    call = kw_program_draw_twin(draw, program, recent, turned);
    draw->apart = call && (turned || kw_draw_percent(draw, 50));
  }
  if (!call) call = kw_program_draw_call(draw, program);
  if (!call && draw->graph_calls > 0) { /* nothing that can be recorded */
    draw->graph_calls = 0;
    call = kw_program_draw_call(draw, program);
  }
  return kw_program_place_and_add(draw, program, call);
}

/* ---- Scenes: few calls that meet closely ------------------------------------------------------------------------- */

/* A call with inputs of its own; NULL: there is none, or no room. */
static kw_program_call *play_call(kw_draw *draw, kw_program *program) {
  draw->apart = true;
  kw_program_call *call = kw_program_draw_call(draw, program);
  return kw_program_place_and_add(draw, program, call) ? call : NULL;
}

/* The same of one that is like it, where there is such. False: no room. */
static bool play_twin(kw_draw *draw, kw_program *program, const kw_program_call *like, bool turned) {
  kw_program_call *twin = kw_program_draw_twin(draw, program, (uint32_t)(like - program->calls), turned);
  draw->apart = true;
  return !twin || kw_program_place_and_add(draw, program, twin);
}

/* Two calls of one op on two streams, of one shape or of one that is turned, with numbers of their own. */
static bool play_pair(kw_draw *draw, kw_program *program) {
  const kw_program_call *call = play_call(draw, program);
  if (!call) return false;
  change_stream(draw, program);
  return play_twin(draw, program, call, kw_draw_percent(draw, TURNED));
}

/* A call, and once more on the same memory. */
static bool play_again(kw_draw *draw, kw_program *program) {
  const kw_program_call *call = play_call(draw, program);
  if (!call) return false;
  call_again(draw, program, (uint32_t)(call - program->calls));
  return true;
}

/* Records so many calls; those of `like`, a graph, where it is not 0. */
static bool record_graph(kw_draw *draw, kw_program *program, uint32_t count, uint32_t like) {
  begin_graph_like(draw, program, count, like);
  while (draw->graph_calls > 0) {
    const uint32_t twin = next_twin(draw, program);
    draw->apart = true;
    kw_program_call *call = twin < KW_PROGRAM_CALLS ? kw_program_draw_twin(draw, program, twin, false) : NULL;
    if (!call) call = kw_program_draw_call(draw, program);
    const bool good = kw_program_place_and_add(draw, program, call);
    draw->graph_calls = good ? draw->graph_calls - 1 : 0;
    if (!good) return false;
  }
  return true;
}

/* Two graphs of the same calls, and the first of them once more, on another stream. */
static bool play_graphs(kw_draw *draw, kw_program *program) {
  if (draw->stream == 0 || draw->graphs + 2 > KW_PROGRAM_GRAPHS) return true;
  if (!record_graph(draw, program, 1 + kw_draw_below(draw, 2), 0)) return false;
  const uint32_t graph = draw->graphs;
  if (!record_graph(draw, program, 0, graph)) return false;
  kw_program_launch(draw, program, graph);
  return true;
}

/* A result that another stream reads, released at once, and a call that may get its memory. */
static bool play_reuse(kw_draw *draw, kw_program *program) {
  const uint32_t home = draw->stream;
  const kw_program_call *call = play_call(draw, program);
  if (!call) return false;
  const int made = call->outs[0];
  if (made < 0 || !call->allocated[0] || call->leaf || program->storages[made].kept) return true;
  change_stream(draw, program);
  draw->stream = stream_on(program, draw->stream, program->storages[made].device);
  kw_program_relay(draw, program, made);
  draw->stream = home;
  if (!kw_program_add_act(program, KW_ACT_RELEASE, (uint32_t)made, home)) return false;
  program->storages[made].released = true;
  return play_twin(draw, program, call, false);
}

/* A call of any op on one device, and on the other. */
static bool play_both(kw_draw *draw, kw_program *program) {
  if (!program->two) return true;
  draw->main = false;
  const kw_program_call *call = play_call(draw, program);
  if (!call) return false;
  draw->stream ^= 1;
  return play_twin(draw, program, call, false);
}

static bool play(kw_draw *draw, kw_program *program) {
  static bool (*const scenes[])(kw_draw *, kw_program *) = {play_pair, play_again, play_graphs, play_reuse, play_both};
  draw->main = true;
  const bool good = scenes[kw_draw_below(draw, sizeof scenes / sizeof scenes[0])](draw, program);
  draw->main = draw->apart = false;
  return good;
}

void kw_program_draw_holds(kw_draw *draw, kw_program *program) {
  const kw_device_facts *facts = draw->facts;
  const bool able = facts->native & KW_NATIVE_CALL_HOST && facts->native & KW_NATIVE_EVENTS;
  const bool holds = able && kw_draw_percent(draw, 80);
  for (uint32_t s = 1; s < program->stream_count && holds; s++) {
    const bool must = s == 1, must_not = s > 1 && s + 1 == program->stream_count; /* some are held, and some are not */
    if (!must_not && (must || kw_draw_percent(draw, HELD))) kw_program_add_act(program, KW_ACT_HOLD, 0, s);
  }
}

bool kw_program_generate(const kw_device_facts *facts, kw_program *program) {
  kw_draw draw = {.facts = facts, .seed = program->seed, .number = program->number, .twin = KW_PROGRAM_ACTS};
  const uint32_t most = kw_draw_percent(&draw, 60) ? KW_PROGRAM_CALLS / 3 : KW_PROGRAM_CALLS;
  const uint32_t wanted = FEWEST_CALLS + kw_draw_below(&draw, most - FEWEST_CALLS + 1);
  static const uint32_t streams[] = {1, 2, 3, 3, 4, 4, 4};
  program->stream_count = streams[kw_draw_below(&draw, sizeof streams / sizeof streams[0])];
  if (kw_draw_percent(&draw, FEW_OPS)) kw_program_draw_palette(&draw);
  program->two = facts->second && *facts->second && kw_draw_percent(&draw, TWO);
  if (program->two) program->stream_count = program->stream_count < 3 ? 2 : 4;
  kw_program_draw_holds(&draw, program);
  draw.stream = kw_program_draw_stream(&draw, program);
  const uint32_t more = draw.palette_count > 0 ? MORE : 1;
  while ((program->call_count < wanted || draw.graph_calls > 0) && add_next(&draw, program)) {
    if (draw.graph_calls > 0 && --draw.graph_calls > 0) continue; /* nothing but calls may come */
    if (kw_draw_percent(&draw, SCENE) && !play(&draw, program)) break;
    if (kw_draw_percent(&draw, 50)) draw.stream = kw_program_draw_stream(&draw, program);
    draw_host_acts(&draw, program);
    if (program->two && kw_draw_percent(&draw, COPIED)) copy(&draw, program);
    if (draw.graphs > 0 && kw_draw_percent(&draw, LAUNCH * more))
      kw_program_launch(&draw, program, 1 + kw_draw_below(&draw, draw.graphs));
    if (draw.stream > 0 && draw.graphs < KW_PROGRAM_GRAPHS && kw_draw_percent(&draw, GRAPH * more))
      begin_graph(&draw, program);
  }
  return program->call_count > 0;
}
