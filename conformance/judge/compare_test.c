/* SPDX-License-Identifier: Apache-2.0
 *
 * The comparators, at edges chosen by hand.
 */
#include "case/make.h"
#include "case/parts.h"
#include "judge/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>

static kw_rule ulp_rule(double ulp, double abs) {
  return (kw_rule){.compare = KW_CMP_ULP, .ulp = ulp, .abs = abs, .terms = 2, .compute = KW_F32};
}

static bool passes(const kw_rule *rule, kw_dtype dtype, double got, double hi, double lo) {
  _Alignas(16) char element[16];
  double error, bound;
  kw_element_store(dtype, element, got);
  return kw_compare_element(rule, dtype, element, (kw_wide){hi, lo}, 0, &error, &bound);
}

static void ulp_inside_a_binade(void **state) {
  (void)state;
  kw_rule rule = ulp_rule(0.5, 0);
  double u = 0x1p-23;                                      /* spacing in (1, 2] */
  assert_true(passes(&rule, KW_F32, 1.5, 1.5 + u / 2, 0)); /* a tie: both neighbours are right */
  assert_true(passes(&rule, KW_F32, 1.5 + u, 1.5 + u / 2, 0));
  assert_false(passes(&rule, KW_F32, 1.5, 1.5 + u / 2, 0x1p-60)); /* the low part decides */
  assert_true(passes(&rule, KW_F32, 1.5 + u, 1.5 + u / 2, 0x1p-60));
  rule = ulp_rule(3, 0);
  assert_true(passes(&rule, KW_F32, 1.5 + 3 * u, 1.5, 0));
  assert_false(passes(&rule, KW_F32, 1.5 + 4 * u, 1.5, 0));
}

static void ulp_at_a_power_of_two(void **state) {
  (void)state;
  kw_rule rule = ulp_rule(0.5, 0);
  assert_true(passes(&rule, KW_F32, 2.0, 2.0, 0));
  assert_false(passes(&rule, KW_F32, 2.0 - 0x1p-23, 2.0, 0)); /* a whole unit of the binade below */
  assert_false(passes(&rule, KW_F32, 2.0 + 0x1p-22, 2.0, 0));
}

static void subnormal_results(void **state) {
  (void)state;
  kw_rule rule = ulp_rule(0.5, 0);
  assert_true(passes(&rule, KW_F32, 0x1p-149, 0x1.8p-150, 0));
  assert_true(passes(&rule, KW_F32, 0, 0x1p-150, 0));
  assert_false(passes(&rule, KW_F32, 0, 0x1.4p-149, 0));
  assert_false(passes(&rule, KW_F32, 0, 0x1p-130, 0));
  rule.flush = true;
  assert_true(passes(&rule, KW_F32, 0, 0x1p-130, 0));
  assert_false(passes(&rule, KW_F32, -0.0, 0x1p-130, 0)); /* flush keeps the sign */
  assert_false(passes(&rule, KW_F32, 0, 0x1p-126, 0));    /* the smallest normal is not flushed */
  assert_true(passes(&rule, KW_F32, 0x1p-130, 0x1p-130, 0));
}

/* f64's oracle tells by lo how far past the largest number a value is. */
static void past_the_largest(void **state) {
  (void)state;
  const double most = 0x1.fffffffffffffp1023;
  kw_rule rule = ulp_rule(1, 0);
  rule.compute = KW_F64;
  assert_true(passes(&rule, KW_F64, most, most, 0x1p970));
  assert_true(passes(&rule, KW_F64, INFINITY, most, 0x1p970));
  assert_false(passes(&rule, KW_F64, most, most, 0x1p973));
  assert_true(passes(&rule, KW_F64, INFINITY, most, most));
  assert_false(passes(&rule, KW_F64, -INFINITY, most, most));
  rule.ulp = 0;
  assert_true(passes(&rule, KW_F64, INFINITY, most, 0x1p970));
  assert_false(passes(&rule, KW_F64, most, most, 0x1p970));
}

/* Two terms may be off by a smallest subnormal, in f64 too, where half of it is no number. */
static void sums_of_subnormals(void **state) {
  (void)state;
  kw_rule rule = {.compare = KW_CMP_ACCUMULATE, .terms = 2, .compute = KW_F64};
  assert_true(passes(&rule, KW_F64, 0x1p-1074, 0x1p-1073, 0));
  assert_false(passes(&rule, KW_F64, 0x1p-1074, 0x1.8p-1073, 0));
  rule.terms = 1; /* the half is rounded up: the wider value is good to half of the smallest number there, too */
  assert_true(passes(&rule, KW_F64, 0x1p-1074, 0, 0));
  assert_false(passes(&rule, KW_F64, 0x1p-1073, 0, 0));
}

static void zeros_have_signs(void **state) {
  (void)state;
  kw_rule rule = ulp_rule(0, 0);
  assert_true(passes(&rule, KW_F32, 0.0, 0.0, 0));
  assert_false(passes(&rule, KW_F32, -0.0, 0.0, 0));
  rule.zero = KW_SPECIAL_EITHER;
  assert_true(passes(&rule, KW_F32, -0.0, 0.0, 0));
  rule = ulp_rule(3, 0);
  assert_false(passes(&rule, KW_F32, 0.0, -0x1p-160, 0)); /* underflow keeps the sign as well */
  assert_true(passes(&rule, KW_F32, -0.0, -0x1p-160, 0));
}

static void nan_and_infinity(void **state) {
  (void)state;
  kw_rule rule = ulp_rule(3, 0);
  double inf = (double)INFINITY, max = 0x1.fffffep127;
  assert_true(passes(&rule, KW_F32, NAN, NAN, 0));
  assert_false(passes(&rule, KW_F32, 1, NAN, 0));
  assert_false(passes(&rule, KW_F32, NAN, 1, 0));
  assert_true(passes(&rule, KW_F32, inf, inf, 0));
  assert_false(passes(&rule, KW_F32, -inf, inf, 0));
  assert_false(passes(&rule, KW_F32, max, inf, 0));
  assert_true(passes(&rule, KW_F32, inf, 1e300, 0)); /* out of range */
  assert_false(passes(&rule, KW_F32, max, 1e300, 0));
  assert_false(passes(&rule, KW_F32, -inf, 1e300, 0));
  assert_true(passes(&rule, KW_F32, inf, max, 0)); /* one unit from overflow, three allowed */
  assert_true(passes(&rule, KW_F32, max, 0x1p128, 0));
  assert_false(passes(&rule, KW_F32, inf, 0x1.ffffp127, 0));
  rule = ulp_rule(0.5, 0);
  assert_false(passes(&rule, KW_F32, inf, max, 0));
  assert_true(passes(&rule, KW_F32, inf, max + 0x1p103, 0)); /* the tie between max and overflow */
  rule.nan = KW_SPECIAL_UNSPECIFIED;
  assert_true(passes(&rule, KW_F32, 7, NAN, 0));
}

/* f16 and bf16 results: the compute type's bound, and one rounding. */
static void narrow_results(void **state) {
  (void)state;
  kw_rule rule = ulp_rule(2, 0);
  double u = 0x1p-10, c = 0x1p-23;
  assert_true(passes(&rule, KW_F16, 1.5, 1.5 + u / 2, 0));
  assert_true(passes(&rule, KW_F16, 1.5, 1.5 + u / 2 + 2 * c, 0));
  assert_false(passes(&rule, KW_F16, 1.5, 1.5 + u / 2 + 3 * c, 0));
  assert_false(passes(&rule, KW_F16, 1.5 + u, 1.5, 0));
  assert_false(
      passes(&rule, KW_F16, 2.0 - u, 2.0, 0)); /* half of the spacing below a power of two, not of that above */
  assert_true(passes(&rule, KW_F16, INFINITY, 65520.0, 0));
  assert_false(passes(&rule, KW_F16, INFINITY, 65519.0, 0));
  assert_true(passes(&rule, KW_F16, 65504.0, 65519.0, 0));
  rule = ulp_rule(0, 0);
  assert_true(passes(&rule, KW_F16, 1.5, 1.5, 0));
  assert_false(passes(&rule, KW_F16, 1.5 + u, 1.5, 0));
}

static void absolute_term(void **state) {
  (void)state;
  kw_rule rule = ulp_rule(16, 8);
  assert_true(passes(&rule, KW_F32, 0x1p-21, 0x1p-40, 0));
  assert_false(passes(&rule, KW_F32, 0x1p-19, 0x1p-40, 0));
}

static void growth_and_sums(void **state) {
  (void)state;
  assert_true(kw_growth(1) == 1);
  assert_true(kw_growth(2) == 2);
  assert_true(kw_growth(100) == 24);
  kw_rule rule = {.compare = KW_CMP_ACCUMULATE, .terms = 100, .compute = KW_F32};
  double error, bound;
  float got = 1.0f + 0x1p-19f; /* 16 eps off, where 24 eps times magnitude 1 are allowed */
  assert_true(kw_compare_element(&rule, KW_F32, &got, (kw_wide){1, 0}, 1, &error, &bound));
  assert_true(error > 0.6 && error < 0.7);
  assert_false(kw_compare_element(&rule, KW_F32, &got, (kw_wide){1, 0}, 0.5, &error, &bound));
  rule.exact = true;
  assert_false(kw_compare_element(&rule, KW_F32, &got, (kw_wide){1, 0}, 1, &error, &bound));
}

/* Whether a sum of one term in f16, of f32 arithmetic, may be `got`: f32 is allowed to be off by `allowed`. */
static bool sum_passes(double got, double oracle, double allowed) {
  const kw_rule rule = {.compare = KW_CMP_ACCUMULATE, .terms = 1, .compute = KW_F32};
  _Alignas(16) char element[16];
  double error, bound;
  kw_element_store(KW_F16, element, got);
  return kw_compare_element(&rule, KW_F16, element, (kw_wide){oracle, 0}, allowed * 0x1p23, &error, &bound);
}

/* Rounding adds half a unit of the result, also where the oracle is smaller by orders of magnitude. */
static void rounding_far_from_the_oracle(void **state) {
  (void)state;
  const double upward = 1 + 0x1p-11 + 0x1p-12; /* f32 numbers a little past a tie of f16 */
  assert_true(sum_passes(1 + 0x1p-10, 0, upward));
  assert_true(sum_passes(1 + 0x1p-10, -0x1p-9, upward + 0x1p-9));
  assert_false(sum_passes(1 + 0x1p-10, -0x1p-9, upward));
  assert_false(sum_passes(1 + 0x1p-9, 0, upward));
  /* Up to a power of two rounding adds half of what it takes away from above. */
  assert_true(sum_passes(1, 0, 1 - 0x1p-12));
  assert_false(sum_passes(1, 0, 1 - 0x1p-11));
  assert_true(sum_passes(INFINITY, 1, 65519)); /* 65520 rounds to infinity */
  assert_false(sum_passes(INFINITY, 1, 65518));
}

static void errors_are_in_units_of_the_bound(void **state) {
  (void)state;
  kw_rule rule = ulp_rule(3, 0);
  double error, bound;
  float got = 1.5f + 0x1p-22f;
  assert_true(kw_compare_element(&rule, KW_F32, &got, (kw_wide){1.5, 0}, 0, &error, &bound));
  assert_true(error == 2);
  assert_true(bound == 3 * 0x1p-23);
}

/* ---- Whole results ----------------------------------------------------------------------------------------------- */

static kw_case get_case(const char *id) {
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  kw_case c;
  assert_true(kw_case_from_id(id, ops, count, &c));
  return c;
}

/* Element i of a running sum has i + 1 terms, and a bound for as many. */
static void scans_grow_along_their_dimension(void **state) {
  (void)state;
  kw_case c = get_case("cumsum/f32/prime/8"); /* [1021, 3] along dimension 0 */
  assert_true(c.terms == 1021 && c.scan_step == 3);
  kw_rule rule = kw_rule_make(&c, 0, 0);
  static kw_wide values[1021 * 3], magnitude[1021 * 3];
  static float got[1021 * 3];
  for (size_t i = 0; i < 1021 * 3; i++) got[i] = 1, values[i].hi = magnitude[i].hi = 1;
  kw_oracle_result expected = {.dtype = KW_DTYPE_WIDE, .count = 1021 * 3, .values = values, .magnitude = magnitude};
  kw_comparison v;
  got[3 * 50 + 1] += 10 * FLT_EPSILON; /* of 51 terms */
  kw_compare_result(&c, 0, &rule, &expected, got, 0xff, &v);
  assert_true(v.pass);
  got[1] += 2 * FLT_EPSILON; /* of one */
  kw_compare_result(&c, 0, &rule, &expected, got, 0xff, &v);
  assert_true(!v.pass && v.index == 1 && v.wrong == 1);
}

/* What a kernel in a lower math mode may lose: of f32 operands of products, and of nothing else. */
static bool passes_in(const char *id, kw_math_mode mode, double got) {
  kw_case c = get_case(id);
  kw_rule rule = kw_rule_make(&c, 0, 0);
  kw_rule_allow(&rule, &c, mode);
  _Alignas(16) char element[16];
  double error, bound;
  kw_element_store(c.key, element, got);
  bool pass = kw_compare_element(&rule, c.key, element, (kw_wide){1, 0}, 1, &error, &bound);
  assert_true(pass == (error <= 1));
  return pass;
}

static void a_lower_math_mode_loses_bits_of_operands(void **state) {
  (void)state;
  const double tf32 = (1 - 0x1p-10) * (1 - 0x1p-10), bf16 = (1 - 0x1p-7) * (1 - 0x1p-7); /* both operands cut */
  const double nine = (1 - 0x1p-9) * (1 - 0x1p-9);
  assert_true(passes_in("mm/f32/one/0", KW_MATH_TF32, tf32));
  assert_false(passes_in("mm/f32/one/0", KW_MATH_TF32, nine));
  assert_false(passes_in("mm/f32/one/0", KW_MATH_HIGHEST, tf32));
  assert_true(passes_in("mm/f32/one/0", KW_MATH_FAST, bf16));
  assert_false(passes_in("mm/f32/one/0", KW_MATH_TF32, bf16));
  assert_true(passes_in("convolution/f32/prime/0", KW_MATH_TF32, tf32));
  assert_false(passes_in("mm/f32/exact/0", KW_MATH_TF32, tf32)); /* small integers lose nothing */
  assert_false(passes_in("mm/f64/one/0", KW_MATH_TF32, tf32));
  assert_false(passes_in("mul.Tensor/f32/prime/0", KW_MATH_FAST, tf32));
  assert_false(passes_in("sum/f32/one/0", KW_MATH_FAST, tf32));
}

static void result_with_a_tail(void **state) {
  (void)state;
  kw_case c = get_case("neg/f32/prime/0"); /* seven elements */
  kw_rule rule = kw_rule_make(&c, 0, 0);
  kw_wide values[7];
  float got[7];
  for (int i = 0; i < 7; i++) {
    values[i] = (kw_wide){i + 1, 0};
    got[i] = (float)(i + 1);
  }
  kw_oracle_result expected = {.dtype = KW_DTYPE_WIDE, .count = 7, .values = values};
  kw_comparison found;
  kw_compare_result(&c, 0, &rule, &expected, got, 0xff, &found);
  assert_true(found.pass);
  memset(&got[5], 0xff, 8);
  kw_compare_result(&c, 0, &rule, &expected, got, 0xff, &found);
  assert_false(found.pass);
  assert_int_equal(found.wrong, 2);
  assert_int_equal(found.index, 5);
  assert_string_equal(found.defect, "tail not written");
  got[6] = 7;
  kw_compare_result(&c, 0, &rule, &expected, got, 0xff, &found);
  assert_string_equal(found.defect, "poison visible");
  memset(got, 0xff, sizeof got);
  kw_compare_result(&c, 0, &rule, &expected, got, 0xff, &found);
  assert_string_equal(found.defect, "output not written");
}

static void moves_keep_payloads(void **state) {
  (void)state;
  kw_case c = get_case("copy_/f32/one/0");
  kw_rule rule = kw_rule_make(&c, 0, 0);
  uint32_t want = 0x7fc00001, got = 0x7fc00001;
  kw_oracle_result expected = {.dtype = KW_F32, .count = 1, .values = &want};
  kw_comparison found;
  kw_compare_result(&c, 0, &rule, &expected, &got, 0xff, &found);
  assert_true(found.pass);
  got = 0x7fc00000;
  kw_compare_result(&c, 0, &rule, &expected, &got, 0xff, &found);
  assert_false(found.pass);
  rule.free_payload = true;
  kw_compare_result(&c, 0, &rule, &expected, &got, 0xff, &found);
  assert_true(found.pass);
}

/* Two writers of one element: the oracle has the last in `values` and the first in `first`. */
static void either_writer(void **state) {
  (void)state;
  kw_case c = get_case("copy_/f32/one/0");
  c.bounds[0].compare = KW_CMP_WRITTEN;
  kw_rule rule = kw_rule_make(&c, 0, KW_DTYPE_BIT(KW_F32));
  assert_false(rule.flush || rule.free_payload);
  float last = 1, first = 2, got = 1;
  kw_oracle_result expected = {.dtype = KW_F32, .count = 1, .values = &last, .other = &first};
  kw_comparison found;
  kw_compare_result(&c, 0, &rule, &expected, &got, 0xff, &found);
  assert_true(found.pass);
  got = 2;
  kw_compare_result(&c, 0, &rule, &expected, &got, 0xff, &found);
  assert_true(found.pass);
  got = 1.5f;
  kw_compare_result(&c, 0, &rule, &expected, &got, 0xff, &found);
  assert_false(found.pass);
}

/* A code may be any from the oracle's lowest to its highest; where quotients are exact there is one only. */
static void one_quantum(void **state) {
  (void)state;
  kw_case c = get_case("quantized_decomposed::quantize_per_tensor/f32/one/0"); /* to i8 */
  kw_rule rule = kw_rule_make(&c, 0, 0);
  const int8_t value = -3, low = -4, high = -3;
  kw_oracle_result expected = {.dtype = KW_I8, .count = 1, .values = (void *)&value};
  expected.low = (void *)&low;
  expected.high = (void *)&high;
  kw_comparison found;
  for (int8_t got = -6; got < 0; got++) {
    kw_compare_result(&c, 0, &rule, &expected, &got, 0xff, &found);
    assert_true(found.pass == (got == -4 || got == -3));
  }
  kw_oracle_results oracle;
  assert_int_equal(kw_oracle_run(&c, 1, 0, 0, &oracle), KW_OK);
  assert_non_null(oracle.results[0].low);
  assert_non_null(oracle.results[0].high);
  kw_oracle_free(&oracle);
  c = get_case("quantized_decomposed::quantize_per_tensor/f32/exact/0");
  assert_int_equal(kw_oracle_run(&c, 1, 0, 0, &oracle), KW_OK);
  assert_null(oracle.results[0].low);
  kw_oracle_free(&oracle);
}

/* Each result of an op has its own dtype, shape and bound. */
static void results_on_their_own(void **state) {
  (void)state;
  kw_case c = get_case("neg/f16/one/0");
  kw_shape shape = {1, {2}};
  kw_case_set_result(&c, 1, KW_F32, &shape, KW_LAYOUT_DENSE);
  c.bounds[1] = (kw_op_bound){KW_CMP_ULP, 4, 0, "", 0};
  kw_rule rule = kw_rule_make(&c, 1, KW_DTYPE_BIT(KW_F32));
  assert_true(rule.ulp == 4 && rule.flush);
  assert_true(kw_rule_make(&c, 0, KW_DTYPE_BIT(KW_F32)).ulp == 0);
  kw_wide values[2] = {{1.5, 0}, {1.5, 0}};
  float got[2] = {1.5f, 1.5f + 0x1p-21f};
  kw_oracle_result expected = {.dtype = KW_DTYPE_WIDE, .count = 2, .values = values};
  kw_comparison found;
  kw_compare_result(&c, 1, &rule, &expected, got, 0xff, &found);
  assert_true(found.pass);
  got[1] = 1.5f + 0x1p-20f;
  kw_compare_result(&c, 1, &rule, &expected, got, 0xff, &found);
  assert_false(found.pass);
  assert_non_null(strstr(found.text, "element [1]"));
}

/* A vendor's op that adds up: by its own growth, against what its reference makes of absolute values. */
static void a_vendors_growth(void **state) {
  (void)state;
  kw_case c = get_case("neg/f32/one/0");
  c.bounds[0] = (kw_op_bound){KW_CMP_ACCUMULATE, 0, 0, "", 8};
  const double expected[2] = {0.5, 0.5}, magnitude[2] = {1, 4};
  float got[2] = {0.5f + 0x1p-20f, 0.5f + 0x1p-18f};
  kw_case_run_output out = {.dtype = KW_F32,
                            .data = got,
                            .length = sizeof got,
                            .expected_dtype = KW_F64,
                            .expected = expected,
                            .expected_length = sizeof expected,
                            .magnitude = magnitude};
  kw_comparison found;
  kw_compare_vendor(&c, 0, &out, 0xff, 0, &found);
  assert_true(found.pass && found.error > 0.99 && found.error <= 1);
  got[0] += 0x1p-23f;
  kw_compare_vendor(&c, 0, &out, 0xff, 0, &found);
  assert_true(!found.pass && found.wrong == 1 && found.index == 0);
}

static bool same(const kw_rule *rule, kw_dtype dtype, const void *want, const void *got) {
  kw_case c = get_case("copy_/f32/one/0");
  c.outs[0].dtype = dtype;
  kw_oracle_result expected = {.dtype = dtype, .count = 1, .values = (void *)(uintptr_t)want};
  kw_comparison found;
  kw_compare_result(&c, 0, rule, &expected, got, 0xff, &found);
  return found.pass;
}

/* The columns for special values hold where bits are compared as well. */
static void columns_of_bits(void **state) {
  (void)state;
  float nan = (float)NAN, inf = INFINITY, zero = 0, minus = -0.0f, tiny = 0x1p-140f, one = 1;
  kw_rule rule = {.compare = KW_CMP_BITS};
  assert_false(same(&rule, KW_F32, &nan, &one) || same(&rule, KW_F32, &inf, &one));
  assert_false(same(&rule, KW_F32, &zero, &minus) || same(&rule, KW_F32, &tiny, &zero));
  rule.flush = true;
  assert_true(same(&rule, KW_F32, &tiny, &zero));
  assert_false(same(&rule, KW_F32, &tiny, &minus) || same(&rule, KW_F32, &one, &zero));
  rule.subnormal = rule.nan = rule.inf = KW_SPECIAL_UNSPECIFIED;
  rule.zero = KW_SPECIAL_EITHER;
  assert_true(same(&rule, KW_F32, &nan, &one) && same(&rule, KW_F32, &inf, &one) && same(&rule, KW_F32, &tiny, &one));
  assert_true(same(&rule, KW_F32, &zero, &minus));
  assert_false(same(&rule, KW_F32, &zero, &one));
}

static void complex_numbers_by_part(void **state) {
  (void)state;
  uint32_t want[2] = {0x7fc00001, 0x3f800000}, got[2] = {0x7fc00000, 0x3f800000};
  kw_rule rule = {.compare = KW_CMP_BITS};
  assert_false(same(&rule, KW_C64, want, got));
  rule.free_payload = true;
  assert_true(same(&rule, KW_C64, want, got));
  got[1] = 0x3f800001;
  assert_false(same(&rule, KW_C64, want, got));
}

/* Where the oracle has values, each part is judged on its own, and named. */
static void complex_numbers_within_bounds(void **state) {
  (void)state;
  kw_case c = get_case("_fft_c2c/c64/prime/0"); /* [7] */
  kw_rule rule = kw_rule_make(&c, 0, 0);
  assert_int_equal(rule.compute, KW_F32);
  kw_wide values[14], magnitude[14];
  float got[14];
  for (size_t i = 0; i < 14; i++) values[i] = magnitude[i] = (kw_wide){got[i] = (float)i - 3, 0};
  for (size_t i = 0; i < 14; i++) magnitude[i].hi = 4;
  kw_oracle_result expected = {.dtype = KW_DTYPE_WIDE, .count = 14, .values = values, .magnitude = magnitude};
  kw_comparison v;
  got[9] += 4 * FLT_EPSILON;
  kw_compare_result(&c, 0, &rule, &expected, got, 0xff, &v);
  assert_true(v.pass);
  got[9] += 4 * FLT_EPSILON;
  kw_compare_result(&c, 0, &rule, &expected, got, 0xff, &v);
  assert_true(!v.pass && v.index == 9 && v.wrong == 1);
  assert_non_null(strstr(v.text, "element [4], imaginary part: got 6"));
  got[9] = 6;
  got[12] = NAN;
  kw_compare_result(&c, 0, &rule, &expected, got, 0xff, &v);
  assert_true(!v.pass && v.index == 12);
  assert_non_null(strstr(v.text, "element [6], real part: got nan"));
}

/* A device that flushes may take each term of a sum of subnormal numbers for 0, and no other device. */
static void flushed_terms(void **state) {
  (void)state;
  const kw_case c = get_case("sum/f32/special/7");
  const kw_rule kept = kw_rule_make(&c, 0, 0), flushed = kw_rule_make(&c, 0, KW_DTYPE_BIT(KW_F32)),
                other = kw_rule_make(&c, 0, KW_DTYPE_BIT(KW_F64));
  assert_true(kept.terms == 29);
  assert_false(passes(&kept, KW_F32, 0x1p-126, 0x1.8p-124, 0));
  assert_false(passes(&other, KW_F32, 0x1p-126, 0x1.8p-124, 0));
  assert_true(passes(&flushed, KW_F32, 0x1p-126, 0x1.8p-124, 0));
  assert_false(passes(&flushed, KW_F32, 0x1p-126, 0x1p-119, 0));
}

/* What the columns say of subnormals and the device's declaration together. */
static void subnormal_column(void **state) {
  (void)state;
  kw_case c = get_case("neg/f32/one/0");
  kw_suite_op op = *c.op;
  c.op = &op;
  assert_false(kw_rule_make(&c, 0, 0).flush);
  assert_true(kw_rule_make(&c, 0, KW_DTYPE_BIT(KW_F32)).flush);
  op.row.subnormal = KW_SPECIAL_EITHER;
  assert_true(kw_rule_make(&c, 0, 0).flush);
  op.row.subnormal = KW_SPECIAL_UNSPECIFIED;
  kw_rule rule = kw_rule_make(&c, 0, 0);
  assert_true(passes(&rule, KW_F32, 1, 0x1p-130, 0));
  assert_false(passes(&rule, KW_F32, 1, 0x1p-126, 0));
}

/* A move keeps subnormals on every device, whatever the device declares. */
static void moves_keep_subnormals(void **state) {
  (void)state;
  kw_case c = get_case("copy_/f32/one/0");
  kw_rule rule = kw_rule_make(&c, 0, KW_DTYPE_BIT(KW_F32));
  float plain = 0x1p-140f, flushed = 0, got = 0;
  kw_oracle_result expected = {.dtype = KW_F32, .count = 1, .values = &plain, .flushed = &flushed};
  kw_comparison found;
  kw_compare_result(&c, 0, &rule, &expected, &got, 0xff, &found);
  assert_false(found.pass);
}

/* A subnormal input that a device reads as zero: what then follows is accepted, and nothing else. */
static void flushed_inputs(void **state) {
  (void)state;
  kw_case c = get_case("gt.Scalar/f32/one/0");
  kw_rule rule = kw_rule_make(&c, 0, KW_DTYPE_BIT(KW_F32));
  uint8_t plain = 1, flushed = 0, got = 0;
  kw_oracle_result expected = {.dtype = KW_BOOL, .count = 1, .values = &plain};
  kw_comparison found;
  kw_compare_result(&c, 0, &rule, &expected, &got, 0xff, &found);
  assert_false(found.pass);
  expected.flushed = &flushed;
  kw_compare_result(&c, 0, &rule, &expected, &got, 0xff, &found);
  assert_true(found.pass);
}

static void rounded_quotients(void **state) {
  (void)state;
  kw_case c = get_case("div.Tensor_mode/f32/one/0"); /* "floor" */
  kw_rule rule = kw_rule_make(&c, 0, 0);
  kw_wide value = {2, 0}, quotient = {3.0 - 0x1p-22, 0};
  float got = 3;
  kw_oracle_result expected = {.dtype = KW_DTYPE_WIDE, .count = 1, .values = &value, .quotient = &quotient};
  kw_comparison found;
  kw_compare_result(&c, 0, &rule, &expected, &got, 0xff, &found);
  assert_true(found.pass); /* the boundary is within the bound of the quotient */
  quotient.hi = 2.9;
  kw_compare_result(&c, 0, &rule, &expected, &got, 0xff, &found);
  assert_false(found.pass);
  value.hi = -1; /* of a quotient just below 0, 0 is near enough, but only the one of its sign */
  quotient.hi = -0x1p-149;
  got = -0.0f;
  kw_compare_result(&c, 0, &rule, &expected, &got, 0xff, &found);
  assert_true(found.pass);
  got = 0.0f;
  kw_compare_result(&c, 0, &rule, &expected, &got, 0xff, &found);
  assert_false(found.pass);
}

/* The oracle itself, on numbers that can be checked by hand. */
static void oracle_adds(void **state) {
  (void)state;
  kw_case c = get_case("add.Tensor/f32/one/0");
  kw_oracle_results oracle;
  assert_int_equal(kw_oracle_run(&c, 1, 0, 0, &oracle), KW_OK);
  float a, b;
  kw_value_key key = kw_case_value_key(&c, 0, 1, 0);
  kw_value_make(&key, KW_F32, 0, &a);
  key = kw_case_value_key(&c, 1, 1, 0);
  kw_value_make(&key, KW_F32, 0, &b);
  assert_int_equal(oracle.count, 1);
  const kw_oracle_result expected = oracle.results[0];
  const kw_wide *sum = expected.values;
  assert_int_equal(expected.dtype, KW_DTYPE_WIDE);
  assert_true(sum->hi == (double)a + (double)b);
  assert_true(expected.magnitude[0].hi == fabs((double)a) + fabs((double)b));
  kw_oracle_free(&oracle);
}

/* max + -max: the magnitude of the sum is past what a float holds, and yet there is a bound. */
static void magnitudes_are_finite(void **state) {
  (void)state;
  kw_rule rule = {.compare = KW_CMP_ACCUMULATE, .terms = 2, .compute = KW_F64};
  double error, bound, got = 1e300;
  assert_false(kw_compare_element(&rule, KW_F64, &got, (kw_wide){0, 0}, INFINITY, &error, &bound));
  assert_true(isfinite(bound));
  got = 0x1p971; /* half a unit of the largest */
  assert_true(kw_compare_element(&rule, KW_F64, &got, (kw_wide){0, 0}, INFINITY, &error, &bound));
  assert_false(kw_compare_element(&rule, KW_F64, &got, (kw_wide){0, 0}, NAN, &error, &bound));
}

static void errors_have_one_unit_per_op(void **state) {
  (void)state;
  static const struct {
    const char *id, *unit;
    double bound;
  } ops[] = {
      {"exp/f32/one/0", "ulp", 3},          {"native_layer_norm/f32/one/0", "growth", 1},
      {"index_put/f32/one/0", "growth", 1}, /* of its sums; otherwise only bits are right */
      {"scatter.src/f32/one/0", "bits", 0}, {"quantized_decomposed::quantize_per_tensor/f32/one/0", "quantum", 0},
      {"argmax/f32/one/0", "index", 0}};
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
    kw_case c = get_case(ops[i].id);
    kw_op_bound shown = kw_rule_shown(c.op);
    assert_string_equal(kw_rule_unit(&shown), ops[i].unit);
    assert_true(kw_rule_bound(&shown) == ops[i].bound);
  }
}

/* Terms that are one number are rounded the same way each time: thousands of them, one after the other, would miss the
 * bound on a device that is right, so their sums are exact. */
static void equal_terms_add_up_exactly(void **state) {
  (void)state;
  static const char *const ids[] = {"sum/f32/stride0/0", "sum/f32/stride0/1", "sum/f32/stride0/2"};
  for (size_t n = 0; n < sizeof ids / sizeof ids[0]; n++) {
    kw_case c = get_case(ids[n]);
    kw_oracle_results oracle;
    assert_int_equal(kw_oracle_run(&c, 1, 0, 0, &oracle), KW_OK);
    static float x[10000];
    float sum = 0;
    assert_true(c.tensors[0].extent <= sizeof x / sizeof x[0]);
    kw_case_fill(&c, 0, 1, 0, true, x);
    for (int64_t i = 0; i < c.tensors[0].numel; i++) sum += x[kw_case_tensor_at(&c.tensors[0], i)];
    assert_true((double)sum == ((const kw_wide *)oracle.results[0].values)->hi);
    kw_oracle_free(&oracle);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ulp_inside_a_binade),
      cmocka_unit_test(ulp_at_a_power_of_two),
      cmocka_unit_test(subnormal_results),
      cmocka_unit_test(past_the_largest),
      cmocka_unit_test(sums_of_subnormals),
      cmocka_unit_test(zeros_have_signs),
      cmocka_unit_test(nan_and_infinity),
      cmocka_unit_test(narrow_results),
      cmocka_unit_test(absolute_term),
      cmocka_unit_test(growth_and_sums),
      cmocka_unit_test(flushed_terms),
      cmocka_unit_test(magnitudes_are_finite),
      cmocka_unit_test(scans_grow_along_their_dimension),
      cmocka_unit_test(a_lower_math_mode_loses_bits_of_operands),
      cmocka_unit_test(result_with_a_tail),
      cmocka_unit_test(rounding_far_from_the_oracle),
      cmocka_unit_test(errors_are_in_units_of_the_bound),
      cmocka_unit_test(moves_keep_payloads),
      cmocka_unit_test(flushed_inputs),
      cmocka_unit_test(rounded_quotients),
      cmocka_unit_test(oracle_adds),
      cmocka_unit_test(columns_of_bits),
      cmocka_unit_test(complex_numbers_by_part),
      cmocka_unit_test(complex_numbers_within_bounds),
      cmocka_unit_test(subnormal_column),
      cmocka_unit_test(moves_keep_subnormals),
      cmocka_unit_test(either_writer),
      cmocka_unit_test(one_quantum),
      cmocka_unit_test(results_on_their_own),
      cmocka_unit_test(a_vendors_growth),
      cmocka_unit_test(errors_have_one_unit_per_op),
      cmocka_unit_test(equal_terms_add_up_exactly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
