/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of built modules: as the input has them, and with what an attacker can put right as well, size, key and hash.
 * The first byte says which of these are right.
 */
#include "program/store.h"

#include "input.h"

#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As store.c writes it. */
typedef struct header {
  char magic[8];
  uint64_t size;
  uint8_t key[32], digest[32];
} header;

static kw_gpu_store_key key;
static char name[65];

static void make_key(void) {
  if (name[0] != '\0') return;
  setenv("KEYWAY_MODULE_CACHE", input_directory(), 1);
  kw_gpu_store_key_make(&key, "fuzz", (const char *[]){"source"}, 1);
  for (int i = 0; i < 32; i++) snprintf(name + 2 * i, 3, "%02x", key.digest[i]);
}

/* Puts right what the bits of `right` say, in a file that is long enough to have it. */
static void mend(uint8_t *file, size_t size, unsigned right) {
  header head;
  if (size < sizeof head) return;
  memcpy(&head, file, sizeof head);
  if (right & 1) memcpy(head.magic, "KWMOD\0\0\1", sizeof head.magic);
  if (right & 2) head.size = size - sizeof head;
  if (right & 4) memcpy(head.key, key.digest, sizeof head.key);
  if (right & 8) {
    SHA2_CTX state;
    SHA256Init(&state);
    SHA256Update(&state, file + sizeof head, size - sizeof head);
    SHA256Final(head.digest, &state);
  }
  memcpy(file, &head, sizeof head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  make_key();
  uint8_t *file = (uint8_t *)input_text(data + 1, size - 1);
  mend(file, size - 1, data[0]);
  input_file_named(name, file, size - 1);
  void *bytes;
  size_t got;
  if (kw_gpu_store_read(&key, &bytes, &got)) {
    INPUT_CHECK(got == size - 1 - sizeof(header) && memcmp(bytes, file + sizeof(header), got) == 0);
    free(bytes);
  } else {
    INPUT_CHECK((data[0] & 15) != 15 || size - 1 < sizeof(header));
  }
  free(file);
  return 0;
}
