/* SPDX-License-Identifier: Apache-2.0
 *
 * Text on its way into reports. Much of it was written by a plugin: it is cleaned once, when it enters a report, and
 * escaped by each format's own rules on the way out.
 */
#ifndef KEYWAY_CONFORMANCE_TEXT_H
#define KEYWAY_CONFORMANCE_TEXT_H

#include <stdbool.h>

/* A copy (the caller's to free) that is UTF-8 without control characters but '\n': a tab becomes a space, every other
 * byte that does not belong '?'. NULL counts as "". */
char *kw_text_clean(const char *text);

/* Writes a file whole or not at all, under a temporary name first; "-" is stdout. False with errno set. */
bool kw_text_write_file(const char *path, const char *text);

/* Reads a whole file into *out_text, the caller's to free. False with errno set; EFBIG beyond 1 GiB. */
bool kw_text_read_file(const char *path, char **out_text);

#endif /* KEYWAY_CONFORMANCE_TEXT_H */
