/* SPDX-License-Identifier: Apache-2.0
 *
 * Which calls a program makes: drawn from what the device claims.
 */
#include "program/generate.h"

#include "case/make.h"

#include <string.h>

enum {
  TRIES = 60,
  LARGEST = 4096, /* elements of the largest storage of a case that programs take */
  PRODUCTS = 25,  /* percent of calls that are products, where the device has any */
  NUMBERS = 12    /* cases of a class that are drawn from */
};

static const kw_case_class classes[] = {KW_CLASS_PRIME,   KW_CLASS_PRIME,   KW_CLASS_PRIME, KW_CLASS_BROADCAST,
                                        KW_CLASS_ATTRS,   KW_CLASS_ATTRS,   KW_CLASS_EXACT, KW_CLASS_EXACT,
                                        KW_CLASS_STRIDE0, KW_CLASS_OUTPUTS, KW_CLASS_ONE,   KW_CLASS_TRANSPOSED,
                                        KW_CLASS_SLICED,  KW_CLASS_SCALAR};

uint32_t kw_draw_below(kw_draw *draw, uint32_t below) {
  const uint32_t counter[4] = {draw->counter++, (uint32_t)draw->number, (uint32_t)(draw->number >> 32), 0x9106};
  const uint32_t key[2] = {(uint32_t)draw->seed, (uint32_t)(draw->seed >> 32)};
  uint32_t random[4];
  kw_philox(counter, key, random);
  return (uint32_t)(((uint64_t)random[0] * below) >> 32);
}

bool kw_draw_percent(kw_draw *draw, uint32_t share) {
  return kw_draw_below(draw, 100) < share;
}

static bool is_product(const kw_suite_op *op) {
  const kw_shape_rule rule = op->row.shape;
  return !op->vendor && (rule == KW_SHAPE_MM || rule == KW_SHAPE_BMM || rule == KW_SHAPE_ADDMM);
}

/* Ops whose results have shapes that only the data, or only the vendor, know have no place in a program. */
static bool callable(const kw_op_facts *facts) {
  return (facts->kernels | facts->decomposed) != 0 && !facts->op.vendor && !facts->op.counted;
}

static const kw_op_facts *draw_op(kw_draw *draw, const kw_device_facts *facts) {
  const bool product = kw_draw_percent(draw, PRODUCTS);
  for (int pass = product ? 0 : 1; pass < 2; pass++) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < facts->op_count; i++)
      count += callable(&facts->ops[i]) && (pass || is_product(&facts->ops[i].op));
    if (count == 0) continue;
    uint32_t chosen = kw_draw_below(draw, count);
    for (uint32_t i = 0; i < facts->op_count; i++) {
      if (!callable(&facts->ops[i]) || (!pass && !is_product(&facts->ops[i].op))) continue;
      if (chosen-- == 0) return &facts->ops[i];
    }
  }
  return NULL;
}

static kw_dtype draw_dtype(kw_draw *draw, uint64_t dtypes) {
  uint32_t count = 0;
  for (kw_dtype d = 0; d < KW_KEY_DTYPE_COUNT; d++) count += (dtypes & KW_DTYPE_BIT(d)) != 0;
  if (count == 0) return KW_DTYPE_NONE;
  if (dtypes & KW_DTYPE_BIT(KW_F32) && kw_draw_percent(draw, 50)) return KW_F32; /* so that calls can follow calls */
  uint32_t chosen = kw_draw_below(draw, count);
  for (kw_dtype d = 0; d < KW_KEY_DTYPE_COUNT; d++) {
    if (dtypes & KW_DTYPE_BIT(d) && chosen-- == 0) return d;
  }
  return KW_DTYPE_NONE;
}

/* Small, its tensors apart from each other, and nothing in it for which a call waits: masks among indices do that. */
static bool fits(const kw_case *c) {
  uint64_t elements = 0;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    const kw_case_tensor *t = &c->tensors[i];
    if (!t->given) continue;
    if (t->share >= 0 || t->extent > LARGEST) return false;
    if (i >= KW_MAX_ARGS && (t->dtype == KW_BOOL || t->dtype == KW_U8)) return false;
    elements += t->extent;
  }
  for (uint32_t r = 0; r < c->result_count; r++) {
    if (c->outs[r].given && c->outs[r].extent > LARGEST) return false;
    elements += c->outs[r].extent;
  }
  return elements > 0;
}

static bool draw_case(kw_draw *draw, const kw_op_facts *op, kw_dtype dtype, kw_case *out_case) {
  const kw_case_class class = classes[kw_draw_below(draw, sizeof classes / sizeof classes[0])];
  for (uint32_t number = kw_draw_below(draw, NUMBERS);; number /= 2) {
    if (kw_case_make(&op->op, dtype, class, number, out_case)) return fits(out_case);
    if (number == 0) return false;
  }
}

/* Whether the op leaves only one answer for this result. */
static bool one_answer(const kw_case *c, uint32_t result) {
  const kw_op_bound *bound = &c->bounds[result];
  const kw_dtype dtype = c->outs[result].dtype;
  const bool floating = kw_element_is_float(dtype) || kw_element_is_complex(dtype);
  switch (bound->compare) {
    case KW_CMP_BITS:
    case KW_CMP_INDEX:
      return true;
    case KW_CMP_ULP:
      return !floating || (bound->ulp == 0 && bound->abs == 0);
    case KW_CMP_ACCUMULATE:
      return !floating;
    default:
      return false;
  }
}

bool kw_program_draw_call(kw_draw *draw, const kw_device_facts *facts, kw_program *program) {
  kw_program_call *call = &program->calls[program->call_count];
  for (int try = 0; try < TRIES; try++) {
    const kw_op_facts *op = draw_op(draw, facts);
    if (!op) return false;
    const kw_dtype dtype = draw_dtype(draw, (op->kernels | op->decomposed) & kw_suite_op_keys(&op->op));
    if (dtype == KW_DTYPE_NONE || !draw_case(draw, op, dtype, &call->c)) continue;
    call->seed =
        kw_hash(program->seed ^ KW_HASH_START, call->c.id) + program->number * KW_PROGRAM_CALLS + program->call_count;
    call->repeats = (op->repeats & KW_DTYPE_BIT(dtype)) != 0;
    call->chained = false;
    call->leaf = !call->repeats && !call->c.exact;
    bool answer = true;
    for (uint32_t r = 0; r < call->c.result_count; r++) answer &= !call->c.outs[r].given || one_answer(&call->c, r);
    call->leaf &= !answer;
    call->form = kw_draw_percent(draw, 20) ? KW_FORM_PLAN : KW_FORM_PLAIN;
    program->call_count++;
    return true;
  }
  return false;
}
