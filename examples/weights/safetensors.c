/* SPDX-License-Identifier: Apache-2.0
 *
 * The header of a safetensors file read into a list, and files written for trying things out.
 */
#include "safetensors.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct st_file {
  uint64_t size;
  long count;
  struct st_tensor tensors[];
};

__attribute__((noreturn)) static void fail(const char *path, const char *what) {
  fprintf(stderr, "%s: %s\n", path, what);
  exit(2);
}

static void *allocate(size_t size) {
  void *memory = malloc(size);
  if (memory == NULL) fail("weights", "out of memory");
  return memory;
}

/* ---- The header -------------------------------------------------------------------------------------------------- */

/* Where the text goes on behind `word`, or NULL; spaces before it are skipped. */
static const char *skip(const char *text, const char *word) {
  text += strspn(text, " ");
  return strncmp(text, word, strlen(word)) == 0 ? text + strlen(word) : NULL;
}

/* A list of numbers in brackets. NULL when it is none, or has more than `most`. */
static const char *read_numbers(const char *text, int64_t *out_numbers, uint32_t most, uint32_t *out_count) {
  *out_count = 0;
  if ((text = skip(text, "[")) == NULL) return NULL;
  while (skip(text, "]") == NULL) {
    char *end;
    if (*out_count == most) return NULL;
    out_numbers[(*out_count)++] = strtoll(text, &end, 10);
    if (end == text) return NULL;
    text = end + (*end == ',');
  }
  return skip(text, "]");
}

/* {"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, in the order in which the format's own library writes it. */
static const char *read_tensor(const char *text, struct st_tensor *out) {
  int64_t place[2];
  uint32_t count;
  if ((text = skip(text, "{\"dtype\":")) == NULL || (text = skip(text, "\"F32\",\"shape\":")) == NULL) return NULL;
  if ((text = read_numbers(text, out->shape, ST_RANK, &out->rank)) == NULL) return NULL;
  if ((text = skip(text, ",\"data_offsets\":")) == NULL) return NULL;
  if ((text = read_numbers(text, place, 2, &count)) == NULL || count != 2) return NULL;
  out->begin = (uint64_t)place[0];
  out->end = (uint64_t)place[1];
  int64_t bytes = 4;
  for (uint32_t d = 0; d < out->rank; ++d) {
    if (out->shape[d] < 0 || __builtin_mul_overflow(bytes, out->shape[d], &bytes)) return NULL;
  }
  return place[0] >= 0 && place[1] >= place[0] && place[1] - place[0] == bytes ? skip(text, "}") : NULL;
}

static void read_header(struct st_file *file, const char *path, const char *text, uint64_t data) {
  if ((text = skip(text, "{")) == NULL) fail(path, "its header is no JSON object");
  while (skip(text, "}") == NULL) {
    struct st_tensor *tensor = &file->tensors[file->count++];
    const char *name = skip(text, "\""), *end = name != NULL ? strchr(name, '"') : NULL;
    if (end == NULL || end - name >= ST_NAME) fail(path, "a tensor's name is missing or too long");
    memcpy(tensor->name, name, (size_t)(end - name));
    tensor->name[end - name] = '\0';
    if ((text = skip(end, "\":")) == NULL || (text = read_tensor(text, tensor)) == NULL) {
      fail(path, "a tensor is none of f32 with a shape and data_offsets; st_make writes such files");
    }
    tensor->begin += data;
    tensor->end += data;
    if (tensor->end > file->size) fail(path, "a tensor reaches past the end");
    text += *text == ',';
  }
}

struct st_file *st_open(const char *path) {
  FILE *stream = fopen(path, "rb");
  unsigned char lead[8];
  if (stream == NULL || fread(lead, 1, sizeof lead, stream) != sizeof lead) fail(path, "cannot be read");
  uint64_t length = 0;
  for (int i = 8; i-- > 0;) length = length << 8 | lead[i];
  if (length > UINT64_C(100) << 20) fail(path, "its header is too long");
  char *text = allocate(length + 1);
  if (fread(text, 1, length, stream) != length) fail(path, "ends within its header");
  text[length] = '\0';
  size_t most = 0;
  for (const char *at = text; (at = strstr(at, "data_offsets")) != NULL; ++at) ++most;
  /* And one more: the tensor at which a malformed header is refused, as it may have none. */
  struct st_file *file = allocate(sizeof *file + (most + 1) * sizeof file->tensors[0]);
  memset(file, 0, sizeof *file);
  if (fseek(stream, 0, SEEK_END) != 0) fail(path, "cannot be read");
  file->size = (uint64_t)ftell(stream);
  fclose(stream);
  if (most > 0) read_header(file, path, text, 8 + length);
  free(text);
  return file;
}

void st_close(struct st_file *file) {
  free(file);
}

long st_count(const struct st_file *file) {
  return file->count;
}

uint64_t st_size(const struct st_file *file) {
  return file->size;
}

const struct st_tensor *st_find(const struct st_file *file, const char *name, ...) {
  char text[ST_NAME];
  va_list list;
  va_start(list, name);
  vsnprintf(text, sizeof text, name, list);
  va_end(list);
  for (long i = 0; i < file->count; ++i) {
    if (strcmp(file->tensors[i].name, text) == 0) return &file->tensors[i];
  }
  fail(text, "no such tensor is in the file");
}

char *st_read(const struct st_file *file, const char *path) {
  char *bytes = allocate(file->size);
  FILE *stream = fopen(path, "rb");
  if (stream == NULL || fread(bytes, 1, file->size, stream) != file->size) fail(path, "cannot be read");
  fclose(stream);
  return bytes;
}

/* ---- Files to try ------------------------------------------------------------------------------------------------ */

enum { HEADER_MULTIPLE = 4096 }; /* bytes: so that tensors begin at the start of a page */

static void write_all(FILE *stream, const char *path, const void *bytes, size_t size) {
  if (fwrite(bytes, 1, size, stream) != size) fail(path, "cannot be written");
}

static size_t print_header(char *text, size_t size, long layers, long width) {
  size_t used = (size_t)snprintf(text, size, "{"), place = 0, weight = (size_t)width * (size_t)width * 4;
  for (long i = 0; i < layers; ++i) {
    used +=
        (size_t)snprintf(text + used, size - used,
                         "%s\"layers.%ld.weight\":{\"dtype\":\"F32\",\"shape\":[%ld,%ld],\"data_offsets\":[%zu,%zu]},"
                         "\"layers.%ld.bias\":{\"dtype\":\"F32\",\"shape\":[%ld],\"data_offsets\":[%zu,%zu]}",
                         i > 0 ? "," : "", i, width, width, place, place + weight, i, width, place + weight,
                         place + weight + (size_t)width * 4);
    place += weight + (size_t)width * 4;
  }
  return used + (size_t)snprintf(text + used, size - used, "}");
}

void st_make(const char *path, long mib) {
  const long width = mib >= 64 ? 1024 : 256;
  const size_t row = (size_t)width * 4;
  long layers = (long)(((size_t)mib << 20) / (row * (size_t)width));
  if (layers < 1) layers = 1;
  const size_t room = (size_t)layers * 512 + HEADER_MULTIPLE;
  char *text = allocate(room);
  size_t length = print_header(text, room, layers, width);
  for (; (8 + length) % HEADER_MULTIPLE != 0; ++length) text[length] = ' ';
  unsigned char lead[8];
  for (int i = 0; i < 8; ++i) lead[i] = (unsigned char)(length >> 8 * i);

  FILE *stream = fopen(path, "wb");
  if (stream == NULL) fail(path, "cannot be written");
  write_all(stream, path, lead, sizeof lead);
  write_all(stream, path, text, length);
  float *values = allocate(row);
  uint32_t state = 1;
  for (long r = 0; r < layers * (width + 1); ++r) {
    for (long i = 0; i < width; ++i) {
      state = state * 1664525u + 1013904223u;
      values[i] = ((float)(state >> 8) / (1 << 24) - 0.5f) / 8;
    }
    write_all(stream, path, values, row);
  }
  if (fclose(stream) != 0) fail(path, "cannot be written");
  free(values);
  free(text);
}
