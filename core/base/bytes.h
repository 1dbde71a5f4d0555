/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes in memory that grow as they are written: what is made as a whole before it goes to a file.
 */
#ifndef KEYWAY_CORE_BYTES_H
#define KEYWAY_CORE_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* Begins as {0}. `failed`: memory ran out, and what was written since is not there. */
typedef struct kw_bytes {
  char *data;
  size_t size, room;
  bool failed;
} kw_bytes;

void kw_bytes_put(kw_bytes *bytes, const void *data, size_t size);
void kw_bytes_put_text(kw_bytes *bytes, const char *text); /* without its end */
void kw_bytes_print(kw_bytes *bytes, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* So many more, which the caller fills; NULL when memory ran out. */
void *kw_bytes_extend(kw_bytes *bytes, size_t size);
/* Empty again, with its memory kept. */
void kw_bytes_clear(kw_bytes *bytes);
void kw_bytes_free(kw_bytes *bytes);

#endif /* KEYWAY_CORE_BYTES_H */
