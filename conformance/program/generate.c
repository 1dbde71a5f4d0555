/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole program, drawn act by act.
 */
#include "program/generate.h"

#include <keyway/keyway.h>

#include <stdlib.h>
#include <string.h>

enum { FEWEST_CALLS = 5, READ = 15, WRITE = 8, RELEASE = 18, HELD = 60, OPENED = 4 /* percent */ };

static bool add_act(kw_program *program, kw_act_kind kind, uint32_t index, uint32_t stream) {
  if (program->act_count == KW_PROGRAM_ACTS) return false;
  program->acts[program->act_count] = (kw_program_act){kind, program->act_count, index, stream};
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

/* What the host does between calls. */
static void draw_host_acts(kw_draw *draw, kw_program *program) {
  static const struct {
    kw_act_kind kind;
    uint32_t share;
  } kinds[] = {{KW_ACT_READ, READ}, {KW_ACT_WRITE, WRITE}, {KW_ACT_RELEASE, RELEASE}};
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    const uint32_t stream = kw_draw_below(draw, program->stream_count);
    if (!kw_draw_percent(draw, kinds[k].share)) continue;
    const uint32_t storage = draw_storage(draw, program, kinds[k].kind == KW_ACT_WRITE);
    if (storage == program->storage_count || !add_act(program, kinds[k].kind, storage, stream)) continue;
    program->storages[storage].released = kinds[k].kind == KW_ACT_RELEASE;
  }
  if (kw_draw_percent(draw, OPENED) && program->stream_count > 1)
    add_act(program, KW_ACT_OPEN, 0, 1 + kw_draw_below(draw, program->stream_count - 1));
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
  kw_draw draw = {program->seed, program->number, 0};
  const uint32_t most = kw_draw_percent(&draw, 60) ? KW_PROGRAM_CALLS / 3 : KW_PROGRAM_CALLS;
  const uint32_t wanted = FEWEST_CALLS + kw_draw_below(&draw, most - FEWEST_CALLS + 1);
  const bool holds = facts->native & KW_NATIVE_CALL_HOST && facts->native & KW_NATIVE_EVENTS;
  program->stream_count = 1 + kw_draw_below(&draw, KW_PROGRAM_STREAMS);
  for (uint32_t s = 1; s < program->stream_count && holds; s++) {
    if (kw_draw_percent(&draw, HELD)) add_act(program, KW_ACT_HOLD, 0, s);
  }
  uint32_t stream = kw_draw_below(&draw, program->stream_count);
  while (program->call_count < wanted && kw_program_draw_call(&draw, facts, program)) {
    kw_program_place_call(&draw, program);
    if (kw_draw_percent(&draw, 50)) stream = kw_draw_below(&draw, program->stream_count);
    if (!placed(program) || !add_act(program, KW_ACT_CALL, program->call_count - 1, stream)) break;
    draw_host_acts(&draw, program);
  }
  return program->call_count > 0;
}
