/* SPDX-License-Identifier: Apache-2.0
 *
 * Known answers: the vectors that come with Random123, the implementation of the algorithm's authors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "philox.h"

static void test_known_answers(void **state) {
  (void)state;
  static const struct {
    uint32_t counter[4], key[2], words[4];
  } answers[] = {
      {{0}, {0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
    uint32_t words[4];
    kw_philox_block(answers[i].counter, answers[i].key, words);
    assert_memory_equal(words, answers[i].words, sizeof words);
  }
}

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
    kw_philox_stream stream = {seed, offsets[o]};
    for (uint64_t i = 0; i < 17; i++) {
      uint64_t block = offsets[o] + i / 4; /* past 2^64 it starts over */
      assert_int_equal(kw_philox_word(stream, i, 0), word(seed, block, 0, i % 4));
      assert_int_equal(kw_philox_word(stream, i, 1), word(seed, block, 1, i % 4));
      uint64_t both = (uint64_t)word(seed, block, 0, i % 4) << 32 | word(seed, block, 1, i % 4);
      assert_true(kw_philox_word64(stream, i) == both);
    }
  }
}

static void test_state_in_memory(void **state) {
  (void)state;
  const uint64_t memory[3] = {7, 11, UINT64_MAX - 1}; /* something else, seed, offset */
  kw_call call = {.struct_size = sizeof call, .rng = {.seed = 3, .offset = 4}};
  kw_philox_stream stream = kw_philox_stream_of(&call);
  assert_true(stream.seed == 3 && stream.offset == 4);
  call.rng = (kw_rng){.offset = 4, .state = (void *)(uintptr_t)memory, .state_offset = 8};
  stream = kw_philox_stream_of(&call);
  assert_true(stream.seed == 11 && stream.offset == 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_answers),
      cmocka_unit_test(test_words_of_elements),
      cmocka_unit_test(test_state_in_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
