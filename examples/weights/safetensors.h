/* SPDX-License-Identifier: Apache-2.0
 *
 * Files in the safetensors format: a header of JSON, which names tensors and their places, and their bytes. Here are
 * files of f32 tensors only.
 *
 * An error ends the program with exit status 2. Not thread-safe.
 */
#ifndef SAFETENSORS_H
#define SAFETENSORS_H

#include <stdint.h>

enum { ST_NAME = 64, ST_RANK = 4 };

struct st_tensor {
  char name[ST_NAME];
  uint32_t rank;
  int64_t shape[ST_RANK];
  uint64_t begin, end; /* bytes from the start of the file */
};

struct st_file;

/* Reads the header only. */
struct st_file *st_open(const char *path);
void st_close(struct st_file *file);
long st_count(const struct st_file *file);
/* Bytes of the whole file. */
uint64_t st_size(const struct st_file *file);
/* The tensor of that name, as in printf; lives as long as the file. */
const struct st_tensor *st_find(const struct st_file *file, const char *name, ...)
    __attribute__((format(printf, 2, 3)));
/* All bytes of the file, in memory that the caller frees. */
char *st_read(const struct st_file *file, const char *path);

/* Writes a file of about `mib` MiB: linear layers "layers.I.weight" [width, width] and "layers.I.bias" [width], of
 * small made-up numbers. */
void st_make(const char *path, long mib);

#endif /* SAFETENSORS_H */
