/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway's plugin kit: the whole op set for a chip whose runtime compiles kernels (OpenCL, CUDA, HIP, Level Zero, a
 * vendor's own), in a static library that a plugin links (CMake target keyway::gpu, pkg-config package keyway-gpu).
 *
 * A plugin fills a kw_gpu_driver, starts its device struct with a kw_gpu_device, hands its memory, stream and event
 * functions to the host as they are (their signatures are plugin.h's), and calls kw_gpu_register in its init: every op
 * of the pack is then a kernel of the plugin. A kernel of the plugin's own goes beside it with a higher priority.
 *
 * The kit is linked into the plugin and promises no binary compatibility: rebuild with the headers it came with.
 */
#ifndef KEYWAY_GPU_H
#define KEYWAY_GPU_H

#include <keyway/plugin.h>

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

/* Every function follows the rules of plugin.h for slots. Modules and kernels are made under the pack's lock and live
 * until kw_gpu_device_finish; launches come from any thread. */
typedef struct kw_gpu_driver {
  /* Defines the kernels' dialect in the runtime's language: kw_gpu_prelude_opencl, or one like it. */
  const char *prelude;

  /* Compiles `sources`, to be read one after the other. No fast-math, no contraction. `name` says which program of the
   * pack this is ("elementwise/8"): for messages, and to find what was compiled ahead (kw_gpu_programs_visit). */
  kw_status (*module_build)(kw_gpu_device *device, const char *name, const char *const *sources, uint32_t source_count,
                            void **out_module);
  void (*module_destroy)(kw_gpu_device *device, void *module);
  kw_status (*kernel_create)(kw_gpu_device *device, void *module, const char *name, void **out_kernel);
  void (*kernel_destroy)(kw_gpu_device *device, void *kernel);
  kw_status (*launch)(kw_gpu_device *device, void *stream, const kw_gpu_launch *launch);

  /* copy and fill are used for contiguous moves. */
  const kw_memory_api *memory;

  /* A built module as bytes (to be freed with free), and a module from such bytes. Where both are given, modules are
   * kept on disk between processes; bytes that come back are those that were kept, or module_load is not called. What
   * either cannot do is no error: the module is built from source then. (optional) */
  kw_status (*module_save)(kw_gpu_device *device, void *module, void **out_bytes, size_t *out_size);
  kw_status (*module_load)(kw_gpu_device *device, const char *name, const void *bytes, size_t size, void **out_module);
} kw_gpu_driver;

/* The head of every plugin's device struct. */
struct kw_gpu_device {
  const kw_gpu_driver *driver;
  const kw_host_api *host;
  bool has_f64;          /* the device computes in double precision */
  uint32_t vector_bytes; /* of its vectors, 64: an item takes as much of a tensor at a time, where the prelude is
                            OpenCL C. 0: one element (for a GPU). The plugin sets it after kw_gpu_device_start */
  struct kw_gpu_programs *programs; /* what is built so far */
};

/* Fills the head; compiles nothing yet. `identity` is what a built module depends on beside its sources: the device,
 * the versions of driver and compiler, their options. NULL: modules are not kept on disk. It is copied. Fails when the
 * host is out of memory; then there is nothing to finish. */
kw_status kw_gpu_device_start(kw_gpu_device *device, const kw_gpu_driver *driver, const kw_host_api *host, bool has_f64,
                              const char *identity);
/* Destroys all kernels and modules. */
void kw_gpu_device_finish(kw_gpu_device *device);

/* Registers the pack's kernels; for use inside init. `has_f64`: some device computes in double precision. */
kw_status kw_gpu_register(const kw_host_api *host, bool has_f64);

/* ---- Host callbacks ---------------------------------------------------------------------------------------------- */

/* A thread for what stream.call_host is given: a callback may block for long, and must hold up neither the runtime's
 * own threads nor other streams. One for each stream, started at its first callback; callbacks run in the order of
 * push.
 *
 * `wait` returns when all that the stream had before has finished or failed; then the token runs, whatever became of
 * the work; then `done` lets the stream go on, and frees the callback. */
typedef struct kw_gpu_callback {
  struct kw_gpu_callback *next;
  uint64_t token;
  void (*wait)(struct kw_gpu_callback *callback);
  void (*done)(struct kw_gpu_callback *callback);
} kw_gpu_callback;

typedef struct kw_gpu_callbacks kw_gpu_callbacks;

/* NULL when the host has no memory or thread for it. */
kw_gpu_callbacks *kw_gpu_callbacks_start(const kw_host_api *host);
void kw_gpu_callbacks_push(kw_gpu_callbacks *callbacks, kw_gpu_callback *callback);
/* Runs what was pushed, then ends the thread. */
void kw_gpu_callbacks_finish(kw_gpu_callbacks *callbacks);

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* An event of kw_event_api where the runtime's own is good for one record and counts references: it holds that of its
 * last record. Whoever works with that one has a reference too, so that recording again and destroying disturb no wait.
 * Thread-safe. */
typedef struct kw_gpu_marker kw_gpu_marker;

typedef struct kw_gpu_marker_api {
  void (*keep)(void *event); /* one reference more */
  void (*drop)(void *event); /* one less */
} kw_gpu_marker_api;

/* NULL when the host is out of memory. */
kw_gpu_marker *kw_gpu_marker_create(const kw_gpu_marker_api *api);
/* Takes over a reference to `event`. */
void kw_gpu_marker_set(kw_gpu_marker *marker, void *event);
/* The event of the last record with a reference for the caller, or NULL. */
void *kw_gpu_marker_get(kw_gpu_marker *marker);
void kw_gpu_marker_destroy(kw_gpu_marker *marker);

/* ---- Device info ------------------------------------------------------------------------------------------------- */

/* kw_device_info.flags of a device of that name: one that says "(emulated)", as the devices of test drivers do, is. */
uint32_t kw_gpu_device_flags(const char *name);

/* A stable id as all backends write it, so that one chip has the same whoever reaches it. PCI before UUID. */
void kw_gpu_id_pci(char *out, size_t size, uint32_t domain, uint32_t bus, uint32_t device, uint32_t function);
void kw_gpu_id_uuid(char *out, size_t size, const uint8_t uuid[16]);

/* ---- The plugin -------------------------------------------------------------------------------------------------- */

/* For the end of keyway_plugin_query: `desc`, or why this host cannot have it. */
kw_status kw_gpu_answer_query(const kw_plugin_desc *desc, const kw_query_info *host, const kw_plugin_desc **out_plugin,
                              const char **out_reason);

/* kw_plugin_desc.sanitizer of what is compiled here. */
#if defined(__SANITIZE_ADDRESS__)
#define KW_GPU_SANITIZER "address"
#elif defined(__SANITIZE_THREAD__)
#define KW_GPU_SANITIZER "thread"
#else
#define KW_GPU_SANITIZER ""
#endif

/* ---- The kernels' text ------------------------------------------------------------------------------------------- */

extern const char kw_gpu_prelude_opencl[]; /* OpenCL C 1.2 */
extern const char kw_gpu_prelude_cuda[];   /* CUDA C++ and HIP, for NVRTC and hipRTC */

/* For runtimes without a compiler: every program that module_build can be asked for, to be compiled ahead. Stops at the
 * first status other than KW_OK, and returns it. */
typedef kw_status (*kw_gpu_visit_fn)(void *user, const char *name, const char *const *sources, uint32_t source_count);
kw_status kw_gpu_programs_visit(const char *prelude, kw_gpu_visit_fn visit, void *user);

#endif /* KEYWAY_GPU_H */
