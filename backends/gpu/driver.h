/* SPDX-License-Identifier: Apache-2.0
 *
 * What a runtime (OpenCL, CUDA, HIP, Level Zero ...) provides for the portable kernel pack, and what it gets back.
 *
 * A backend fills a kw_gpu_driver, starts its device struct with a kw_gpu_device, hands its memory, stream and event
 * functions to the host as they are (their signatures are the ABI's), and calls kw_gpu_register in its init: every op
 * of the pack is then a kernel of the plugin. A kernel of the backend's own goes beside it with a higher priority.
 */
#ifndef KEYWAY_GPU_DRIVER_H
#define KEYWAY_GPU_DRIVER_H

#include <keyway/plugin.h>
#include <pthread.h>

typedef struct kw_gpu_device kw_gpu_device;

/* One kernel parameter: a buffer, or bytes by value when `data` is set. */
typedef struct kw_gpu_arg {
  kw_mem mem;
  const void *data;
  size_t size;
} kw_gpu_arg;

typedef struct kw_gpu_launch {
  void *kernel;
  const kw_gpu_arg *args;
  uint32_t arg_count;
  uint32_t local[2]; /* items of a work-group; always the same for one kernel */
  uint64_t groups[2];
  uint64_t call_id;
} kw_gpu_launch;

/* Every function follows the rules of plugin.h for slots. Modules and kernels are created under the pack's lock and
 * live until kw_gpu_device_finish; launches come from any thread. */
typedef struct kw_gpu_driver {
  /* Defines the kernels' dialect in the runtime's language; see kernels/ and opencl/prelude.cl. */
  const char *prelude;

  /* Compiles `sources`, to be read one after the other; `name` is for messages. No fast-math, no contraction. */
  kw_status (*module_build)(kw_gpu_device *device, const char *name, const char *const *sources, uint32_t source_count,
                            void **out_module);
  void (*module_destroy)(kw_gpu_device *device, void *module);
  kw_status (*kernel_create)(kw_gpu_device *device, void *module, const char *name, void **out_kernel);
  void (*kernel_destroy)(kw_gpu_device *device, void *kernel);
  kw_status (*launch)(kw_gpu_device *device, void *stream, const kw_gpu_launch *launch);

  /* copy and fill are used for contiguous moves. */
  const kw_memory_api *memory;
} kw_gpu_driver;

/* What the device has built so far: see module.h. */
typedef struct kw_gpu_built kw_gpu_built;
typedef struct kw_gpu_cache {
  kw_gpu_built *items;
  size_t count, capacity;
} kw_gpu_cache;

/* The head of every backend's device struct. */
struct kw_gpu_device {
  const kw_gpu_driver *driver;
  const kw_host_api *host;
  bool has_f64;
  pthread_mutex_t lock; /* guards the two caches */
  kw_gpu_cache modules;
  kw_gpu_cache kernels;
};

/* Fills the head; compiles nothing yet. */
void kw_gpu_device_start(kw_gpu_device *device, const kw_gpu_driver *driver, const kw_host_api *host, bool has_f64);
/* Destroys all kernels and modules. */
void kw_gpu_device_finish(kw_gpu_device *device);

/* Registers the pack's kernels; for use inside init. `has_f64`: some device computes in double precision. */
kw_status kw_gpu_register(const kw_host_api *host, bool has_f64);

#endif /* KEYWAY_GPU_DRIVER_H */
