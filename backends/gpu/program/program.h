/* SPDX-License-Identifier: Apache-2.0
 *
 * Which programs there are, and their text. What the first call of an op waits for is its program: so a program has
 * what is called together, a kernel or those of an op of several steps, and on a CPU, where functions of vectors take
 * long to compile, one op of those that a kernel has.
 */
#ifndef KEYWAY_GPU_PROGRAM_H
#define KEYWAY_GPU_PROGRAM_H

#include <keyway/gpu.h>

/* What programs of a module differ by. */
typedef enum kw_gpu_variant {
  KW_GPU_BY_DTYPE,      /* KW_DTYPE, and with it the types of kernels/dtype.kw */
  KW_GPU_RUNS_BY_DTYPE, /* the same, and an item of its element-wise kernels takes kw_gpu_lanes: kernels/run.kw */
  KW_GPU_BY_SIZE,       /* KW_SIZE, the bytes of an element: any dtype of that size will do */
  KW_GPU_BY_NOTHING     /* there is one */
} kw_gpu_variant;

#define KW_GPU_MODULE_SOURCES 16

/* The programs of some kernels: `sources` follow the prelude and base, args, opcodes, index and narrow (and dtype and
 * run, in modules by dtype). */
typedef struct kw_gpu_module {
  const char *name;
  kw_gpu_variant by;
  uint64_t variants; /* the dtypes or sizes that there are programs for: bit d for dtype d, bit s for s bytes */
  const char *sources[KW_GPU_MODULE_SOURCES]; /* kw_gpu_source_NAME; NULL ends them */
} kw_gpu_module;

/* Among the variants: the module looks at KW_HAS_F64 whatever its dtype, so that there are programs for devices with
 * double precision and for others. */
#define KW_GPU_WIDE (UINT64_C(1) << 63)
/* The module has programs for devices that compute in vectors only; these are compiled when they are called. */
#define KW_GPU_VECTORS (UINT64_C(1) << 62)
/* On devices that do not compute in vectors an item takes 16 bytes of tensors, if they lie side by side (KW_ELEMENTS in
 * kernels/run.kw): for kernels that are short, of which there is then one for each element. */
#define KW_GPU_PACKS (UINT64_C(1) << 61)
/* A chain's module (lower/chain.h): its programs have KW_CHAIN. */
#define KW_GPU_CHAIN (UINT64_C(1) << 60)
#define KW_GPU_SIZES (1u << 1 | 1u << 2 | 1u << 4 | 1u << 8 | 1u << 16)
#define KW_GPU_ONE 1u /* of a module by nothing */

#define KW_GPU_SOURCE_LIMIT (10 + KW_GPU_MODULE_SOURCES)

/* One program's text; the sources point into the struct too, so it stays where it is. */
typedef struct kw_gpu_program {
  char name[64]; /* "unary/8": the module and the variant; "+f64" where that is a program of its own, and ".3" for op 3
                  */
  char defines[256];
  uint32_t source_count;
  const char *sources[KW_GPU_SOURCE_LIMIT];
} kw_gpu_program;

/* The variant of the module's program for elements of that dtype. */
unsigned kw_gpu_module_variant(const kw_gpu_module *module, kw_dtype dtype);
/* Whether there is such a program. */
bool kw_gpu_module_has(const kw_gpu_module *module, unsigned variant);
/* KW_LANES in a program, for a device with such vectors (kw_gpu_device.vector_bytes): 1 but in modules by runs. */
uint32_t kw_gpu_lanes(const kw_gpu_module *module, unsigned variant, uint32_t vector_bytes);
/* KW_ELEMENTS likewise: how many elements an item takes on a device that does not compute in vectors. */
uint32_t kw_gpu_pack(const kw_gpu_module *module, unsigned variant, uint32_t vector_bytes);

/* `opcode`: of the one op that the program is for; negative: for all of the module's. */
void kw_gpu_program_make(kw_gpu_program *out_program, const kw_gpu_module *module, unsigned variant, int32_t opcode,
                         bool has_f64, uint32_t vector_bytes, const char *prelude);
/* Visits every program of one module, as kw_gpu_programs_visit does of all. */
kw_status kw_gpu_module_visit(const kw_gpu_module *module, const char *prelude, kw_gpu_visit_fn visit, void *user);

#endif /* KEYWAY_GPU_PROGRAM_H */
