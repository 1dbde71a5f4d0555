/* SPDX-License-Identifier: Apache-2.0
 *
 * Signatures, by the program minisign where it is installed.
 */
#ifndef KEYWAY_CONFORMANCE_MINISIGN_H
#define KEYWAY_CONFORMANCE_MINISIGN_H

#include <stdbool.h>
#include <stddef.h>

/* The program's path, found in PATH. False where there is none. */
bool kw_minisign_find(char *out_path, size_t size);
/* What to say then. */
#define KW_MINISIGN_MISSING "minisign is not installed; install it (Debian package minisign)"

/* Writes FILE.minisig with a secret key (a file); asks for its password where it has one. False: *out_message says why.
 */
bool kw_minisign_sign(const char *file, const char *key, const char *comment, char *out_message, size_t size);

typedef enum kw_signature {
  KW_SIGNATURE_GOOD,
  KW_SIGNATURE_WRONG,   /* of another text, or of another key */
  KW_SIGNATURE_UNKNOWN, /* nothing could be found out */
} kw_signature;

/* Holds FILE and FILE.minisig against a public key: a file, or its text, "RWQ...". Unless it is good, *out_message says
 * why. */
kw_signature kw_minisign_verify(const char *file, const char *public_key, char *out_message, size_t size);

#endif /* KEYWAY_CONFORMANCE_MINISIGN_H */
