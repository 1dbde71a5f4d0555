/* SPDX-License-Identifier: Apache-2.0
 *
 * Which calls a program makes: drawn from what the device claims.
 */
#include "program/generate.h"

#include "case/make.h"

#include <keyway/keyway.h>

#include <string.h>

enum {
  TRIES = 60,
  LARGEST = 4096, /* elements of the largest storage of a case that programs take */
  NUMBERS = 12,   /* cases of a class that are drawn from */
  RESIZED = 25,
  RESIZED_FEW = 60,  /* percent of the cases that are drawn with other sizes, where they can be */
  SMALLEST = 2,      /* of these sizes */
  PALETTE = 85,      /* percent of the calls of a program with few ops that are of these */
  LOWERED = 12,      /* percent of the products in f32 that allow a lower math mode, */
  LOWERED_TWIN = 40, /* and of those that are like an earlier one */
  AUTOCAST = 15      /* percent of the products in f32 that are made under autocast */
};

static const kw_case_class classes[] = {KW_CLASS_PRIME,   KW_CLASS_PRIME,   KW_CLASS_PRIME,  KW_CLASS_BROADCAST,
                                        KW_CLASS_ATTRS,   KW_CLASS_ATTRS,   KW_CLASS_EXACT,  KW_CLASS_EXACT,
                                        KW_CLASS_STRIDE0, KW_CLASS_OUTPUTS, KW_CLASS_ONE,    KW_CLASS_TRANSPOSED,
                                        KW_CLASS_SLICED,  KW_CLASS_SCALAR,  KW_CLASS_SCALAR, KW_CLASS_MIXED};

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

bool kw_program_callable(const kw_op_facts *facts) {
  return (facts->kernels | facts->decomposed) != 0 && !facts->op.vendor && !facts->op.counted;
}

static bool is_named(const kw_suite_op *op, const char *const *names, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(op->name, names[i]) == 0) return true;
  }
  return false;
}

/* Calls of few ops meet more often: in plans, in graphs, on several streams. */
static bool is_common(const kw_suite_op *op) {
  static const char *const names[] = {"add.Tensor", "mul.Tensor", "sum.dim_IntList"};
  return is_named(op, names, sizeof names / sizeof names[0]);
}

static bool is_fill(const kw_suite_op *op) {
  static const char *const names[] = {"fill_.Scalar", "fill_.Tensor", "zero_"};
  return is_named(op, names, sizeof names / sizeof names[0]);
}

static bool is_noise(const kw_suite_op *op) {
  static const char *const names[] = {"normal_", "uniform_"};
  return is_named(op, names, sizeof names / sizeof names[0]);
}

static bool is_mm(const kw_suite_op *op) {
  return strcmp(op->name, "mm") == 0;
}

static bool is_cast(const kw_suite_op *op) {
  return strcmp(op->name, "_to_copy") == 0;
}

static bool is_random(const kw_suite_op *op) {
  return kw_suite_op_generator(op) >= 0;
}

static bool takes_list(const kw_suite_op *op) {
  for (uint32_t i = 0; i < op->arg_count; i++) {
    if (op->args[i].tag == KW_TAG_TENSOR_LIST) return true;
  }
  return false;
}

static bool has_several(const kw_suite_op *op) {
  return op->result_count > 1;
}

static bool is_any(const kw_suite_op *op) {
  (void)op;
  return true;
}

/* So many calls in a hundred are of an op of this sort, where the device has any; the others of whatever it has. */
static const struct {
  uint32_t share;
  bool (*has)(const kw_suite_op *op);
} sorts[] = {{20, is_product}, {16, is_common}, {4, is_fill},    {2, is_random},
             {3, is_noise},    {6, takes_list}, {6, has_several}};
enum { SORTS = sizeof sorts / sizeof sorts[0] };

static const kw_op_facts *draw_of_sort(kw_draw *draw, bool (*has)(const kw_suite_op *)) {
  const kw_device_facts *facts = draw->facts;
  uint32_t count = 0;
  for (uint32_t i = 0; i < facts->op_count; i++) count += kw_program_callable(&facts->ops[i]) && has(&facts->ops[i].op);
  if (count == 0) return NULL;
  uint32_t chosen = kw_draw_below(draw, count);
  for (uint32_t i = 0; i < facts->op_count; i++) {
    if (kw_program_callable(&facts->ops[i]) && has(&facts->ops[i].op) && chosen-- == 0) return &facts->ops[i];
  }
  return NULL;
}

static const kw_op_facts *draw_main(kw_draw *draw) {
  static bool (*const first[])(const kw_suite_op *) = {is_common, is_common, is_mm, is_product, is_noise, is_cast};
  if (draw->palette_count > 0 && kw_draw_percent(draw, 50)) return draw->palette[0];
  return draw_of_sort(draw, first[kw_draw_below(draw, sizeof first / sizeof first[0])]);
}

static const kw_op_facts *draw_op(kw_draw *draw) {
  const kw_op_facts *main = draw->main ? draw_main(draw) : NULL;
  if (main) return main;
  if (draw->palette_count > 0 && kw_draw_percent(draw, PALETTE)) /* the first is the one that it is most about */
    return draw->palette[kw_draw_percent(draw, 50) ? 0 : kw_draw_below(draw, draw->palette_count)];
  uint32_t at = kw_draw_below(draw, 100), sort = 0;
  while (sort < SORTS && at >= sorts[sort].share) at -= sorts[sort++].share;
  const kw_op_facts *op = sort < SORTS ? draw_of_sort(draw, sorts[sort].has) : NULL;
  return op ? op : draw_of_sort(draw, is_any);
}

void kw_program_draw_palette(kw_draw *draw) {
  const kw_op_facts *op = draw_main(draw);
  const uint32_t wanted = 1 + kw_draw_below(draw, KW_DRAW_PALETTE);
  if (!op) op = draw_op(draw);
  for (; op && draw->palette_count < wanted; op = draw_op(draw)) draw->palette[draw->palette_count++] = op;
}

kw_dtype kw_program_draw_dtype(kw_draw *draw, uint64_t dtypes) {
  uint32_t count = 0;
  for (kw_dtype d = 0; d < KW_KEY_DTYPE_COUNT; d++) count += (dtypes & KW_DTYPE_BIT(d)) != 0;
  if (count == 0) return KW_DTYPE_NONE;
  const uint32_t floats = draw->palette_count > 0 || draw->main ? 80 : 50;
  if (dtypes & KW_DTYPE_BIT(KW_F32) && kw_draw_percent(draw, floats))
    return KW_F32; /* so that calls can follow calls */
  uint32_t chosen = kw_draw_below(draw, count);
  for (kw_dtype d = 0; d < KW_KEY_DTYPE_COUNT; d++) {
    if (dtypes & KW_DTYPE_BIT(d) && chosen-- == 0) return d;
  }
  return KW_DTYPE_NONE;
}

bool kw_program_fits(const kw_case *c) {
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

/* The same case with other sizes, where it has such; otherwise as it is. */
static void resize(kw_draw *draw, kw_case *io_case) {
  kw_shape sizes = io_case->sizes;
  kw_case other;
  for (uint32_t d = 0; d < sizes.rank; d++) {
    const int64_t most = sizes.dims[d] < 12 ? sizes.dims[d] : 12;
    if (most > SMALLEST) sizes.dims[d] = SMALLEST + kw_draw_below(draw, (uint32_t)(most - SMALLEST + 1));
  }
  if (io_case->resizable && !io_case->exact && kw_case_shrink(io_case, &sizes, &other) && kw_program_fits(&other))
    *io_case = other;
}

static bool draw_case(kw_draw *draw, const kw_op_facts *op, kw_dtype dtype, kw_case *out_case) {
  kw_case_class class = classes[kw_draw_below(draw, sizeof classes / sizeof classes[0])];
  if (is_cast(&op->op) && kw_draw_percent(draw, 50)) class = KW_CLASS_MIXED;
  if (draw->main && is_common(&op->op) && kw_draw_percent(draw, 25)) class = KW_CLASS_SCALAR;
  const bool resized = kw_draw_percent(draw, draw->palette_count > 0 ? RESIZED_FEW : RESIZED);
  for (uint32_t number = kw_draw_below(draw, NUMBERS);; number /= 2) {
    const bool there = kw_case_make(&op->op, dtype, class, number, out_case);
    if (there && resized) resize(draw, out_case);
    if (there) return kw_program_fits(out_case);
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

static const kw_op_facts *facts_of(const kw_device_facts *facts, const kw_suite_op *op) {
  for (uint32_t i = 0; i < facts->op_count; i++) {
    if (&facts->ops[i].op == op) return &facts->ops[i];
  }
  return NULL;
}

void kw_program_take(kw_draw *draw, kw_program *program, kw_program_call *call) {
  const kw_case *c = &call->c;
  const kw_op_facts *op = facts_of(draw->facts, c->op);
  bool answer = true;
  for (uint32_t r = 0; r < c->result_count; r++) answer &= !c->outs[r].given || one_answer(c, r);
  call->seed = kw_hash(program->seed ^ KW_HASH_START, c->id) + program->number * KW_PROGRAM_CALLS + program->call_count;
  call->repeats = op && op->repeats & KW_DTYPE_BIT(c->key);
  call->certain = call->repeats || answer;
  call->leaf = !call->certain && !c->exact;
  call->chained = call->loose = false;
  call->mode = KW_MATH_HIGHEST;
  call->autocast = KW_DTYPE_NONE;
  call->form = KW_FORM_PLAIN;
  program->call_count++;
}

bool kw_program_recordable(const kw_program_call *call) {
  return call->certain && call->form == KW_FORM_PLAIN && call->mode == KW_MATH_HIGHEST &&
         call->autocast == KW_DTYPE_NONE;
}

/* Of a product in f32: allows tf32, so that nobody knows its bits. */
static void lower(kw_draw *draw, kw_program_call *call, uint32_t share) {
  if (call->c.key != KW_F32 || !is_product(call->c.op) || !kw_draw_percent(draw, share)) return;
  call->mode = KW_MATH_TF32;
  call->leaf = call->loose = true;
}

/* Of a product in f32: under autocast its operands become 16-bit floats, and so do its results, where the device
 * promises the same bits in these. */
static void cast(kw_draw *draw, kw_program_call *call) {
  const kw_op_facts *op = facts_of(draw->facts, call->c.op);
  const kw_dtype dtype = kw_draw_percent(draw, 50) ? KW_F16 : KW_BF16;
  if (call->mode != KW_MATH_HIGHEST || call->c.key != KW_F32 || !is_product(call->c.op)) return;
  if (!op || !(op->kernels & op->repeats & KW_DTYPE_BIT(dtype)) || !kw_draw_percent(draw, AUTOCAST)) return;
  const kw_op_facts *copy = draw_of_sort(draw, is_cast);
  if (!copy || !(copy->kernels & KW_DTYPE_BIT(dtype)) || kw_op_cast_policy(kw_op_find(op->op.name)) != KW_CAST_LOWER)
    return;
  for (uint32_t r = 0; r < call->c.result_count; r++) {
    if (call->c.outs[r].dtype != KW_F32) return;
  }
  for (uint32_t r = 0; r < call->c.result_count; r++) call->c.outs[r].dtype = dtype;
  call->autocast = dtype;
  call->certain = call->repeats = true;
  call->leaf = false;
}

kw_program_call *kw_program_draw_call(kw_draw *draw, kw_program *program) {
  if (program->call_count == KW_PROGRAM_CALLS) return NULL;
  kw_program_call *call = &program->calls[program->call_count];
  for (int try = 0; try < TRIES; try++) {
    const kw_op_facts *op = draw_op(draw);
    if (!op) return NULL;
    const kw_dtype dtype = kw_program_draw_dtype(draw, (op->kernels | op->decomposed) & kw_suite_op_keys(&op->op));
    if (dtype == KW_DTYPE_NONE || !draw_case(draw, op, dtype, &call->c)) continue;
    kw_program_take(draw, program, call);
    if (draw->graph_calls > 0 && !kw_program_recordable(call)) {
      program->call_count--;
      continue;
    }
    if (draw->graph_calls > 0) return call;
    lower(draw, call, LOWERED);
    cast(draw, call);
    if (call->autocast == KW_DTYPE_NONE && kw_draw_percent(draw, 20)) call->form = KW_FORM_PLAN;
    return call;
  }
  return NULL;
}

kw_program_call *kw_program_draw_twin(kw_draw *draw, kw_program *program, uint32_t earlier, bool turned) {
  if (program->call_count == KW_PROGRAM_CALLS) return NULL;
  const kw_program_call *like = &program->calls[earlier];
  kw_program_call *call = &program->calls[program->call_count];
  kw_shape sizes = like->c.sizes;
  for (uint32_t d = 0; d < sizes.rank && turned; d++) sizes.dims[d] = like->c.sizes.dims[sizes.rank - 1 - d];
  kw_case plain;
  if (!kw_case_make(like->c.op, like->c.key, like->c.class, like->c.number, &plain)) return NULL;
  if (turned || like->c.shrunk) {
    if (!kw_case_shrink(&plain, &sizes, &call->c)) return NULL;
  } else {
    call->c = plain;
  }
  if (!kw_program_fits(&call->c)) return NULL;
  kw_program_take(draw, program, call);
  if (draw->graph_calls > 0) return call;
  lower(draw, call, LOWERED_TWIN);
  cast(draw, call);
  return call;
}
