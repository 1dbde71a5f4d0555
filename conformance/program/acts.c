/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program is drawn into: its storages and acts, one by one.
 */
#include "program/generate.h"

#include "case/signature.h"

int kw_program_add_storage(kw_program *program, uint32_t device, kw_dtype dtype, uint64_t extent, bool leaf) {
  if (program->storage_count == KW_PROGRAM_STORAGES) return KW_PLACE_NONE;
  program->storages[program->storage_count] = (kw_program_storage){.dtype = dtype,
                                                                   .size = extent * kw_element_size(dtype),
                                                                   .device = device,
                                                                   .maker = -1,
                                                                   .relay = -1,
                                                                   .instead = KW_FILL_VALUES,
                                                                   .leaf = leaf};
  return (int)program->storage_count++;
}

kw_program_act *kw_program_add_act(kw_program *program, kw_act_kind kind, uint32_t index, uint32_t stream) {
  if (program->act_count == KW_PROGRAM_ACTS) return NULL;
  kw_program_act *act = &program->acts[program->act_count];
  *act = (kw_program_act){.kind = kind, .number = program->act_count, .index = index, .stream = stream};
  program->act_count++;
  return act;
}

void kw_program_note_hot(kw_draw *draw, const kw_program *program, const kw_program_act *act) {
  kw_program_use uses[KW_PROGRAM_USES];
  const uint32_t count = kw_program_uses(program, act, uses);
  draw->hot_count = 0;
  for (uint32_t u = count; u-- > 0 && draw->hot_count < KW_DRAW_HOT;) {
    if (uses[u].changes) draw->hot[draw->hot_count++] = uses[u].storage;
  }
}

bool kw_program_add_call(kw_draw *draw, kw_program *program, uint32_t index) {
  kw_program_act *act = kw_program_add_act(program, KW_ACT_CALL, index, draw->stream);
  if (!act) return false;
  act->graph = draw->graph_calls > 0 ? draw->graph : 0;
  kw_program_note_hot(draw, program, act);
  kw_program_use uses[KW_PROGRAM_USES];
  const uint32_t count = kw_program_uses(program, act, uses);
  for (uint32_t u = 0; u < count && act->graph; u++) { /* it may be launched once more at any time */
    program->storages[uses[u].storage].kept = true;
  }
  kw_program_call *call = &program->calls[index];
  call->loose |= act->graph && kw_suite_op_generator(call->c.op) >= 0; /* its state is that of the launch */
  return true;
}
