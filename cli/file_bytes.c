/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading files that may be pipes: their size is not known before.
 */
#include "file_bytes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

bool kw_file_bytes_read(const char *path, uint8_t **out_data, size_t *out_size) {
  FILE *file = fopen(path, "rbe");
  uint8_t *data = NULL;
  size_t size = 0, room = 0, got = 1;
  bool good = file != NULL;
  while (good && got > 0) {
    if (size == room) {
      room = room > 0 ? 2 * room : (size_t)1 << 16;
      uint8_t *more = realloc(data, room);
      good = more != NULL;
      if (!good) break;
      data = more;
    }
    errno = 0;
    got = fread(data + size, 1, room - size, file);
    size += got;
  }
  good = good && !ferror(file);
  const int error = errno != 0 ? errno : EIO;
  if (file) fclose(file);
  if (!good) {
    free(data);
    errno = error;
    return false;
  }
  *out_data = data;
  *out_size = size;
  return true;
}
