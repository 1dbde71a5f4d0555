/* SPDX-License-Identifier: Apache-2.0
 *
 * What is a rule, and what makes a whole text one that is not understood.
 */
#include "plugin/trust_rules.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define DIGEST "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F"
#define KEY "RWQvmJ8Ih4HmB/L2QmK4dqOy3lB4IbMueZIj5AUpodK+IJSdbuUVWYJn"

static bool can_check_signatures(void) {
  kw_minisig_key key;
  return kw_minisig_key_read(KEY, strlen(KEY), &key) == KW_OK;
}

static void each_line_is_a_rule(void **state) {
  (void)state;
  static const char text[] =
      "# what this machine runs\n"
      "\n"
      "sha256 " DIGEST
      "\n"
      "\t sha256\t" DIGEST
      "  /opt/acme/acme.so and why \xc3\xa4\n"
      "folder /usr/lib/keyway/plugins\n"
      "folder  /opt/with blanks/and\xc3\xa4/.hidden/..x// \n"
      "   # indented\n"
      "sha256 " DIGEST;
  kw_trust_rules rules;
  assert_int_equal(kw_trust_rules_read(text, strlen(text), &rules), KW_OK);
  assert_int_equal(rules.count, 5);
  static const uint32_t lines[] = {3, 4, 5, 6, 8};
  for (uint32_t i = 0; i < 5; i++) {
    assert_int_equal(rules.items[i].line, lines[i]);
    assert_int_equal(rules.items[i].kind, i == 2 || i == 3 ? KW_TRUST_FOLDER : KW_TRUST_SHA256);
    for (uint8_t k = 0; rules.items[i].kind == KW_TRUST_SHA256 && k < KW_SHA256_SIZE; k++)
      assert_int_equal(rules.items[i].sha256[k], k);
  }
  assert_string_equal(rules.items[2].folder, "/usr/lib/keyway/plugins");
  assert_string_equal(rules.items[3].folder, "/opt/with blanks/and\xc3\xa4/.hidden/..x");
  kw_trust_rules_free(&rules);
  assert_int_equal(rules.count, 0);
}

static void a_key_is_read_where_it_can_be_used(void **state) {
  (void)state;
  static const char text[] = "minisign " KEY " the vendor's\n";
  kw_trust_rules rules;
  const kw_status status = kw_trust_rules_read(text, strlen(text), &rules);
  if (can_check_signatures()) {
    assert_int_equal(status, KW_OK);
    assert_int_equal(rules.items[0].kind, KW_TRUST_MINISIGN);
    assert_int_equal(rules.items[0].key.id, UINT64_C(0x7E68187089F982F));
  } else {
    assert_int_equal(status, KW_ERR_UNSUPPORTED);
    assert_non_null(strstr(kw_error_message(), "Debian package libsodium23"));
  }
  kw_trust_rules_free(&rules);
}

static void nothing_is_no_rule(void **state) {
  (void)state;
  kw_trust_rules rules;
  assert_int_equal(kw_trust_rules_read("", 0, &rules), KW_OK);
  assert_int_equal(rules.count, 0);
  assert_int_equal(kw_trust_rules_read("\n \n\t\n#", 6, &rules), KW_OK);
  assert_int_equal(rules.count, 0);
}

/* Texts after a good rule, which does not count then. */
static const struct {
  const char *text;
  size_t size; /* 0: up to its NUL */
  const char *words;
} odd[] = {
    {"sha256 " DIGEST "\r\n", 0, "line 2: it has a control character, number 13: save it with lines that end as"},
    {"\n\n# a comment\r\n", 0, "line 4: it has a control character, number 13"},
    {"# \x1b[2J", 0, "line 2: it has a control character, number 27"},
    {"# \0 hidden", 10, "line 2: it has a control character, number 0"},
    {"\x7f", 0, "line 2: it has a control character, number 127"},
    {"sha256", 0, "line 2: a SHA-256 has 64 hexadecimal digits"},
    {"sha256 " DIGEST "0", 0, "line 2: a SHA-256 has 64 hexadecimal digits"},
    {"sha256 g" DIGEST, 0, "line 2: a SHA-256 has 64 hexadecimal digits"},
    {"sha256 :00102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F", 0, "line 2: a SHA-256"},
    {"sha256:" DIGEST, 0, "line 2: a rule begins with sha256, minisign or folder"},
    {"SHA256 " DIGEST, 0, "line 2: a rule begins with"},
    {DIGEST "  acme.so", 0, "line 2: a rule begins with"},
    {"sha", 0, "line 2: a rule begins with"},
    {"sha256 " DIGEST " # a comment\n\xef\xbb\xbf# of another editor", 0, "line 3: a rule begins with"},
    {"folder", 0, "line 2: a folder is a path from / on"},
    {"folder /", 0, "line 2: a folder is a path from / on"},
    {"folder plugins", 0, "line 2: a folder is a path from / on"},
    {"folder ~/plugins", 0, "line 2: a folder is a path from / on"},
    {"folder /opt//plugins", 0, "line 2: a folder is a path from / on"},
    {"folder /opt/../tmp", 0, "line 2: a folder is a path from / on"},
    {"folder /opt/.", 0, "line 2: a folder is a path from / on"},
};

static void one_odd_line_spoils_all(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
    char text[512];
    const int begin = snprintf(text, sizeof text, "sha256 " DIGEST "\n");
    const size_t size = odd[i].size != 0 ? odd[i].size : strlen(odd[i].text);
    memcpy(text + begin, odd[i].text, size);
    kw_trust_rules rules;
    assert_int_equal(kw_trust_rules_read(text, (size_t)begin + size, &rules), KW_ERR_INVALID_ARGUMENT);
    if (strstr(kw_error_message(), odd[i].words) == NULL) fail_msg("case %zu: %s", i, kw_error_message());
    assert_int_equal(rules.count, 0);
    assert_null(rules.items);
  }
}

static void a_key_that_is_none_spoils_all(void **state) {
  (void)state;
  if (!can_check_signatures()) skip();
  static const char *const texts[] = {"minisign", "minisign RWQ", "minisign " KEY "x", "minisign key.pub"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    kw_trust_rules rules;
    assert_int_equal(kw_trust_rules_read(texts[i], strlen(texts[i]), &rules), KW_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(kw_error_message(), "is no public key of minisign"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_line_is_a_rule),
      cmocka_unit_test(a_key_is_read_where_it_can_be_used),
      cmocka_unit_test(nothing_is_no_rule),
      cmocka_unit_test(one_odd_line_spoils_all),
      cmocka_unit_test(a_key_that_is_none_spoils_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
