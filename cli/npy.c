/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading and writing arrays in NumPy's .npy format.
 */
#include "npy.h"

#include "interrupt.h"

#include <keyway/keyway.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

/* numpy's names of our dtypes, for writing and, but for the raw ones, for reading. */
static const char *const descriptors[] = {
    [KW_BOOL] = "|b1",   [KW_U8] = "|u1",    [KW_I8] = "|i1",       [KW_I16] = "<i2",        [KW_I32] = "<i4",
    [KW_I64] = "<i8",    [KW_F16] = "<f2",   [KW_BF16] = "<V2",     [KW_F32] = "<f4",        [KW_F64] = "<f8",
    [KW_C64] = "<c8",    [KW_C128] = "<c16", [KW_F8E4M3FN] = "|V1", [KW_F8E5M2] = "|V1",     [KW_U16] = "<u2",
    [KW_U32] = "<u4",    [KW_U64] = "<u8",   [KW_C32] = "<V4",      [KW_F8E4M3FNUZ] = "|V1", [KW_F8E5M2FNUZ] = "|V1",
    [KW_F8E8M0] = "|V1", [KW_I4X2] = "|V1",  [KW_U4X2] = "|V1",     [KW_F4E2M1X2] = "|V1",
};

typedef struct reader {
  const char *path;
  const char *at; /* in the header's text */
  char *message;
  bool fortran;
  bool seen_descr, seen_order, seen_shape;
  kw_cli_npy *array;
} reader;

/* "x.npy: ..." into the message; returns false. */
static bool fail(char *message, const char *path, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool fail(char *message, const char *path, const char *format, ...) {
  int used = snprintf(message, KW_CLI_NPY_MESSAGE, "%.512s: ", path);
  va_list list;
  va_start(list, format);
  vsnprintf(message + used, KW_CLI_NPY_MESSAGE - (size_t)used, format, list);
  va_end(list);
  return false;
}

/* ---- The header: a Python dict with the keys descr, fortran_order and shape -------------------------------------- */

static void skip_space(reader *r) {
  while (isspace((unsigned char)*r->at)) ++r->at;
}

static bool accept(reader *r, const char *token) {
  skip_space(r);
  size_t length = strlen(token);
  if (strncmp(r->at, token, length) != 0) return false;
  r->at += length;
  return true;
}

static bool fail_header(reader *r, const char *expected) {
  return fail(r->message, r->path,
              "the header is damaged: expected %s, found '%.16s'; write the file again with numpy.save", expected,
              r->at);
}

static bool read_text(reader *r, char *out, size_t size) {
  skip_space(r);
  char quote = *r->at;
  if (quote != '\'' && quote != '"') return fail_header(r, "a quoted text");
  const char *end = strchr(r->at + 1, quote);
  if (!end || (size_t)(end - r->at) > size) return fail_header(r, "a short quoted text");
  memcpy(out, r->at + 1, (size_t)(end - r->at) - 1);
  out[end - r->at - 1] = '\0';
  r->at = end + 1;
  return true;
}

static bool read_descr(reader *r) {
  char descr[32];
  skip_space(r);
  if (*r->at == '[') {
    return fail(r->message, r->path, "holds records (a structured dtype), which no tensor is; save one field alone");
  }
  if (!read_text(r, descr, sizeof descr)) return false;
  if (descr[0] == '>') {
    return fail(r->message, r->path,
                "dtype '%s' is big-endian, which is not read; save a.astype(a.dtype.newbyteorder('<')) instead", descr);
  }
  const char *bare = strchr("<|=", descr[0]) && descr[0] ? descr + 1 : descr;
  for (kw_dtype d = 0; d < sizeof descriptors / sizeof descriptors[0]; ++d) {
    if (strcmp(bare, descriptors[d] + 1) != 0) continue;
    bool raw = bare[0] == 'V';
    r->array->dtype = raw ? KW_DTYPE_NONE : d;
    r->array->item_size = (uint32_t)kw_dtype_size(d);
    return true;
  }
  return fail(r->message, r->path,
              "dtype '%s' has no counterpart here; convert it with a.astype to bool, uint8 to uint64, int8 to int64, "
              "float16 to float64, complex64 or complex128 and save again",
              descr);
}

static bool read_order(reader *r) {
  r->fortran = accept(r, "True");
  return r->fortran || accept(r, "False") || fail_header(r, "True or False");
}

static bool read_shape(reader *r) {
  kw_cli_npy *array = r->array;
  if (!accept(r, "(")) return fail_header(r, "'('");
  while (!accept(r, ")")) {
    if (array->rank && !accept(r, ",")) return fail_header(r, "','");
    if (accept(r, ")")) return true;
    if (!isdigit((unsigned char)*r->at)) return fail_header(r, "a size");
    if (array->rank == KW_MAX_RANK) return fail(r->message, r->path, "has more than %d dimensions", KW_MAX_RANK);
    char *end;
    errno = 0;
    array->shape[array->rank++] = strtoll(r->at, &end, 10);
    if (errno) return fail_header(r, "a size below 2^63");
    r->at = end;
    accept(r, "L"); /* Python 2 */
    skip_space(r);
  }
  return true;
}

static bool read_entry(reader *r) {
  static const struct {
    const char *name;
    size_t seen;
    bool (*parse_value)(reader *r);
  } keys[] = {
      {"descr", offsetof(reader, seen_descr), read_descr},
      {"fortran_order", offsetof(reader, seen_order), read_order},
      {"shape", offsetof(reader, seen_shape), read_shape},
  };
  char key[32];
  if (!read_text(r, key, sizeof key)) return false;
  if (!accept(r, ":")) return fail_header(r, "':'");
  skip_space(r);
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
    if (strcmp(key, keys[i].name) != 0) continue;
    bool *seen = (bool *)(void *)((char *)r + keys[i].seen);
    if (*seen) return fail(r->message, r->path, "the header is damaged: a second '%s'", key);
    *seen = true;
    return keys[i].parse_value(r);
  }
  return fail(r->message, r->path, "the header is damaged: the key '%s' is not one of descr, fortran_order, shape",
              key);
}

static bool read_header(reader *r) {
  if (!accept(r, "{")) return fail_header(r, "'{'");
  for (bool first = true; !accept(r, "}"); first = false) {
    if (!first && !accept(r, ",")) return fail_header(r, "','");
    if (!first && accept(r, "}")) break;
    if (!read_entry(r)) return false;
  }
  skip_space(r);
  if (*r->at != '\0') return fail_header(r, "the end");
  if (!r->seen_descr || !r->seen_order || !r->seen_shape) {
    return fail(r->message, r->path, "the header is damaged: descr, fortran_order or shape is missing");
  }
  return true;
}

/* ---- The elements ------------------------------------------------------------------------------------------------ */

/* numel and the number of bytes; false when they do not fit. */
static bool count_elements(kw_cli_npy *array, int64_t *out_bytes) {
  bool empty = false, overflow = false;
  array->numel = 1;
  for (uint32_t i = 0; i < array->rank; ++i) {
    empty = empty || array->shape[i] == 0;
    overflow = overflow || __builtin_mul_overflow(array->numel, array->shape[i], &array->numel);
  }
  if (empty) array->numel = 0;
  if (empty) overflow = false;
  return !__builtin_mul_overflow(array->numel, (int64_t)array->item_size, out_bytes) && !overflow;
}

/* From column-major to row-major. False without memory. */
static bool reorder(kw_cli_npy *array) {
  const size_t size = array->item_size;
  char *out = malloc((size_t)array->numel * size + 1);
  if (!out) return false;
  int64_t index[KW_MAX_RANK] = {0};
  for (int64_t from = 0; from < array->numel; ++from) {
    int64_t to = 0;
    for (uint32_t d = 0; d < array->rank; ++d) to = to * array->shape[d] + index[d];
    memcpy(out + (size_t)to * size, (const char *)array->data + (size_t)from * size, size);
    for (uint32_t d = 0; d < array->rank && ++index[d] == array->shape[d]; ++d) index[d] = 0;
  }
  free(array->data);
  array->data = out;
  return true;
}

static bool read_elements(reader *r, FILE *file, int64_t available) {
  kw_cli_npy *array = r->array;
  int64_t bytes;
  if (!count_elements(array, &bytes)) {
    return fail(r->message, r->path, "the header is damaged: the shape has more elements than memory has bytes");
  }
  if (bytes > available) {
    return fail(r->message, r->path,
                "the file is cut short: its header promises %" PRId64 " bytes of elements, %" PRId64
                " are there; copy or write it again",
                bytes, available);
  }
  array->data = malloc((size_t)bytes + 1);
  if (!array->data) return fail(r->message, r->path, "no memory for %" PRId64 " bytes", bytes);
  if (fread(array->data, 1, (size_t)bytes, file) != (size_t)bytes) {
    return fail(r->message, r->path, "reading failed: %s",
                ferror(file) ? strerror(errno) : "the file shrank meanwhile");
  }
  if (array->dtype == KW_BOOL) {
    unsigned char *data = array->data;
    for (int64_t i = 0; i < array->numel; ++i) data[i] = data[i] != 0;
  }
  if (r->fortran && array->rank > 1 && !reorder(array)) return fail(r->message, r->path, "no memory");
  return true;
}

/* Magic, version and the length of the header's text. */
static bool read_preamble(reader *r, FILE *file, uint32_t *out_length, uint32_t *out_preamble) {
  unsigned char start[8], length[4];
  if (fread(start, 1, sizeof start, file) != sizeof start || memcmp(start, magic, sizeof magic) != 0) {
    return fail(r->message, r->path, "is no .npy file: it does not start with \\x93NUMPY; write it with numpy.save");
  }
  if (start[6] < 1 || start[6] > 3) {
    return fail(r->message, r->path, "has .npy format version %u.%u; versions 1 to 3 are read", start[6], start[7]);
  }
  size_t size = start[6] == 1 ? 2 : 4;
  if (fread(length, 1, size, file) != size) return fail(r->message, r->path, "the file is cut short inside its header");
  *out_length = (uint32_t)length[0] | (uint32_t)length[1] << 8;
  if (size == 4) *out_length |= (uint32_t)length[2] << 16 | (uint32_t)length[3] << 24;
  *out_preamble = (uint32_t)(sizeof start + size);
  return true;
}

static bool read_file(reader *r, FILE *file) {
  struct stat info;
  if (fstat(fileno(file), &info) != 0) return fail(r->message, r->path, "%s", strerror(errno));
  if (!S_ISREG(info.st_mode)) return fail(r->message, r->path, "is not a regular file; save the array to one");
  uint32_t length = 0, preamble = 0;
  if (!read_preamble(r, file, &length, &preamble)) return false;
  int64_t after = (int64_t)info.st_size - preamble - length;
  if (after < 0) return fail(r->message, r->path, "the file is cut short inside its header");
  char *header = malloc((size_t)length + 1);
  if (!header) return fail(r->message, r->path, "no memory for a header of %u bytes", length);
  bool fine = fread(header, 1, length, file) == length;
  header[length] = '\0';
  r->at = header;
  if (!fine) fail(r->message, r->path, "reading failed");
  fine = fine && read_header(r) && read_elements(r, file, after);
  free(header);
  return fine;
}

bool kw_cli_npy_read(const char *path, kw_cli_npy *out_array, char message[KW_CLI_NPY_MESSAGE]) {
  memset(out_array, 0, sizeof *out_array);
  reader r = {.path = path, .message = message, .array = out_array};
  FILE *file = fopen(path, "rb");
  if (!file) return fail(message, path, "cannot be opened: %s", strerror(errno));
  bool fine = read_file(&r, file);
  fclose(file);
  if (!fine) kw_cli_npy_free(out_array);
  return fine;
}

void kw_cli_npy_free(kw_cli_npy *array) {
  free(array->data);
  memset(array, 0, sizeof *array);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* The whole preamble and header, padded so that the elements start at a multiple of 64. Returns its length. */
static size_t make_header(const kw_cli_npy *array, char out[1024]) {
  char text[768];
  size_t used = (size_t)snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                                 descriptors[array->dtype]);
  for (uint32_t i = 0; i < array->rank; ++i) {
    const char *separator = array->rank == 1 ? "," : i + 1 < array->rank ? ", " : "";
    used += (size_t)snprintf(text + used, sizeof text - used, "%" PRId64 "%s", array->shape[i], separator);
  }
  used += (size_t)snprintf(text + used, sizeof text - used, "), }");
  const size_t preamble = sizeof magic + 4, total = (preamble + used + 1 + 63) / 64 * 64;
  memset(out, ' ', total);
  memcpy(out, magic, sizeof magic);
  out[6] = 1;
  out[7] = 0;
  out[8] = (char)((total - preamble) & 0xff);
  out[9] = (char)((total - preamble) >> 8);
  memcpy(out + preamble, text, used);
  out[total - 1] = '\n';
  return total;
}

static bool write_to(FILE *file, const kw_cli_npy *array) {
  char header[1024];
  size_t length = make_header(array, header), bytes = (size_t)array->numel * kw_dtype_size(array->dtype);
  bool fine = fwrite(header, 1, length, file) == length && fwrite(array->data, 1, bytes, file) == bytes;
  return fclose(file) == 0 && fine;
}

static bool write_directly(const char *path, const kw_cli_npy *array, char *message) {
  FILE *file = fopen(path, "wb");
  return (file && write_to(file, array)) || fail(message, path, "cannot be written: %s", strerror(errno));
}

bool kw_cli_npy_write(const char *path, const kw_cli_npy *array, char message[KW_CLI_NPY_MESSAGE]) {
  struct stat info;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return write_directly(path, array, message);
  char temporary[PATH_MAX];
  if ((size_t)snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= sizeof temporary) {
    return fail(message, path, "the path is too long");
  }
  int descriptor = mkstemp(temporary);
  if (descriptor < 0) {
    return fail(message, path, "cannot be written: %s; does the folder exist, and may you write there?",
                strerror(errno));
  }
  kw_cli_interrupt_file(temporary);
  mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor, 0666 & ~mask); /* mkstemp's files are the owner's alone */
  FILE *file = fdopen(descriptor, "wb");
  if (!file) close(descriptor);
  const bool written = file && write_to(file, array) && rename(temporary, path) == 0;
  if (!written) {
    fail(message, path, "cannot be written: %s", strerror(errno));
    unlink(temporary);
  }
  kw_cli_interrupt_file(NULL);
  return written;
}
