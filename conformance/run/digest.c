/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 of what a verdict is about.
 */
#include "run/digest.h"

#include "case/signature.h"

#include <stdio.h>
#include <string.h>

void kw_digest_begin(kw_digest *digest) {
  SHA256Init(&digest->state);
}

void kw_digest_add(kw_digest *digest, const char *text) {
  SHA256Update(&digest->state, (const uint8_t *)text, strlen(text));
  SHA256Update(&digest->state, (const uint8_t *)"\n", 1);
}

void kw_digest_end(kw_digest *digest, char out_hex[KW_DIGEST_SIZE]) {
  SHA256End(&digest->state, out_hex);
}

void kw_digest_text(const char *text, char out_hex[KW_DIGEST_SIZE]) {
  SHA256Data((const uint8_t *)text, strlen(text), out_hex);
}

bool kw_digest_file(const char *path, char out_hex[KW_DIGEST_SIZE]) {
  return SHA256File(path, out_hex) != NULL;
}

static void add_result(kw_digest *digest, const kw_op_bound *bound) {
  char text[96];
  snprintf(text, sizeof text, "%d %a %a", bound->compare, bound->ulp, bound->abs);
  kw_digest_add(digest, text);
  kw_digest_add(digest, bound->magnitude);
}

void kw_digest_tolerances(char out_hex[KW_DIGEST_SIZE]) {
  kw_digest digest;
  kw_digest_begin(&digest);
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  for (uint32_t i = 0; i < count; i++) {
    const kw_op_row *row = &ops[i].row;
    char text[64];
    snprintf(text, sizeof text, "%d %d %d %d", row->nan, row->inf, row->zero, row->subnormal);
    kw_digest_add(&digest, row->schema);
    kw_digest_add(&digest, text);
    for (uint32_t r = 0; r < ops[i].result_count + ops[i].changed_count; r++) {
      kw_op_bound bound = kw_op_row_bound(row, r);
      add_result(&digest, &bound);
    }
  }
  kw_digest_end(&digest, out_hex);
}
