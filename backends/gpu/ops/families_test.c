/* SPDX-License-Identifier: Apache-2.0
 *
 * What families.def is made into: every op and every program stands in it once.
 */
#include "ops/families.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const kw_gpu_family *const families[] = {
#define KW_GPU_FAMILY(name) &kw_gpu_##name##_family,
#include "ops/families.def"
#undef KW_GPU_FAMILY
};

/* An op that two families had would be registered twice, and the second one never be found. */
static void test_every_op_is_found_in_its_family(void **state) {
  (void)state;
  size_t count = 0;
  for (size_t f = 0; f < sizeof families / sizeof families[0]; ++f)
    for (const kw_gpu_op *op = families[f]->ops; op && op->name; ++op, ++count)
      assert_ptr_equal(kw_gpu_op_find(op->name), op);
  assert_true(count > 100);
  assert_null(kw_gpu_op_find("no op of this name"));
}

typedef struct names {
  size_t count;
  char text[512][64];
} names;

static kw_status keep_name(void *user, const char *name, const char *const *sources, uint32_t source_count) {
  names *seen = user;
  assert_true(source_count > 0 && sources[0] && seen->count < sizeof seen->text / sizeof seen->text[0]);
  for (size_t i = 0; i < seen->count; ++i) assert_string_not_equal(seen->text[i], name);
  snprintf(seen->text[seen->count++], sizeof seen->text[0], "%s", name);
  return KW_OK;
}

static kw_status stop(void *user, const char *name, const char *const *sources, uint32_t source_count) {
  (void)name;
  (void)sources;
  (void)source_count;
  ++*(int *)user;
  return KW_ERR_IO;
}

/* Binaries that were compiled ahead are found by their program's name. */
static void test_every_program_has_a_name_of_its_own(void **state) {
  (void)state;
  static names seen;
  int calls = 0;
  assert_int_equal(kw_gpu_programs_visit("", keep_name, &seen), KW_OK);
  assert_true(seen.count > 100);
  assert_int_equal(kw_gpu_programs_visit("", stop, &calls), KW_ERR_IO);
  assert_int_equal(calls, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_op_is_found_in_its_family),
      cmocka_unit_test(test_every_program_has_a_name_of_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
