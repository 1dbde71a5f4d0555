/* SPDX-License-Identifier: Apache-2.0
 *
 * A file's bytes, for formats that are not text.
 */
#ifndef KEYWAY_CLI_FILE_BYTES_H
#define KEYWAY_CLI_FILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a whole file into *out_data, the caller's to free. False with errno set. */
bool kw_file_bytes_read(const char *path, uint8_t **out_data, size_t *out_size);

#endif /* KEYWAY_CLI_FILE_BYTES_H */
