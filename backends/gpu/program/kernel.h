/* SPDX-License-Identifier: Apache-2.0
 *
 * A device's kernels, compiled when first needed.
 */
#ifndef KEYWAY_GPU_KERNEL_H
#define KEYWAY_GPU_KERNEL_H

#include "program/program.h"

/* A kernel is known by the address of its description: one static object each. */
typedef struct kw_gpu_kernel {
  const kw_gpu_module *module;
  const char *function;
} kw_gpu_kernel;

/* The compiled kernel, building it at the first call: may take a second. On a device that has programs for one op it
 * may do that of `opcode` only, unless it is negative. Thread-safe. The device owns it. */
kw_status kw_gpu_kernel_find(kw_gpu_device *device, const kw_gpu_kernel *kernel, kw_dtype dtype, int32_t opcode,
                             void **out_kernel);

/* A kernel whose text is made while the device is open: `function` of the module with `text` behind its sources. The
 * same text gives the same kernel. The device owns it. NULL: the host is out of memory. Thread-safe. */
const kw_gpu_kernel *kw_gpu_kernel_make(kw_gpu_device *device, const kw_gpu_module *module, const char *function,
                                        const char *text);

#endif /* KEYWAY_GPU_KERNEL_H */
