/* SPDX-License-Identifier: Apache-2.0
 *
 * What levels and their extensions ask of a device.
 */
#include "run/level.h"

#include "case/make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void levels_parse(void **state) {
  (void)state;
  kw_level_claim claim;
  assert_true(kw_level_parse("core", &claim));
  assert_true(claim.level == KW_LEVEL_CORE && claim.extensions == 0 && claim.families == 1u << KW_EXTENSION_NONE);
  assert_true(kw_level_parse("training+f64+fp8", &claim));
  assert_string_equal(claim.text, "training+f64+fp8");
  assert_true(claim.level == KW_LEVEL_TRAINING && claim.extensions == (KW_DTYPE_BIT(KW_F64) | KW_DTYPES_F8));
  assert_true(kw_level_parse("inference+int4+paged", &claim));
  assert_true(claim.extensions == 0);
  assert_true(claim.families == (1u << KW_EXTENSION_NONE | 1u << KW_EXTENSION_INT4 | 1u << KW_EXTENSION_PAGED));
  assert_true(kw_level_parse("core+fft", &claim) && claim.extensions == 0);
  static const char *const wrong[] = {"", "Core", "core+", "core+f16", "core+f64+", "cores", "+f64", "core f64"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_false(kw_level_parse(wrong[i], &claim));
}

static void levels_ask_for_dtypes(void **state) {
  (void)state;
  kw_suite_op op = {.row = {.dtypes = KW_DTYPES_ANY, .result = KW_RESULT_KEY, .level = KW_LEVEL_INFERENCE}};
  uint64_t fixed =
      KW_DTYPE_BIT(KW_BOOL) | KW_DTYPE_BIT(KW_U8) | KW_DTYPE_BIT(KW_I32) | KW_DTYPE_BIT(KW_I64) | KW_DTYPE_BIT(KW_F32);
  kw_level_claim claim = {.level = KW_LEVEL_CORE, .families = 1u << KW_EXTENSION_NONE};
  assert_true(kw_level_keys(&claim, &op, KW_F16) == 0);
  claim.level = KW_LEVEL_TRAINING;
  assert_true(kw_level_keys(&claim, &op, KW_F16) == (fixed | KW_DTYPE_BIT(KW_F16)));
  assert_true(kw_level_keys(&claim, &op, KW_BF16) == (fixed | KW_DTYPE_BIT(KW_BF16)));
  claim.extensions = KW_DTYPES_COMPLEX;
  assert_true(kw_level_keys(&claim, &op, KW_F16) == (fixed | KW_DTYPE_BIT(KW_F16) | KW_DTYPES_COMPLEX));
  op.row.dtypes = KW_DTYPE_BIT(KW_I8); /* has none of the fixed ones */
  assert_true(kw_level_keys(&claim, &op, KW_F16) == KW_DTYPE_BIT(KW_I8));
  op.row.dtypes = KW_DTYPES_F8;
  assert_true(kw_level_keys(&claim, &op, KW_F16) == 0);
  op.row.dtypes = KW_DTYPES_REAL;
  op.extension = KW_EXTENSION_SPARSE; /* asked for by name only */
  assert_true(kw_level_keys(&claim, &op, KW_F16) == 0);
  claim.families |= 1u << KW_EXTENSION_SPARSE;
  assert_true(kw_level_keys(&claim, &op, KW_F16) == (fixed | KW_DTYPE_BIT(KW_F16)));
  op.extension = KW_EXTENSION_FFT; /* brings the complex numbers of its floats */
  op.row.dtypes = KW_DTYPES_COMPLEX;
  claim = (kw_level_claim){.level = KW_LEVEL_TRAINING, .families = 1u << KW_EXTENSION_FFT};
  assert_true(kw_level_keys(&claim, &op, KW_F16) == KW_DTYPE_BIT(KW_C64));
  claim.extensions = KW_DTYPE_BIT(KW_F64);
  assert_true(kw_level_keys(&claim, &op, KW_F16) == KW_DTYPES_COMPLEX);
  op.vendor = true;
  op.row.dtypes = KW_DTYPES_ANY;
  assert_true(kw_level_keys(&claim, &op, KW_F16) == 0);
}

static void levels_choose_the_wider_half(void **state) {
  (void)state;
  kw_op_facts ops[3] = {{.kernels = KW_DTYPE_BIT(KW_F16)}, {.decomposed = KW_DTYPE_BIT(KW_BF16)}, {.kernels = 0}};
  kw_device_facts facts = {.op_count = 3, .ops = ops};
  kw_level_claim claim = {.level = KW_LEVEL_CORE, .families = 1u << KW_EXTENSION_NONE};
  assert_int_equal(kw_level_half(&claim, &facts), KW_F16);
  ops[2].kernels = KW_DTYPE_BIT(KW_BF16);
  assert_int_equal(kw_level_half(&claim, &facts), KW_BF16);
  ops[2].op.row.level = KW_LEVEL_TRAINING; /* none of the level's */
  assert_int_equal(kw_level_half(&claim, &facts), KW_F16);
  ops[2].op = (kw_suite_op){.vendor = true};
  assert_int_equal(kw_level_half(&claim, &facts), KW_F16);
}

static void cases_tell_extensions(void **state) {
  (void)state;
  uint32_t count;
  kw_case c;
  assert_true(kw_case_from_id("copy_/f32/mixed/0", kw_suite_ops(&count), kw_op_table_count, &c));
  assert_true(kw_level_extensions(&c) == 0);
  c.outs[0].dtype = KW_C64;
  assert_true(kw_level_extensions(&c) == KW_DTYPE_BIT(KW_C64));
  c.tensors[1].dtype = KW_F64;
  assert_true(kw_level_extensions(&c) == (KW_DTYPE_BIT(KW_C64) | KW_DTYPE_BIT(KW_F64)));
  /* not those that follow from the key dtype */
  assert_true(kw_case_from_id("_fft_r2c/f32/prime/0", kw_suite_ops(&count), kw_op_table_count, &c));
  assert_true(kw_level_extensions(&c) == 0);
  assert_true(kw_case_from_id("_fft_c2r/c128/prime/0", kw_suite_ops(&count), kw_op_table_count, &c));
  assert_true(kw_level_extensions(&c) == KW_DTYPE_BIT(KW_C128));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cases_tell_extensions),
      cmocka_unit_test(levels_parse),
      cmocka_unit_test(levels_ask_for_dtypes),
      cmocka_unit_test(levels_choose_the_wider_half),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
