/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers. Which word an element gets is fixed by its number, so that results do not depend on how kernels are
 * launched (kernels/words.kw).
 */
#include "kernel_sources.h"
#include "lower/dialect.h"
#include "ops/families.h"
#include "ops/moves.h"
#include "ops/sort.h"
#include "program/dtype.h"

#include "kernels/multinomial_args.kw"

static const kw_gpu_module random_module = {
    "random", KW_GPU_RUNS_BY_DTYPE, KW_DTYPES_REAL, {kw_gpu_source_words, kw_gpu_source_uniform, kw_gpu_source_random}};
static const kw_gpu_module multinomial_module = {
    "multinomial",
    KW_GPU_BY_DTYPE,
    KW_DTYPES_FLOAT,
    {kw_gpu_source_words, kw_gpu_source_uniform, kw_gpu_source_multinomial_args, kw_gpu_source_multinomial}};
static const kw_gpu_module permutation_module = {
    "permutation", KW_GPU_BY_NOTHING, KW_GPU_ONE, {kw_gpu_source_words, kw_gpu_source_permutation}};

static const kw_gpu_kernel random_kernel = {&random_module, "kw_random_kernel"};
static const kw_gpu_kernel integer_kernel = {&random_module, "kw_random_integer_kernel"};
static const kw_gpu_kernel dropout_kernel = {&random_module, "kw_dropout_kernel"};
static const kw_gpu_kernel dropout_backward_kernel = {&random_module, "kw_dropout_backward_kernel"};
static const kw_gpu_kernel multinomial_kernel = {&multinomial_module, "kw_multinomial_kernel"};
static const kw_gpu_kernel permutation_kernel = {&permutation_module, "kw_permutation_kernel"};

/* Operands, block, the generator's values and the grid: an item for four elements of `out`, on devices with vectors one
 * for KW_STRETCH (KW_RANDOM_RUNS in random.kw). */
static kw_gpu_step *random_step(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, const kw_gpu_tensor *out,
                                const kw_gpu_tensor *const *in, uint32_t in_count) {
  const kw_gpu_device *device = plan->call->device;
  const bool runs =
      device->vector_bytes > 0 && kernel != &integer_kernel && kw_gpu_compute_dtype(out->ref.dtype) == KW_F32;
  kw_gpu_step *step = kw_gpu_step_ordered(plan, kernel, out->ref.dtype, out, in, in_count);
  kw_gpu_step_rng(step);
  kw_gpu_step_rng_values(step);
  if (runs) {
    kw_gpu_step_parts(step, out->ref.numel, KW_STRETCH);
  } else {
    kw_gpu_step_items(step, (out->ref.numel + 3) / 4);
  }
  return step;
}

/* ---- Floating point ---------------------------------------------------------------------------------------------- */

static void lower_uniform(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0);
  kw_gpu_step *step = random_step(plan, &random_kernel, &out, (const kw_gpu_tensor *[]){NULL}, 1);
  kw_gpu_step_int(step, op->code);
  kw_gpu_step_number(step, kw_gpu_real(plan, 1, 0));
  kw_gpu_step_number(step, kw_gpu_real(plan, 2, 1));
}

static void lower_bernoulli(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), self = kw_gpu_input(plan, 0);
  kw_gpu_step *step = random_step(plan, &random_kernel, &out, (const kw_gpu_tensor *[]){&self}, 1);
  kw_gpu_step_int(step, op->code);
  kw_gpu_step_number(step, 0);
  kw_gpu_step_number(step, 0);
}

static void lower_dropout(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), mask = kw_gpu_output(plan, 1), in = kw_gpu_input(plan, 0);
  const double p = kw_gpu_real(plan, 1, 0);
  const bool train = kw_gpu_bool(plan, 2, true);
  kw_gpu_step *step = random_step(plan, &dropout_kernel, &out, (const kw_gpu_tensor *[]){&mask, &in}, 2);
  kw_gpu_step_int(step, train);
  kw_gpu_step_float(step, (float)(1 - p));
  kw_gpu_step_number(step, !train ? 1 : p < 1 ? 1 / (1 - p) : 0);
}

static void lower_dropout_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), grad = kw_gpu_input(plan, 0), mask = kw_gpu_input(plan, 1);
  if (mask.ref.dtype != KW_BOOL) kw_gpu_refuse(plan, "takes masks of bool");
  kw_gpu_step *step = kw_gpu_step_stretched(plan, &dropout_backward_kernel, out.ref.dtype, &out,
                                            (const kw_gpu_tensor *[]){&grad, &mask}, 2);
  kw_gpu_step_number(step, kw_gpu_real(plan, 2, 1));
}

/* ---- Integers ---------------------------------------------------------------------------------------------------- */

static void draw_integers(kw_gpu_plan *plan, int32_t opcode, int64_t from, uint64_t range, float p) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0);
  kw_gpu_step *step = random_step(plan, &integer_kernel, &out, NULL, 0);
  kw_gpu_step_int(step, opcode);
  kw_gpu_step_long(step, from);
  kw_gpu_step_long(step, (int64_t)range);
  kw_gpu_step_float(step, p);
}

/* The largest integer that a dtype holds along with all below it. */
static int64_t largest_integer(kw_dtype dtype) {
  static const int64_t largest[] = {[KW_BOOL] = 1,
                                    [KW_U8] = UINT8_MAX,
                                    [KW_I8] = INT8_MAX,
                                    [KW_I16] = INT16_MAX,
                                    [KW_I32] = INT32_MAX,
                                    [KW_I64] = INT64_MAX,
                                    [KW_F16] = INT64_C(1) << 11,
                                    [KW_BF16] = INT64_C(1) << 8,
                                    [KW_F32] = INT64_C(1) << 24,
                                    [KW_F64] = INT64_C(1) << 53};
  return largest[dtype];
}

static void lower_random_from(kw_gpu_plan *plan, const kw_gpu_op *op) {
  const uint64_t from = (uint64_t)kw_gpu_int(plan, 1, 0);
  const uint64_t end = kw_gpu_given(plan, 2) ? (uint64_t)kw_gpu_int(plan, 2, 0)
                                             : (uint64_t)largest_integer(plan->call->outs[0]->dtype) + 1;
  draw_integers(plan, op->code, (int64_t)from, end - from, 0);
}

static void lower_chance(kw_gpu_plan *plan, const kw_gpu_op *op) {
  draw_integers(plan, op->code, 0, 0, (float)kw_gpu_real(plan, 1, 0.5));
}

/* ---- Choices ----------------------------------------------------------------------------------------------------- */

static void lower_multinomial(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), self = kw_gpu_input(plan, 0), taken = {.at.from = KW_GPU_NOTHING};
  const kw_tensor_ref *from = &self.ref, *to = &out.ref;
  const bool rows = from->rank == 2, replacement = kw_gpu_bool(plan, 2, false);
  const kw_multinomial block = {.count = from->shape[from->rank - 1],
                                .samples = to->shape[to->rank - 1],
                                .out_stride = {rows ? to->strides[0] : 0, to->strides[to->rank - 1]},
                                .in_stride = {rows ? from->strides[0] : 0, from->strides[from->rank - 1]}};
  if (!replacement) {
    taken = kw_gpu_temporary(plan, KW_BOOL, from->rank, from->shape);
    kw_gpu_fill(plan, &taken, 0);
  }
  kw_gpu_step *step = kw_gpu_step_add(plan, &multinomial_kernel, from->dtype);
  kw_gpu_step_operand(step, &out);
  kw_gpu_step_operand(step, &self);
  kw_gpu_step_operand(step, &taken);
  kw_gpu_step_rng(step);
  kw_gpu_step_errors(step);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_rng_values(step);
  kw_gpu_step_int(step, replacement);
  kw_gpu_step_error_code(step);
  kw_gpu_step_groups(step, rows ? from->shape[0] : 1);
}

/* Random words are sorted; the numbers that they carry, each item's second word, are then in random order. */
static void lower_randperm(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0);
  kw_gpu_tensor items = kw_gpu_temporary(plan, KW_C128, 1, out.ref.shape);
  random_step(plan, &permutation_kernel, &items, NULL, 0);
  kw_gpu_tensor random_order = kw_gpu_sort_items(plan, &items, out.ref.numel, sizeof(uint64_t));
  random_order.at.offset += sizeof(uint64_t);
  random_order.ref.dtype = KW_I64;
  random_order.ref.strides[0] = 2;
  kw_gpu_copy(plan, &out, &random_order);
}

static const kw_gpu_op ops[] = {
    {"uniform_", lower_uniform, KW_RANDOM_UNIFORM, KW_KERNEL_AES_CTR, KW_DTYPES_FLOAT},
    {"normal_", lower_uniform, KW_RANDOM_NORMAL, KW_KERNEL_AES_CTR, KW_DTYPES_FLOAT},
    {"bernoulli", lower_bernoulli, KW_RANDOM_BERNOULLI, KW_KERNEL_AES_CTR, KW_DTYPES_FLOAT},
    {"bernoulli_.float", lower_chance, KW_RANDOM_CHANCE, KW_KERNEL_AES_CTR, KW_DTYPES_REAL},
    {"random_.from", lower_random_from, KW_RANDOM_INTEGER, KW_KERNEL_AES_CTR, KW_DTYPES_REAL},
    {"native_dropout", lower_dropout, 0, KW_KERNEL_AES_CTR, KW_DTYPES_FLOAT},
    {"multinomial", lower_multinomial, 0, KW_KERNEL_AES_CTR | KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {"randperm", lower_randperm, 0, KW_KERNEL_AES_CTR, KW_DTYPES_NUM},
    {"native_dropout_backward", lower_dropout_backward, 0, 0, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_random_family = {ops, {&random_module, &multinomial_module, &permutation_module}};
