/* SPDX-License-Identifier: Apache-2.0
 *
 * Signatures of files as minisign makes them, NAME.minisig beside NAME: Ed25519 of the file's BLAKE2b ("ED") or, older,
 * of the file itself ("Ed"), and a second signature that holds the first and its trusted comment together. Checked by
 * libsodium, which is opened when the first key is read.
 */
#ifndef KEYWAY_CORE_MINISIG_H
#define KEYWAY_CORE_MINISIG_H

#include <keyway/types.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct kw_minisig_key {
  uint64_t id; /* as minisign prints it, in hexadecimal */
  uint8_t bytes[32];
} kw_minisig_key;

typedef struct kw_minisig {
  bool hashed; /* "ED" */
  uint64_t key_id;
  uint8_t bytes[64];
  uint8_t global[64]; /* over `bytes` and the comment */
  char comment[2048]; /* the trusted one; a longer one is refused */
  size_t comment_length;
} kw_minisig;

/* A public key's text, RW...; KW_ERR_INVALID_ARGUMENT when it is none, KW_ERR_UNSUPPORTED without libsodium. */
kw_status kw_minisig_key_read(const char *text, size_t length, kw_minisig_key *out_key);

/* The text of a signature's file. False when it is none: `why` says what is wrong. After a key was read. */
bool kw_minisig_read(const char *text, kw_minisig *out_signature, char *why, size_t size);

/* Whether the key has signed the file behind the descriptor, and the comment; `why` says why not. After a key was read.
 */
bool kw_minisig_verify(const kw_minisig *signature, const kw_minisig_key *key, int file, char *why, size_t size);

#endif /* KEYWAY_CORE_MINISIG_H */
