/* SPDX-License-Identifier: Apache-2.0
 *
 * Text on its way into reports. Much of it was written by a plugin: it is cleaned once, when it enters a report, and
 * escaped by each format's own rules on the way out.
 */
#ifndef KEYWAY_CONFORMANCE_TEXT_H
#define KEYWAY_CONFORMANCE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* A copy (the caller's to free) that is UTF-8 without control characters but '\n': a tab becomes a space, every other
 * byte that does not belong '?'. NULL counts as "". */
char *kw_text_clean(const char *text);

/* Writers of cleaned text. */
void kw_text_put_line(FILE *out, const char *text);   /* on one line: '\n' becomes a space */
void kw_text_put_json(FILE *out, const char *text);   /* a JSON string with its quotes, which is one in YAML too */
void kw_text_put_markup(FILE *out, const char *text); /* for attributes and elements of XML 1.0 and HTML */

/* Writes a file whole or not at all, under a temporary name first; "-" is stdout. False with errno set. */
bool kw_text_write_file(const char *path, const char *text);

/* Reads a whole file into *out_text, the caller's to free. False with errno set; EFBIG beyond 1 GiB. */
bool kw_text_read_file(const char *path, char **out_text);

#endif /* KEYWAY_CONFORMANCE_TEXT_H */
