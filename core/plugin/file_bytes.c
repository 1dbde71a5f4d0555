/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading by pread, however short its answers are.
 */
#include "plugin/file_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* As many bytes as there are, up to size; -1 with errno set. */
static ssize_t read_at(int file, char *bytes, size_t size, off_t offset) {
  size_t done = 0;
  while (done < size) {
    const ssize_t count = pread(file, bytes + done, size - done, offset + (off_t)done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) break;
    done += (size_t)count;
  }
  return (ssize_t)done;
}

bool kw_file_feed(int file, void (*take)(void *user, const void *bytes, size_t size), void *user) {
  char bytes[8192]; /* some threads have small stacks */
  off_t offset = 0;
  ssize_t count;
  while ((count = read_at(file, bytes, sizeof bytes, offset)) > 0) {
    take(user, bytes, (size_t)count);
    offset += count;
  }
  return count == 0;
}

char *kw_file_read(int file, size_t limit, size_t *out_size) {
  struct stat info;
  if (fstat(file, &info) != 0) return NULL;
  if (info.st_size < 0 || (size_t)info.st_size > limit) {
    errno = EFBIG;
    return NULL;
  }
  char *bytes = malloc((size_t)info.st_size + 1);
  const ssize_t count = bytes != NULL ? read_at(file, bytes, (size_t)info.st_size, 0) : -1;
  if (count < 0) {
    const int error = bytes != NULL ? errno : ENOMEM;
    free(bytes);
    errno = error;
    return NULL;
  }
  bytes[count] = '\0';
  *out_size = (size_t)count;
  return bytes;
}
