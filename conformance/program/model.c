/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs taken from models: the calls are the model's, each on what the one before has made, and twice; on which
 * streams, in which graphs, and what the host does meanwhile is drawn. A call that the device does not claim is left
 * out; what it would have made, and what a call has made whose bits are not defined, comes from the host for the next.
 */
#include "program/generate.h"

#include <string.h>

enum {
  PASSES = 2,
  /* percent */
  ELSEWHERE = 35, /* calls on another stream than the one before */
  GIVEN = 15,     /* results that core does not allocate */
  PLANNED = 10,
  GRAPH = 20,
  READ = 10,
  WRITE = 5,
  LAUNCH = 15,
  RELEASE = 70, /* of what no later call reads */
  RENEWED = 60  /* inputs that are rewritten before the second pass */
};

/* The whole tensor, where the storage that is there for it has room for what the call sees. */
static int place_input(kw_program *program, const kw_program_call *call, uint32_t index, kw_model_tensor *tensor) {
  const kw_case_tensor *t = &call->c.tensors[index];
  const uint64_t size = t->extent * kw_element_size(t->dtype);
  if (tensor->storage >= 0 && size <= program->storages[tensor->storage].size) return tensor->storage;
  const int at = kw_program_add_storage(program, 0, t->dtype, t->extent, call->leaf && t->output);
  if (at < 0) return at;
  kw_program_storage *s = &program->storages[at];
  s->fill = KW_FILL_CASE;
  s->call = (uint32_t)(call - program->calls);
  s->tensor = index;
  s->mixed = (uint64_t)t->numel < t->extent;
  s->fixed = t->domain != KW_DOMAIN_UNIT;
  if (!s->mixed && !s->leaf) tensor->storage = at;
  return at;
}

static void place_inputs(kw_program *program, kw_program_call *call, const kw_model_call *read,
                         kw_model_reader *reader) {
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    const kw_case_tensor *t = &call->c.tensors[i];
    if (!t->given) continue;
    kw_model_tensor *tensor = &reader->tensors[read->tensors[i]];
    if (t->output && call->leaf) tensor->storage = KW_PLACE_NONE; /* what it becomes is nobody's to read */
    const uint32_t before = program->storage_count;
    const int at = place_input(program, call, i, tensor);
    call->chained |= program->storage_count == before;
    if (t->output) {
      call->outs[t->result] = at;
    } else {
      call->places[i] = at;
    }
  }
}

/* The results that are no arguments. */
static void place_results(kw_draw *draw, kw_program *program, kw_program_call *call, const kw_model_call *read,
                          kw_model_reader *reader) {
  for (uint32_t r = 0; r < call->c.result_count; r++) {
    const kw_case_tensor *out = &call->c.outs[r];
    if (!out->given || call->outs[r] >= 0) continue;
    const int at = kw_program_add_storage(program, 0, out->dtype, out->extent, call->leaf);
    call->outs[r] = at;
    reader->tensors[read->outs[r]].storage = call->leaf ? KW_PLACE_NONE : at;
    if (at < 0) continue;
    call->allocated[r] = !kw_draw_percent(draw, GIVEN);
    program->storages[at].result = r;
    if (call->allocated[r]) program->storages[at].maker = (int)(call - program->calls);
  }
}

/* What was left out has made nothing. */
static void forget_results(kw_model_reader *reader, const kw_model_call *read) {
  for (uint32_t r = 0; r < read->c.op->result_count; r++) {
    if (read->c.outs[r].given) reader->tensors[read->outs[r]].storage = KW_PLACE_NONE;
  }
}

/* Before its time; one that has no call is none. */
static void end_graph(kw_draw *draw, const kw_program *program) {
  draw->graph_calls = 0;
  if (program->acts[program->act_count - 1].graph != draw->graph) draw->graphs--;
}

/* False when there is room for no other. */
static bool add_call(kw_draw *draw, kw_program *program, const kw_model_call *read, kw_model_reader *reader) {
  const uint32_t index = program->call_count;
  kw_program_call *call = &program->calls[index];
  call->c = read->c;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) call->places[i] = KW_PLACE_NONE;
  for (uint32_t r = 0; r < KW_SUITE_RESULTS; r++) call->outs[r] = KW_PLACE_NONE;
  kw_program_take(draw, program, call);
  if (draw->graph_calls == 0 && kw_draw_percent(draw, PLANNED)) call->form = KW_FORM_PLAN;
  if (draw->graph_calls > 0 && !kw_program_recordable(call)) end_graph(draw, program);
  place_inputs(program, call, read, reader);
  place_results(draw, program, call, read, reader);
  const bool added = kw_program_add_call(draw, program, index);
  if (draw->graph_calls > 0) draw->graph_calls--;
  return added;
}

/* Gives back what core has allocated and no later call reads, as whoever runs a model does. */
static void release(kw_draw *draw, kw_program *program, kw_model_reader *reader) {
  for (uint32_t i = 0; i < reader->tensor_count; i++) {
    kw_model_tensor *tensor = &reader->tensors[i];
    kw_program_storage *s = &program->storages[tensor->storage >= 0 ? tensor->storage : 0];
    if (tensor->storage < 0 || s->maker < 0 || s->kept || kw_model_has_more(reader, tensor->name)) continue;
    if (!kw_draw_percent(draw, RELEASE)) continue;
    if (!kw_program_add_act(program, KW_ACT_RELEASE, (uint32_t)tensor->storage, draw->stream)) return;
    s->released = true;
    tensor->storage = KW_PLACE_NONE;
  }
}

/* Some tensor that has a storage; the number of these when the draw finds none. */
static uint32_t draw_tensor(kw_draw *draw, const kw_program *program, const kw_model_reader *reader, bool changes) {
  for (int try = 0; try < 8 && reader->tensor_count > 0; try++) {
    const int at = reader->tensors[kw_draw_below(draw, reader->tensor_count)].storage;
    if (at >= 0 && !program->storages[at].leaf && !(changes && program->storages[at].fixed)) return (uint32_t)at;
  }
  return program->storage_count;
}

/* What the host does between calls. */
static void act_between(kw_draw *draw, kw_program *program, kw_model_reader *reader) {
  if (kw_draw_percent(draw, ELSEWHERE)) draw->stream = kw_program_draw_stream(draw, program);
  if (kw_draw_percent(draw, READ))
    kw_program_transfer(draw, program, KW_ACT_READ, draw_tensor(draw, program, reader, false), draw->stream);
  if (kw_draw_percent(draw, WRITE))
    kw_program_transfer(draw, program, KW_ACT_WRITE, draw_tensor(draw, program, reader, true), draw->stream);
  release(draw, program, reader);
  if (draw->graphs > 0 && kw_draw_percent(draw, LAUNCH))
    kw_program_launch(draw, program, 1 + kw_draw_below(draw, draw->graphs));
  if (draw->stream == 0 || draw->graphs == KW_PROGRAM_GRAPHS || !kw_draw_percent(draw, GRAPH)) return;
  draw->graph_calls = 1 + kw_draw_below(draw, 8);
  draw->graph = ++draw->graphs;
}

/* Other numbers for what the host has put there. */
static void renew(kw_draw *draw, kw_program *program, const kw_model_reader *reader) {
  for (uint32_t i = 0; i < reader->tensor_count; i++) {
    const int at = reader->tensors[i].storage;
    if (at < 0 || program->storages[at].fill != KW_FILL_CASE || program->storages[at].fixed) continue;
    if (kw_draw_percent(draw, RENEWED))
      kw_program_transfer(draw, program, KW_ACT_WRITE, (uint32_t)at, kw_program_draw_stream(draw, program));
  }
}

bool kw_program_generate_model(const kw_device_facts *facts, const kw_model *model, kw_program *program) {
  kw_draw draw = {.facts = facts,
                  .seed = program->seed ^ kw_hash(KW_HASH_START, model->name),
                  .number = program->number,
                  .twin = KW_PROGRAM_ACTS};
  kw_model_reader reader = {.facts = facts, .model = model};
  kw_model_call read;
  bool room = true;
  program->stream_count = 1 + kw_draw_below(&draw, KW_PROGRAM_STREAMS);
  kw_program_draw_holds(&draw, program);
  draw.stream = kw_program_draw_stream(&draw, program);
  for (int pass = 0; pass < PASSES && room; pass++) {
    kw_model_read_from_start(&reader);
    if (pass > 0) renew(&draw, program, &reader);
    while (room && kw_model_read(&reader, &read)) {
      if (!read.claimed) forget_results(&reader, &read);
      if (!read.claimed) continue;
      room = program->call_count < KW_PROGRAM_CALLS && add_call(&draw, program, &read, &reader);
      if (draw.graph_calls == 0 && room) act_between(&draw, program, &reader);
    }
    draw.graph_calls = 0;
  }
  return facts->op_count > 0;
}
