/* SPDX-License-Identifier: Apache-2.0
 *
 * Every program of the pack: what it is called, and its text.
 */
#include "program/module.h"

#include "lower/scalar.h"

#include <stdio.h>

extern const char kw_gpu_source_args[], kw_gpu_source_opcodes[], kw_gpu_source_base[], kw_gpu_source_dtype[],
    kw_gpu_source_index[], kw_gpu_source_narrow[], kw_gpu_source_run[];

/* One a line, in order. clang-format would fill lines. */
/* clang-format off */
static const kw_gpu_module *const modules[] = {
    &kw_gpu_activation_module,
    &kw_gpu_attention_backward_module,
    &kw_gpu_attention_module,
    &kw_gpu_bag_module,
    &kw_gpu_boxes_module,
    &kw_gpu_columns_module,
    &kw_gpu_convert_module,
    &kw_gpu_convolution_module,
    &kw_gpu_distance_module,
    &kw_gpu_elementwise_module,
    &kw_gpu_fft_module,
    &kw_gpu_grid_module,
    &kw_gpu_int4_pack_module,
    &kw_gpu_loss_module,
    &kw_gpu_mask_module,
    &kw_gpu_matmul_module,
    &kw_gpu_metric_module,
    &kw_gpu_move_module,
    &kw_gpu_norm_module,
    &kw_gpu_optimizer_module,
    &kw_gpu_packed_module,
    &kw_gpu_pad_module,
    &kw_gpu_permutation_module,
    &kw_gpu_place_module,
    &kw_gpu_places_module,
    &kw_gpu_pooling_module,
    &kw_gpu_quantize_module,
    &kw_gpu_random_module,
    &kw_gpu_reduce_module,
    &kw_gpu_regions_module,
    &kw_gpu_resample_module,
    &kw_gpu_rope_module,
    &kw_gpu_scan_module,
    &kw_gpu_scatter_module,
    &kw_gpu_selection_module,
    &kw_gpu_sort_module,
};
/* clang-format on */

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

uint32_t kw_gpu_lanes(const kw_gpu_module *module, unsigned variant, uint32_t vector_bytes) {
  if (module->by != KW_GPU_RUNS_BY_DTYPE || vector_bytes == 0) return 1;
  return vector_bytes / kw_gpu_dtype_size(kw_gpu_compute_dtype((kw_dtype)variant));
}

void kw_gpu_program_make(kw_gpu_program *out_program, const kw_gpu_module *module, unsigned variant, bool has_f64,
                         uint32_t vector_bytes, const char *prelude) {
  const bool wide = has_f64 && is_wide(module, variant);
  uint32_t count = 0;
  snprintf(out_program->name, sizeof out_program->name, "%s/%u%s", module->name, variant, wide ? "+f64" : "");
  snprintf(out_program->defines, sizeof out_program->defines, "%s#define %s %u\n#define KW_LANES %u\n",
           is_f64(module, variant) || wide ? "#define KW_HAS_F64 1\n" : "",
           module->by == KW_GPU_BY_SIZE ? "KW_SIZE" : "KW_DTYPE", variant, kw_gpu_lanes(module, variant, vector_bytes));
  const char **sources = out_program->sources;
  sources[count++] = out_program->defines;
  sources[count++] = prelude;
  sources[count++] = kw_gpu_source_base;
  sources[count++] = kw_gpu_source_args;
  sources[count++] = kw_gpu_source_opcodes;
  sources[count++] = kw_gpu_source_index;
  sources[count++] = kw_gpu_source_narrow;
  if (is_by_dtype(module)) {
    sources[count++] = kw_gpu_source_dtype;
    sources[count++] = kw_gpu_source_run;
  }
  for (const char *const *source = module->sources; *source; ++source) sources[count++] = *source;
  out_program->source_count = count;
}

bool kw_gpu_program_listed(const kw_gpu_module *module, unsigned variant) {
  for (size_t m = 0; m < sizeof modules / sizeof modules[0]; ++m)
    if (modules[m] == module) return module->variants >> variant & 1;
  return false;
}

kw_status kw_gpu_programs_visit(const char *prelude, kw_gpu_visit_fn visit, void *user) {
  kw_gpu_program program;
  for (size_t m = 0; m < sizeof modules / sizeof modules[0]; ++m)
    for (unsigned variant = 0; variant < 63; ++variant) {
      if (!(modules[m]->variants >> variant & 1)) continue;
      for (int wide = 0; wide <= is_wide(modules[m], variant); ++wide) {
        kw_gpu_program_make(&program, modules[m], variant, wide, 0, prelude);
        kw_status status = visit(user, program.name, program.sources, program.source_count);
        if (status != KW_OK) return status;
      }
    }
  return KW_OK;
}
