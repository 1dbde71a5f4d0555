/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of plugins that may be opened, and signatures beside plugins: no input may be a signature but those that the
 * key has made.
 */
#include "input.h"
#include "plugin/minisig.h"
#include "plugin/trust_rules.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char public_key[] = "RWQvmJ8Ih4HmB/L2QmK4dqOy3lB4IbMueZIj5AUpodK+IJSdbuUVWYJn";
static const char message[] = "what is signed\n"; /* corpus/trust has two signatures of it */

static int open_message(void) {
  const int file = memfd_create("signed", MFD_CLOEXEC);
  if (file < 0 || write(file, message, sizeof message - 1) != (ssize_t)sizeof message - 1) abort();
  return file;
}

static int is_comment(const kw_minisig *signature, const char *comment) {
  return signature->comment_length == strlen(comment) && memcmp(signature->comment, comment, strlen(comment)) == 0;
}

static void try_rules(const uint8_t *data, size_t size) {
  kw_trust_rules rules;
  if (kw_trust_rules_read((const char *)data, size, &rules) != KW_OK) {
    INPUT_CHECK(rules.count == 0 && rules.items == NULL);
    return;
  }
  uint32_t line = 0;
  for (uint32_t i = 0; i < rules.count; i++) {
    const kw_trust_rule *rule = &rules.items[i];
    INPUT_CHECK(rule->line > line && rule->line <= size);
    INPUT_CHECK((rule->kind == KW_TRUST_FOLDER) == (rule->folder != NULL));
    INPUT_CHECK(rule->folder == NULL || (rule->folder[0] == '/' && strstr(rule->folder, "/../") == NULL));
    line = rule->line;
  }
  kw_trust_rules_free(&rules);
}

static void try_signature(const kw_minisig_key *key, const char *text) {
  char why[64];
  kw_minisig signature;
  if (!kw_minisig_read(text, &signature, why, sizeof why)) return;
  const int file = open_message();
  if (kw_minisig_verify(&signature, key, file, why, sizeof why)) {
    INPUT_CHECK(is_comment(&signature, signature.hashed ? "a trusted comment" : "an older one"));
  }
  close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kw_minisig_key key;
  const kw_status status = kw_minisig_key_read(public_key, strlen(public_key), &key);
  char *text = input_text(data, size);
  try_rules((const uint8_t *)text, size);
  if (status == KW_OK) try_signature(&key, text);
  free(text);
  return 0;
}
