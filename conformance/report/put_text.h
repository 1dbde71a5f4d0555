/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing cleaned text (base/text.h), escaped as a format wants it.
 */
#ifndef KEYWAY_CONFORMANCE_PUT_TEXT_H
#define KEYWAY_CONFORMANCE_PUT_TEXT_H

#include <stdio.h>

void kw_text_put_line(FILE *out, const char *text);   /* on one line: '\n' becomes a space */
void kw_text_put_json(FILE *out, const char *text);   /* a JSON string with its quotes, which is one in YAML too */
void kw_text_put_markup(FILE *out, const char *text); /* for attributes and elements of XML 1.0 and HTML */

#endif /* KEYWAY_CONFORMANCE_PUT_TEXT_H */
