/* SPDX-License-Identifier: Apache-2.0
 *
 * The kept inputs of a target, each tried once, in builds without a fuzzer: `fuzz_NAME DIRECTORY...`.
 */
#include "input.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static void replay(const char *path) {
  static uint8_t bytes[1 << 20];
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  LLVMFuzzerTestOneInput(bytes, size);
}

int main(int argc, char **argv) {
  unsigned tried = 0;
  for (int i = 1; i < argc; i++) {
    struct dirent **entries;
    int count = scandir(argv[i], &entries, NULL, alphasort);
    if (count < 0) {
      perror(argv[i]);
      return 1;
    }
    for (int k = 0; k < count; k++) {
      char path[PATH_MAX];
      snprintf(path, sizeof path, "%s/%s", argv[i], entries[k]->d_name);
      if (entries[k]->d_name[0] != '.') replay(path), tried++;
      free(entries[k]);
    }
    free(entries);
  }
  printf("%u inputs tried\n", tried);
  return tried > 0 ? 0 : 1;
}
