/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes behind a descriptor, from the first to the last, wherever its position is.
 */
#ifndef KEYWAY_CORE_FILE_BYTES_H
#define KEYWAY_CORE_FILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* Hands all bytes to `take`, piece by piece. False with errno set. */
bool kw_file_feed(int file, void (*take)(void *user, const void *bytes, size_t size), void *user);

/* All bytes with a NUL behind them, for free(). NULL with errno set: EFBIG for more than `limit`. */
char *kw_file_read(int file, size_t limit, size_t *out_size);

#endif /* KEYWAY_CORE_FILE_BYTES_H */
