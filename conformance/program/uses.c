/* SPDX-License-Identifier: Apache-2.0
 *
 * Which storages an act reads or changes, on which device, and whether by its default stream; how large a storage is.
 */
#include "program/program.h"

bool kw_program_is_default(const kw_program *program, uint32_t stream) {
  return program->defaults || (stream == 0 && !program->two);
}

uint32_t kw_program_device_of(const kw_program *program, uint32_t stream) {
  return program->two ? stream % 2 : 0;
}

uint64_t kw_program_elements(const kw_program_storage *storage) {
  return storage->size / kw_element_size(storage->dtype);
}

static void add_use(kw_program_use *uses, uint32_t *count, int storage, uint32_t stream, bool changes) {
  if (storage < 0) return;
  for (uint32_t u = 0; u < *count; u++) {
    if (uses[u].storage != (uint32_t)storage) continue;
    uses[u].changes |= changes;
    return;
  }
  uses[(*count)++] = (kw_program_use){(uint32_t)storage, stream, changes};
}

/* Of a call. */
static uint32_t add_uses_of(const kw_program *program, const kw_program_act *act, kw_program_use *uses,
                            uint32_t count) {
  const kw_program_call *call = &program->calls[act->index];
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) add_use(uses, &count, call->places[i], act->stream, false);
  for (uint32_t r = 0; r < KW_SUITE_RESULTS; r++) add_use(uses, &count, call->outs[r], act->stream, true);
  return count;
}

uint32_t kw_program_uses(const kw_program *program, const kw_program_act *act, kw_program_use *out_uses) {
  uint32_t count = 0;
  switch (act->kind) {
    case KW_ACT_CALL:
      count = add_uses_of(program, act, out_uses, 0);
      break;
    case KW_ACT_LAUNCH:
      for (uint32_t a = 0; a < program->act_count; a++) {
        const kw_program_act *call = &program->acts[a];
        if (call->kind == KW_ACT_CALL && call->graph == act->index) count = add_uses_of(program, call, out_uses, count);
      }
      for (uint32_t u = 0; u < count; u++) out_uses[u].stream = act->stream;
      break;
    case KW_ACT_READ:
    case KW_ACT_WRITE:
      add_use(out_uses, &count, (int)act->index, act->stream, act->kind == KW_ACT_WRITE);
      break;
    case KW_ACT_COPY:
      add_use(out_uses, &count, (int)act->index, act->from, false);
      add_use(out_uses, &count, (int)act->to, act->stream, true);
      break;
    default: /* what is released may still be in use: that is core's and the device's to know */
      break;
  }
  return count;
}
