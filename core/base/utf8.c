/* SPDX-License-Identifier: Apache-2.0
 *
 * Characters told apart by the table of RFC 3629, section 4: no overlong forms, no surrogates, none beyond U+10FFFF.
 */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

size_t kw_utf8_length(const char *text) {
  static const struct {
    uint8_t first, last; /* of the lead byte */
    uint8_t least, most; /* of the byte behind it */
    uint8_t length;
  } rows[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
              {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
              {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
  const uint8_t *bytes = (const uint8_t *)text;
  if (bytes[0] < 0x80) return bytes[0] != 0;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (bytes[0] < rows[i].first || bytes[0] > rows[i].last) continue;
    if (bytes[1] < rows[i].least || bytes[1] > rows[i].most) return 0;
    for (size_t at = 2; at < rows[i].length; at++)
      if ((bytes[at] & 0xc0) != 0x80) return 0;
    return rows[i].length;
  }
  return 0;
}

/* Whether the character is one that moves a terminal's cursor or colours it, or that no text for people has: C0 but for
 * the line break, DEL, C1. */
static bool is_control(const char *character, size_t length) {
  const uint8_t *bytes = (const uint8_t *)character;
  if (length == 1) return (bytes[0] < 0x20 && bytes[0] != '\n') || bytes[0] == 0x7f;
  return length == 2 && bytes[0] == 0xc2 && bytes[1] < 0xa0;
}

bool kw_text_is_clean(const char *text) {
  for (size_t length; *text != '\0'; text += length)
    if ((length = kw_utf8_length(text)) == 0 || is_control(text, length)) return false;
  return true;
}

bool kw_utf8_is_valid(const char *text) {
  for (size_t length; *text != '\0'; text += length)
    if ((length = kw_utf8_length(text)) == 0) return false;
  return true;
}

size_t kw_utf8_fit(const char *text, size_t size) {
  const uint8_t *bytes = (const uint8_t *)text;
  for (size_t back = 1; back <= 3 && back <= size; back++) {
    const uint8_t byte = bytes[size - back];
    if ((byte & 0xc0) == 0x80) continue; /* a lead byte stands before it */
    const size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? size - back : size;
  }
  return size;
}

bool kw_utf8_mend(char *out, size_t size, const char *text) {
  size_t used = 0;
  while (*text != '\0') {
    const size_t length = kw_utf8_length(text);
    const bool blank = *text == '\t' || *text == '\r', good = length != 0 && !is_control(text, length);
    const char *written = blank ? " " : good ? text : replacement;
    const size_t size_written = blank ? 1 : good ? length : sizeof replacement - 1;
    if (used + size_written >= size) break;
    memcpy(out + used, written, size_written);
    used += size_written;
    text += length != 0 ? length : 1;
  }
  out[used] = '\0';
  return *text == '\0';
}

bool kw_ascii_identifies(const char *text, const char *others) {
  for (const char *c = text; *c != '\0'; c++)
    if (*c <= ' ' || *c > '~' || strchr(others, *c) != NULL) return false;
  return *text != '\0';
}
