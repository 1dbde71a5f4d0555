/* SPDX-License-Identifier: Apache-2.0
 *
 * Structs between older and newer sides.
 */
#include "base/struct.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <keyway/plugin.h>

/* One struct as three versions have it, in memory that shows what was written. */
typedef struct sample {
  uint32_t struct_size;
  uint32_t first;
  uint32_t second;
  uint32_t beyond;
} sample;

enum { OLD = offsetof(sample, second), TODAY = offsetof(sample, beyond), NEWER = sizeof(sample), UNTOUCHED = 77 };

static const sample full = {.struct_size = NEWER, .first = 1, .second = 2, .beyond = 3};

static void taking_an_older_struct_zeroes_the_rest(void **state) {
  (void)state;
  sample from = full, to = {UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED};
  from.struct_size = OLD;
  kw_struct_read(&to, TODAY, &from);
  assert_true(to.struct_size == TODAY && to.first == 1 && to.second == 0 && to.beyond == UNTOUCHED);
}

static void taking_a_newer_struct_leaves_out_its_tail(void **state) {
  (void)state;
  sample to = {UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED};
  kw_struct_read(&to, TODAY, &full);
  assert_true(to.struct_size == TODAY && to.first == 1 && to.second == 2 && to.beyond == UNTOUCHED);
}

static void an_older_caller_is_given_what_fits(void **state) {
  (void)state;
  sample out = {OLD, UNTOUCHED, UNTOUCHED, UNTOUCHED};
  kw_struct_write(&out, &full, TODAY);
  assert_true(out.struct_size == OLD && out.first == 1 && out.second == UNTOUCHED && out.beyond == UNTOUCHED);
}

static void a_newer_caller_is_told_how_much_is_valid(void **state) {
  (void)state;
  sample out = {NEWER, UNTOUCHED, UNTOUCHED, UNTOUCHED};
  kw_struct_write(&out, &full, TODAY);
  assert_true(out.struct_size == TODAY && out.first == 1 && out.second == 2 && out.beyond == UNTOUCHED);
}

static void a_struct_without_its_size_is_refused(void **state) {
  (void)state;
  sample given = {.struct_size = sizeof(uint32_t)};
  assert_int_equal(kw_struct_check_given("f", &given), KW_OK);
  given.struct_size = sizeof(uint32_t) - 1;
  assert_int_equal(kw_struct_check_given("f", &given), KW_ERR_INVALID_ARGUMENT);
  assert_string_equal(kw_error_message(), "f: struct_size is not set: set it to sizeof the struct");
  assert_int_equal(kw_struct_check_given("f", NULL), KW_ERR_INVALID_ARGUMENT);
  assert_string_equal(kw_error_message(), "f: the struct is NULL");
}

static void refuses_chain(const kw_ext *chain, kw_status status, const char *words) {
  assert_int_equal(kw_chain_check("a struct", chain), status);
  if (strstr(kw_error_message(), words) == NULL) fail_msg("'%s' is not in '%s'", words, kw_error_message());
}

static void chains_are_flat_and_finite(void **state) {
  (void)state;
  kw_ext entries[KW_EXT_LIMIT + 1];
  for (uint32_t i = 0; i < KW_EXT_LIMIT; i++) entries[i] = (kw_ext){sizeof(kw_ext), 100 + i, &entries[i + 1]};
  entries[KW_EXT_LIMIT] = (kw_ext){KW_EXT_SIZE_LIMIT, 99, NULL};
  assert_int_equal(kw_chain_check("a struct", NULL), KW_OK);
  assert_int_equal(kw_chain_check("a struct", &entries[1]), KW_OK);
  refuses_chain(&entries[0], KW_ERR_INVALID_ARGUMENT, "a struct: extension 33 (kind 0x63) is one too many");
  entries[3].next = &entries[2]; /* a circle */
  refuses_chain(&entries[1], KW_ERR_INVALID_ARGUMENT, "is one too many");
  entries[3].next = NULL;
  entries[3].kind = entries[2].kind | KW_EXT_CRITICAL;
  refuses_chain(&entries[1], KW_ERR_INVALID_ARGUMENT, "is there twice");
  entries[3].kind = 7 | KW_EXT_CRITICAL;
  refuses_chain(&entries[1], KW_ERR_UNSUPPORTED, "does not know the critical extension of kind 0x40000007");
  entries[3].struct_size = sizeof(kw_ext) - 1;
  refuses_chain(&entries[1], KW_ERR_INVALID_ARGUMENT, "is too short");
  entries[3].struct_size = KW_EXT_SIZE_LIMIT + 1;
  refuses_chain(&entries[1], KW_ERR_INVALID_ARGUMENT, "more than 65536 bytes");
}

static void vendors_are_told_apart_by_name(void **state) {
  (void)state;
  kw_ext_vendor second = {{sizeof second, KW_EXT_VENDOR, NULL}, "com.acme.second"};
  kw_ext_vendor first = {{sizeof first, KW_EXT_VENDOR, &second.ext}, "com.acme.first"};
  assert_int_equal(kw_chain_check("a struct", &first.ext), KW_OK);
  memcpy(second.name, first.name, sizeof first.name);
  refuses_chain(&first.ext, KW_ERR_INVALID_ARGUMENT, "is there twice");
  memset(first.name, 'x', sizeof first.name);
  refuses_chain(&first.ext, KW_ERR_INVALID_ARGUMENT, "a name without an end");
  second.ext.struct_size = sizeof(kw_ext);
  refuses_chain(&second.ext, KW_ERR_INVALID_ARGUMENT, "is too short");
}

static void plugins_skip_what_is_not_critical(void **state) {
  (void)state;
  kw_ext last = {sizeof last, 9, NULL}, first = {sizeof first, 8, &last};
  const uint32_t eight = 8, both[] = {8, 9};
  assert_int_equal(kw_ext_check(&first, NULL, 0), KW_OK);
  last.kind |= KW_EXT_CRITICAL;
  assert_int_equal(kw_ext_check(&first, NULL, 0), KW_ERR_UNSUPPORTED);
  assert_int_equal(kw_ext_check(&first, &eight, 1), KW_ERR_UNSUPPORTED);
  assert_int_equal(kw_ext_check(&first, both, 2), KW_OK);
  assert_ptr_equal(kw_ext_find(&first, 9), &last);
  assert_null(kw_ext_find(&first, 10));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(taking_an_older_struct_zeroes_the_rest),
      cmocka_unit_test(taking_a_newer_struct_leaves_out_its_tail),
      cmocka_unit_test(an_older_caller_is_given_what_fits),
      cmocka_unit_test(a_newer_caller_is_told_how_much_is_valid),
      cmocka_unit_test(a_struct_without_its_size_is_refused),
      cmocka_unit_test(chains_are_flat_and_finite),
      cmocka_unit_test(vendors_are_told_apart_by_name),
      cmocka_unit_test(plugins_skip_what_is_not_critical),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
