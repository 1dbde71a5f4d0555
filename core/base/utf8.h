/* SPDX-License-Identifier: Apache-2.0
 *
 * UTF-8, as RFC 3629 says, in texts that others wrote.
 */
#ifndef KEYWAY_CORE_UTF8_H
#define KEYWAY_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of the character that `text` begins with, 1 to 4; 0 when it begins with none, NUL among them. Reads no
 * further than the first byte that cannot belong to it. */
size_t kw_utf8_length(const char *text);

bool kw_utf8_is_valid(const char *text);

/* Valid, and without control characters but line breaks: what may reach a terminal or a file of others'. */
bool kw_text_is_clean(const char *text);

/* Where a text that was, or is to be, cut after `size` bytes ends, not within a character: `size` or up to 3 less.
 * Looks at these bytes only. */
size_t kw_utf8_fit(const char *text, size_t size);

/* Copies `text` into `out` of `size` bytes, NUL included, so that it is clean: what is no UTF-8, and control
 * characters, as U+FFFD, tabs and carriage returns as blanks; cuts what does not fit, not within a character. True when
 * nothing was cut. */
bool kw_utf8_mend(char *out, size_t size, const char *text);

/* Printable ASCII, not empty, without blanks and without the characters of `others`: what can identify something. */
bool kw_ascii_identifies(const char *text, const char *others);

#endif /* KEYWAY_CORE_UTF8_H */
