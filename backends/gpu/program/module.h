/* SPDX-License-Identifier: Apache-2.0
 *
 * The pack's kernels, compiled when first needed. Kernels of a family are one program per variant: the cost of a
 * program is mostly the driver's own headers, and a kernel of it that is never launched costs little more.
 */
#ifndef KEYWAY_GPU_MODULE_H
#define KEYWAY_GPU_MODULE_H

#include <keyway/gpu.h>

/* What programs of a module differ by. */
typedef enum kw_gpu_variant {
  KW_GPU_BY_DTYPE,      /* KW_DTYPE, and with it the types of kernels/dtype.kw */
  KW_GPU_RUNS_BY_DTYPE, /* the same, and an item of its element-wise kernels takes kw_gpu_lanes: kernels/run.kw */
  KW_GPU_BY_SIZE,       /* KW_SIZE, the bytes of an element: any dtype of that size will do */
  KW_GPU_BY_NOTHING     /* there is one */
} kw_gpu_variant;

/* A program: `sources` follow the prelude and base, args, opcodes, index and narrow (and dtype and run, in modules by
 * dtype).
 */
typedef struct kw_gpu_module {
  const char *name;
  kw_gpu_variant by;
  uint64_t variants;       /* the dtypes or sizes that there are programs for: bit d for dtype d, bit s for s bytes */
  const char *sources[10]; /* NULL ends them */
} kw_gpu_module;

/* Among the variants: the module looks at KW_HAS_F64 whatever its dtype, so that there are programs for devices with
 * double precision and for others. */
#define KW_GPU_WIDE (UINT64_C(1) << 63)
#define KW_GPU_SIZES (1u << 1 | 1u << 2 | 1u << 4 | 1u << 8 | 1u << 16)
#define KW_GPU_ONE 1u /* of a module by nothing */

/* Each stands in the source file of its family, and in the list in program.c. */
extern const kw_gpu_module kw_gpu_activation_module;
extern const kw_gpu_module kw_gpu_attention_backward_module;
extern const kw_gpu_module kw_gpu_attention_module;
extern const kw_gpu_module kw_gpu_bag_module;
extern const kw_gpu_module kw_gpu_boxes_module;
extern const kw_gpu_module kw_gpu_columns_module;
extern const kw_gpu_module kw_gpu_convert_module;
extern const kw_gpu_module kw_gpu_convolution_module;
extern const kw_gpu_module kw_gpu_distance_module;
extern const kw_gpu_module kw_gpu_elementwise_module;
extern const kw_gpu_module kw_gpu_fft_module;
extern const kw_gpu_module kw_gpu_grid_module;
extern const kw_gpu_module kw_gpu_int4_pack_module;
extern const kw_gpu_module kw_gpu_loss_module;
extern const kw_gpu_module kw_gpu_mask_module;
extern const kw_gpu_module kw_gpu_matmul_module;
extern const kw_gpu_module kw_gpu_metric_module;
extern const kw_gpu_module kw_gpu_move_module;
extern const kw_gpu_module kw_gpu_norm_module;
extern const kw_gpu_module kw_gpu_optimizer_module;
extern const kw_gpu_module kw_gpu_packed_module;
extern const kw_gpu_module kw_gpu_pad_module;
extern const kw_gpu_module kw_gpu_permutation_module;
extern const kw_gpu_module kw_gpu_place_module;
extern const kw_gpu_module kw_gpu_places_module;
extern const kw_gpu_module kw_gpu_pooling_module;
extern const kw_gpu_module kw_gpu_quantize_module;
extern const kw_gpu_module kw_gpu_random_module;
extern const kw_gpu_module kw_gpu_reduce_module;
extern const kw_gpu_module kw_gpu_regions_module;
extern const kw_gpu_module kw_gpu_resample_module;
extern const kw_gpu_module kw_gpu_rope_module;
extern const kw_gpu_module kw_gpu_scan_module;
extern const kw_gpu_module kw_gpu_scatter_module;
extern const kw_gpu_module kw_gpu_selection_module;
extern const kw_gpu_module kw_gpu_sort_module;

/* A kernel is known by the address of its description: one static object each. */
typedef struct kw_gpu_kernel {
  const kw_gpu_module *module;
  const char *function;
} kw_gpu_kernel;

/* The compiled kernel, building it at the first call: may take a second. Thread-safe. The device owns it. */
kw_status kw_gpu_kernel_find(kw_gpu_device *device, const kw_gpu_kernel *kernel, kw_dtype dtype, void **out_kernel);

#define KW_GPU_SOURCE_LIMIT 20

/* One program's text; the sources point into the struct too, so it stays where it is. */
typedef struct kw_gpu_program {
  char name[64]; /* "elementwise/8": the module and the variant; "+f64" where that is a program of its own */
  char defines[128];
  uint32_t source_count;
  const char *sources[KW_GPU_SOURCE_LIMIT];
} kw_gpu_program;

/* KW_LANES in a program, for a device with such vectors (kw_gpu_device.vector_bytes): 1 but in modules by runs. */
uint32_t kw_gpu_lanes(const kw_gpu_module *module, unsigned variant, uint32_t vector_bytes);

void kw_gpu_program_make(kw_gpu_program *out_program, const kw_gpu_module *module, unsigned variant, bool has_f64,
                         uint32_t vector_bytes, const char *prelude);
/* Whether kw_gpu_programs_visit comes by it. */
bool kw_gpu_program_listed(const kw_gpu_module *module, unsigned variant);

#endif /* KEYWAY_GPU_MODULE_H */
