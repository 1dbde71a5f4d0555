/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole program, drawn act by act.
 */
#include "program/generate.h"

#include <keyway/keyway.h>

#include <stdlib.h>
#include <string.h>

enum {
  FEWEST_CALLS = 5,
  READ = 15,
  WRITE = 8,
  RELEASE = 30,
  REUSED = 60,
  HELD = 45,
  OPENED = 2,
  GRAPH = 8,
  LAUNCH = 15 /* percent */
};

static bool add_act(kw_program *program, kw_act_kind kind, uint32_t index, uint32_t stream) {
  if (program->act_count == KW_PROGRAM_ACTS) return false;
  program->acts[program->act_count] =
      (kw_program_act){.kind = kind, .number = program->act_count, .index = index, .stream = stream};
  program->act_count++;
  return true;
}

/* Some storage that something may still read, or the number of them when there is none. */
static uint32_t draw_storage(kw_draw *draw, const kw_program *program, bool changes) {
  for (int try = 0; try < 8 && program->storage_count > 0; try++) {
    const uint32_t at = kw_draw_below(draw, program->storage_count);
    const kw_program_storage *s = &program->storages[at];
    if (s->leaf || s->released || s->size == 0 || (changes && s->fixed)) continue;
    return at;
  }
  return program->storage_count;
}

/* What core has allocated and the last call has read, where there is such; otherwise as draw_storage: its memory is
 * used again soonest. */
static uint32_t draw_released(kw_draw *draw, const kw_program *program) {
  const kw_program_call *call = &program->calls[program->call_count - 1];
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    if (call->places[i] < 0 || program->storages[call->places[i]].maker < 0) continue;
    if (!program->storages[call->places[i]].released) return (uint32_t)call->places[i];
  }
  return draw_storage(draw, program, false);
}

/* The stream that core has allocated the storage for: it is the one that gets the memory again. */
static uint32_t stream_of(const kw_program *program, uint32_t storage) {
  for (uint32_t a = 0; a < program->act_count; a++) {
    const kw_program_act *act = &program->acts[a];
    if (act->kind == KW_ACT_CALL && (int)act->index == program->storages[storage].maker) return act->stream;
  }
  return program->acts[program->act_count - 1].stream;
}

static uint32_t draw_stream(kw_draw *draw, const kw_program *program) {
  const uint32_t first = program->act_count > 0 && program->acts[0].kind == KW_ACT_HOLD; /* see leave_default_stream */
  return first + kw_draw_below(draw, program->stream_count - first);
}

/* What the host does between calls. The next calls go to *io_stream: where memory was released, often to its stream. */
static void draw_host_acts(kw_draw *draw, kw_program *program, uint32_t *io_stream) {
  if (kw_draw_percent(draw, READ)) {
    const uint32_t storage = draw_storage(draw, program, false);
    if (storage < program->storage_count) add_act(program, KW_ACT_READ, storage, draw_stream(draw, program));
  }
  if (kw_draw_percent(draw, WRITE)) {
    const uint32_t storage = draw_storage(draw, program, true);
    if (storage < program->storage_count) add_act(program, KW_ACT_WRITE, storage, draw_stream(draw, program));
  }
  if (kw_draw_percent(draw, RELEASE)) {
    const uint32_t storage = draw_released(draw, program);
    const bool free = storage < program->storage_count && !program->storages[storage].kept;
    if (free && add_act(program, KW_ACT_RELEASE, storage, *io_stream)) {
      program->storages[storage].released = true;
      draw->apart = kw_draw_percent(draw, REUSED);
      if (draw->apart) *io_stream = stream_of(program, storage);
    }
  }
  if (kw_draw_percent(draw, OPENED) && program->stream_count > 1)
    add_act(program, KW_ACT_OPEN, 0, 1 + kw_draw_below(draw, program->stream_count - 1));
}

/* Whether the last call may be recorded and run again with other numbers in its inputs. */
static bool recordable(const kw_program *program) {
  const kw_program_call *call = &program->calls[program->call_count - 1];
  return call->repeats && call->form == KW_FORM_PLAIN && kw_suite_op_generator(call->c.op) < 0;
}

/* What a graph uses is not released: it may be launched once more at any time. */
static void keep_uses(kw_program *program) {
  kw_program_use uses[KW_PROGRAM_USES];
  const uint32_t count = kw_program_uses(program, &program->acts[program->act_count - 1], uses);
  for (uint32_t u = 0; u < count; u++) program->storages[uses[u].storage].kept = true;
}

/* After a call: whether it is recorded, and with it those that follow. True while nothing but calls may come. */
static bool draw_graph(kw_draw *draw, kw_program *program, uint32_t stream) {
  if (draw->graph_calls == 0 && stream > 0 && draw->graphs < KW_PROGRAM_GRAPHS && kw_draw_percent(draw, GRAPH)) {
    draw->graph_calls = 1 + kw_draw_below(draw, 5);
    draw->graph = ++draw->graphs;
  }
  if (draw->graph_calls > 0 && recordable(program)) {
    program->acts[program->act_count - 1].graph = draw->graph;
    keep_uses(program);
    return --draw->graph_calls > 0;
  }
  draw->graph_calls = 0;
  if (draw->graphs > 0 && kw_draw_percent(draw, LAUNCH))
    add_act(program, KW_ACT_LAUNCH, 1 + kw_draw_below(draw, draw->graphs), draw_stream(draw, program));
  return false;
}

/* Whether all that the call needs has found a place. */
static bool placed(const kw_program *program) {
  const kw_program_call *call = &program->calls[program->call_count - 1];
  bool all = true;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    all &= !call->c.tensors[i].given || call->c.tensors[i].output || call->places[i] >= 0;
  }
  for (uint32_t r = 0; r < call->c.result_count; r++) all &= !call->c.outs[r].given || call->outs[r] >= 0;
  return all;
}

bool kw_program_generate(const kw_device_facts *facts, kw_program *program) {
  kw_draw draw = {.seed = program->seed, .number = program->number};
  const uint32_t most = kw_draw_percent(&draw, 60) ? KW_PROGRAM_CALLS / 3 : KW_PROGRAM_CALLS;
  const uint32_t wanted = FEWEST_CALLS + kw_draw_below(&draw, most - FEWEST_CALLS + 1);
  const bool able = facts->native & KW_NATIVE_CALL_HOST && facts->native & KW_NATIVE_EVENTS;
  const bool holds = able && kw_draw_percent(&draw, 80);
  static const uint32_t streams[] = {1, 2, 3, 3, 4, 4, 4};
  program->stream_count = streams[kw_draw_below(&draw, sizeof streams / sizeof streams[0])];
  for (uint32_t s = 1; s < program->stream_count && holds; s++) {
    const bool must = s == 1, must_not = s > 1 && s + 1 == program->stream_count; /* some are held, and some are not */
    if (!must_not && (must || kw_draw_percent(&draw, HELD))) add_act(program, KW_ACT_HOLD, 0, s);
  }
  uint32_t stream = draw_stream(&draw, program);
  while (program->call_count < wanted && kw_program_draw_call(&draw, facts, program)) {
    kw_program_place_call(&draw, program);
    draw.apart = false;
    if (!placed(program) || !add_act(program, KW_ACT_CALL, program->call_count - 1, stream)) break;
    if (draw_graph(&draw, program, stream)) continue;
    if (kw_draw_percent(&draw, 50)) stream = draw_stream(&draw, program);
    draw_host_acts(&draw, program, &stream);
  }
  return program->call_count > 0;
}
