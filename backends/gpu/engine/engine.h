/* SPDX-License-Identifier: Apache-2.0
 *
 * The execution engine: runs the pack's kernels on the CPU with no driver, for tests. The kernels' sources are compiled
 * as C++ by the host's compiler and loaded; work-groups run one after the other, their items as fibers where the kernel
 * has barriers. It executes compiled kernels and nothing else, and is never installed.
 */
#ifndef KEYWAY_GPU_ENGINE_H
#define KEYWAY_GPU_ENGINE_H

#include <keyway/gpu.h>

/* Which item of a launch runs; kernels read it through prelude.hpp. */
typedef struct kw_engine_item {
  int64_t group[2];
  int32_t local[2];
  int32_t size; /* items of a group along dimension 0 */
} kw_engine_item;

/* A kernel of a loaded module: runs one item. */
typedef struct kw_engine_kernel {
  void (*run)(void *const *args);
  void (*bind)(const kw_engine_item *item, void (*barrier)(void)); /* for the calling thread */
} kw_engine_kernel;

/* A launch with arguments of its own: outlives the call that made it. */
typedef struct kw_engine_launch kw_engine_launch;

/* The driver's half of programs: see keyway/gpu.h. A module is a shared library. */
kw_status kw_engine_module_build(kw_gpu_device *device, const char *name, const char *const *sources,
                                 uint32_t source_count, void **out_module);
void kw_engine_module_destroy(kw_gpu_device *device, void *module);
kw_status kw_engine_module_save(kw_gpu_device *device, void *module, void **out_bytes, size_t *out_size);
kw_status kw_engine_module_load(kw_gpu_device *device, const char *name, const void *bytes, size_t size,
                                void **out_module);
kw_status kw_engine_kernel_create(kw_gpu_device *device, void *module, const char *name, void **out_kernel);
void kw_engine_kernel_destroy(kw_gpu_device *device, void *kernel);

/* What built modules depend on beside their sources: the compiler's version and options. */
const char *kw_engine_identity(void);

/* Copies what `launch` points to; a kw_mem is a host pointer. NULL when the host is out of memory. */
kw_engine_launch *kw_engine_launch_copy(const kw_gpu_launch *launch);
/* Runs all of its groups on the calling thread. */
void kw_engine_launch_run(const kw_engine_launch *launch);
void kw_engine_launch_free(kw_engine_launch *launch);

#endif /* KEYWAY_GPU_ENGINE_H */
