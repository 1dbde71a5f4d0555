/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules: C++ to a shared library, by the host's compiler.
 */
#include "engine.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS \
  "-std=c++17", "-O1", "-w", "-fpermissive", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-fvisibility=hidden"

extern char **environ;

typedef struct module {
  void *library;
  char path[64];
} module;

static kw_status fail(kw_gpu_device *device, kw_status status, const char *what, const char *detail) {
  char text[2200];
  snprintf(text, sizeof text, "%s: %s", what, detail);
  return device->host->set_error(device->host->ctx, status, text);
}

const char *kw_engine_identity(void) {
  return "execution engine, c++ " __VERSION__ " -O1";
}

/* ---- Sources ----------------------------------------------------------------------------------------------------- */

/* The whole file, or NULL. */
static char *read_file(const char *path) {
  struct stat info;
  FILE *file = fopen(path, "re");
  char *text = file && fstat(fileno(file), &info) == 0 ? malloc((size_t)info.st_size + 1) : NULL;
  if (text) text[fread(text, 1, (size_t)info.st_size, file)] = '\0';
  if (file) fclose(file);
  return text;
}

static bool write_sources(const char *path, const char *const *sources, uint32_t source_count) {
  FILE *file = fopen(path, "we");
  if (!file) return false;
  for (uint32_t i = 0; i < source_count; ++i) fputs(sources[i], file);
  bool whole = !ferror(file);
  return fclose(file) == 0 && whole;
}

/* Behind preprocessed source, an entry for each kernel that is there: it takes its arguments from an array. */
static bool add_entries(const char *path) {
  static const char mark[] = "\nvoid kw_";
  char *source = read_file(path);
  FILE *file = source ? fopen(path, "ae") : NULL;
  if (file) fputc('\n', file);
  for (const char *at = source; file && (at = strstr(at, mark)) != NULL; at += sizeof mark - 1) {
    const char *name = at + 6;
    int length = (int)strcspn(name, "( \n");
    if (name[length] == '(' && length > 7 && memcmp(name + length - 7, "_kernel", 7) == 0)
      fprintf(file,
              "extern \"C\" __attribute__((visibility(\"default\"))) void %.*s_entry(void *const *args) "
              "{ kw_apply(%.*s, args); }\n",
              length, name, length, name);
  }
  free(source);
  return file && fclose(file) == 0;
}

/* Runs the compiler, its messages into a file. */
static bool compile(const char *stage, const char *source, const char *result, const char *messages) {
  char *const arguments[] = {"c++", OPTIONS, (char *)stage, "-o", (char *)result, (char *)source, NULL};
  posix_spawn_file_actions_t actions;
  pid_t compiler;
  int status = -1;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  int error = posix_spawnp(&compiler, "c++", &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  while (error == 0 && waitpid(compiler, &status, 0) < 0 && errno == EINTR) {
  }
  return error == 0 && status == 0;
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

static kw_status open_module(kw_gpu_device *device, module *m, void **out_module) {
  m->library = dlopen(m->path, RTLD_NOW | RTLD_LOCAL);
  if (m->library) {
    *out_module = m;
    return KW_OK;
  }
  kw_status status = fail(device, KW_ERR_INTERNAL, "loading a module", dlerror());
  unlink(m->path);
  free(m);
  return status;
}

/* A file for the library, which dlopen wants; gone when the module goes. */
static module *make_module(kw_gpu_device *device) {
  module *m = calloc(1, sizeof *m);
  if (m) strcpy(m->path, "/tmp/keyway-engine-XXXXXX");
  int file = m ? mkstemp(m->path) : -1;
  if (file >= 0) {
    close(file);
    return m;
  }
  fail(device, KW_ERR_IO, "making a file for a module", strerror(errno));
  free(m);
  return NULL;
}

kw_status kw_engine_module_build(kw_gpu_device *device, const char *name, const char *const *sources,
                                 uint32_t source_count, void **out_module) {
  module *m = make_module(device);
  char source[80], whole[80], messages[80];
  if (!m) return KW_ERR_IO;
  snprintf(source, sizeof source, "%s.cpp", m->path);
  snprintf(whole, sizeof whole, "%s.ii", m->path); /* preprocessed */
  snprintf(messages, sizeof messages, "%s.log", m->path);
  bool fine = write_sources(source, sources, source_count) && compile("-E", source, whole, messages) &&
              add_entries(whole) && compile("-shared", whole, m->path, messages);
  char *text = read_file(messages);
  unlink(source);
  unlink(whole);
  unlink(messages);
  kw_status status = KW_OK;
  if (fine) {
    status = open_module(device, m, out_module);
  } else {
    status = fail(device, KW_ERR_INTERNAL, name, text ? text : "the compiler did not run");
    unlink(m->path);
    free(m);
  }
  free(text);
  return status;
}

void kw_engine_module_destroy(kw_gpu_device *device, void *handle) {
  module *m = handle;
  (void)device;
  dlclose(m->library);
  unlink(m->path);
  free(m);
}

kw_status kw_engine_module_save(kw_gpu_device *device, void *handle, void **out_bytes, size_t *out_size) {
  const module *m = handle;
  struct stat info;
  FILE *file = fopen(m->path, "re");
  if (!file) return fail(device, KW_ERR_IO, m->path, strerror(errno));
  *out_bytes = fstat(fileno(file), &info) == 0 ? malloc((size_t)info.st_size) : NULL;
  *out_size = *out_bytes ? fread(*out_bytes, 1, (size_t)info.st_size, file) : 0;
  fclose(file);
  return *out_bytes ? KW_OK : fail(device, KW_ERR_OUT_OF_MEMORY, m->path, "no memory");
}

kw_status kw_engine_module_load(kw_gpu_device *device, const char *name, const void *bytes, size_t size,
                                void **out_module) {
  module *m = make_module(device);
  if (!m) return KW_ERR_IO;
  FILE *file = fopen(m->path, "we");
  bool fine = file && fwrite(bytes, 1, size, file) == size;
  if (file && fclose(file) != 0) fine = false;
  if (fine) return open_module(device, m, out_module);
  unlink(m->path);
  free(m);
  return fail(device, KW_ERR_IO, name, strerror(errno));
}

kw_status kw_engine_kernel_create(kw_gpu_device *device, void *handle, const char *name, void **out_kernel) {
  const module *m = handle;
  char entry[128];
  kw_engine_kernel *kernel = malloc(sizeof *kernel);
  if (!kernel) return fail(device, KW_ERR_OUT_OF_MEMORY, name, "no memory");
  snprintf(entry, sizeof entry, "%s_entry", name);
  *(void **)&kernel->run = dlsym(m->library, entry);
  *(void **)&kernel->bind = dlsym(m->library, "kw_engine_bind");
  if (kernel->run && kernel->bind) {
    *out_kernel = kernel;
    return KW_OK;
  }
  free(kernel);
  return fail(device, KW_ERR_NOT_FOUND, name, "the module has no such kernel");
}

void kw_engine_kernel_destroy(kw_gpu_device *device, void *kernel) {
  (void)device;
  free(kernel);
}
