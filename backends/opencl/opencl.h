/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenCL backend's own types. Everything here is reached through the tables of plugin.c.
 */
#ifndef KEYWAY_OPENCL_H
#define KEYWAY_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <keyway/gpu.h>
#include <keyway/plugin.h>
#include <pthread.h>
#include <stdatomic.h>

/* One physical device, found at init. */
typedef struct ocl_entry {
  cl_platform_id platform;
  cl_device_id id;
} ocl_entry;

typedef struct ocl_plugin {
  const kw_host_api *host;
  uint32_t count;
  ocl_entry *entries;
} ocl_plugin;

typedef struct ocl_device {
  kw_gpu_device base; /* first: the pack takes an ocl_device for it */
  cl_device_id id;
  cl_context context;
  uint32_t quirks;
  uint64_t max_alloc;    /* bytes */
  uint64_t total_memory; /* bytes */
  _Atomic uint64_t used; /* bytes in live buffers */
} ocl_device;

typedef struct ocl_mem {
  cl_mem buffer;
  uint64_t size; /* bytes */
} ocl_mem;

typedef struct ocl_stream {
  ocl_device *device;
  uint64_t token;
  cl_command_queue queue;      /* in order */
  pthread_mutex_t lock;        /* serialises what is appended, and guards the fields below */
  cl_event last;               /* of the newest command, or NULL */
  uint64_t last_call;          /* its call_id, 0 for what is not a kernel */
  bool failed;                 /* a failure was reported since the last synchronise */
  kw_gpu_callbacks *callbacks; /* NULL before the first */
} ocl_stream;

/* Attaches "what: CL_ERROR_NAME" to the thread's error and returns the status that stands for the OpenCL error. */
kw_status ocl_fail(const kw_host_api *host, cl_int error, const char *what);
const char *ocl_error_name(cl_int error);
kw_status ocl_error_status(cl_int error);

/* A command is enqueued between begin and end: `begin` locks the stream; `end` takes over `event`, remembers it as the
 * newest, submits the queue and unlocks. With an error instead of an event it only unlocks, and fails. */
cl_command_queue ocl_stream_begin(ocl_stream *stream);
kw_status ocl_stream_end(ocl_stream *stream, cl_int error, cl_event event, uint64_t call_id, const char *what);

/* The driver's half of programs, see keyway/gpu.h. */
#define OCL_BUILD_OPTIONS "-cl-std=CL1.2"
kw_status ocl_module_build(kw_gpu_device *device, const char *name, const char *const *sources, uint32_t source_count,
                           void **out_module);
kw_status ocl_module_save(kw_gpu_device *device, void *module, void **out_bytes, size_t *out_size);
kw_status ocl_module_load(kw_gpu_device *device, const char *name, const void *bytes, size_t size, void **out_module);
void ocl_module_destroy(kw_gpu_device *device, void *module);
kw_status ocl_kernel_create(kw_gpu_device *device, void *module, const char *name, void **out_kernel);
void ocl_kernel_destroy(kw_gpu_device *device, void *kernel);
kw_status ocl_launch(kw_gpu_device *device, void *stream, const kw_gpu_launch *launch);

/* What is particular about a platform, see quirk.c. */
enum {
  OCL_KEEPS_PROGRAMS = 1u << 0, /* built programs are on disk already, in a cache of the driver's own */
  OCL_SLOW_CLBLAST = 1u << 1    /* CLBlast is slower than the pack */
};
uint32_t ocl_quirks(cl_platform_id platform);

/* Finds every device of every platform; no platform and no device are not errors. */
kw_status ocl_devices_find(ocl_plugin *plugin);

/* CLBlast's kernels, where it is there (clblast.c); it keeps programs, which hold on to contexts, until forget. */
#ifdef OCL_HAS_CLBLAST
kw_status ocl_clblast_register(const kw_host_api *host, bool has_f64);
void ocl_clblast_forget(void);
#endif

extern const kw_device_api ocl_device_api;
extern const kw_memory_api ocl_memory_api;
extern const kw_stream_api ocl_stream_api;
extern const kw_event_api ocl_event_api;

#endif /* KEYWAY_OPENCL_H */
