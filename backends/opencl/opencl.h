/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenCL backend's own types, and its functions, which the driver's table in plugin.c holds.
 */
#ifndef KEYWAY_OPENCL_H
#define KEYWAY_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <fenv.h>
#include <keyway/gpu.h>
#include <stdatomic.h>

typedef struct ocl_device {
  kw_gpu_device base; /* first: the kit takes an ocl_device for it; its physical device is of a cl_platform_id */
  cl_device_id id;
  cl_context context;
  uint32_t quirks;
  uint64_t max_alloc;     /* bytes */
  uint64_t total_memory;  /* bytes */
  _Atomic uint64_t used;  /* bytes in live buffers */
  cl_command_queue clock; /* for reading the device's clock: ocl_own_queue's, under base.lock */
  bool unified;           /* it computes in the host's memory */
  bool has_clock;         /* events tell when they were passed */
  cl_command_queue maps;  /* for maps: the same */
} ocl_device;

typedef struct ocl_mem {
  cl_mem buffer;
  uint64_t size;     /* bytes */
  const void *host;  /* of an import: where it lies; otherwise NULL */
  bool written_back; /* to its owner when it is released: a writable import */
} ocl_mem;

typedef struct ocl_stream {
  kw_gpu_stream base;     /* first; its lock serialises what is appended, and guards the fields below */
  cl_command_queue queue; /* in order */
  cl_event last;          /* of the newest command, or NULL */
  uint64_t last_call;     /* its call_id, 0 for what is not a kernel */
  bool entered;           /* between begin and end: ocl_enter said yes */
} ocl_stream;

typedef struct ocl_callback {
  kw_gpu_callback base; /* first */
  cl_event marker;      /* everything before the callback */
  cl_event gate;        /* user event: everything after it */
} ocl_callback;

/* KW_OK after a success. Otherwise attaches "what: CL_ERROR_NAME" to the thread's error and returns the status that
 * stands for the OpenCL error. */
kw_status ocl_check(const kw_host_api *host, cl_int error, const char *what);
const char *ocl_error_name(cl_int error);
kw_status ocl_error_status(cl_int error);

/* A queue of the device's own, on which no work is waited for; made at the first call for `kept`, one of the device's
 * fields, and released when the device closes. NULL and an error otherwise. */
cl_command_queue ocl_own_queue(ocl_device *device, cl_command_queue *kept, cl_command_queue_properties properties,
                               cl_int *out_error);

/* Map a buffer and unmap it, waiting for that. */
void *ocl_map_buffer(cl_command_queue queue, cl_mem buffer, cl_map_flags how, size_t offset, size_t size,
                     cl_int *out_error);
cl_int ocl_unmap_buffer(cl_command_queue queue, cl_mem buffer, void *pointer);

/* A command is enqueued between begin and end: `begin` locks the stream, and answers NULL where ocl_enter refuses;
 * `end` takes over `event`, remembers it as the newest, submits the queue and unlocks. With an error instead of an
 * event it only unlocks, and fails. */
cl_command_queue ocl_stream_begin(ocl_stream *stream);
kw_status ocl_stream_end(ocl_stream *stream, cl_int error, cl_event event, uint64_t call_id, const char *what);

/* A command that was enqueued, between begin and end, for the activity records; none when `event` is NULL. */
void ocl_activity_note(ocl_stream *stream, cl_event event, kw_activity_kind kind, uint64_t call_id);

/* What is particular about a platform, see quirk.c. */
enum {
  OCL_KEEPS_PROGRAMS = 1u << 0,   /* built programs are on disk already, in a cache of the driver's own */
  OCL_SLOW_CLBLAST = 1u << 1,     /* CLBlast is slower than the kit's kernels */
  OCL_ENDS_EARLY = 1u << 2,       /* it ends in an exit handler, whoever is in a call of it */
  OCL_BLOCKS_IN_MEMORY = 1u << 3, /* argument blocks cannot be given by value: KW_BLOCK_IN_MEMORY */
  OCL_NOT_OFFERED = 1u << 4       /* it gives wrong numbers: its devices are there only where somebody asks for them */
};
uint32_t ocl_quirks(cl_platform_id platform);
/* Whether its devices are devices of ours, `wanted` being the value of ocl_offer. Where not, the host's log has the
 * reason, and what to do about it. */
bool ocl_is_offered(const kw_host_api *host, cl_platform_id platform, const char *wanted);
extern const kw_option_desc ocl_offer;

/* For OCL_ENDS_EARLY, once the driver has its exit handlers: one that lets nobody enter from then on, and waits a while
 * for who is inside. */
void ocl_end_before_driver(void);
/* Around calls of such a driver; waits are none, as long as they may last. After that exit handler a thread that enters
 * stays there for good; false on the one that exits. With other drivers nothing. */
bool ocl_enter(const ocl_device *device);
void ocl_leave(const ocl_device *device);

/* The calling thread's floating-point exception flags, around waits and builds: Intel's driver runs kernels on the
 * thread that waits, and clears them. */
typedef struct ocl_flags {
  int raised;
  fexcept_t state;
} ocl_flags;
void ocl_flags_take(ocl_flags *out_flags);
void ocl_flags_set_back(const ocl_flags *before);
/* clWaitForEvents of one event, between them. */
cl_int ocl_wait(cl_event event);

/* CLBlast's kernels, where it is there (clblast.c); it keeps programs, which hold on to contexts, until forget. */
#ifdef OCL_HAS_CLBLAST
kw_status ocl_clblast_register(const kw_host_api *host, bool has_f64);
void ocl_clblast_forget(void);
#endif

/* ---- Of kw_gpu_driver -------------------------------------------------------------------------------------------- */

kw_status ocl_find(const kw_host_api *host, kw_gpu_list *list);
kw_status ocl_describe(const kw_host_api *host, const kw_gpu_physical *physical, kw_device_info *out_info);
bool ocl_has_f64(const kw_gpu_physical *physical);
void ocl_identify(const kw_gpu_physical *physical, char *out, size_t size);
kw_status ocl_attribute(const kw_host_api *host, const kw_gpu_physical *physical, const char *key,
                        kw_attribute *out_value);
kw_status ocl_open(kw_gpu_device *device, const kw_open_info *info);
#define OCL_DLPACK_DEVICE 4 /* kDLOpenCL */
kw_status ocl_close(kw_gpu_device *device);

kw_status ocl_alloc(kw_gpu_device *device, const kw_alloc_info *info, kw_mem *out_mem);
kw_status ocl_free(kw_gpu_device *device, kw_mem mem, kw_mem_kind kind);
kw_status ocl_copy(kw_gpu_device *device, kw_gpu_stream *stream, const kw_copy_info *copy);
kw_status ocl_fill(kw_gpu_device *device, kw_gpu_stream *stream, kw_mem mem, uint64_t offset, uint64_t size,
                   const void *pattern, uint32_t pattern_size);
kw_status ocl_map(kw_gpu_device *device, kw_gpu_stream *stream, const kw_map_info *info, void **out_pointer);
kw_status ocl_unmap(kw_gpu_device *device, kw_gpu_stream *stream, const kw_map_info *info, void *pointer);
kw_status ocl_usage(kw_gpu_device *device, uint64_t *out_free, uint64_t *out_total);

bool ocl_import_place(kw_gpu_device *device, kw_mem mem, const void **out_host);
extern const kw_interop_api ocl_interop_api;

kw_status ocl_stream_create(kw_gpu_stream *stream, uint64_t flags);
kw_status ocl_stream_destroy(kw_gpu_stream *stream);
kw_status ocl_stream_synchronize(kw_gpu_stream *stream, uint64_t timeout_ns);
/* For kw_gpu_poll: KW_ERR_NOT_READY until the event has passed, or its command failed. */
kw_status ocl_event_poll(void *event);
kw_status ocl_stream_query(kw_gpu_stream *stream);
kw_status ocl_callback_hold(kw_gpu_callback *callback);
void ocl_callback_wait(kw_gpu_callback *callback);
void ocl_callback_done(kw_gpu_callback *callback);

kw_status ocl_event_record(kw_gpu_stream *stream, void **out_event);
kw_status ocl_event_wait(kw_gpu_stream *stream, void *event);
kw_status ocl_event_query(kw_gpu_device *device, void *event);
kw_status ocl_event_synchronize(kw_gpu_device *device, void *event, uint64_t timeout_ns);
kw_status ocl_event_elapsed(kw_gpu_device *device, void *start, void *end, uint64_t *out_ns);
void ocl_event_keep(void *event);
void ocl_event_drop(void *event);

bool ocl_mark_passed(kw_gpu_device *device, void *event);
bool ocl_mark_times(kw_gpu_device *device, void *event, uint64_t *out_begin, uint64_t *out_end);
void ocl_mark_drop(kw_gpu_device *device, void *event);
kw_status ocl_device_now(kw_gpu_device *device, uint64_t *out_ns);

#define OCL_BUILD_OPTIONS "-cl-std=CL1.2 -w"
kw_status ocl_module_build(kw_gpu_device *device, const char *name, const char *const *sources, uint32_t source_count,
                           void **out_module);
void ocl_module_destroy(kw_gpu_device *device, void *module);
kw_status ocl_module_save(kw_gpu_device *device, void *module, void **out_bytes, size_t *out_size);
kw_status ocl_module_load(kw_gpu_device *device, const char *name, const void *bytes, size_t size, void **out_module);
kw_status ocl_kernel_create(kw_gpu_device *device, void *module, const char *name, void **out_kernel);
void ocl_kernel_destroy(kw_gpu_device *device, void *kernel);
kw_status ocl_launch(kw_gpu_device *device, kw_gpu_stream *stream, const kw_gpu_launch *launch);

#endif /* KEYWAY_OPENCL_H */
