/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules: shared libraries, and C++ made into them by KW_ENGINE_CXX, the compiler that the build has chosen.
 */
#include "internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* Makes a file and opens it to be written; its path goes to `path`. NULL on failure. */
static FILE *create_file(char path[32], const char *suffix) {
  snprintf(path, 32, "/tmp/keyway-engine-XXXXXX%s", suffix);
  int descriptor = mkostemps(path, (int)strlen(suffix), O_CLOEXEC);
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
  if (!file) {
    kw_engine_fail(KW_ENGINE_INVALID, "%s: %s", path, strerror(errno));
    if (descriptor >= 0) close(descriptor);
  }
  return file;
}

/* All that can still be read, with a NUL behind it, or NULL. */
static char *read_all(FILE *file, size_t *out_size) {
  size_t size = 0, capacity = 4096;
  char *text = malloc(capacity);
  while (text) {
    size += fread(text + size, 1, capacity - size - 1, file);
    if (size < capacity - 1) break;
    char *grown = realloc(text, capacity *= 2);
    if (!grown) free(text);
    text = grown;
  }
  if (text) text[size] = '\0';
  *out_size = size;
  return text;
}

bool kw_engine_run_program(char *const *arguments, char **out_text) {
  int ends[2], status = -1;
  size_t size;
  pid_t program;
  posix_spawn_file_actions_t actions;
  *out_text = NULL;
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  int error = posix_spawnp(&program, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  FILE *output = fdopen(ends[0], "r");
  if (output && error == 0) *out_text = read_all(output, &size);
  if (output) {
    fclose(output);
  } else {
    close(ends[0]);
  }
  while (error == 0 && waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  return error == 0 && status == 0;
}

/* ---- C++ --------------------------------------------------------------------------------------------------------- */

#define OPTIONS \
  "-std=c++17", "-O1", "-w", "-fpermissive", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-fvisibility=hidden"

const char *kw_engine_compiler(void) {
  return KW_ENGINE_CXX " " __VERSION__ " -O1";
}

extern const char kw_engine_entry[];

/* Behind preprocessed source, what the engine calls for each kernel that is there. */
#define EXPORT "extern \"C\" __attribute__((visibility(\"default\"))) "
#define ENTRIES                                                                  \
  EXPORT "void %.*s_entry(void *const *args) { kw_apply(%.*s, args); }\n" EXPORT \
         "const uint32_t *%.*s_params(void) { return kw_params(%.*s); }\n"

static bool add_entries(const char *path) {
  static const char mark[] = "\nvoid kw_";
  FILE *file = fopen(path, "r+e");
  size_t size;
  char *source = file ? read_all(file, &size) : NULL;
  if (source) fputc('\n', file);
  for (const char *at = source; at && (at = strstr(at, mark)) != NULL; at += sizeof mark - 1) {
    const char *name = at + 6;
    int length = (int)strcspn(name, "( \n");
    if (name[length] == '(' && length > 7 && memcmp(name + length - 7, "_kernel", 7) == 0)
      fprintf(file, ENTRIES, length, name, length, name, length, name, length, name);
  }
  bool whole = source && !ferror(file);
  free(source);
  return file && fclose(file) == 0 && whole;
}

static bool compile(const char *stage, const char *source, const char *result) {
  char *const arguments[] = {KW_ENGINE_CXX, OPTIONS, (char *)stage, "-o", (char *)result, (char *)source, NULL};
  char *messages;
  bool fine = kw_engine_run_program(arguments, &messages);
  if (!fine)
    kw_engine_fail(KW_ENGINE_INVALID, "%s", messages ? messages : "the compiler " KW_ENGINE_CXX " did not run");
  free(messages);
  return fine;
}

kw_engine_status kw_engine_compile(const char *const *sources, uint32_t source_count, void **out_bytes,
                                   size_t *out_size) {
  char source[32], whole[32], result[32];
  *out_bytes = NULL;
  FILE *file = create_file(source, ".cpp");
  if (!file) return KW_ENGINE_INVALID;
  fputs(kw_engine_entry, file);
  for (uint32_t i = 0; i < source_count; ++i) fputs(sources[i], file);
  fclose(file);
  memcpy(whole, source, sizeof whole);
  memcpy(result, source, sizeof result);
  strcpy(strrchr(whole, '.'), ".ii"); /* preprocessed */
  strcpy(strrchr(result, '.'), ".so");
  if (compile("-E", source, whole) && add_entries(whole) && compile("-shared", whole, result)) {
    file = fopen(result, "re");
    if (file) {
      *out_bytes = read_all(file, out_size);
      fclose(file);
    }
  }
  unlink(source);
  unlink(whole);
  unlink(result);
  return *out_bytes ? KW_ENGINE_OK : KW_ENGINE_INVALID;
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

struct kw_engine_module {
  void *library;
  size_t size;
  unsigned char bytes[];
};

kw_engine_status kw_engine_module_load(const void *bytes, size_t size, kw_engine_module **out_module) {
  char path[32];
  kw_engine_module *module = malloc(sizeof *module + size);
  if (!module) return kw_engine_fail(KW_ENGINE_OUT_OF_MEMORY, "no host memory for a module");
  memcpy(module->bytes, bytes, size);
  module->size = size;
  module->library = NULL;
  FILE *file = create_file(path, ".so"); /* which dlopen wants */
  if (file) {
    bool whole = fwrite(bytes, 1, size, file) == size;
    if (fclose(file) == 0 && whole) module->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module->library) kw_engine_fail(KW_ENGINE_INVALID, "loading a module: %s", whole ? dlerror() : "disk full");
    unlink(path);
  }
  if (module->library) {
    *out_module = module;
    return KW_ENGINE_OK;
  }
  free(module);
  return KW_ENGINE_INVALID;
}

void kw_engine_module_unload(kw_engine_module *module) {
  dlclose(module->library);
  free(module);
}

const void *kw_engine_module_bytes(const kw_engine_module *module, size_t *out_size) {
  *out_size = module->size;
  return module->bytes;
}

const void *kw_engine_module_symbol(const kw_engine_module *module, const char *name) {
  return dlsym(module->library, name);
}

kw_engine_status kw_engine_kernel_find(const kw_engine_module *module, const char *name, kw_engine_kernel *out_kernel) {
  char entry[sizeof out_kernel->name + sizeof "_params"];
  const uint32_t *(*params)(void);
  snprintf(out_kernel->name, sizeof out_kernel->name, "%s", name);
  snprintf(entry, sizeof entry, "%s_entry", out_kernel->name);
  *(void **)&out_kernel->run = dlsym(module->library, entry);
  *(void **)&out_kernel->bind = dlsym(module->library, "kw_engine_bind");
  snprintf(entry, sizeof entry, "%s_params", out_kernel->name);
  *(void **)&params = dlsym(module->library, entry);
  if (!out_kernel->run || !out_kernel->bind || !params)
    return kw_engine_fail(KW_ENGINE_INVALID, "the module has no kernel %s", name);
  out_kernel->param_count = params()[0];
  out_kernel->param_sizes = params() + 1;
  return KW_ENGINE_OK;
}
