/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains of causes, and what plugins offer as the explanation of a status.
 */
#include "base/error.h"

#include "base/utf8.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void a_chain_reads_from_the_outside_in(void **state) {
  (void)state;
  kw_error_clear();
  assert_string_equal(kw_error_message(), "");
  assert_int_equal(kw_fail(KW_ERR_OUT_OF_MEMORY, "arena of %d is full", 12), KW_ERR_OUT_OF_MEMORY);
  assert_int_equal(kw_wrap(KW_ERR_OUT_OF_MEMORY, "%s failed", "alloc"), KW_ERR_OUT_OF_MEMORY);
  kw_wrap(KW_ERR_OUT_OF_MEMORY, "opening npu:0 failed");
  assert_string_equal(kw_error_message(),
                      "opening npu:0 failed\n  because: alloc failed\n  because: arena of 12 is full");
  char sentence[128];
  assert_string_equal(kw_error_sentence(sentence, sizeof sentence),
                      "opening npu:0 failed: alloc failed: arena of 12 is full");
  kw_fail(KW_ERR_IO, "new");
  assert_string_equal(kw_error_message(), "new");
}

static void an_empty_chain_gets_the_status_name(void **state) {
  (void)state;
  kw_error_clear();
  kw_wrap(KW_ERR_TIMEOUT, "waiting");
  assert_string_equal(kw_error_message(), "waiting: timeout");
}

static void the_message_may_be_an_argument(void **state) {
  (void)state;
  kw_fail(KW_ERR_IO, "inner");
  kw_fail(KW_ERR_IO, "outer (%s)", kw_error_message());
  assert_string_equal(kw_error_message(), "outer (inner)");
}

static void a_plugin_text_is_used_once_and_never_an_older_one(void **state) {
  (void)state;
  kw_error_offer(kw_fail(KW_ERR_OUT_OF_MEMORY, "driver: full"));
  assert_int_equal(kw_from_plugin(KW_ERR_OUT_OF_MEMORY, "alloc"), KW_ERR_OUT_OF_MEMORY);
  assert_string_equal(kw_error_message(), "alloc\n  because: driver: full");
  kw_from_plugin(KW_ERR_OUT_OF_MEMORY, "alloc"); /* without a text of its own */
  assert_string_equal(kw_error_message(), "alloc: out of memory (the plugin gave no text: host->set_error)");

  kw_error_offer(kw_fail(KW_ERR_NOT_IMPLEMENTED, "asked, then done otherwise"));
  kw_from_plugin(KW_ERR_TIMEOUT, "launch");
  assert_string_equal(kw_error_message(), "launch: timeout");
}

/* What a driver says may be Latin-1; and no text is cut within a character. */
static void a_text_is_utf8_whatever_it_was(void **state) {
  (void)state;
  kw_fail(KW_ERR_IO, "caf\xe9 \xe2\x82\xac");
  assert_string_equal(kw_error_message(), "caf\xef\xbf\xbd \xe2\x82\xac");
  kw_wrap(KW_ERR_IO, "\xff");
  assert_string_equal(kw_error_message(), "\xef\xbf\xbd\n  because: caf\xef\xbf\xbd \xe2\x82\xac");
  char sentence[64];
  for (size_t size = 4; size < sizeof sentence; size++) {
    assert_true(kw_utf8_is_valid(kw_error_sentence(sentence, size)));
    assert_true(strlen(sentence) < size);
  }
  char euros[6000] = "";
  for (size_t shift = 0; shift < 3; shift++) {
    memset(euros, 'x', shift);
    for (size_t i = shift; i + 3 < sizeof euros; i += 3) memcpy(euros + i, "\xe2\x82\xac", 4);
    kw_fail(KW_ERR_IO, "%s", euros);
    assert_true(kw_utf8_is_valid(kw_error_message()));
    assert_in_range(strlen(kw_error_message()), 4090, 4095);
    assert_string_equal(kw_error_message() + strlen(kw_error_message()) - 3, "...");
    memset(euros + shift, '\xff', sizeof euros - shift - 1); /* each becomes three bytes */
    kw_fail(KW_ERR_IO, "%s", euros);
    assert_true(kw_utf8_is_valid(kw_error_message()));
    assert_in_range(strlen(kw_error_message()), 4090, 4095);
  }
}

static void an_unknown_status_becomes_internal(void **state) {
  (void)state;
  assert_string_equal(kw_status_name(99), "status 99");
  assert_string_equal(kw_status_name(-1), "status -1");
  for (kw_status status = 0; status <= KW_ERR_INTERNAL; status++)
    assert_null(strstr(kw_status_name(status), "status "));
  kw_error_clear();
  assert_int_equal(kw_from_plugin(99, "launch"), KW_ERR_INTERNAL);
  assert_string_equal(kw_error_message(), "launch\n  because: the plugin returned the unknown status 99");
  kw_error_offer(kw_fail(99, "odd"));
  assert_int_equal(kw_from_plugin(99, "launch"), KW_ERR_INTERNAL);
  assert_string_equal(kw_error_message(),
                      "launch\n  because: the plugin returned the unknown status 99\n  because: odd");
}

static void a_class_says_what_its_codes_stand_for(void **state) {
  (void)state;
  const struct {
    uint32_t status_class;
    kw_status canonical;
  } classes[] = {{KW_CLASS_BUG, KW_ERR_INTERNAL},
                 {KW_CLASS_RESOURCE, KW_ERR_OUT_OF_MEMORY},
                 {KW_CLASS_LOST, KW_ERR_DEVICE_LOST},
                 {KW_CLASS_RETRY, KW_ERR_BUSY},
                 {KW_CLASS_REFUSED, KW_ERR_UNSUPPORTED}};
  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
    kw_status own = KW_STATUS_OF_PLUGIN(classes[i].status_class, 7);
    assert_int_equal(KW_STATUS_CLASS(own), classes[i].status_class);
    assert_int_equal(kw_status_canonical(own), classes[i].canonical);
    assert_int_equal(kw_status_canonical((kw_status)(classes[i].status_class << 24)), classes[i].canonical);
    assert_int_equal(kw_from_plugin(own, "launch"), classes[i].canonical);
    assert_int_equal(kw_error_detail(NULL), own);
  }
  const kw_status unknown[] = {-1,       INT32_MIN, 15, 0xffffff, KW_STATUS_OF_PLUGIN(0, 1), KW_STATUS_OF_PLUGIN(6, 1),
                               INT32_MAX};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
    assert_int_equal(kw_status_canonical(unknown[i]), KW_ERR_INTERNAL);
  }
  for (kw_status status = 0; status <= KW_ERR_INTERNAL; status++) assert_int_equal(kw_status_canonical(status), status);
  assert_string_equal(kw_status_name(KW_STATUS_OF_PLUGIN(KW_CLASS_REFUSED, 7)), "refused (the plugin's 7)");
  assert_string_equal(kw_status_name(KW_CLASS_RETRY << 24 | 3), "try again later (code 3)");
  assert_string_equal(kw_status_name(KW_STATUS_OF_PLUGIN(0, 1)), "status 8388609");
}

static void a_plugins_own_number_stays_with_its_text(void **state) {
  (void)state;
  const kw_status own = KW_STATUS_OF_PLUGIN(KW_CLASS_RESOURCE, 719);
  const char *plugin = NULL;
  kw_error_offer(kw_fail(own, "driver: full"));
  assert_int_equal(kw_error_translate(own, "acme.npu"), KW_ERR_OUT_OF_MEMORY);
  assert_int_equal(kw_from_plugin(KW_ERR_OUT_OF_MEMORY, "alloc"), KW_ERR_OUT_OF_MEMORY);
  kw_wrap(KW_ERR_OUT_OF_MEMORY, "empty");
  assert_string_equal(kw_error_message(),
                      "empty\n  because: alloc\n  because: acme.npu returned out of a resource (the "
                      "plugin's 719)\n  because: driver: full");
  assert_int_equal(kw_error_detail(&plugin), own);
  assert_string_equal(plugin, "acme.npu");
  kw_error_offer(kw_fail(KW_ERR_IO, "of another slot"));
  assert_int_equal(kw_error_detail(&plugin), KW_OK);
  assert_string_equal(plugin, "");
  kw_error_translate(own, "acme.npu"); /* without a text of its own */
  assert_string_equal(kw_error_message(), "acme.npu returned out of a resource (the plugin's 719)");
  kw_error_clear();
  assert_int_equal(kw_error_detail(NULL), KW_OK);
  assert_int_equal(kw_error_translate(KW_ERR_IO, "acme.npu"), KW_ERR_IO);
  assert_string_equal(kw_error_message(), "");
}

static void long_texts_are_cut_visibly(void **state) {
  (void)state;
  char text[6000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  kw_fail(KW_ERR_IO, "%s", text);
  kw_wrap(KW_ERR_IO, "short");
  const char *message = kw_error_message();
  assert_true(strlen(message) < 5000);
  assert_memory_equal(message, "short\n  because: xxx", 20);
  assert_string_equal(message + strlen(message) - 4, "x...");
  char sentence[16];
  assert_int_equal(strlen(kw_error_sentence(sentence, sizeof sentence)), 13);
}

static void *fail_elsewhere(void *unused) {
  (void)unused;
  kw_fail(KW_ERR_IO, "elsewhere");
  return NULL;
}

static void threads_have_their_own_text(void **state) {
  (void)state;
  kw_fail(KW_ERR_IO, "here");
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
  pthread_join(thread, NULL);
  assert_string_equal(kw_error_message(), "here");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_chain_reads_from_the_outside_in),
      cmocka_unit_test(an_empty_chain_gets_the_status_name),
      cmocka_unit_test(the_message_may_be_an_argument),
      cmocka_unit_test(a_plugin_text_is_used_once_and_never_an_older_one),
      cmocka_unit_test(a_text_is_utf8_whatever_it_was),
      cmocka_unit_test(an_unknown_status_becomes_internal),
      cmocka_unit_test(a_class_says_what_its_codes_stand_for),
      cmocka_unit_test(a_plugins_own_number_stays_with_its_text),
      cmocka_unit_test(long_texts_are_cut_visibly),
      cmocka_unit_test(threads_have_their_own_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
