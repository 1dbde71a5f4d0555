/* SPDX-License-Identifier: Apache-2.0
 *
 * Four lines, two of them base64, and what libsodium says of them. The library is opened rather than linked: most
 * processes, and all helpers, never need it.
 */
#include "plugin/minisig.h"

#include "base/error.h"
#include "plugin/file_bytes.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNTRUSTED_COMMENT "untrusted comment:"
#define TRUSTED_COMMENT "trusted comment: "
#define WHOLE_FILE_LIMIT ((size_t)1 << 30) /* bytes, as minisign has it for signatures of the file itself */

enum { BASE64 = 1, STATE_SIZE = 512, HASH_SIZE = 64 };

/* ---- libsodium --------------------------------------------------------------------------------------------------- */

static struct {
  int (*init)(void);
  int (*base642bin)(unsigned char *bytes, size_t size, const char *text, size_t length, const char *ignored,
                    size_t *out_size, const char **out_end, int variant);
  int (*verify)(const unsigned char *signature, const unsigned char *message, unsigned long long size,
                const unsigned char *key);
  size_t (*hash_state_size)(void);
  int (*hash_begin)(void *state, const unsigned char *key, size_t key_size, size_t size);
  int (*hash_add)(void *state, const unsigned char *bytes, unsigned long long size);
  int (*hash_end)(void *state, unsigned char *hash, size_t size);
} sodium;

static const struct {
  const char *name;
  void *at;
} calls[] = {{"sodium_init", &sodium.init},
             {"sodium_base642bin", &sodium.base642bin},
             {"crypto_sign_ed25519_verify_detached", &sodium.verify},
             {"crypto_generichash_blake2b_statebytes", &sodium.hash_state_size},
             {"crypto_generichash_blake2b_init", &sodium.hash_begin},
             {"crypto_generichash_blake2b_update", &sodium.hash_add},
             {"crypto_generichash_blake2b_final", &sodium.hash_end}};

static bool find_calls(void *library) {
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    void *found = dlsym(library, calls[i].name);
    if (found == NULL) return false;
    memcpy(calls[i].at, &found, sizeof found);
  }
  return sodium.init() >= 0 && sodium.hash_state_size() <= STATE_SIZE;
}

static bool open_sodium(void) {
  static const char *const names[] = {"libsodium.so.23", "libsodium.so.26"}; /* 1.0.18, and 1.0.19 and later */
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static bool is_open;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !is_open; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    is_open = library != NULL && find_calls(library);
  }
  const bool open = is_open;
  pthread_mutex_unlock(&lock);
  return open;
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

static bool decode(const char *text, size_t length, uint8_t *bytes, size_t size) {
  size_t decoded;
  const char *end;
  return sodium.base642bin(bytes, size, text, length, NULL, &decoded, &end, BASE64) == 0 && decoded == size &&
         end == text + length;
}

/* Eight bytes, the least first. */
static uint64_t read_id(const uint8_t *bytes) {
  uint64_t id = 0;
  for (int i = 7; i >= 0; i--) id = id << 8 | bytes[i];
  return id;
}

kw_status kw_minisig_key_read(const char *text, size_t length, kw_minisig_key *out_key) {
  uint8_t bytes[2 + 8 + sizeof out_key->bytes];
  if (!open_sodium()) {
    return kw_fail(KW_ERR_UNSUPPORTED,
                   "signatures cannot be checked without libsodium: install it (Debian package "
                   "libsodium23)");
  }
  if (!decode(text, length, bytes, sizeof bytes) || memcmp(bytes, "Ed", 2) != 0) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "'%.*s' is no public key of minisign, RW and 54 more characters",
                   (int)(length < 80 ? length : 80), text);
  }
  out_key->id = read_id(bytes + 2);
  memcpy(out_key->bytes, bytes + 10, sizeof out_key->bytes);
  return KW_OK;
}

/* The line at *text without its end, of which *text is behind afterwards. */
static const char *take_line(const char **text, size_t *out_length) {
  const char *line = *text;
  size_t length = strcspn(line, "\n");
  *text = line + length + (line[length] == '\n');
  if (length > 0 && line[length - 1] == '\r') length--;
  *out_length = length;
  return line;
}

static bool begins_with(const char *line, size_t length, const char *words) {
  return length >= strlen(words) && memcmp(line, words, strlen(words)) == 0;
}

static bool refuse(const char *reason, char *why, size_t size) {
  snprintf(why, size, "%s", reason);
  return false;
}

bool kw_minisig_read(const char *text, kw_minisig *out_signature, char *why, size_t size) {
  static const char no_signature[] = "it is no signature of minisign's";
  uint8_t bytes[2 + 8 + sizeof out_signature->bytes];
  size_t length;
  const char *line = take_line(&text, &length);
  if (!begins_with(line, length, UNTRUSTED_COMMENT)) return refuse(no_signature, why, size);
  line = take_line(&text, &length);
  if (!decode(line, length, bytes, sizeof bytes)) return refuse(no_signature, why, size);
  out_signature->hashed = memcmp(bytes, "ED", 2) == 0;
  if (!out_signature->hashed && memcmp(bytes, "Ed", 2) != 0) return refuse(no_signature, why, size);
  out_signature->key_id = read_id(bytes + 2);
  memcpy(out_signature->bytes, bytes + 10, sizeof out_signature->bytes);
  line = take_line(&text, &length);
  if (!begins_with(line, length, TRUSTED_COMMENT)) return refuse(no_signature, why, size);
  line += strlen(TRUSTED_COMMENT);
  length -= strlen(TRUSTED_COMMENT);
  if (length > sizeof out_signature->comment) return refuse("its comment is too long", why, size);
  memcpy(out_signature->comment, line, length);
  out_signature->comment_length = length;
  line = take_line(&text, &length);
  if (!decode(line, length, out_signature->global, sizeof out_signature->global) || text[0] != '\0') {
    return refuse(no_signature, why, size);
  }
  return true;
}

/* ---- Verifying --------------------------------------------------------------------------------------------------- */

static void hash_more(void *state, const void *bytes, size_t size) {
  sodium.hash_add(state, bytes, size);
}

static bool hash_file(int file, uint8_t hash[HASH_SIZE]) {
  _Alignas(64) uint8_t state[STATE_SIZE];
  sodium.hash_begin(state, NULL, 0, HASH_SIZE);
  if (!kw_file_feed(file, hash_more, state)) return false;
  sodium.hash_end(state, hash, HASH_SIZE);
  return true;
}

/* *out_read: the file could be read. */
static bool verify_file(const kw_minisig *signature, const kw_minisig_key *key, int file, bool *out_read) {
  uint8_t hash[HASH_SIZE];
  size_t size = sizeof hash;
  char *whole = NULL;
  *out_read = signature->hashed ? hash_file(file, hash) : (whole = kw_file_read(file, WHOLE_FILE_LIMIT, &size)) != NULL;
  const bool good = *out_read && sodium.verify(signature->bytes, whole != NULL ? (const uint8_t *)whole : hash, size,
                                               key->bytes) == 0;
  free(whole);
  return good;
}

static bool verify_comment(const kw_minisig *signature, const kw_minisig_key *key) {
  uint8_t both[sizeof signature->bytes + sizeof signature->comment];
  memcpy(both, signature->bytes, sizeof signature->bytes);
  memcpy(both + sizeof signature->bytes, signature->comment, signature->comment_length);
  return sodium.verify(signature->global, both, sizeof signature->bytes + signature->comment_length, key->bytes) == 0;
}

bool kw_minisig_verify(const kw_minisig *signature, const kw_minisig_key *key, int file, char *why, size_t size) {
  bool read;
  if (!verify_file(signature, key, file, &read)) {
    if (!read) return refuse(strerror(errno), why, size);
    return refuse("the file was changed after it was signed, or the signature was", why, size);
  }
  return verify_comment(signature, key) || refuse("its trusted comment was changed", why, size);
}
