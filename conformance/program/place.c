/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the tensors of a call lie: in storages of their own, or in what other calls have made, as views of it.
 */
#include "program/generate.h"

#include "case/layout.h"

#include <string.h>

enum {
  CHAINED = 75, /* percent of the inputs that read what others made, as far as they can */
  HOT = 60,     /* percent of the tries for a place that begin with what the last act has changed */
  RECENT = 6,   /* of the newest storages */
  OLD = 25,     /* percent of those that read any other */
  RELAYED = 30  /* percent of the inputs with values of their case that come from the device all the same */
};

/* Any values will do: none that are indices, sorted, or of another structure; and whole numbers of any size. */
static bool takes_any(const kw_case_tensor *tensor) {
  const bool integer = kw_element_is_integer(tensor->dtype);
  switch (tensor->domain) {
    case KW_DOMAIN_ANY:
    case KW_DOMAIN_UNIT:
    case KW_DOMAIN_SMALL:
    case KW_DOMAIN_FEW:
      return true;
    case KW_DOMAIN_POSITIVE:
    case KW_DOMAIN_NEAR:
    case KW_DOMAIN_EXPONENT:
    case KW_DOMAIN_ANGLE:
    case KW_DOMAIN_ABOVE_ONE:
    case KW_DOMAIN_HALVES:
    case KW_DOMAIN_SIXTEENTH:
    case KW_DOMAIN_FACTOR:
    case KW_DOMAIN_NONZERO:
    case KW_DOMAIN_CONVERT:
      return !integer;
    default:
      return false;
  }
}

static bool is_used(const kw_program_call *call, int storage) {
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    if (call->places[i] == storage) return true;
  }
  for (uint32_t r = 0; r < KW_SUITE_RESULTS; r++) {
    if (call->outs[r] == storage) return true;
  }
  return false;
}

/* Whether elements of this dtype may be read from the storage, or written to it. */
static bool usable(const kw_program_storage *s, kw_dtype dtype, bool writes) {
  if (s->leaf || s->released || s->size == 0 || (writes && s->fixed)) return false;
  return dtype != KW_BOOL || (s->dtype == KW_BOOL && !s->mixed);
}

/* Lays the tensor into the storage, in one of the layouts that fit; false when none does. */
static bool lay_into(kw_draw *draw, const kw_program_storage *s, bool writes, kw_case_tensor *io_tensor) {
  static const kw_layout layouts[] = {
      KW_LAYOUT_DENSE, KW_LAYOUT_DENSE,   KW_LAYOUT_DENSE,        KW_LAYOUT_TRANSPOSED,    KW_LAYOUT_STEPPED,
      KW_LAYOUT_INNER, KW_LAYOUT_ROTATED, KW_LAYOUT_EXPAND_FIRST, KW_LAYOUT_CHANNELS_LAST, KW_LAYOUT_EXPAND_LAST};
  const kw_shape shape = kw_case_shape_of(io_tensor);
  const uint64_t room = s->size / kw_element_size(io_tensor->dtype);
  kw_layout layout = layouts[kw_draw_below(draw, sizeof layouts / sizeof layouts[0])];
  if (writes && (layout == KW_LAYOUT_EXPAND_FIRST || layout == KW_LAYOUT_EXPAND_LAST)) layout = KW_LAYOUT_DENSE;
  if (layout == KW_LAYOUT_CHANNELS_LAST && shape.rank < 3) layout = KW_LAYOUT_DENSE;
  for (int try = 0; try < 2; try++, layout = KW_LAYOUT_DENSE) {
    kw_case_tensor laid = *io_tensor;
    kw_case_layout(&laid, &shape, layout);
    if (laid.extent == 0 || laid.extent > room) continue;
    const uint64_t slack = room - laid.extent;
    const uint32_t way = slack > 0 ? kw_draw_below(draw, 100) : 0; /* at the start, inside, or at the end */
    if (way >= 50) laid.offset += way < 80 ? (int64_t)kw_draw_below(draw, (uint32_t)slack) + 1 : (int64_t)slack;
    *io_tensor = laid;
    return true;
  }
  return false;
}

/* A storage that something has made before, and in it a place for the tensor. */
static bool find_place(kw_draw *draw, const kw_program *program, const kw_program_call *call, bool writes,
                       kw_case_tensor *io_tensor, int *out_storage) {
  const uint32_t count = program->storage_count;
  if (io_tensor->numel == 0) return false;
  const int hot = draw->hot_count > 0 && kw_draw_percent(draw, HOT) ? 3 : 0;
  for (int try = 0; try < 8 && count > 0; try++) {
    const uint32_t window = kw_draw_percent(draw, OLD) || count < RECENT ? count : RECENT;
    const uint32_t any = count - 1 - kw_draw_below(draw, window);
    const uint32_t at = try < hot ? draw->hot[kw_draw_below(draw, draw->hot_count)] : any;
    const kw_program_storage *s = &program->storages[at];
    if (s->device != call->device || !usable(s, io_tensor->dtype, writes) || (writes && is_used(call, (int)at)))
      continue;
    if (!lay_into(draw, s, writes, io_tensor)) continue;
    *out_storage = (int)at;
    return true;
  }
  return false;
}

/* Of one tensor of the case, filled as the case says, or left as it is. */
static int add_for(kw_program *program, const kw_program_call *call, uint32_t tensor, const kw_case_tensor *layout,
                   bool filled, bool leaf) {
  const int at = kw_program_add_storage(program, call->device, layout->dtype, layout->extent, leaf);
  if (at < 0) return at;
  kw_program_storage *s = &program->storages[at];
  s->fill = filled ? KW_FILL_CASE : KW_FILL_POISON;
  s->call = (uint32_t)(call - program->calls);
  s->tensor = tensor;
  s->mixed = !filled || (uint64_t)layout->numel < layout->extent;
  return at;
}

/* Of an input with the values of its case: where these are, or where a relay has put them. */
static int place_own(kw_draw *draw, kw_program *program, const kw_program_call *call, uint32_t tensor) {
  const kw_case_tensor *t = &call->c.tensors[tensor];
  const int at = add_for(program, call, tensor, t, true, false);
  if (at < 0) return at;
  program->storages[at].fixed = !takes_any(t);
  const bool whole = t->dtype != KW_BOOL || (uint64_t)t->numel == t->extent; /* poison is no bool */
  if (draw->apart || !whole || t->numel == 0 || !kw_draw_percent(draw, RELAYED)) return at;
  const int relayed = kw_program_relay(draw, program, at);
  return relayed >= 0 ? relayed : at;
}

static void place_inputs(kw_draw *draw, kw_program *program, kw_program_call *call) {
  const bool own = call->c.exact && !call->repeats; /* sums of any other numbers have no one answer */
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    kw_case_tensor *t = &call->c.tensors[i];
    if (!t->given || t->output) continue;
    const bool chains = !own && !draw->apart && takes_any(t) && kw_draw_percent(draw, CHAINED);
    if (chains && find_place(draw, program, call, false, t, &call->places[i])) {
      call->chained = true;
    } else {
      call->places[i] = place_own(draw, program, call, i);
    }
  }
}

/* The tensor of the case that is this result, or -1. */
static int argument_of(const kw_case *c, uint32_t result) {
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    if (c->tensors[i].given && c->tensors[i].output && c->tensors[i].result == result) return (int)i;
  }
  return -1;
}

static bool same_form(const kw_case_tensor *a, const kw_case_tensor *b) {
  if (a->dtype != b->dtype || a->rank != b->rank || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) != 0)
    return false;
  for (uint32_t d = 0; d < b->rank; d++) {
    if (b->strides[d] == 0 && b->shape[d] > 1) return false;
  }
  return b->numel > 0;
}

/* Makes the result exactly one of the inputs, where the op is pointwise and no other input lies in its storage. */
static bool place_in_place(const kw_program *program, kw_program_call *call) {
  if (call->leaf || call->c.op->result_count != 1 || !kw_op_row_pointwise(&call->c.op->row)) return false;
  for (uint32_t i = 0; i < KW_MAX_ARGS; i++) {
    const kw_case_tensor *t = &call->c.tensors[i];
    if (call->places[i] < 0 || !same_form(&call->c.outs[0], t)) continue;
    uint32_t users = 0;
    for (uint32_t j = 0; j < KW_CASE_TENSORS; j++) users += call->places[j] == call->places[i];
    if (users > 1 || program->storages[call->places[i]].fixed) continue;
    memcpy(call->c.outs[0].strides, t->strides, sizeof t->strides);
    call->c.outs[0].offset = t->offset;
    call->outs[0] = call->places[i];
    return true;
  }
  return false;
}

static void place_result(kw_draw *draw, kw_program *program, kw_program_call *call, uint32_t result) {
  kw_case_tensor *out = &call->c.outs[result];
  const int argument = argument_of(&call->c, result);
  const kw_case_tensor *changed = argument >= 0 ? &call->c.tensors[argument] : NULL;
  const uint32_t way = kw_draw_below(draw, 100);
  const bool own = call->leaf || (call->c.exact && !call->repeats && changed);
  if (!changed && !draw->apart && call->autocast == KW_DTYPE_NONE && way < 25 && place_in_place(program, call)) return;
  if (!changed && (draw->apart || way < 55 || call->autocast != KW_DTYPE_NONE)) {
    kw_case_layout_dense(out);
    const int at = kw_program_add_storage(program, call->device, out->dtype, out->extent, call->leaf);
    call->outs[result] = at;
    if (at < 0) return;
    call->allocated[result] = true;
    program->storages[at].maker = (int)(call - program->calls);
    program->storages[at].result = result;
    return;
  }
  const bool takes = !changed || !changed->read || takes_any(changed);
  if (!own && takes && way < 80 && find_place(draw, program, call, true, out, &call->outs[result])) {
    call->chained |= changed && changed->read;
    return;
  }
  const bool filled = changed && changed->read;
  call->outs[result] = add_for(program, call, argument >= 0 ? (uint32_t)argument : 0, out, filled, call->leaf);
}

void kw_program_place_call(kw_draw *draw, kw_program *program, kw_program_call *call) {
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) call->places[i] = KW_PLACE_NONE;
  for (uint32_t r = 0; r < KW_SUITE_RESULTS; r++) call->outs[r] = KW_PLACE_NONE;
  memset(call->allocated, 0, sizeof call->allocated);
  call->device = kw_program_device_of(program, draw->stream);
  place_inputs(draw, program, call);
  for (uint32_t r = 0; r < call->c.result_count; r++) {
    if (!call->c.outs[r].given) continue;
    place_result(draw, program, call, r);
    if (call->outs[r] < 0) continue;
    kw_program_storage *s = &program->storages[call->outs[r]];
    s->mixed |= s->dtype != call->c.outs[r].dtype;
  }
}
