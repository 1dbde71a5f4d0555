/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles every program of the kernel pack with the real NVRTC or hipRTC, for an architecture that this machine need
 * not have, and prints what each kernel takes of it:
 *
 *     keyway-gpu-compile cuda sm_90
 *     keyway-gpu-compile hip gfx90a DIRECTORY 'matmul*'
 *
 * One line a kernel, cells apart by tabs: program, kernel, registers, bytes spilt, bytes of local memory, items of a
 * group. DIRECTORY gets each program's code, PTX or a code object, for scripts/instructions.py to read: unary/8 is the
 * file unary.8. A pattern compiles those programs alone. The exit status is 0 when all compile, 1 when one does not
 * (its messages are on stderr), 77 when there is no such compiler. hipRTC 5.2 aborts the process for an architecture
 * that it does not know.
 */
#include "runtime.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What says the instructions: NVRTC's text before ptxas makes code of it, and hipRTC's code. */
#define CALLS(X)                                                                                  \
  KW_RT_COMPILER_CALLS(X)                                                                         \
  X(program_text_size, (void *program, size_t *out_size), "nvrtcGetPTXSize", "hiprtcGetCodeSize") \
  X(program_text, (void *program, char *out_text), "nvrtcGetPTX", "hiprtcGetCode")

#define FIELD(field, parameters, cuda, hip) int(*field) parameters;
static struct { CALLS(FIELD) } compiler;

#define CUDA_NAME(field, parameters, cuda, hip) cuda,
#define HIP_NAME(field, parameters, cuda, hip) hip,
static const char *const cuda_calls[] = {CALLS(CUDA_NAME)};
static const char *const hip_calls[] = {CALLS(HIP_NAME)};
static const char *const cuda_files[] = {KW_RT_CUDA_COMPILER, NULL};
static const char *const hip_files[] = {KW_RT_HIP_COMPILER, NULL};

/* Beside the backends' own options: the architecture, and for ptxas to say what kernels take. */
static const char *const cuda_options[] = {KW_RT_CUDA_OPTIONS, "--ptxas-options=-v"};
static const char *const hip_options[] = {KW_RT_HIP_OPTIONS};

static bool open_compiler(const char *const *files, const char *const *calls) {
  void *library = NULL;
  for (; *files && !library; ++files) library = dlopen(*files, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; library && i < sizeof compiler / sizeof(void (*)(void)); ++i) {
    void *found = dlsym(library, calls[i]);
    if (!found) return false;
    memcpy((char *)&compiler + i * sizeof found, &found, sizeof found);
  }
  return library != NULL;
}

/* ---- What kernels take ------------------------------------------------------------------------------------------- */

typedef struct taken {
  char kernel[96];
  unsigned registers, spilt, local, items;
} taken;

static void print_taken(const char *program, const taken *of) {
  printf("%s\t%s\t%u\t%u\t%u\t%u\n", program, of->kernel, of->registers, of->spilt, of->local, of->items);
}

/* From `.entry kernel(... ) .maxntid 16, 16, 1`, what KW_LOCAL_SIZE has become. */
static unsigned items_in(const char *code, const char *kernel) {
  char head[128];
  snprintf(head, sizeof head, ".entry %s(", kernel);
  const char *at = strstr(code, head);
  const char *size = at ? strstr(at, ".maxntid") : NULL;
  unsigned by[3] = {0, 1, 1};
  if (!size || size > at + strcspn(at, "{")) return 0;
  sscanf(size, ".maxntid %u, %u, %u", &by[0], &by[1], &by[2]);
  return by[0] * by[1] * by[2];
}

/* From what ptxas says: a line names the kernel, the next ones its spills, its registers and shared memory. */
static void print_cuda(const char *program, const char *log, const char *code) {
  taken of = {.kernel = ""};
  unsigned number;
  for (const char *line = log; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    const size_t length = strcspn(line, "\n");
    char text[400];
    snprintf(text, sizeof text, "%.*s", (int)length, line);
    const char *at = strstr(text, "entry function '");
    if (at) {
      of = (taken){.kernel = ""};
      sscanf(at, "entry function '%95[^']", of.kernel);
    }
    at = strstr(text, "bytes stack frame, ");
    if (at && of.kernel[0] && sscanf(at, "bytes stack frame, %u bytes spill stores", &number) == 1) of.spilt = number;
    at = strstr(text, "Used ");
    if (!at || !of.kernel[0] || sscanf(at, "Used %u registers", &of.registers) != 1) continue;
    const char *shared = strstr(text, " bytes smem");
    if (shared) {
      while (shared > text && shared[-1] >= '0' && shared[-1] <= '9') --shared;
      of.local = (unsigned)strtoul(shared, NULL, 10);
    }
    of.items = items_in(code, of.kernel);
    print_taken(program, &of);
  }
}

/* The number behind a key in MessagePack (github.com/msgpack/msgpack/blob/master/spec.md). */
static unsigned packed_number(const unsigned char *at) {
  if (at[0] < 0x80) return at[0];
  unsigned value = 0;
  for (int bytes = at[0] == 0xcc ? 1 : at[0] == 0xcd ? 2 : at[0] == 0xce ? 4 : 0, i = 1; i <= bytes; ++i)
    value = value << 8 | at[i];
  return value;
}

/* From the notes of a code object (llvm.org/docs/AMDGPUUsage.html, "Code Object Metadata"): of each kernel a map whose
 * keys are in alphabetical order. Spills are counted in registers of four bytes. */
static void print_hip(const char *program, const char *code, size_t size) {
  static const char first[] = ".group_segment_fixed_size", items[] = ".max_flat_workgroup_size", symbol[] = ".symbol",
                    registers[] = ".vgpr_count", spilt[] = ".vgpr_spill_count";
  const char *end = code + size;
  const char *at = code;
  while ((at = memmem(at, (size_t)(end - at), first, sizeof first - 1)) != NULL) {
    taken of = {.local = packed_number((const unsigned char *)at + sizeof first - 1)};
    at = memmem(at, (size_t)(end - at), items, sizeof items - 1);
    if (!at) return;
    of.items = packed_number((const unsigned char *)at + sizeof items - 1);
    at = memmem(at, (size_t)(end - at), symbol, sizeof symbol - 1);
    if (!at) return;
    const char *name = memmem(at, (size_t)(end - at), "kw_", 3);
    if (name) snprintf(of.kernel, sizeof of.kernel, "%.*s", (int)strcspn(name, "."), name);
    at = memmem(at, (size_t)(end - at), registers, sizeof registers - 1);
    if (!at) return;
    of.registers = packed_number((const unsigned char *)at + sizeof registers - 1);
    at = memmem(at, (size_t)(end - at), spilt, sizeof spilt - 1);
    if (!at) return;
    of.spilt = 4 * packed_number((const unsigned char *)at + sizeof spilt - 1);
    print_taken(program, &of);
  }
}

/* ---- Compiling --------------------------------------------------------------------------------------------------- */

typedef struct request {
  bool is_cuda;
  const char *arch;      /* the option */
  const char *directory; /* NULL: no code is kept */
  const char *pattern;   /* of the programs' names */
  bool failed;
} request;

static char *log_of(void *program) {
  size_t size = 0;
  compiler.program_log_size(program, &size);
  char *log = calloc(1, size + 1);
  if (log) compiler.program_log(program, log);
  return log;
}

/* PTX, which ends with a NUL, or a code object. */
static char *text_of(void *program, size_t *out_size) {
  if (compiler.program_text_size(program, out_size) != 0) return NULL;
  char *text = malloc(*out_size);
  if (text) compiler.program_text(program, text);
  return text;
}

static bool keep_code(const char *directory, const char *name, const char *code, size_t size) {
  char path[4096];
  const int begin = snprintf(path, sizeof path, "%s/", directory);
  snprintf(path + begin, sizeof path - (size_t)begin, "%s", name);
  for (char *p = path + begin; *p; ++p)
    if (*p == '/') *p = '.';
  FILE *file = fopen(path, "wb");
  bool whole = file && fwrite(code, 1, size, file) == size;
  if (file && fclose(file) != 0) whole = false;
  if (!whole) perror(path);
  return whole;
}

static kw_status compile(void *user, const char *name, const char *const *sources, uint32_t source_count) {
  request *wanted = user;
  if (fnmatch(wanted->pattern, name, 0) != 0) return KW_OK;
  const char *options[KW_RT_OPTION_LIMIT + 1] = {wanted->arch};
  const char *const *more = wanted->is_cuda ? cuda_options : hip_options;
  const size_t more_size = wanted->is_cuda ? sizeof cuda_options : sizeof hip_options;
  memcpy(options + 1, more, more_size);
  void *program = NULL;
  char *source = kw_rt_join(sources, source_count);
  if (!source || compiler.program_create(&program, source, name, 0, NULL, NULL) != 0) {
    free(source);
    return KW_ERR_INTERNAL;
  }
  int error = compiler.program_compile(program, (int)(1 + more_size / sizeof *more), options);
  char *log = log_of(program);
  size_t size = 0;
  char *code = error ? NULL : text_of(program, &size);
  if (!code) {
    fprintf(stderr, "%s, %s: error %d\n%s\n", name, wanted->arch, error, log ? log : "");
    wanted->failed = true;
  } else if (wanted->is_cuda) {
    print_cuda(name, log ? log : "", code);
  } else {
    print_hip(name, code, size);
  }
  if (code && wanted->directory && !keep_code(wanted->directory, name, code, size - wanted->is_cuda))
    wanted->failed = true;
  free(code);
  free(log);
  free(source);
  compiler.program_destroy(&program);
  return KW_OK;
}

int main(int argc, char **argv) {
  const bool has_arguments = argc >= 3 && argc <= 5;
  const bool is_cuda = has_arguments && strcmp(argv[1], "cuda") == 0;
  if (!is_cuda && (!has_arguments || strcmp(argv[1], "hip") != 0)) {
    fprintf(stderr,
            "usage: keyway-gpu-compile cuda sm_90 [DIRECTORY [PATTERN]]\n"
            "       keyway-gpu-compile hip gfx90a [DIRECTORY [PATTERN]]\n");
    return 2;
  }
  if (!open_compiler(is_cuda ? cuda_files : hip_files, is_cuda ? cuda_calls : hip_calls)) {
    fprintf(stderr, "%s\n", is_cuda ? KW_RT_CUDA_NO_COMPILER : KW_RT_HIP_NO_COMPILER);
    return 77;
  }
  char arch[64];
  snprintf(arch, sizeof arch, "--%s=%.32s", is_cuda ? "gpu-architecture" : "offload-arch", argv[2]);
  request wanted = {.is_cuda = is_cuda, .arch = arch, .directory = argv[3], .pattern = argc == 5 ? argv[4] : "*"};
  kw_status status = kw_gpu_programs_visit(kw_gpu_prelude_cuda, compile, &wanted);
  return status != KW_OK || wanted.failed ? 1 : 0;
}
