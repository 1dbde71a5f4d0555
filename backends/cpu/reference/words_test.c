/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of which random word an element gets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "philox.h"
#include "words.h"

/* Counter and key of an element, written out. */
static uint32_t word(uint64_t seed, uint64_t block, uint32_t part, uint32_t lane) {
  uint32_t words[4];
  kw_philox_block((const uint32_t[4]){(uint32_t)block, (uint32_t)(block >> 32), part, 0},
                  (const uint32_t[2]){(uint32_t)seed, (uint32_t)(seed >> 32)}, words);
  return words[lane];
}

static void test_words_of_elements(void **state) {
  (void)state;
  const uint64_t seed = UINT64_C(0x0123456789abcdef);
  const uint64_t offsets[] = {0, 5, UINT32_MAX, (UINT64_C(1) << 32) - 2, UINT64_MAX, UINT64_MAX - 1};
  for (size_t o = 0; o < sizeof offsets / sizeof offsets[0]; o++) {
    const kw_words words = {KW_GENERATOR_PHILOX4X32_10, seed, offsets[o]};
    for (uint64_t i = 0; i < 17; i++) {
      uint64_t block = offsets[o] + i / 4; /* past 2^64 it starts over */
      assert_int_equal(kw_words_32(&words, i, 0), word(seed, block, 0, i % 4));
      assert_int_equal(kw_words_32(&words, i, 1), word(seed, block, 1, i % 4));
      uint64_t both = (uint64_t)word(seed, block, 0, i % 4) << 32 | word(seed, block, 1, i % 4);
      assert_true(kw_words_64(&words, i) == both);
    }
  }
}

/* What OpenSSL's aes-128-ctr makes of zeros with this key. */
static void test_words_of_aes(void **state) {
  (void)state;
  static const struct {
    uint64_t offset;
    uint32_t part, words[8];
  } answers[] = {
      {5, 0, {0x9b18c617, 0xd453df85, 0x322f77a9, 0x2c12bea5, 0xdce1b0b2, 0xc89a4b0b, 0x28b6a8ed, 0x8157df9e}},
      {UINT64_MAX - 1,
       0,
       {0xa6540cdc, 0x708d707f, 0x4b901e4b, 0x78c7a807, 0xd3e270d3, 0xc84e7b04, 0x4d63c8fa, 0x3bd11e0d}},
  };
  for (size_t a = 0; a < sizeof answers / sizeof answers[0]; a++) {
    const kw_words words = {KW_GENERATOR_AES128_CTR, UINT64_C(0x0123456789abcdef), answers[a].offset};
    for (uint64_t i = 0; i < 8; i++) assert_int_equal(kw_words_32(&words, i, answers[a].part), answers[a].words[i]);
  }
  const kw_words words = {KW_GENERATOR_AES128_CTR, UINT64_C(0x0123456789abcdef), 5};
  static const uint32_t second[] = {0xf5fa603a, 0xdca98d0d, 0x20187da4, 0xddc16880}; /* of part 1 */
  for (uint64_t i = 0; i < 4; i++) {
    assert_int_equal(kw_words_32(&words, i, 1), second[i]);
    assert_true(kw_words_64(&words, i) == ((uint64_t)answers[0].words[i] << 32 | second[i]));
  }
}

static void test_state_in_memory(void **state) {
  (void)state;
  const uint64_t memory[3] = {7, 11, UINT64_MAX - 1}; /* something else, seed, offset */
  kw_call_extra extra = {.struct_size = sizeof extra, .rng = {.seed = 3, .offset = 4}};
  const kw_call call = {.struct_size = sizeof call, .extra = &extra};
  kw_words words = kw_words_of(&call);
  assert_true(words.algorithm == KW_GENERATOR_PHILOX4X32_10 && words.seed == 3 && words.offset == 4);
  extra.rng = (kw_rng){
      .algorithm = KW_GENERATOR_AES128_CTR, .offset = 4, .state = (void *)(uintptr_t)memory, .state_offset = 8};
  words = kw_words_of(&call);
  assert_true(words.algorithm == KW_GENERATOR_AES128_CTR && words.seed == 11 && words.offset == 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_words_of_elements),
      cmocka_unit_test(test_words_of_aes),
      cmocka_unit_test(test_state_in_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
