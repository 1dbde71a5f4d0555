/* SPDX-License-Identifier: Apache-2.0
 *
 * Random words: known ones, what they depend on, and that many at a time are those of one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "case/value.h"

#include <string.h>

static void philox_known_answers(void **state) {
  (void)state;
  uint32_t out[4];
  kw_philox((uint32_t[4]){0}, (uint32_t[2]){0}, out);
  assert_memory_equal(out, ((uint32_t[4]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}), sizeof out);
  uint32_t ones = UINT32_MAX;
  kw_philox((uint32_t[4]){ones, ones, ones, ones}, (uint32_t[2]){ones, ones}, out);
  assert_memory_equal(out, ((uint32_t[4]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}), sizeof out);
  kw_philox((uint32_t[4]){0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, (uint32_t[2]){0xa4093822, 0x299f31d0}, out);
  assert_memory_equal(out, ((uint32_t[4]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}), sizeof out);
}

static void value_depends_on_all_of_its_key(void **state) {
  (void)state;
  kw_value_key key = {.seed = 1, .case_hash = 7, .domain = KW_DOMAIN_ANY, .extent = 10};
  kw_value_key other[4] = {key, key, key, key};
  other[0].seed = 2;
  other[1].case_hash = 8;
  other[2].run = 1;
  other[3].arg = 1;
  double value, different;
  kw_value_make(&key, KW_F64, 3, &value);
  for (int i = 0; i < 4; i++) {
    kw_value_make(&other[i], KW_F64, 3, &different);
    assert_true(value != different);
  }
  kw_value_make(&key, KW_F64, 4, &different);
  assert_true(value != different);
  kw_value_make(&key, KW_F64, 3, &different);
  assert_true(value == different);
}

static void many_values_are_those_made_one_by_one(void **state) {
  (void)state;
  enum { COUNT = 150, LARGEST = 16 }; /* more than two blocks, and a part of one */
  for (kw_domain domain = KW_DOMAIN_ANY; domain <= KW_DOMAIN_LOWEST; domain++) {
    for (kw_dtype dtype = KW_BOOL; dtype <= KW_C128; dtype++) {
      const bool only_f32 = domain == KW_DOMAIN_STRATA || domain == KW_DOMAIN_PARTNER;
      if (only_f32 && dtype != KW_F32) continue;
      if (domain == KW_DOMAIN_LOWEST && dtype < KW_F16) continue; /* masks that are added: floats alone */
      const kw_value_key key = {.seed = 1,
                                .case_hash = UINT64_C(7) << 40,
                                .run = dtype % 2,
                                .arg = 2,
                                .domain = domain,
                                .stride = 3,
                                .extent = COUNT,
                                .limit = 20,
                                .target = KW_BOOL};
      const size_t size = kw_element_size(dtype);
      unsigned char all[(COUNT + 1) * LARGEST], one[LARGEST];
      memset(one, 0x5a, sizeof one);
      memset(all, 0x5a, sizeof all);
      kw_values_make(&key, dtype, COUNT, all);
      for (uint64_t i = 0; i < COUNT; i++) {
        kw_value_make(&key, dtype, i, one);
        assert_memory_equal(all + i * size, one, size);
      }
      for (size_t i = COUNT * size; i < sizeof all; i++) assert_int_equal(all[i], 0x5a);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(philox_known_answers),
                                     cmocka_unit_test(value_depends_on_all_of_its_key),
                                     cmocka_unit_test(many_values_are_those_made_one_by_one)};
  return cmocka_run_group_tests_name("case words", tests, NULL, NULL);
}
