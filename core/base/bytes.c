/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes that grow by half of what they are.
 */
#include "base/bytes.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *kw_bytes_extend(kw_bytes *bytes, size_t size) {
  if (bytes->failed) return NULL;
  if (size > bytes->room - bytes->size) {
    const size_t least = size <= SIZE_MAX / 2 - bytes->size ? bytes->size + size : 0;
    const size_t room = least > 256 ? least + least / 2 : 256;
    char *data = least != 0 ? realloc(bytes->data, room) : NULL;
    if (data == NULL) {
      bytes->failed = true;
      return NULL;
    }
    bytes->data = data;
    bytes->room = room;
  }
  bytes->size += size;
  return bytes->data + bytes->size - size;
}

void kw_bytes_put(kw_bytes *bytes, const void *data, size_t size) {
  if (size == 0) return;
  void *place = kw_bytes_extend(bytes, size);
  if (place != NULL) memcpy(place, data, size);
}

void kw_bytes_put_text(kw_bytes *bytes, const char *text) {
  kw_bytes_put(bytes, text, strlen(text));
}

void kw_bytes_print(kw_bytes *bytes, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= sizeof text) {
    bytes->failed = true; /* what may be longer goes through kw_bytes_put_text */
    return;
  }
  kw_bytes_put(bytes, text, (size_t)length);
}

void kw_bytes_clear(kw_bytes *bytes) {
  bytes->size = 0;
  bytes->failed = false;
}

void kw_bytes_free(kw_bytes *bytes) {
  free(bytes->data);
  *bytes = (kw_bytes){0};
}
