/* SPDX-License-Identifier: Apache-2.0
 *
 * Signatures that minisign 0.11 has made, as they are and with something changed.
 */
#include "plugin/minisig.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const char message[] = "what is signed\n";
static const char own_key[] = "RWQvmJ8Ih4HmB/L2QmK4dqOy3lB4IbMueZIj5AUpodK+IJSdbuUVWYJn";
static const char other_key[] = "RWS/rJmlXhvdtYt28afzhRMwdw4evkmIsWVq6h+1DjYd5gzYq4ci1kN1";
static const char hashed[] =
    "untrusted comment: signature from minisign secret key\n"
    "RUQvmJ8Ih4HmB1hSmErtNPkpVlj/atHhV+EGDySxwbvZNlT/Ohnk12JeCAZA1hVHv+IjbfAmhCycSnmpO5d207lChvCaGtuiYww=\n"
    "trusted comment: a trusted comment\n"
    "JrFuK7/sii2Gg5+XkjqfIeZkITHngR3RKwUAbJSmV53mWJl3TwKtfpQwGRk7X7z81YFOBBZdCoQ3z20Fu+seCw==\n";
static const char legacy[] =
    "untrusted comment: signature from minisign secret key\n"
    "RWQvmJ8Ih4HmB9MuMfYNrwTugpEpqA3kPAcGXaObH4dt6L7LRAM9R8NuSARyRDdF76eDQSJ2IG+Jbaw/mz+Naa1ez0wwR6hd0gM=\n"
    "trusted comment: an older one\n"
    "2jdkilfRaw7VAAdTZ3RldwzG44qdYp+0k5NZt4rVZ3rAlbEv/eGXnLDdjDC7NHnXUOe0zZPRDb6XXMCAy5DiCA==\n";

static kw_minisig_key key, other;
static char why[200];

static int open_library(void **state) {
  (void)state;
  const kw_status status = kw_minisig_key_read(own_key, strlen(own_key), &key);
  if (status == KW_ERR_UNSUPPORTED) return 0; /* each test skips itself */
  return status == KW_OK && kw_minisig_key_read(other_key, strlen(other_key), &other) == KW_OK ? 0 : 1;
}

static void skip_without_library(void) {
  if (key.id == 0) skip();
}

/* Whether `text` is a signature by the key of a file that holds `content`. */
static bool is_good(const char *text, const kw_minisig_key *by, const char *content) {
  kw_minisig signature;
  why[0] = '\0';
  if (!kw_minisig_read(text, &signature, why, sizeof why)) return false;
  const int file = memfd_create("signed", MFD_CLOEXEC);
  assert_int_equal(write(file, content, strlen(content)), (ssize_t)strlen(content));
  const bool good = kw_minisig_verify(&signature, by, file, why, sizeof why);
  close(file);
  return good;
}

/* The text with one thing in the place of another. */
static const char *changed(const char *text, const char *old, const char *new) {
  static char result[1024];
  const char *at = strstr(text, old);
  assert_non_null(at);
  snprintf(result, sizeof result, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
  return result;
}

static void both_kinds_hold(void **state) {
  (void)state;
  skip_without_library();
  assert_true(is_good(hashed, &key, message));
  assert_true(is_good(legacy, &key, message));
  assert_true(is_good(changed(hashed, "signature from", "whatever of"), &key, message)); /* that is not trusted */
  assert_true(is_good(changed(hashed, "a trusted comment\n", "a trusted comment\r\n"), &key, message));
  assert_int_equal(key.id, UINT64_C(0x7E68187089F982F)); /* as minisign prints it */
}

static void a_change_anywhere_is_found(void **state) {
  (void)state;
  skip_without_library();
  const char *const texts[] = {hashed, legacy};
  for (int i = 0; i < 2; i++) {
    const char *text = texts[i];
    assert_false(is_good(text, &key, "what is Signed\n"));
    assert_non_null(strstr(why, "the file was changed"));
    assert_false(is_good(text, &key, "what is signed\n\n"));
    assert_false(is_good(text, &key, ""));
    assert_false(is_good(text, &other, message));
    assert_false(is_good(changed(text, "\ntrusted comment: a", "\ntrusted comment: b"), &key, message));
    assert_non_null(strstr(why, "its trusted comment was changed"));
    assert_false(is_good(changed(text, i == 0 ? "RUQ" : "RWQ", i == 0 ? "RWQ" : "RUQ"), &key, message));
  }
}

static void what_is_no_signature_is_called_that(void **state) {
  (void)state;
  skip_without_library();
  char text[512];
  for (size_t length = 0; length + 1 < strlen(hashed); length++) { /* but for the last end of line */
    snprintf(text, sizeof text, "%.*s", (int)length, hashed);
    assert_false(is_good(text, &key, message));
  }
  snprintf(text, sizeof text, "%sand more\n", hashed);
  assert_false(is_good(text, &key, message));
  assert_string_equal(why, "it is no signature of minisign's");
  assert_false(is_good(changed(hashed, "RUQ", "RUq"), &key, message)); /* neither Ed nor ED */
  assert_false(is_good(changed(hashed, "HmB1", "HmB 1"), &key, message));
  static const char *const no_keys[] = {"",
                                        "RWQ",
                                        "RWQvmJ8Ih4HmB/L2QmK4dqOy3lB4IbMueZIj5AUpodK+IJSdbuUVWYJ",
                                        "RWQvmJ8Ih4HmB/L2QmK4dqOy3lB4IbMueZIj5AUpodK+IJSdbuUVWYJnn",
                                        "RUQvmJ8Ih4HmB/L2QmK4dqOy3lB4IbMueZIj5AUpodK+IJSdbuUVWYJn",
                                        "RWQvmJ8Ih4HmB_L2QmK4dqOy3lB4IbMueZIj5AUpodK-IJSdbuUVWYJn"};
  for (size_t i = 0; i < sizeof no_keys / sizeof no_keys[0]; i++) {
    kw_minisig_key none;
    assert_int_equal(kw_minisig_key_read(no_keys[i], strlen(no_keys[i]), &none), KW_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(kw_error_message(), "is no public key of minisign"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_kinds_hold),
      cmocka_unit_test(a_change_anywhere_is_found),
      cmocka_unit_test(what_is_no_signature_is_called_that),
  };
  return cmocka_run_group_tests(tests, open_library, NULL);
}
