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
  KW_GPU_BY_DTYPE,  /* KW_DTYPE, and with it the types of kernels/dtype.kw */
  KW_GPU_BY_SIZE,   /* KW_SIZE, the bytes of an element: any dtype of that size will do */
  KW_GPU_BY_NOTHING /* there is one */
} kw_gpu_variant;

/* A program: `sources` follow the prelude and base, args, opcodes, index and narrow (and dtype, in a module by dtype).
 */
typedef struct kw_gpu_module {
  const char *name;
  kw_gpu_variant by;
  const char *sources[10]; /* NULL ends them */
} kw_gpu_module;

/* A kernel is known by the address of its description: one static object each. */
typedef struct kw_gpu_kernel {
  const kw_gpu_module *module;
  const char *function;
} kw_gpu_kernel;

/* The compiled kernel, building it at the first call: may take a second. Thread-safe. The device owns it. */
kw_status kw_gpu_kernel_find(kw_gpu_device *device, const kw_gpu_kernel *kernel, kw_dtype dtype, void **out_kernel);

#endif /* KEYWAY_GPU_MODULE_H */
