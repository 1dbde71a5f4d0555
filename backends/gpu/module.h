/* SPDX-License-Identifier: Apache-2.0
 *
 * The pack's kernels, compiled when first needed. All kernels of a dtype are one program: the cost of a program
 * is mostly the driver's own headers, and a kernel of it that is never launched costs little more.
 */
#ifndef KEYWAY_GPU_MODULE_H
#define KEYWAY_GPU_MODULE_H

#include "driver.h"

typedef enum kw_gpu_kernel_id {
  KW_GPU_UNARY,
  KW_GPU_BINARY,
  KW_GPU_POW,
  KW_GPU_COMPARE,
  KW_GPU_CLAMP,
  KW_GPU_REDUCE,
  KW_GPU_ARGMAX,
  KW_GPU_MM,
  KW_GPU_COPY, /* these three are specialised by element size: any dtype of that size will do */
  KW_GPU_FILL,
  KW_GPU_WHERE,
  KW_GPU_CONVERT, /* not specialised */
  KW_GPU_KERNEL_COUNT
} kw_gpu_kernel_id;

/* The compiled kernel, building it at the first call: may take a second. Thread-safe. The device owns it. */
kw_status kw_gpu_kernel_find(kw_gpu_device *device, kw_gpu_kernel_id id, kw_dtype dtype, void **out_kernel);

#endif /* KEYWAY_GPU_MODULE_H */
