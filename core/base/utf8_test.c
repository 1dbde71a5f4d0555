/* SPDX-License-Identifier: Apache-2.0
 *
 * What is a character and what is none, and where texts are cut.
 */
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define FFFD "\xef\xbf\xbd"

static const struct {
  const char *text, *mended;
} cases[] = {
    {"", ""},
    {"plain", "plain"},
    {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"}, /* of 2, 3 and 4 bytes */
    {"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf", "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"},
    {"a\xff z", "a" FFFD " z"},
    {"\x80", FFFD},                                     /* a continuation without a start */
    {"\xc3", FFFD},                                     /* a start without its continuation */
    {"\xe2\x82", FFFD FFFD},                            /* cut */
    {"\xe2\x82z", FFFD FFFD "z"},                       /* the byte that does not fit is one of its own */
    {"\xc0\x80", FFFD FFFD},                            /* overlong */
    {"\xe0\x9f\xbf", FFFD FFFD FFFD},                   /* overlong */
    {"\xf0\x8f\xbf\xbf", FFFD FFFD FFFD FFFD},          /* overlong */
    {"\xed\xa0\x80", FFFD FFFD FFFD},                   /* a surrogate */
    {"\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD},          /* beyond U+10FFFF */
    {"\xf8\x88\x80\x80\x80", FFFD FFFD FFFD FFFD FFFD}, /* five bytes */
};

static void what_is_no_character_is_replaced(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char out[64];
    assert_true(kw_utf8_mend(out, sizeof out, cases[i].text));
    assert_string_equal(out, cases[i].mended);
    assert_int_equal(kw_utf8_is_valid(cases[i].text), strcmp(cases[i].text, cases[i].mended) == 0);
    assert_true(kw_utf8_is_valid(out));
  }
}

/* A text of characters of each length, cut at every place: what is left are whole characters, as many as fit. */
static void no_cut_goes_through_a_character(void **state) {
  (void)state;
  const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
  const size_t ends[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11};
  for (size_t size = 0; size < sizeof text; size++) {
    assert_int_equal(kw_utf8_fit(text, size), ends[size]);
    char out[sizeof text] = "";
    memcpy(out, text, size);
    assert_int_equal(kw_utf8_fit(out, size), ends[size]); /* cut already */
    assert_int_equal(kw_utf8_mend(out, size + 1, text), size == sizeof text - 1);
    assert_int_equal(strlen(out), ends[size]);
    assert_memory_equal(out, text, ends[size]);
  }
}

static void what_identifies_is_printable_ascii(void **state) {
  (void)state;
  assert_true(kw_ascii_identifies("pci:0000:3b:00.0", "/,;"));
  assert_true(kw_ascii_identifies("a/b", ""));
  assert_false(kw_ascii_identifies("", ""));
  assert_false(kw_ascii_identifies("a b", ""));
  assert_false(kw_ascii_identifies("a/b", "/,;"));
  assert_false(kw_ascii_identifies("n\xc3\xa9", ""));
  assert_false(kw_ascii_identifies("a\x7f", ""));
  assert_false(kw_ascii_identifies("a\n", ""));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_no_character_is_replaced),
      cmocka_unit_test(no_cut_goes_through_a_character),
      cmocka_unit_test(what_identifies_is_printable_ascii),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
