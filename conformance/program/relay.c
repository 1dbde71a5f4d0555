/* SPDX-License-Identifier: Apache-2.0
 *
 * Relays: calls that hand on what a storage holds, so that indices, lists and whatever else has to have the values of
 * its case can come from the device as well.
 */
#include "program/generate.h"

#include "case/parts.h"

#include <stdio.h>
#include <string.h>

static const char *const relays[] = {"clone", "copy_", "_to_copy", "add.Tensor"};
enum { RELAYS = sizeof relays / sizeof relays[0], ADDS = 3 };

/* Whether the op hands on elements of the dtype bit for bit, or by a sum whose bits the device promises. */
static bool hands_on(const kw_op_facts *op, uint32_t relay, kw_dtype dtype) {
  if (!op || !((op->kernels | op->decomposed) & KW_DTYPE_BIT(dtype))) return false;
  if (relay != ADDS) return true;
  return dtype != KW_BOOL && (kw_element_is_integer(dtype) || op->repeats & KW_DTYPE_BIT(dtype));
}

/* The case of such a call on `count` elements; it is zero so far. */
static void make_case(const kw_op_facts *op, kw_dtype dtype, uint64_t count, kw_case *c) {
  const kw_shape shape = {1, {(int64_t)count}};
  c->op = &op->op;
  c->key = dtype;
  c->class = KW_CLASS_PRIME;
  c->terms = 2;
  snprintf(c->id, sizeof c->id, "%s/%s", op->op.name, kw_element_name(dtype));
  c->hash = kw_hash(KW_HASH_START, c->id);
  c->result_count = 1;
  c->bounds[0] = kw_op_row_bound(&op->op.row, 0);
  kw_case_set_tensor(c, 0, dtype, &shape, KW_LAYOUT_DENSE);
  if (op->op.arg_count > 1 && op->op.args[1].tag == KW_TAG_TENSOR)
    kw_case_set_tensor(c, 1, dtype, &shape, KW_LAYOUT_DENSE);
  kw_case_set_result(c, 0, dtype, &shape, KW_LAYOUT_DENSE);
  if (op->op.in_place) kw_case_set_in_place(c);
}

int kw_program_relay(kw_draw *draw, kw_program *program, int from) {
  const kw_program_storage *source = &program->storages[from];
  const uint64_t count = kw_program_elements(source);
  const uint32_t start = kw_draw_below(draw, RELAYS), at = program->call_count;
  if (at + 1 >= KW_PROGRAM_CALLS || program->storage_count + 2 >= KW_PROGRAM_STORAGES || count == 0)
    return KW_PLACE_NONE;
  if (kw_program_device_of(program, draw->stream) != source->device) return KW_PLACE_NONE;
  for (uint32_t i = 0; i < RELAYS; i++) {
    const uint32_t relay = (start + i) % RELAYS;
    const kw_op_facts *op = kw_device_facts_op(draw->facts, relays[relay]);
    if (!hands_on(op, relay, source->dtype)) continue;
    kw_program_call *call = &program->calls[at];
    memset(call, 0, sizeof *call); /* what was tried there may have left something */
    make_case(op, source->dtype, count, &call->c);
    call->seed = program->seed;
    call->repeats = (op->repeats & KW_DTYPE_BIT(source->dtype)) != 0;
    call->certain = true;
    call->device = source->device;
    call->autocast = KW_DTYPE_NONE;
    for (uint32_t t = 0; t < KW_CASE_TENSORS; t++) call->places[t] = KW_PLACE_NONE;
    for (uint32_t r = 0; r < KW_SUITE_RESULTS; r++) call->outs[r] = KW_PLACE_NONE;
    const int to = kw_program_add_storage(program, source->device, source->dtype, count, false);
    kw_program_storage *made = &program->storages[to];
    made->mixed = source->mixed;
    made->fixed = source->fixed;
    made->relay = (int)at;
    made->instead = source->fill == KW_FILL_CASE ? KW_FILL_CASE : KW_FILL_VALUES;
    made->call = source->call;
    made->tensor = source->tensor;
    call->outs[0] = to;
    call->places[op->op.in_place ? 1 : 0] = from;
    if (relay == ADDS) {
      call->places[1] = kw_program_add_storage(program, source->device, source->dtype, count, false);
      program->storages[call->places[1]].fill = KW_FILL_ZERO;
      program->storages[call->places[1]].fixed = true;
    }
    call->allocated[0] = !op->op.in_place;
    if (call->allocated[0]) program->storages[to].maker = (int)at;
    program->call_count++;
    return kw_program_add_call(draw, program, at) ? to : KW_PLACE_NONE;
  }
  return KW_PLACE_NONE;
}
