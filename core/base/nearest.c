/* SPDX-License-Identifier: Apache-2.0
 *
 * By the number of edits, in which capital letters are small ones.
 */
#include "base/nearest.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t least = a < b ? a : b;
  return least < c ? least : c;
}

/* Not as the locale has it. */
static char small(char c) {
  return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Edits (insert, delete, replace, swap neighbours) that turn a into b; a large number for long words. */
static uint32_t edit_distance(const char *a, const char *b) {
  enum { LONGEST = 63 };
  uint32_t rows[LONGEST + 1][LONGEST + 1];
  size_t length_a = strlen(a), length_b = strlen(b);
  if (length_a > LONGEST || length_b > LONGEST) return UINT32_MAX;
  for (uint32_t i = 0; i <= length_a; ++i) {
    for (uint32_t j = 0; j <= length_b; ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      bool same = small(a[i - 1]) == small(b[j - 1]);
      rows[i][j] = min3(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + !same);
      bool swapped = i > 1 && j > 1 && small(a[i - 1]) == small(b[j - 2]) && small(a[i - 2]) == small(b[j - 1]);
      if (swapped && rows[i - 2][j - 2] + 1 < rows[i][j]) rows[i][j] = rows[i - 2][j - 2] + 1;
    }
  }
  return rows[length_a][length_b];
}

void kw_nearest_begin(kw_nearest *nearest, const char *name) {
  const uint32_t third = (uint32_t)strlen(name) / 3;
  *nearest = (kw_nearest){name, NULL, third > 2 ? third : 2};
}

void kw_nearest_try(kw_nearest *nearest, const char *candidate) {
  const size_t length = strlen(nearest->name);
  /* "add" is near "add.Tensor", whatever the number of edits. */
  const bool prefix = length >= 2 && strncasecmp(candidate, nearest->name, length) == 0;
  const uint32_t distance = prefix ? candidate[length] != '\0' : edit_distance(nearest->name, candidate);
  if (distance >= length && !prefix) return; /* nothing in common */
  if (distance > nearest->limit || (nearest->best && distance == nearest->limit)) return;
  nearest->best = candidate;
  nearest->limit = distance;
}
