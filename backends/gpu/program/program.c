/* SPDX-License-Identifier: Apache-2.0
 *
 * A module's programs: what each is called, and its text.
 */
#include "program/program.h"

#include "kernel_sources.h"
#include "program/dtype.h"

#include <stdio.h>

static bool is_by_dtype(const kw_gpu_module *module) {
  return module->by == KW_GPU_BY_DTYPE || module->by == KW_GPU_RUNS_BY_DTYPE;
}

static bool is_f64(const kw_gpu_module *module, unsigned variant) {
  return is_by_dtype(module) && (variant == KW_F64 || variant == KW_C128);
}

/* There is a program without double precision and one with. */
static bool is_wide(const kw_gpu_module *module, unsigned variant) {
  return (module->variants & KW_GPU_WIDE) && !is_f64(module, variant);
}

unsigned kw_gpu_module_variant(const kw_gpu_module *module, kw_dtype dtype) {
  if (module->by == KW_GPU_BY_SIZE) return kw_gpu_dtype_size(dtype);
  return module->by == KW_GPU_BY_NOTHING ? 0 : (unsigned)dtype;
}

bool kw_gpu_module_has(const kw_gpu_module *module, unsigned variant) {
  return module->variants >> variant & 1;
}

uint32_t kw_gpu_lanes(const kw_gpu_module *module, unsigned variant, uint32_t vector_bytes) {
  if (module->by != KW_GPU_RUNS_BY_DTYPE || vector_bytes == 0) return 1;
  return vector_bytes / kw_gpu_dtype_size(kw_gpu_compute_dtype((kw_dtype)variant));
}

uint32_t kw_gpu_pack(const kw_gpu_module *module, unsigned variant, uint32_t vector_bytes) {
  return module->variants & KW_GPU_PACKS && vector_bytes == 0 ? 16 / kw_gpu_dtype_size((kw_dtype)variant) : 1;
}

void kw_gpu_program_make(kw_gpu_program *out_program, const kw_gpu_module *module, unsigned variant, int32_t opcode,
                         bool has_f64, uint32_t vector_bytes, const char *prelude) {
  const bool wide = has_f64 && is_wide(module, variant);
  uint32_t count = 0;
  char one[32] = "";
  int length =
      snprintf(out_program->name, sizeof out_program->name, "%s/%u%s", module->name, variant, wide ? "+f64" : "");
  if (opcode >= 0) {
    snprintf(out_program->name + length, sizeof out_program->name - (size_t)length, ".%d", opcode);
    snprintf(one, sizeof one, "#define KW_OPCODE %d\n", opcode);
  }
  snprintf(out_program->defines, sizeof out_program->defines,
           "%s#define %s %u\n#define KW_VECTOR_BYTES %u\n#define KW_LANES %u\n"
           "#define KW_ELEMENTS %u\n%s%s",
           is_f64(module, variant) || wide ? "#define KW_HAS_F64 1\n" : "",
           module->by == KW_GPU_BY_SIZE ? "KW_SIZE" : "KW_DTYPE", variant, vector_bytes,
           kw_gpu_lanes(module, variant, vector_bytes), kw_gpu_pack(module, variant, vector_bytes),
           module->variants & KW_GPU_CHAIN ? "#define KW_CHAIN 1\n" : "", one);
  const char **sources = out_program->sources;
  sources[count++] = out_program->defines;
  sources[count++] = prelude;
  sources[count++] = kw_gpu_source_base;
  sources[count++] = kw_gpu_source_args;
  sources[count++] = kw_gpu_source_opcodes;
  sources[count++] = kw_gpu_source_offsets;
  sources[count++] = kw_gpu_source_narrow;
  if (is_by_dtype(module)) {
    sources[count++] = kw_gpu_source_dtype;
    sources[count++] = kw_gpu_source_run;
  }
  for (const char *const *source = module->sources; *source; ++source) sources[count++] = *source;
  out_program->source_count = count;
}

kw_status kw_gpu_module_visit(const kw_gpu_module *module, const char *prelude, kw_gpu_visit_fn visit, void *user) {
  kw_gpu_program program;
  const uint64_t variants = module->variants & KW_GPU_VECTORS ? 0 : module->variants & ~(KW_GPU_WIDE | KW_GPU_PACKS);
  for (unsigned variant = 0; variants >> variant; ++variant) {
    if (!(variants >> variant & 1)) continue;
    for (int wide = 0; wide <= is_wide(module, variant); ++wide) {
      kw_gpu_program_make(&program, module, variant, -1, wide, 0, prelude);
      kw_status status = visit(user, program.name, program.sources, program.source_count);
      if (status != KW_OK) return status;
    }
  }
  return KW_OK;
}
