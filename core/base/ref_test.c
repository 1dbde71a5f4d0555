/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits of shapes; extent, contiguity and text of descriptors.
 */
#include "base/ref.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void sizes_fit_in_int64(void **state) {
  (void)state;
  int64_t numel = 0;
  assert_int_equal(kw_shape_check("test", KW_I8, 2, (int64_t[]){INT64_MAX, 1}, &numel), KW_OK);
  assert_true(numel == INT64_MAX);
  assert_int_equal(kw_shape_check("test", KW_I16, 2, (int64_t[]){INT64_MAX, 1}, &numel), KW_ERR_INVALID_ARGUMENT);
  kw_tensor_ref ref = {.dtype = KW_I32, .rank = 1, .numel = 2, .shape = {2}, .strides = {INT64_MAX}};
  assert_true(kw_ref_extent(&ref) == UINT64_MAX);
}

static void dimensions_of_one_do_not_matter(void **state) {
  (void)state;
  kw_tensor_ref ref = {.dtype = KW_I32, .rank = 3, .numel = 6, .shape = {2, 1, 3}, .strides = {3, 77, 1}};
  assert_true(kw_ref_is_contiguous(&ref));
  assert_int_equal(kw_ref_extent(&ref), 24);
  ref.strides[0] = 4;
  assert_false(kw_ref_is_contiguous(&ref));
  assert_int_equal(kw_ref_extent(&ref), 28);
}

static void description(void **state) {
  (void)state;
  char text[64];
  kw_tensor_ref ref = {.dtype = KW_F32, .rank = 2, .shape = {2, 3}};
  assert_string_equal(kw_ref_describe(&ref, text, sizeof text), "f32[2, 3]");
  ref.rank = 0;
  assert_string_equal(kw_ref_describe(&ref, text, sizeof text), "f32[]");
  ref.rank = 2;
  assert_string_equal(kw_ref_describe(&ref, text, 6), "f32[2");
  assert_string_equal(kw_ref_describe(&ref, text, 1), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_fit_in_int64),
      cmocka_unit_test(dimensions_of_one_do_not_matter),
      cmocka_unit_test(description),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
