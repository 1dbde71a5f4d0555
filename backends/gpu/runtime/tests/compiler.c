/* SPDX-License-Identifier: Apache-2.0
 *
 * A test compiler: a shared object with the ABI of NVRTC (libnvrtc.so) or hipRTC (libhiprtc.so), as far as the backends
 * call it. It compiles the same source as the real one, with the host's C++ compiler, for the test driver.
 */
#include "code.h"
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef KW_TEST_HIP
#define API(name) __attribute__((visibility("default"))) int hiprtc##name
static const char *const known_options[] = {"-std=c++17", "-ffp-contract=off", "-w"};
#else
#define API(name) __attribute__((visibility("default"))) int nvrtc##name
static const char *const known_options[] = {"--gpu-architecture=sm_90", "--std=c++17", "--fmad=false",
                                            "--disable-warnings"};
#endif

enum { OK = 0, OUT_OF_MEMORY = 1, INVALID_INPUT = 3, INVALID_PROGRAM = 4, INVALID_OPTION = 5, COMPILATION = 6 };

extern const char kw_test_language[]; /* language.hpp */

typedef struct program {
  char *source;
  char *log;
  void *code;
  size_t code_size;
} program;

API(Version)(int *major, int *minor) {
  *major = 13;
  *minor = 0;
  return OK;
}

API(CreateProgram)
(void **out, const char *source, const char *name, int header_count, const char *const *headers,
 const char *const *header_names) {
  (void)name;
  if (header_count != 0 || headers || header_names) return INVALID_INPUT;
  program *p = calloc(1, sizeof *p);
  if (p) p->source = strdup(source);
  if (!p || !p->source) {
    free(p);
    return OUT_OF_MEMORY;
  }
  *out = p;
  return OK;
}

API(DestroyProgram)(void **handle) {
  program *p = *handle;
  free(p->source);
  free(p->log);
  free(p->code);
  free(p);
  *handle = NULL;
  return OK;
}

static bool is_known(const char *option) {
  for (size_t i = 0; i < sizeof known_options / sizeof known_options[0]; ++i)
    if (strcmp(option, known_options[i]) == 0) return true;
  return false;
}

API(CompileProgram)(void *handle, int count, const char *const *options) {
  program *p = handle;
  void *bytes = NULL;
  size_t size = 0;
  for (int i = 0; i < count; ++i)
    if (!is_known(options[i])) return INVALID_OPTION;
  if (kw_engine_compile((const char *const[]){kw_test_language, p->source}, 2, &bytes, &size) != KW_ENGINE_OK) {
    p->log = strdup(kw_engine_message());
    return COMPILATION;
  }
  code_header header = {.size = size};
  memcpy(header.magic, code_magic, sizeof header.magic);
  p->code = malloc(sizeof header + size);
  if (p->code) {
    memcpy(p->code, &header, sizeof header);
    memcpy((char *)p->code + sizeof header, bytes, size);
    p->code_size = sizeof header + size;
  }
  free(bytes);
  return p->code ? OK : OUT_OF_MEMORY;
}

API(GetProgramLogSize)(void *handle, size_t *size) {
  const program *p = handle;
  *size = (p->log ? strlen(p->log) : 0) + 1;
  return OK;
}

API(GetProgramLog)(void *handle, char *log) {
  const program *p = handle;
  strcpy(log, p->log ? p->log : "");
  return OK;
}

#ifdef KW_TEST_HIP
#define CODE_SIZE GetCodeSize
#define CODE GetCode
#else
#define CODE_SIZE GetCUBINSize
#define CODE GetCUBIN
#endif

#define API_OF(name) API(name)

API_OF(CODE_SIZE)(void *handle, size_t *size) {
  const program *p = handle;
  if (!p->code) return INVALID_PROGRAM;
  *size = p->code_size;
  return OK;
}

API_OF(CODE)(void *handle, char *code) {
  const program *p = handle;
  if (!p->code) return INVALID_PROGRAM;
  memcpy(code, p->code, p->code_size);
  return OK;
}
