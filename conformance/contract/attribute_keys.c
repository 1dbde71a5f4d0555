/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds keys of attributes in the plugin's file.
 */
#include "attribute_keys.h"

#include "contract_helpers.h"

#include <keyway/types.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 63, MOST = 1024 };

static const char *keys[MOST];

static bool is_known(const kw_attribute_keys *found, const char *text) {
  for (uint32_t i = 0; i < found->count; i++) {
    if (strcmp(found->keys[i], text) == 0) return true;
  }
  return false;
}

/* Names in reverse DNS, of three parts at least: names of files and of sections have fewer. */
static bool looks_like_key(const char *text) {
  uint32_t parts = 1;
  bool is_begin = true; /* of a part */
  for (; *text; text++) {
    const bool is_letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
    const bool is_other = (*text >= '0' && *text <= '9') || *text == '_' || *text == '-';
    if (*text == '.' && !is_begin) {
      parts++;
      is_begin = true;
    } else if (is_letter || (is_other && !is_begin)) {
      is_begin = false;
    } else {
      return false;
    }
  }
  return parts >= 3 && !is_begin;
}

static void add_key(kw_attribute_keys *found, const char *text) {
  if (found->count == MOST || !looks_like_key(text) || is_known(found, text)) return;
  char *copy = strdup(text);
  if (!copy) KW_FAIL("out of host memory");
  keys[found->count++] = copy;
}

kw_attribute_keys kw_attribute_keys_find(void) {
  static const char *const of_all[] = {
#define KW_ROW(key, type) key,
      KW_ATTRIBUTE_LIST(KW_ROW)
#undef KW_ROW
  };
  kw_attribute_keys found = {.keys = keys};
  for (size_t i = 0; i < sizeof of_all / sizeof of_all[0]; i++) keys[found.count++] = of_all[i];
  FILE *file = fopen(kw_contract.plugin_path, "rbe");
  char text[LONGEST + 1];
  size_t length = 0; /* past LONGEST: of a text that is no key */
  for (int c; file && (c = getc_unlocked(file)) != EOF;) {
    if (c > ' ' && c < 0x7f) {
      if (length < LONGEST) text[length] = (char)c;
      length++;
      continue;
    }
    text[length < LONGEST ? length : 0] = 0;
    if (c == 0 && length < LONGEST) add_key(&found, text);
    length = 0;
  }
  if (file) fclose(file);
  return found;
}
