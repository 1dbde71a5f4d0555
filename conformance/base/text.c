/* SPDX-License-Identifier: Apache-2.0
 *
 * Text that a plugin may have written, made clean, and whole files of text.
 */
#include "base/text.h"

#include "base/need.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 30)

/* Bytes of the UTF-8 character at p that every format may show; 0 when it is none, or one to keep out: controls (C1
 * too), surrogates, and what XML 1.0 forbids. */
static size_t character(const unsigned char *p) {
  if (p[0] < 0x80) return p[0] == '\n' || (p[0] >= 0x20 && p[0] != 0x7f);
  size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
  static const uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000}; /* shorter forms of the same character are invalid */
  if (p[0] < 0xc2 || p[0] > 0xf4) return 0;
  uint32_t code = p[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((p[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (p[i] & 0x3fu);
  }
  bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code >= least[length] && code <= 0x10ffff && !surrogate && (code & 0xfffe) != 0xfffe ? length : 0;
}

char *kw_text_clean(const char *text) {
  if (!text) text = "";
  char *clean = malloc(strlen(text) + 1), *to = clean;
  if (!clean) kw_out_of_memory();
  for (const unsigned char *p = (const unsigned char *)text; *p;) {
    size_t length = character(p);
    if (length) {
      memcpy(to, p, length);
    } else {
      *to = *p == '\t' ? ' ' : '?';
      length = 1;
    }
    to += length;
    p += length;
  }
  *to = 0;
  return clean;
}

bool kw_text_write_file(const char *path, const char *text) {
  if (strcmp(path, "-") == 0) {
    bool good = fputs(text, stdout) >= 0;
    return fflush(stdout) == 0 && good;
  }
  char temporary[PATH_MAX];
  if (snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid()) >= (int)sizeof temporary) {
    errno = ENAMETOOLONG;
    return false;
  }
  FILE *file = fopen(temporary, "w");
  if (!file) return false;
  bool good = fputs(text, file) >= 0;
  good = fclose(file) == 0 && good;
  if (good && rename(temporary, path) == 0) return true;
  int error = errno;
  unlink(temporary);
  errno = error;
  return false;
}

bool kw_text_read_file(const char *path, char **out_text) {
  FILE *file = fopen(path, "r");
  if (!file) return false;
  char *text = NULL;
  size_t length = 0, room = 0;
  int error = 0;
  do {
    room = room ? 2 * room : 1 << 16;
    char *larger = room <= FILE_MAX ? realloc(text, room + 1) : NULL;
    if (!larger) {
      error = room <= FILE_MAX ? ENOMEM : EFBIG;
      break;
    }
    text = larger;
    length += fread(text + length, 1, room - length, file);
    if (ferror(file)) error = errno;
  } while (!error && !feof(file));
  fclose(file);
  if (error) {
    free(text);
    errno = error;
    return false;
  }
  text[length] = 0;
  *out_text = text;
  return true;
}
