/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a trust file, one rule a line:
 *
 *     sha256 HEX [COMMENT]            the file with this SHA-256
 *     minisign PUBLICKEY [COMMENT]    files NAME with a signature NAME.minisig by this key
 *     folder /ABSOLUTE/PATH           all files in this folder, but not in those below, that only root can change
 *
 * A line that begins with # and an empty one say nothing. Whatever else a line is, the text is not understood at all:
 * a rule that is not read would be one that is silently not there.
 */
#ifndef KEYWAY_CORE_TRUST_RULES_H
#define KEYWAY_CORE_TRUST_RULES_H

#include "plugin/minisig.h"

#define KW_SHA256_SIZE 32

/* In the order of what it costs to ask. */
typedef enum kw_trust_kind { KW_TRUST_FOLDER, KW_TRUST_MINISIGN, KW_TRUST_SHA256, KW_TRUST_KINDS } kw_trust_kind;

typedef struct kw_trust_rule {
  kw_trust_kind kind;
  uint32_t line; /* from 1 on */
  uint8_t sha256[KW_SHA256_SIZE];
  kw_minisig_key key;
  char *folder; /* without a slash at its end */
} kw_trust_rule;

typedef struct kw_trust_rules {
  kw_trust_rule *items;
  uint32_t count;
} kw_trust_rules;

/* The word that begins a rule. */
const char *kw_trust_kind_name(kw_trust_kind kind);

/* Reads the text's rules. KW_ERR_INVALID_ARGUMENT, and the message names the line; KW_ERR_UNSUPPORTED for a key without
 * libsodium; KW_ERR_OUT_OF_MEMORY. There are no rules then. */
kw_status kw_trust_rules_read(const char *text, size_t size, kw_trust_rules *out_rules);
void kw_trust_rules_free(kw_trust_rules *rules);

#endif /* KEYWAY_CORE_TRUST_RULES_H */
