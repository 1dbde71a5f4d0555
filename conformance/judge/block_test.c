/* SPDX-License-Identifier: Apache-2.0
 *
 * The two stages of blocks of patterns: the bounds of the first, and that both together say what 113 bits alone do.
 */
#include "judge/block.h"

#include "case/make.h"
#include "judge/judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The bounds of the oracle in f64 ------------------------------------------------------------------------------
 */

#define SAMPLES 1500

/* Elements from all over a block as the inputs of a case with SAMPLES elements. */
static void sample_inputs(const kw_case *block, void *inputs[KW_CASE_TENSORS]) {
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    const kw_case_tensor *tensor = &block->tensors[i];
    inputs[i] = NULL;
    if (!tensor->given) continue;
    const size_t size = kw_element_size(tensor->dtype);
    const kw_value_key key = kw_case_value_key(block, i, 1, 0);
    inputs[i] = calloc(SAMPLES, size);
    assert_non_null(inputs[i]);
    for (uint64_t s = 0; s < SAMPLES; s++) {
      const uint64_t index = tensor->rank == 0 ? 0 : s * (KW_CASE_BLOCK_SIZE / SAMPLES) + s % 7;
      kw_value_make(&key, tensor->dtype, index, (char *)inputs[i] + s * size);
    }
  }
}

/* Both oracles on the same samples of a form. */
static void hold_against_wide(const kw_case *block, double units) {
  kw_case part;
  void *inputs[KW_CASE_TENSORS];
  kw_oracle_results fast, wide;
  assert_true(kw_case_shrink(block, &(kw_shape){1, {SAMPLES}}, &part));
  sample_inputs(block, inputs);
  assert_int_equal(kw_oracle_run_on(&part, 1, 0, 0, (const void *const *)inputs, &fast), KW_OK);
  assert_int_equal(kw_oracle_run_wide(&part, 1, 0, 0, (const void *const *)inputs, &wide), KW_OK);
  const kw_oracle_result *f = &fast.results[0], *w = &wide.results[0];
  if (f->dtype != KW_DTYPE_WIDE) assert_memory_equal(f->values, w->values, SAMPLES * kw_element_size(f->dtype));
  for (uint32_t s = 0; s < SAMPLES && f->dtype == KW_DTYPE_WIDE && !f->quotient; s++) {
    const kw_wide got = ((const kw_wide *)f->values)[s], exact = ((const kw_wide *)w->values)[s];
    const double size = fabs(exact.hi), scale = w->magnitude ? w->magnitude[s].hi : size;
    if (isnan(got.hi) && isnan(exact.hi)) continue;
    if (size < 0x1p-160 && fabs(got.hi) < 0x1p-160) continue; /* nothing of it is left in f32 */
    if (size > 0x1p130 && fabs(got.hi) > 0x1p130) continue;
    const double error = fabs((got.hi - exact.hi) - exact.lo);
    if (!(error <= units * 0x1p-52 * scale))
      fail_msg("%s, sample %u: %.17g, and %.17g in 113 bits: %g units", part.id, s, got.hi, exact.hi,
               error / scale * 0x1p52);
  }
  kw_oracle_free(&fast);
  kw_oracle_free(&wide);
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) free(inputs[i]);
}

static void every_op_keeps_its_bound(void **state) {
  (void)state;
  uint32_t count, blocks = 0;
  const kw_suite_op *ops = kw_suite_ops(&count);
  kw_case *block = malloc(sizeof *block);
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t form = 0; kw_case_make(&ops[i], KW_F32, KW_CLASS_DENSE, form * KW_CASE_BLOCKS, block); form++) {
      double units;
      if (!kw_block_bound(&ops[i], &units)) fail_msg("%s has no row in f64_bounds.def", ops[i].name);
      hold_against_wide(block, units);
      blocks++;
    }
  }
  assert_true(blocks > 110);
  free(block);
}

/* ---- Both stages --------------------------------------------------------------------------------------------------
 */

#define LENGTH 20000 /* more than a chunk */

/* What somebody computes: the exact results, off by up to `most` neighbours, which not all elements are. */
static void compute(const kw_oracle_result *exact, uint32_t most, void *out) {
  for (uint32_t i = 0; i < LENGTH; i++) {
    if (exact->dtype != KW_DTYPE_WIDE) {
      const size_t size = kw_element_size(exact->dtype);
      memcpy((char *)out + i * size, (const char *)exact->values + i * size, size);
      continue;
    }
    float value = (float)kw_element_round(KW_F32, ((const kw_wide *)exact->values)[i]);
    for (uint32_t k = 0; k < (i * 2654435761u >> 8) % 1000 * most / 999; k++)
      value = nextafterf(value, i % 2 ? INFINITY : -INFINITY);
    memcpy((char *)out + i * sizeof value, &value, sizeof value);
  }
}

/* A block of patterns, cut to LENGTH, and what 113 bits say about `got` there. */
static void judge_both(const char *id, uint32_t most, uint64_t flush, bool zeros) {
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  kw_case whole, *c = malloc(sizeof *c);
  kw_oracle_results wide;
  assert_true(kw_case_from_id(id, ops, count, &whole) && kw_case_shrink(&whole, &(kw_shape){1, {LENGTH}}, c));
  void *inputs[KW_CASE_TENSORS] = {NULL}, *got = calloc(LENGTH, 16);
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    if (!c->tensors[i].given) continue;
    inputs[i] = calloc(LENGTH, 16);
    kw_case_fill(c, i, 1, 0, false, inputs[i]);
  }
  assert_int_equal(kw_oracle_run_wide(c, 1, 0, flush, (const void *const *)inputs, &wide), KW_OK);
  compute(&wide.results[0], most, got);
  if (zeros) memset(got, 0, LENGTH * sizeof(float));
  kw_block_side sides[3] = {{.got = got, .rule = kw_rule_make(c, 0, flush)}, {.got = NULL}, {.got = NULL}};
  sides[2] = sides[0];
  int64_t wrong = 0, first = 0;
  const double unit = kw_rule_bound(&c->bounds[0]), nothing = 0x1p-12 * (unit > 0 ? unit : 1);
  double largest = 0;
  for (int64_t i = 0; i < LENGTH; i++) {
    double error, bound;
    const char *element = (const char *)got + (size_t)i * kw_element_size(c->outs[0].dtype);
    const bool pass = kw_compare_at(c, c->outs[0].dtype, &sides[0].rule, &wide.results[0], i, element, &error, &bound);
    if (error > largest) largest = error;
    if (!pass && wrong++ == 0) first = i;
  }
  assert_true(kw_block_judge(c, 1, 0, flush, sides, 3));
  for (int s = 0; s < 3; s += 2) {
    const kw_comparison *found = &sides[s].found;
    assert_int_equal(found->wrong, wrong);
    assert_int_equal(found->index, first);
    assert_true(found->pass == (wrong == 0));
    if (largest != found->error && (found->error > 0 || largest > nothing))
      fail_msg("%s: %.17g, and %.17g in 113 bits", id, found->error, largest);
    assert_true((*found->text != 0) == (wrong > 0) && (*sides[s].worst != 0) == (found->error > 0));
  }
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) free(inputs[i]);
  kw_oracle_free(&wide);
  free(got);
  free(c);
}

static void both_stages_say_what_113_bits_say(void **state) {
  (void)state;
  const char *const ids[] = {"exp/f32/patterns/254",        "exp/f32/patterns/754",
                             "exp/f32/patterns/780",        "sqrt/f32/patterns/254",
                             "sqrt/f32/patterns/0",         "log/f32/patterns/253",
                             "silu/f32/patterns/770",       "gelu/f32/patterns/770",
                             "gelu/f32/patterns/1794",      "elu/f32/patterns/766",
                             "softplus/f32/patterns/254",   "add.Scalar/f32/patterns/768",
                             "leaky_relu/f32/patterns/512", "round.decimals/f32/patterns/1290",
                             "mul.Scalar/f32/patterns/3",   "neg/f32/patterns/1020",
                             "isnan/f32/patterns/1023",     "pow.Tensor_Tensor/f32/dense/0"};
  for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
    judge_both(ids[i], 0, 0, false);
    judge_both(ids[i], 2, 0, false);
    judge_both(ids[i], 40, 0, false);
  }
}

/* Where the device may flush, zeros pass for subnormal results, and results of zeros for those of subnormals. */
static void flushed_numbers_pass(void **state) {
  (void)state;
  judge_both("neg/f32/patterns/512", 0, KW_DTYPE_BIT(KW_F32), true);
  judge_both("neg/f32/patterns/512", 0, 0, true);
  judge_both("rsqrt/f32/patterns/1", 0, KW_DTYPE_BIT(KW_F32), false);
}

/* A number that is wrong alone is found, with its operand. */
static void one_wrong_number_is_found(void **state) {
  (void)state;
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  kw_case c;
  assert_true(kw_case_from_id("sqrt/f32/patterns/254", ops, count, &c));
  float *got = malloc(KW_CASE_BLOCK_SIZE * sizeof *got);
  for (uint32_t i = 0; i < KW_CASE_BLOCK_SIZE; i++) {
    const uint32_t bits = 254u << 22 | i;
    memcpy(&got[i], &bits, sizeof bits);
    got[i] = sqrtf(got[i]);
  }
  kw_block_side side = {.got = got, .rule = kw_rule_make(&c, 0, 0)};
  assert_true(kw_block_judge(&c, 1, 0, 0, &side, 1) && side.found.pass);
  assert_true(side.found.error > 0.499 && side.found.error <= 0.5 && side.wide > 0 && side.wide < 20000);
  got[3000000] = nextafterf(nextafterf(nextafterf(nextafterf(got[3000000], 9), 9), 9), 9);
  assert_true(kw_block_judge(&c, 1, 0, 0, &side, 1) && !side.found.pass);
  assert_int_equal(side.found.wrong, 1);
  assert_int_equal(side.found.index, 3000000);
  assert_non_null(strstr(side.found.text, "element [3000000], of 1.35762787 (0x3fadc6c0): got "));
  assert_string_equal(side.worst, "1.35762787 (0x3fadc6c0)");
  free(got);
}

/* Each kernel of the op is judged: the first is right, the second not, and the third does not take the call. */
static void every_kernel_is_judged(void **state) {
  (void)state;
  uint32_t count, sqrt_at = 0;
  const kw_suite_op *ops = kw_suite_ops(&count);
  while (strcmp(ops[sqrt_at].name, "sqrt") != 0) sqrt_at++;
  float right[LENGTH], wrong[LENGTH];
  for (uint32_t i = 0; i < LENGTH; i++) {
    const uint32_t bits = 254u << 22 | i;
    memcpy(&right[i], &bits, sizeof bits);
    wrong[i] = right[i] = sqrtf(right[i]);
  }
  wrong[17] = 2;
  const kw_case_run_output like = {.dtype = KW_F32, .rank = 1, .shape = {LENGTH}, .length = sizeof right};
  kw_case_run ran = {.id = "sqrt/f32/patterns/254@20000", .path_count = 3};
  const char *const kernels[] = {"plain", "fast", "vendor"};
  const float *const values[] = {right, wrong, NULL};
  for (uint32_t k = 0; k < 3; k++) {
    kw_case_run_path *path = &ran.paths[k];
    *path = (kw_case_run_path){.kernel = kernels[k], .message = "", .defect = "", .output_count = values[k] ? 1 : 0};
    path->status = values[k] ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
    path->outputs[0] = like;
    path->outputs[0].data = values[k];
  }
  kw_case_result result = {0};
  kw_judge_run(&ops[sqrt_at], &ran, 1, 0, &result);
  assert_int_equal(result.outcome, KW_OUTCOME_FAIL);
  assert_non_null(strstr(result.text, "run 0, kernel fast: element [17], of 1.00000203 (0x3f800011): got 2 "));
  assert_string_equal(result.worst, "1.00000203 (0x3f800011)");
  kw_case_result_free(&result);
  result = (kw_case_result){0};
  ran.path_count = 1;
  kw_judge_run(&ops[sqrt_at], &ran, 1, 0, &result);
  assert_int_equal(result.outcome, KW_OUTCOME_PASS);
  assert_true(result.error > 0.4 && result.error <= 0.5);
  kw_case_result_free(&result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_op_keeps_its_bound), cmocka_unit_test(both_stages_say_what_113_bits_say),
      cmocka_unit_test(flushed_numbers_pass),     cmocka_unit_test(one_wrong_number_is_found),
      cmocka_unit_test(every_kernel_is_judged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
