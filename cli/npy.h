/* SPDX-License-Identifier: Apache-2.0
 *
 * NumPy's .npy files, format versions 1 to 3 (numpy.lib.format), one array a file.
 *
 * bf16 and f8 have no name in the format. They are kept as raw bytes, '<V2' and '|V1', which is what NumPy writes for
 * arrays of the ml_dtypes package; the reader of such a file has to say which dtype it holds.
 */
#ifndef KEYWAY_CLI_NPY_H
#define KEYWAY_CLI_NPY_H

#include <keyway/types.h>

#define KW_CLI_NPY_MESSAGE 768

typedef struct kw_cli_npy {
  kw_dtype dtype; /* KW_DTYPE_NONE: raw bytes of item_size 1 or 2, meaning unknown */
  uint32_t item_size;
  uint32_t rank;
  int64_t shape[KW_MAX_RANK];
  int64_t numel;
  void *data; /* row-major, little-endian; bool is 0 or 1; never NULL; freed by kw_cli_npy_free */
} kw_cli_npy;

/* Reads a file. False: `message` says what is wrong and what to do. Whatever the file holds, no more memory is taken
 * than it has bytes. Order and byte order in memory are the host's. */
bool kw_cli_npy_read(const char *path, kw_cli_npy *out_array, char message[KW_CLI_NPY_MESSAGE]);
void kw_cli_npy_free(kw_cli_npy *array);

/* Writes a file of format version 1, through a temporary file beside it that is renamed when complete: the path holds
 * the old or the new contents, never a part. A path that is no regular file (a pipe, /dev/null) is written directly. */
bool kw_cli_npy_write(const char *path, const kw_cli_npy *array, char message[KW_CLI_NPY_MESSAGE]);

#endif /* KEYWAY_CLI_NPY_H */
