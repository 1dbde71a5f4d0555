/* SPDX-License-Identifier: Apache-2.0
 *
 * A program as text.
 */
#include "base/need.h"
#include "program/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void put_list(FILE *out, const char *what, uint32_t rank, const int64_t *values) {
  fprintf(out, "%s[", what);
  for (uint32_t d = 0; d < rank; d++) fprintf(out, "%s%" PRId64, d ? ", " : "", values[d]);
  fputc(']', out);
}

/* "t3 f32 [2, 3]", and strides and place where they are not those of a dense tensor that fills its storage. */
static void put_place(FILE *out, int storage, const kw_case_tensor *t) {
  fprintf(out, "t%d %s ", storage, kw_element_name(t->dtype));
  put_list(out, "", t->rank, t->shape);
  int64_t dense = 1;
  bool odd = t->offset != 0;
  for (uint32_t d = t->rank; d-- > 0; dense *= t->shape[d]) odd |= t->shape[d] > 1 && t->strides[d] != dense;
  if (odd) put_list(out, " strides ", t->rank, t->strides);
  if (t->offset) fprintf(out, " at %" PRId64, t->offset);
}

static void put_call(FILE *out, const kw_program_call *call) {
  const char *between = "";
  for (uint32_t r = 0; r < call->c.result_count; r++) {
    if (call->outs[r] < 0) continue;
    fputs(between, out);
    put_place(out, call->outs[r], &call->c.outs[r]);
    if (call->allocated[r]) fputs(" new", out);
    between = "; ";
  }
  fprintf(out, " = %s(", call->c.id);
  between = "";
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    if (call->places[i] < 0) continue;
    fputs(between, out);
    put_place(out, call->places[i], &call->c.tensors[i]);
    between = "; ";
  }
  fprintf(out, ")%s%s%s%s", call->autocast == KW_DTYPE_NONE ? "" : " under autocast",
          call->form == KW_FORM_PLAN ? " by a plan" : "", call->mode == KW_MATH_HIGHEST ? "" : " in tf32",
          call->leaf ? ", its bits undefined" : "");
}

static void put_transfer(FILE *out, const char *what, const kw_program_act *act) {
  fprintf(out, "%s t%u", what, act->index);
  if (act->first) fprintf(out, " from element %" PRIu64 " on", act->first);
}

static void put_act(FILE *out, const kw_program *program, const kw_program_act *act) {
  fprintf(out, "%4u  stream %u%s: ", act->number, act->stream,
          kw_program_device_of(program, act->stream) ? " of the second device" : "");
  switch (act->kind) {
    case KW_ACT_CALL:
      put_call(out, &program->calls[act->index]);
      break;
    case KW_ACT_READ:
      put_transfer(out, "read", act);
      break;
    case KW_ACT_WRITE:
      put_transfer(out, "write", act);
      break;
    case KW_ACT_RELEASE:
      fprintf(out, "release t%u", act->index);
      break;
    case KW_ACT_HOLD:
      fputs("hold", out);
      break;
    case KW_ACT_OPEN:
      fputs("open", out);
      break;
    case KW_ACT_COPY:
      fprintf(out, "copy t%u of stream %u to t%u", act->index, act->from, act->to);
      break;
    case KW_ACT_LAUNCH:
      fprintf(out, "launch graph %u once more", act->index);
      break;
  }
  if (act->graph) fprintf(out, ", in graph %u", act->graph);
  fputc('\n', out);
}

char *kw_program_text(const kw_program *program) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) kw_out_of_memory();
  fprintf(out, "%s: %u streams, %u acts\n", program->id, program->stream_count, program->act_count);
  for (uint32_t a = 0; a < program->act_count; a++) put_act(out, program, &program->acts[a]);
  fclose(out);
  return text;
}
