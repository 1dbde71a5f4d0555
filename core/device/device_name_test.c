/* SPDX-License-Identifier: Apache-2.0
 *
 * The grammar of device names; what they resolve to is in tests/device_test.c.
 */
#include "device/device_name.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static kw_device_name_parts parse(const char *text) {
  kw_device_name_parts name;
  if (kw_device_name_parse(text, &name) != KW_OK) fail_msg("%s", kw_error_message());
  return name;
}

static void every_form_is_taken_apart(void **state) {
  (void)state;
  kw_device_name_parts name = parse("npu");
  assert_string_equal(name.key, "npu");
  assert_string_equal(name.vendor, "");
  assert_false(name.has_index);
  name = parse("npu:12");
  assert_true(name.has_index);
  assert_int_equal(name.index, 12);
  name = parse("acme.npu_2:3");
  assert_string_equal(name.vendor, "acme");
  assert_string_equal(name.key, "npu_2");
  assert_int_equal(name.index, 3);
  name = parse("npu@pci:0000:3b:00.0");
  assert_string_equal(name.stable_id, "pci:0000:3b:00.0");
  assert_string_equal(name.key, "npu");
  assert_string_equal(parse("acme.npu@uuid:1").vendor, "acme");
  assert_string_equal(parse("abcdefghijklmnopqrstuvwxyzabcde").key, "abcdefghijklmnopqrstuvwxyzabcde");
}

static void everything_else_is_malformed(void **state) {
  (void)state;
  const char *const bad[] = {NULL,
                             "",
                             " npu",
                             "npu ",
                             "Npu",
                             "1npu",
                             "npu:",
                             "npu:-1",
                             "npu:1 ",
                             "npu:0x",
                             "npu::",
                             "npu:1:2",
                             ".npu",
                             "acme.",
                             "acme.npu.x",
                             "npu@",
                             "npu:1@x",
                             "npu/0",
                             "a..b",
                             "n\xc3\xa9",
                             "npu:9999999999",
                             "abcdefghijklmnopqrstuvwxyzabcdef"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    kw_device_name_parts name;
    assert_int_equal(kw_device_name_parse(bad[i], &name), KW_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(kw_error_message(), "cannot be a device name"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_form_is_taken_apart),
      cmocka_unit_test(everything_else_is_malformed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
