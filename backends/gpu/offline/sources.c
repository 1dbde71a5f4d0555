/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the pack's programs for a compiler that runs ahead of time: one file each, its sources joined. A file that is
 * there and says the same is left alone, so that what is built from it stays up to date. Prints their names.
 */
#include <keyway/gpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The whole file as text, or NULL. The caller frees it. */
static char *read_text(const char *path) {
  char *text = NULL;
  FILE *file = fopen(path, "rb");
  if (file && fseek(file, 0, SEEK_END) == 0) {
    long size = ftell(file);
    text = size >= 0 ? calloc((size_t)size + 1, 1) : NULL;
    rewind(file);
    if (text && fread(text, 1, (size_t)size, file) != (size_t)size) {
      free(text);
      text = NULL;
    }
  }
  if (file) fclose(file);
  return text;
}

static bool is_joined(const char *text, const char *const *sources, uint32_t source_count) {
  for (uint32_t i = 0; i < source_count; ++i) {
    size_t length = strlen(sources[i]);
    if (strncmp(text, sources[i], length) != 0) return false;
    text += length;
  }
  return *text == 0;
}

typedef struct output {
  const char *directory;
  const char *suffix; /* of the prelude: the language's */
} output;

/* The '/' of a name becomes a '.'. */
static kw_status write_program(void *user, const char *name, const char *const *sources, uint32_t source_count) {
  const output *to = user;
  char path[4096];
  int directory = snprintf(path, sizeof path, "%s/", to->directory);
  snprintf(path + directory, sizeof path - (size_t)directory, "%s%s", name, to->suffix);
  for (char *p = path + directory; *p; ++p)
    if (*p == '/') *p = '.';
  char *before = read_text(path);
  bool same = before && is_joined(before, sources, source_count);
  free(before);
  puts(name);
  if (same) return KW_OK;
  FILE *file = fopen(path, "wb");
  bool whole = file != NULL;
  for (uint32_t i = 0; i < source_count && whole; ++i) whole = fputs(sources[i], file) >= 0;
  if (file && fclose(file) != 0) whole = false;
  if (!whole) perror(path);
  return whole ? KW_OK : KW_ERR_IO;
}

int main(int argc, char **argv) {
  const char *suffix = argc == 3 ? strrchr(argv[1], '.') : NULL;
  if (!suffix) {
    fprintf(
        stderr,
        "usage: keyway-gpu-sources PRELUDE.SUFFIX DIRECTORY\n\n"
        "Writes every program of Keyway's kernel pack to DIRECTORY/NAME.SUFFIX, in the dialect that the file PRELUDE "
        "defines, a '/' in a name as '.'; prints the names.\n");
    return 2;
  }
  char *prelude = read_text(argv[1]);
  output to = {argv[2], suffix};
  kw_status status = prelude ? kw_gpu_programs_visit(prelude, write_program, &to) : KW_ERR_IO;
  if (!prelude) perror(argv[1]);
  free(prelude);
  return status == KW_OK ? 0 : 1;
}
