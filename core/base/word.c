/* SPDX-License-Identifier: Apache-2.0
 *
 * Small letters, digits and underscores of ASCII, whatever the locale.
 */
#include "base/word.h"

#include <string.h>

bool kw_word_is_valid(const char *word) {
  size_t length = strnlen(word, KW_KEY_SIZE);
  if (length == 0 || length == KW_KEY_SIZE || word[0] < 'a' || word[0] > 'z') return false;
  return strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

bool kw_word_is_policy(const char *word) {
  return strcmp(word, "auto") == 0 || strcmp(word, "gpu") == 0;
}
