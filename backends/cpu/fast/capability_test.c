/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the choice of an instruction set, with forged processors.
 */
#include "capability.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
  AVX2 = KW_FEATURE_AVX2 | KW_FEATURE_FMA | KW_FEATURE_F16C,
  AVX512 = AVX2 | KW_FEATURE_AVX512F | KW_FEATURE_AVX512BW | KW_FEATURE_AVX512DQ | KW_FEATURE_AVX512VL,
  FP16 = AVX512 | KW_FEATURE_AVX512_FP16
};

static kw_capability chosen_of(uint32_t compiled, uint32_t features, const char *wanted, const char *why) {
  const char *text = "not written";
  const kw_capability level = kw_capability_choose(compiled, features, wanted, &text);
  if (!why) {
    assert_null(text);
  } else {
    assert_non_null(text);
    assert_non_null(strstr(text, why));
  }
  return level;
}

/* Of all levels. */
static kw_capability chosen(uint32_t features, const char *wanted, const char *why) {
  return chosen_of(UINT32_MAX, features, wanted, why);
}

static void without_a_wish_the_best_is_taken(void **state) {
  (void)state;
  assert_int_equal(chosen(0, NULL, NULL), KW_CAPABILITY_BASELINE);
  assert_int_equal(chosen(0, "", NULL), KW_CAPABILITY_BASELINE);
  assert_int_equal(chosen(AVX2, NULL, NULL), KW_CAPABILITY_AVX2);
  assert_int_equal(chosen(AVX512, NULL, NULL), KW_CAPABILITY_AVX512);
  assert_int_equal(chosen(FP16, NULL, NULL), KW_CAPABILITY_AVX512_FP16);
}

/* Each single feature that is missing takes the level away. */
static void a_level_needs_all_of_its_features(void **state) {
  (void)state;
  for (uint32_t bit = 1; bit <= KW_FEATURE_AVX512_FP16; bit <<= 1) {
    const kw_capability below = AVX2 & bit     ? KW_CAPABILITY_BASELINE
                                : AVX512 & bit ? KW_CAPABILITY_AVX2
                                               : KW_CAPABILITY_AVX512;
    assert_int_equal(chosen(FP16 & ~bit, NULL, NULL), below);
    assert_int_equal(chosen(FP16 & ~bit, "avx512_fp16", "lacks AVX512_FP16"), below);
    assert_int_equal(chosen(FP16 & ~bit, "avx512", AVX512 & bit ? "lacks AVX-512" : NULL), below);
  }
}

static void a_lower_level_can_be_had_for_the_asking(void **state) {
  (void)state;
  assert_int_equal(chosen(AVX512, "reference", NULL), KW_CAPABILITY_REFERENCE);
  assert_int_equal(chosen(AVX512, "baseline", NULL), KW_CAPABILITY_BASELINE);
  assert_int_equal(chosen(AVX512, "avx2", NULL), KW_CAPABILITY_AVX2);
  assert_int_equal(chosen(FP16, "avx512", NULL), KW_CAPABILITY_AVX512);
}

static void what_is_no_level_is_ignored(void **state) {
  (void)state;
  static const char *const words[] = {"AVX2", "avx", "avx2 ", "sse9", "0"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    assert_int_equal(chosen(0, words[i], "is expected"), KW_CAPABILITY_BASELINE);
  }
}

/* As where everything was built for one processor. */
static void what_was_not_compiled_is_not_taken(void **state) {
  (void)state;
  enum { ONLY_AVX2 = 1 << KW_CAPABILITY_AVX2 };
  assert_int_equal(chosen_of(ONLY_AVX2, FP16, NULL, NULL), KW_CAPABILITY_AVX2);
  assert_int_equal(chosen_of(ONLY_AVX2, FP16, "avx512", "built without"), KW_CAPABILITY_AVX2);
  assert_int_equal(chosen_of(ONLY_AVX2, FP16, "baseline", "built without"), KW_CAPABILITY_AVX2);
  assert_int_equal(chosen_of(ONLY_AVX2, FP16, "reference", NULL), KW_CAPABILITY_REFERENCE);
  assert_int_equal(chosen_of(ONLY_AVX2, 0, NULL, "another processor"), KW_CAPABILITY_REFERENCE);
  assert_int_equal(chosen_of(ONLY_AVX2, 0, "avx2", "lacks AVX2"), KW_CAPABILITY_REFERENCE);
  assert_int_equal(chosen_of(ONLY_AVX2, 0, "reference", NULL), KW_CAPABILITY_REFERENCE);
}

static void every_level_has_the_name_that_asks_for_it(void **state) {
  (void)state;
  for (kw_capability level = 0; level < KW_CAPABILITY_COUNT; level++) {
    assert_int_equal(chosen(UINT32_MAX, kw_capability_name(level), NULL), level);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_wish_the_best_is_taken),          cmocka_unit_test(a_level_needs_all_of_its_features),
      cmocka_unit_test(a_lower_level_can_be_had_for_the_asking),   cmocka_unit_test(what_is_no_level_is_ignored),
      cmocka_unit_test(every_level_has_the_name_that_asks_for_it), cmocka_unit_test(what_was_not_compiled_is_not_taken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
