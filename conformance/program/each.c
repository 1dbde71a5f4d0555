/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that together call each op, whatever others draw: in two sizes that are each other's turned round, for what
 * is prepared for one may be taken for the other; and on each device, for tables and scratch memory may be there for
 * one alone. All on default streams, where the host's thread may do the work.
 */
#include "program/generate.h"

#include "case/make.h"

enum {
  NUMBERS = 12, /* cases of a class that are looked at */
  FORMS = 2,    /* of an op that are called */
  LARGEST = 12,
  LEAST = 4 /* of the larger size */
};

/* The case, or its variant of these sizes, as the next call on the stream. */
static bool add(kw_draw *draw, kw_program *program, const kw_case *plain, const kw_shape *sizes, uint32_t stream) {
  if (program->call_count == KW_PROGRAM_CALLS) return false;
  kw_program_call *call = &program->calls[program->call_count];
  call->c = *plain;
  if (sizes && !kw_case_shrink(plain, sizes, &call->c)) return false;
  if (!kw_program_fits(&call->c)) return false;
  draw->stream = stream;
  draw->apart = true;
  kw_program_take(draw, program, call);
  return kw_program_place_and_add(draw, program, call);
}

/* On each device. */
static void add_everywhere(kw_draw *draw, kw_program *program, const kw_case *plain, const kw_shape *sizes) {
  for (uint32_t s = 0; s < program->stream_count; s++) add(draw, program, plain, sizes, s);
}

/* Both sizes of a case that has two. */
static bool add_turned(kw_draw *draw, kw_program *program, const kw_case *plain) {
  const int64_t *dims = plain->sizes.dims;
  if (!plain->resizable || plain->exact || plain->sizes.rank != 2) return false;
  const int64_t smaller = dims[0] < dims[1] ? dims[0] : dims[1], most = smaller < LARGEST ? smaller : LARGEST;
  const kw_shape flat = {2, {most - 2, most}}, high = {2, {most, most - 2}};
  if (most < LEAST || !add(draw, program, plain, &flat, 0)) return false;
  add_everywhere(draw, program, plain, &high);
  return true;
}

static void add_op(kw_draw *draw, kw_program *program, const kw_op_facts *op) {
  static const kw_case_class classes[] = {KW_CLASS_PRIME, KW_CLASS_ATTRS, KW_CLASS_EXACT, KW_CLASS_ONE};
  const uint64_t dtypes = (op->kernels | op->decomposed) & kw_suite_op_keys(&op->op);
  const kw_dtype dtype = dtypes & KW_DTYPE_BIT(KW_F32) ? KW_F32 : kw_program_draw_dtype(draw, dtypes);
  uint32_t forms = 0;
  kw_case c;
  if (dtype == KW_DTYPE_NONE) return;
  for (uint32_t n = 0; n < NUMBERS && forms < FORMS && kw_case_make(&op->op, dtype, KW_CLASS_PRIME, n, &c); n++)
    forms += add_turned(draw, program, &c);
  for (uint32_t i = 0; i < sizeof classes / sizeof classes[0] && forms == 0; i++) {
    for (uint32_t n = 0; n < NUMBERS && forms == 0 && kw_case_make(&op->op, dtype, classes[i], n, &c); n++) {
      if (!kw_program_fits(&c)) continue;
      add_everywhere(draw, program, &c, NULL);
      forms++;
    }
  }
}

bool kw_program_generate_each(const kw_device_facts *facts, kw_program *program) {
  kw_draw draw = {.facts = facts, .seed = program->seed, .number = program->number, .twin = KW_PROGRAM_ACTS};
  program->two = facts->second && *facts->second;
  program->defaults = true;
  program->stream_count = program->two ? 2 : 1;
  for (uint32_t i = (uint32_t)program->number; i < facts->op_count; i += KW_PROGRAM_EACH) {
    if (kw_program_callable(&facts->ops[i])) add_op(&draw, program, &facts->ops[i]);
  }
  return facts->op_count > 0 && program->number < KW_PROGRAM_EACH;
}
