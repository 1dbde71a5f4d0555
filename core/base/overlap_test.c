/* SPDX-License-Identifier: Apache-2.0
 *
 * Overlap held against an enumeration of all bytes.
 */
#include "base/overlap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MEMORY 256 /* bytes of the pretended buffer */

static uint64_t random_state;

static uint32_t random_below(uint32_t limit) {
  random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)(random_state >> 33) % limit;
}

static kw_tensor_ref random_ref(void) {
  static const kw_dtype dtypes[] = {KW_U8, KW_F16, KW_F32};
  kw_tensor_ref ref = {.struct_size = sizeof ref, .dtype = dtypes[random_below(3)], .rank = (uint8_t)random_below(4)};
  ref.offset = random_below(32);
  ref.numel = 1;
  for (uint32_t d = 0; d < ref.rank; ++d) {
    ref.shape[d] = random_below(8) == 0 ? 0 : 1 + random_below(3);
    ref.strides[d] = random_below(7);
    ref.numel *= ref.shape[d];
  }
  return ref;
}

/* Counts how often each byte is touched: the truth by enumeration. */
static void touch(const kw_tensor_ref *ref, uint8_t counts[MEMORY]) {
  static const size_t sizes[] = {[KW_U8] = 1, [KW_F16] = 2, [KW_F32] = 4};
  for (int64_t i = 0; i < ref->numel; ++i) {
    int64_t rest = i, element = 0;
    for (uint32_t d = ref->rank; d-- > 0;) {
      element += rest % ref->shape[d] * ref->strides[d];
      rest /= ref->shape[d];
    }
    for (size_t b = 0; b < sizes[ref->dtype]; ++b) counts[ref->offset + (size_t)element * sizes[ref->dtype] + b]++;
  }
}

static void never_misses_an_overlap_between_two(void **state) {
  (void)state;
  int proven_apart = 0;
  random_state = 0;
  for (int i = 0; i < 20000; ++i) {
    kw_tensor_ref a = random_ref(), b = random_ref();
    uint8_t in_a[MEMORY] = {0}, in_b[MEMORY] = {0};
    touch(&a, in_a);
    touch(&b, in_b);
    bool meet = false;
    for (int byte = 0; byte < MEMORY; ++byte) meet = meet || (in_a[byte] && in_b[byte]);
    bool said = kw_refs_overlap(&a, &b);
    assert_int_equal(said, kw_refs_overlap(&b, &a));
    if (meet) assert_true(said);
    proven_apart += !said;
  }
  assert_true(proven_apart > 1000);
}

static void never_misses_an_overlap_with_itself(void **state) {
  (void)state;
  int clean = 0;
  random_state = 7;
  for (int i = 0; i < 20000; ++i) {
    kw_tensor_ref ref = random_ref();
    uint8_t counts[MEMORY] = {0};
    touch(&ref, counts);
    bool twice = false;
    for (int byte = 0; byte < MEMORY; ++byte) twice = twice || counts[byte] > 1;
    bool said = kw_ref_overlaps_itself(&ref);
    if (twice) assert_true(said);
    clean += !said;
  }
  assert_true(clean > 1000);
}

static kw_tensor_ref vector(uint64_t offset, int64_t count, int64_t stride) {
  kw_tensor_ref ref = {.struct_size = sizeof ref, .dtype = KW_F32, .rank = 1, .offset = offset, .numel = count};
  ref.shape[0] = count;
  ref.strides[0] = stride;
  return ref;
}

static void knows_interleaved_slices_apart(void **state) {
  (void)state;
  kw_tensor_ref even = vector(0, 8, 2), odd = vector(4, 8, 2), head = vector(0, 4, 1);
  assert_false(kw_refs_overlap(&even, &odd));
  assert_true(kw_refs_overlap(&even, &head));
  assert_true(kw_refs_identical(&even, &even));
  assert_false(kw_refs_identical(&even, &odd));
}

static void accepts_transposed_and_refuses_expanded(void **state) {
  (void)state;
  kw_tensor_ref transposed = {.dtype = KW_F32, .rank = 2, .numel = 12, .shape = {3, 4}, .strides = {1, 3}};
  kw_tensor_ref expanded = {.dtype = KW_F32, .rank = 2, .numel = 12, .shape = {3, 4}, .strides = {0, 1}};
  assert_false(kw_ref_overlaps_itself(&transposed));
  assert_true(kw_ref_overlaps_itself(&expanded));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(never_misses_an_overlap_between_two),
      cmocka_unit_test(never_misses_an_overlap_with_itself),
      cmocka_unit_test(knows_interleaved_slices_apart),
      cmocka_unit_test(accepts_transposed_and_refuses_expanded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
