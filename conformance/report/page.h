/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages that need nothing but themselves, readable on a phone as well: what is wider than it, a table in a
 * <div class="wide">, scrolls by itself, and the page does not (tests/phone_check.py).
 */
#ifndef KEYWAY_CONFORMANCE_PAGE_H
#define KEYWAY_CONFORMANCE_PAGE_H

#include <stdio.h>

/* Up to the body, with the title "WHAT: SAYS". */
void kw_page_begin(FILE *out, const char *what, const char *says);
void kw_page_end(FILE *out);
/* Text of others, escaped, between markup of one's own. */
void kw_page_put(FILE *out, const char *before, const char *text, const char *after);

#endif /* KEYWAY_CONFORMANCE_PAGE_H */
