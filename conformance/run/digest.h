/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 of what a verdict is about: the plugin, the tolerances, the cases.
 */
#ifndef KEYWAY_CONFORMANCE_DIGEST_H
#define KEYWAY_CONFORMANCE_DIGEST_H

#include <stdbool.h>
#include <sha2.h>

#define KW_DIGEST_SIZE SHA256_DIGEST_STRING_LENGTH /* hexadecimal, with its end */

typedef struct kw_digest {
  SHA2_CTX state;
} kw_digest;

void kw_digest_begin(kw_digest *digest);
/* Adds the text and a newline. */
void kw_digest_add(kw_digest *digest, const char *text);
void kw_digest_end(kw_digest *digest, char out_hex[KW_DIGEST_SIZE]);

/* Of a text, as a file that holds it and nothing else. */
void kw_digest_text(const char *text, char out_hex[KW_DIGEST_SIZE]);
/* Of a whole file. False with errno set. */
bool kw_digest_file(const char *path, char out_hex[KW_DIGEST_SIZE]);

/* Of everything in the op table that decides whether a number is right: comparators, bounds, special-value columns. */
void kw_digest_tolerances(char out_hex[KW_DIGEST_SIZE]);

#endif /* KEYWAY_CONFORMANCE_DIGEST_H */
