/* SPDX-License-Identifier: Apache-2.0
 *
 * Line by line, word by word; nothing is guessed.
 */
#include "plugin/trust_rules.h"

#include "base/array.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* A part of the text. */
typedef struct part {
  const char *at;
  size_t length;
} part;

static const char *const kind_names[KW_TRUST_KINDS] = {
    [KW_TRUST_FOLDER] = "folder", [KW_TRUST_SHA256] = "sha256", [KW_TRUST_MINISIGN] = "minisign"};

const char *kw_trust_kind_name(kw_trust_kind kind) {
  return kind_names[kind];
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

static part trim(part text) {
  while (text.length > 0 && is_blank(text.at[0])) text = (part){text.at + 1, text.length - 1};
  while (text.length > 0 && is_blank(text.at[text.length - 1])) text.length--;
  return text;
}

/* The first word of a trimmed text, which is what follows then. */
static part take_word(part *text) {
  part word = {text->at, 0};
  while (word.length < text->length && !is_blank(word.at[word.length])) word.length++;
  *text = trim((part){word.at + word.length, text->length - word.length});
  return word;
}

static bool is_word(part word, const char *expected) {
  return strlen(expected) == word.length && memcmp(expected, word.at, word.length) == 0;
}

/* The text up to the next line's end, which is behind it then. */
static part take_line(part *text) {
  const char *end = memchr(text->at, '\n', text->length);
  const part line = {text->at, end != NULL ? (size_t)(end - text->at) : text->length};
  const size_t taken = line.length + (end != NULL);
  *text = (part){text->at + taken, text->length - taken};
  return line;
}

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

static int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static kw_status read_sha256(part word, kw_trust_rule *rule) {
  bool good = word.length == 2 * (size_t)KW_SHA256_SIZE;
  for (size_t i = 0; good && i < KW_SHA256_SIZE; i++) {
    const int high = digit_of(word.at[2 * i]), low = digit_of(word.at[2 * i + 1]);
    good = high >= 0 && low >= 0;
    rule->sha256[i] = (uint8_t)(high * 16 + low);
  }
  if (good) return KW_OK;
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "a SHA-256 has 64 hexadecimal digits, as sha256sum prints them");
}

/* A path with something in it that names another folder would never be found, or one that nobody meant. */
static bool is_whole_path(const char *path) {
  for (const char *at = path; *at == '/'; at += strcspn(at, "/")) {
    at++;
    const size_t length = strcspn(at, "/");
    if (length == 0 || (length <= 2 && strspn(at, ".") >= length)) return false;
  }
  return path[0] == '/';
}

static kw_status read_folder(part path, kw_trust_rule *rule) {
  while (path.length > 1 && path.at[path.length - 1] == '/') path.length--;
  rule->folder = strndup(path.at, path.length);
  if (rule->folder == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for its path");
  if (is_whole_path(rule->folder)) return KW_OK;
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "a folder is a path from / on, without //, . and ..");
}

/* A trimmed line that is neither empty nor a comment. */
static kw_status read_rule(part line, kw_trust_rule *rule) {
  const part word = take_word(&line);
  size_t kind = 0;
  while (kind < KW_TRUST_KINDS && !is_word(word, kind_names[kind])) kind++;
  rule->kind = (kw_trust_kind)kind;
  if (kind == KW_TRUST_FOLDER) return read_folder(line, rule);
  const part value = take_word(&line);
  if (kind == KW_TRUST_SHA256) return read_sha256(value, rule);
  if (kind == KW_TRUST_MINISIGN) return kw_minisig_key_read(value.at, value.length, &rule->key);
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "a rule begins with sha256, minisign or folder, a comment with #");
}

/* ---- The text ---------------------------------------------------------------------------------------------------- */

static kw_status check_characters(part line) {
  for (size_t i = 0; i < line.length; i++) {
    const unsigned char c = (unsigned char)line.at[i];
    if ((c >= ' ' || c == '\t') && c != 0x7f) continue;
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "it has a control character, number %u%s", c,
                   c == '\r' ? ": save it with lines that end as on Unix" : "");
  }
  return KW_OK;
}

static kw_status add_line(part line, uint32_t number, kw_trust_rules *rules) {
  kw_status status = check_characters(line);
  line = trim(line);
  if (status != KW_OK || line.length == 0 || line.at[0] == '#') return status;
  kw_trust_rule *grown = kw_array_grow(rules->items, rules->count, sizeof *grown);
  if (grown == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for its rule");
  rules->items = grown;
  kw_trust_rule *rule = &rules->items[rules->count++];
  *rule = (kw_trust_rule){.line = number};
  return read_rule(line, rule);
}

kw_status kw_trust_rules_read(const char *text, size_t size, kw_trust_rules *out_rules) {
  kw_trust_rules rules = {0};
  kw_status status = KW_OK;
  part left = {text, size};
  for (uint32_t number = 1; status == KW_OK && left.length > 0; number++) {
    char why[512];
    status = add_line(take_line(&left), number, &rules);
    if (status != KW_OK) status = kw_fail(status, "line %u: %s", number, kw_error_sentence(why, sizeof why));
  }
  if (status != KW_OK) kw_trust_rules_free(&rules);
  *out_rules = rules;
  return status;
}

void kw_trust_rules_free(kw_trust_rules *rules) {
  for (uint32_t i = 0; i < rules->count; i++) free(rules->items[i].folder);
  free(rules->items);
  *rules = (kw_trust_rules){0};
}
