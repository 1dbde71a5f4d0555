/* SPDX-License-Identifier: Apache-2.0
 *
 * Fingerprints differ where descriptors do.
 */
#include "base/fingerprint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT 40000

static int by_value(const void *a, const void *b) {
  return memcmp(a, b, sizeof(kw_fingerprint));
}

static void tells_neighbouring_descriptors_apart(void **state) {
  (void)state;
  kw_fingerprint *prints = calloc(COUNT, sizeof *prints);
  assert_non_null(prints);
  size_t count = 0;
  for (uint64_t device = 1; device <= 2; ++device) {
    for (kw_dtype dtype = KW_F32; dtype <= KW_F64; ++dtype) {
      for (uint32_t alignment = 4; alignment <= 64; alignment *= 4) {
        for (int64_t a = 0; a < 10; ++a) {
          for (int64_t b = 0; b < 10; ++b) {
            for (int64_t stride = 0; stride < 20; ++stride) {
              kw_tensor_ref ref = {
                  .dtype = dtype, .rank = 2, .alignment = alignment, .shape = {a, b}, .strides = {stride, 1}};
              prints[count++] = kw_fingerprint_of(kw_fingerprint_seed(device), &ref, false);
            }
          }
        }
      }
    }
  }
  qsort(prints, count, sizeof *prints, by_value);
  for (size_t i = 1; i < count; ++i) assert_false(kw_fingerprint_equal(prints[i - 1], prints[i]));
  free(prints);
}

static void ignores_what_a_plan_does_not_depend_on(void **state) {
  (void)state;
  kw_tensor_ref a = {.dtype = KW_F32, .rank = 1, .alignment = 4, .shape = {3, 7}, .strides = {1, 9}}, b = a;
  b.offset = 64;
  b.mem = &a;
  b.shape[1] = 0; /* beyond the rank */
  assert_true(kw_fingerprint_equal(kw_fingerprint_of(kw_fingerprint_seed(1), &a, false),
                                   kw_fingerprint_of(kw_fingerprint_seed(1), &b, false)));
  assert_false(kw_fingerprint_equal(kw_fingerprint_of(kw_fingerprint_seed(1), &a, false),
                                    kw_fingerprint_of(kw_fingerprint_seed(1), &b, true)));
  b.layout = 1;
  assert_false(kw_fingerprint_equal(kw_fingerprint_of(kw_fingerprint_seed(1), &a, false),
                                    kw_fingerprint_of(kw_fingerprint_seed(1), &b, false)));
  b.layout = 0;
  b.strides[0] = 2;
  assert_false(kw_fingerprint_equal(kw_fingerprint_of(kw_fingerprint_seed(1), &a, false),
                                    kw_fingerprint_of(kw_fingerprint_seed(1), &b, false)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tells_neighbouring_descriptors_apart),
      cmocka_unit_test(ignores_what_a_plan_does_not_depend_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
