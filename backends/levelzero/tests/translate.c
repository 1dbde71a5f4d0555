/* SPDX-License-Identifier: Apache-2.0
 *
 * SPIR-V to modules of the engine: back to LLVM's intermediate language as text, in which local variables become
 * thread-local ones (a group runs on one thread) and each kernel gets its entries; then to a shared library, with the
 * functions of OpenCL linked in.
 */
#include "emulated.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* A kernel's definition: `define spir_kernel void @NAME(TYPE ATTRIBUTES %0, ...) ... !reqd_work_group_size !9 {`. */
typedef struct kernel_text {
  const char *name, *params; /* params behind the parenthesis */
  int name_length;
} kernel_text;

/* The end of a type: of one word, or one in brackets of its own, with an address space and stars behind it. */
static const char *end_of_type(const char *at) {
  int depth = 0;
  for (; *at; ++at) {
    if (*at == '<' || *at == '[' || *at == '{' || *at == '(') ++depth;
    if (*at == '>' || *at == ']' || *at == '}' || *at == ')') --depth;
    if (depth == 0 && *at == ' ' && strncmp(at, " addrspace(", 11) != 0) break;
    if (depth < 0 || (depth == 0 && *at == ',')) break;
  }
  return at;
}

/* The end of a parameter: its comma, or the parenthesis behind the last. */
static const char *end_of_param(const char *at) {
  int depth = 0;
  for (; depth > 0 || (*at != ',' && *at != ')'); ++at) {
    depth += *at == '(' || *at == '<' || *at == '[' || *at == '{';
    depth -= *at == ')' || *at == '>' || *at == ']' || *at == '}';
  }
  return at;
}

/* The size that a kernel's groups must have, or zeros. `text` is the whole module. */
static void find_group(const char *text, const kernel_text *kernel, int group[3]) {
  static const char mark[] = " !reqd_work_group_size !";
  const char *end = strchr(kernel->params, '\n'), *at = strstr(kernel->params, mark);
  char line[32];
  memset(group, 0, 3 * sizeof *group);
  if (!at || at > end) return;
  snprintf(line, sizeof line, "\n!%d = !{", atoi(at + sizeof mark - 1));
  at = strstr(text, line);
  if (at) sscanf(at + strlen(line), "i32 %d, i32 %d, i32 %d", &group[0], &group[1], &group[2]);
}

/* Parameter i as the entry passes it: loaded from what args[i] points to; of a struct, that pointer itself. */
static void write_load(FILE *out, const char *param, int i) {
  const int type = (int)(end_of_type(param) - param);
  const char *by_value = strstr(param, " byval(");
  const char *star = by_value && by_value < end_of_param(param) ? "" : "*";
  fprintf(out, "  %%p%d = getelementptr i8*, i8** %%args, i64 %d\n  %%q%d = load i8*, i8** %%p%d\n", i, i, i, i);
  fprintf(out, "  %%%c%d = bitcast i8* %%q%d to %.*s%s\n", *star ? 't' : 'a', i, i, type, param, star);
  if (*star) fprintf(out, "  %%a%d = load %.*s, %.*s* %%t%d\n", i, type, param, type, param, i);
}

/* The kernel's entries: see engine.h, and `info` of a kernel in emulated.h. */
static void write_entries(FILE *out, const char *text, const kernel_text *kernel) {
  const char *params[KW_ENGINE_ARG_LIMIT];
  int count = 0, group[3];
  for (const char *at = kernel->params; *at != ')' && count < KW_ENGINE_ARG_LIMIT;) {
    params[count++] = at;
    at = end_of_param(at);
    at += *at == ',' ? 2 : 0;
  }
  find_group(text, kernel, group);
  fprintf(out, "\ndefine void @%.*s_entry(i8** %%args) {\n", kernel->name_length, kernel->name);
  for (int i = 0; i < count; ++i) write_load(out, params[i], i);
  fprintf(out, "  call void @%.*s(", kernel->name_length, kernel->name);
  for (int i = 0; i < count; ++i) {
    const char *end = end_of_param(params[i]);
    while (*end != '%') --end;
    fprintf(out, "%s%.*s%%a%d", i ? ", " : "", (int)(end - params[i]), params[i], i);
  }
  fprintf(out, ")\n  ret void\n}\n@%.*s.sizes = internal constant [%d x i32] [i32 %d", kernel->name_length,
          kernel->name, count + 1, count);
  for (int i = 0; i < count; ++i) {
    /* Of a struct by value the parameter is a pointer, and the size that of what it points to. */
    const char *by_value = strstr(params[i], " byval(");
    int type = (int)(end_of_type(params[i]) - params[i]);
    if (by_value && by_value < end_of_param(params[i])) --type;
    fprintf(out, ", i32 ptrtoint (%.*s* getelementptr (%.*s, %.*s* null, i32 1) to i32)", type, params[i], type,
            params[i], type, params[i]);
  }
  fprintf(out,
          "]\ndefine i32* @%.*s_params() {\n  ret i32* getelementptr ([%d x i32], [%d x i32]* @%.*s.sizes, i64 0, "
          "i64 0)\n}\n",
          kernel->name_length, kernel->name, count + 1, count + 1, kernel->name_length, kernel->name);
  fprintf(out, "@%.*s_info = constant [%d x i32] [i32 %d, i32 %d, i32 %d", kernel->name_length, kernel->name, count + 3,
          group[0], group[1], group[2]);
  for (int i = 0; i < count; ++i) {
    const char *by_value = strstr(params[i], " byval(");
    bool pointer = end_of_type(params[i])[-1] == '*' && !(by_value && by_value < end_of_param(params[i]));
    fprintf(out, ", i32 %d", pointer);
  }
  fprintf(out, "]\n");
}

/* The module with host's calling conventions, thread-local variables for local ones, and entries. */
static void rewrite(FILE *out, const char *text) {
  static const char local[] = " addrspace(3) global ", kernel_mark[] = "spir_kernel ", function_mark[] = "spir_func ";
  kernel_text kernels[64];
  int kernel_count = 0;
  for (const char *at = text; *at;) {
    const char *end = strchr(at, '\n') + 1;
    if (*at == '@') {
      const char *space = strstr(at, local);
      if (space && space < end) {
        fprintf(out, "%.*s thread_local", (int)(space - at), at);
        at = space;
      }
    } else if (strncmp(at, "define spir_kernel void @", 25) == 0 && kernel_count < 64) {
      const int length = (int)strcspn(at + 25, "(");
      kernels[kernel_count++] = (kernel_text){.name = at + 25, .params = at + 25 + length + 1, .name_length = length};
    }
    while (at < end) {
      if (strncmp(at, kernel_mark, sizeof kernel_mark - 1) == 0) {
        at += sizeof kernel_mark - 1;
      } else if (strncmp(at, function_mark, sizeof function_mark - 1) == 0) {
        at += sizeof function_mark - 1;
      } else {
        fputc(*at++, out);
      }
    }
  }
  for (int i = 0; i < kernel_count; ++i) write_entries(out, text, &kernels[i]);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* The whole file with a NUL behind it, to be freed with free; NULL on failure. */
static char *read_file(const char *path, size_t *out_size) {
  struct stat info;
  FILE *file = fopen(path, "re");
  char *bytes = file && fstat(fileno(file), &info) == 0 ? malloc((size_t)info.st_size + 1) : NULL;
  *out_size = bytes ? fread(bytes, 1, (size_t)info.st_size, file) : 0;
  if (bytes) bytes[*out_size] = '\0';
  if (file) fclose(file);
  return bytes;
}

static bool write_file(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "we");
  bool whole = file && fwrite(bytes, 1, size, file) == size;
  return file && fclose(file) == 0 && whole;
}

static bool rewrite_file(const char *from, const char *to) {
  size_t size;
  char *text = read_file(from, &size);
  FILE *out = text ? fopen(to, "we") : NULL;
  if (out) rewrite(out, text);
  bool whole = out && !ferror(out);
  free(text);
  return out && fclose(out) == 0 && whole;
}

/* ---- Translation ------------------------------------------------------------------------------------------------- */

/* Runs a compiler; what it says takes the place of *log. */
static bool run(char *const *arguments, char **log) {
  free(*log);
  bool fine = kw_engine_run_program(arguments, log);
  if (!fine && !*log && asprintf(log, "%s did not run", arguments[0]) < 0) *log = NULL;
  return fine;
}

/* The EMULATED_ ones are the build's: the compilers, the bitcode of builtins.c, module.map. */
#define OPTIONS \
  "-O1", "-flto", "-fPIC", "-w", "-shared", "-fuse-ld=" EMULATED_LLD, "-Wl,-z,defs,--version-script=" EMULATED_MAP

bool emu_translate(const void *spirv, size_t size, void **out_bytes, size_t *out_size, char **out_log) {
  enum { SPIRV, BITCODE, TEXT, REWRITTEN, LIBRARY, FILES };
  static const char *const suffixes[FILES] = {"spv", "bc", "ll", "host.ll", "so"};
  char folder[] = "/tmp/keyway-levelzero-XXXXXX", path[FILES][64];
  *out_bytes = NULL;
  *out_log = NULL;
  if (!mkdtemp(folder)) {
    *out_log = strdup(strerror(errno));
    return false;
  }
  for (int i = 0; i < FILES; ++i) snprintf(path[i], sizeof path[i], "%s/module.%s", folder, suffixes[i]);
  char *const reverse[] = {EMULATED_LLVM_SPIRV, "-r", "-o", path[BITCODE], path[SPIRV], NULL};
  char *const print[] = {EMULATED_CLANG, "-w",         "-x", "ir",       "-Xclang",     "-disable-llvm-passes",
                         "-S",           "-emit-llvm", "-o", path[TEXT], path[BITCODE], NULL};
  char *const link[] = {EMULATED_CLANG, OPTIONS, "-o", path[LIBRARY], path[REWRITTEN], EMULATED_BUILTINS, "-lm", NULL};
  if (write_file(path[SPIRV], spirv, size) && run(reverse, out_log) && run(print, out_log) &&
      rewrite_file(path[TEXT], path[REWRITTEN]) && run(link, out_log))
    *out_bytes = read_file(path[LIBRARY], out_size);
  for (int i = 0; i < FILES; ++i) unlink(path[i]);
  rmdir(folder);
  return *out_bytes;
}

static uint32_t hash_file(uint32_t hash, const char *path) {
  size_t size;
  char *bytes = read_file(path, &size);
  for (size_t i = 0; i < size; ++i) hash = (hash ^ (unsigned char)bytes[i]) * 16777619u; /* FNV-1a */
  free(bytes);
  return hash;
}

uint32_t emu_translator_version(void) {
  Dl_info self;
  uint32_t hash = hash_file(2166136261u, EMULATED_BUILTINS);
  return dladdr((void *)(uintptr_t)emu_translator_version, &self) ? hash_file(hash, self.dli_fname) : hash;
}
