/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the command line, opens the device, reads what is recorded, runs the model and prints a line for each tensor.
 */
#include "program.h"

#include "model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noreturn, format(printf, 1, 2))) static void refuse(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fputc('\n', stderr);
  exit(2);
}

__attribute__((noreturn)) static void fail(const char *text) {
  fprintf(stderr, "%s\n", text);
  exit(1);
}

static void read_file(struct model *model, const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.tensors", folder, model->name);
  FILE *file = fopen(path, "rb");
  char *content = NULL;
  long size = -1;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0) {
    rewind(file);
    content = malloc((size_t)size + 1);
  }
  if (content == NULL || fread(content, 1, (size_t)size, file) != (size_t)size) {
    refuse("%s: cannot be read; --recorded names the directory of the recorded tensors", path);
  }
  fclose(file);
  if (model_read(model, content, (size_t)size) != KW_OK) {
    fail(model->error);
  }
  free(content);
}

int program_run(int argc, char **argv, const char *usage, const char *const *names) {
  const char *device = "auto", *recorded = RECORDED;
  struct model model = {.name = names[1] == NULL ? names[0] : NULL, .dtype = KW_F32};
  for (int i = 1; i < argc; ++i) {
    const char *const *name = names;
    while (*name != NULL && strcmp(*name, argv[i]) != 0) {
      ++name;
    }
    if (strcmp(argv[i], "--help") == 0) {
      fputs(usage, stdout);
      return 0;
    }
    if (strcmp(argv[i], "--train") == 0 && strstr(usage, "--train") != NULL) {
      model.train = true;
    } else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
      device = argv[++i];
    } else if (strcmp(argv[i], "--plugin") == 0 && i + 1 < argc) {
      if (kw_plugin_load(argv[++i]) != KW_OK) {
        refuse("%s", kw_error_message());
      }
    } else if (strcmp(argv[i], "--recorded") == 0 && i + 1 < argc) {
      recorded = argv[++i];
    } else if (*name != NULL) {
      model.name = *name;
    } else {
      refuse("%s: cannot make sense of '%s'; see %s --help", argv[0], argv[i], argv[0]);
    }
  }
  if (model.name == NULL) {
    refuse("%s: does not say which model; see %s --help", argv[0], argv[0]);
  }
  read_file(&model, recorded);
  if (kw_device_open(device, &model.device) != KW_OK) {
    refuse("%s", kw_error_message());
  }
  if (model_run(&model) != KW_OK) {
    fail(model.error);
  }
  for (size_t i = 0; i < model.checked; ++i) {
    const struct model_result *result = &model.results[i];
    printf("%-44s off by %.1e, at most %.1e%s\n", result->name, result->error, result->bound,
           result->error <= result->bound ? "" : "   <-- too far");
  }
  printf("%s on %s: %zu of %zu tensors as recorded\n", model.name, kw_device_name(model.device),
         model.checked - model.wrong, model.checked);
  const bool agree = model.wrong == 0;
  model_close(&model);
  if (kw_device_close(model.device) != KW_OK) {
    fail(kw_error_message());
  }
  return agree ? 0 : 1;
}
