/* SPDX-License-Identifier: Apache-2.0
 *
 * An implementation of hipRTC over NVRTC, whose errors have the same numbers.
 */
#include "shim.h"

#include <string.h>

#define API(name) __attribute__((visibility("default"))) int hiprtc##name

enum { OK = 0, INVALID_INPUT = 3, INVALID_OPTION = 5, INTERNAL_ERROR = 11 };

static bool there; /* NVRTC is */

static void open_compiler(void) {
  void *library = shim_open_library((const char *const[]){KW_RT_CUDA_COMPILER, NULL});
  there = library && shim_find_calls(library, KW_RT_DRIVER_CALLS, KW_RT_NEEDED_CALLS);
}

static int ready(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_compiler);
  return there ? OK : INTERNAL_ERROR;
}

/* hipRTC's option as NVRTC's, or NULL. */
static const char *translate(const char *option) {
  static const struct {
    const char *hip, *cuda;
  } options[] = {
      {"-std=c++17", "--std=c++17"},
      {"-ffp-contract=off", "--fmad=false"},
      {"-w", "--disable-warnings"},
  };
  for (size_t i = 0; i < sizeof options / sizeof options[0]; ++i)
    if (strcmp(option, options[i].hip) == 0) return options[i].cuda;
  return NULL;
}

/* For the thread's current device. */
API(CompileProgram)(void *program, int count, const char *const *options) {
  char architecture[KW_RT_ARCH_SIZE];
  const char *translated[KW_RT_OPTION_LIMIT] = {architecture};
  int error = ready();
  if (error) return error;
  if (count >= KW_RT_OPTION_LIMIT) return INVALID_INPUT;
  if (shim_architecture(architecture) != 0) return INTERNAL_ERROR;
  for (int i = 0; i < count; ++i) {
    translated[i + 1] = translate(options[i]);
    if (!translated[i + 1]) return INVALID_OPTION;
  }
  return shim_cuda.program_compile(program, count + 1, translated);
}

/* What follows hiprtc, its parameters; the field of the table, the arguments. */
#define CALLS(X)                                                                                         \
  X(Version, (int *major, int *minor), compiler_version, (major, minor))                                 \
  X(CreateProgram,                                                                                       \
    (void **program, const char *source, const char *name, int header_count, const char *const *headers, \
     const char *const *header_names),                                                                   \
    program_create, (program, source, name, header_count, headers, header_names))                        \
  X(DestroyProgram, (void **program), program_destroy, (program))                                        \
  X(GetProgramLogSize, (void *program, size_t *size), program_log_size, (program, size))                 \
  X(GetProgramLog, (void *program, char *log), program_log, (program, log))                              \
  X(GetCodeSize, (void *program, size_t *size), program_code_size, (program, size))                      \
  X(GetCode, (void *program, char *code), program_code, (program, code))

#define CALL(name, parameters, field, arguments)      \
  API(name) parameters {                              \
    int error = ready();                              \
    return error ? error : shim_cuda.field arguments; \
  }
CALLS(CALL)
