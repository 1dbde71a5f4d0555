/* SPDX-License-Identifier: Apache-2.0
 *
 * What CUDA's driver API and the HIP runtime have in common, which is nearly everything: one backend over a table of
 * entry points, which is filled when the libraries are opened. backends/cuda and backends/hip add what differs.
 *
 * A handle is a void *; an error is an int, 0 when there is none, and its numbers mean the same in both.
 */
#ifndef KEYWAY_GPU_RUNTIME_H
#define KEYWAY_GPU_RUNTIME_H

#include "compilers.h"

#include <keyway/gpu.h>
#include <pthread.h>
#include <stdatomic.h>

/* ---- Entry points ------------------------------------------------------------------------------------------------ */

/* What it is called here, its parameters, CUDA's name, HIP's name. */
#define KW_RT_CALLS(X)                                                                                                 \
  X(init, (unsigned flags), "cuInit", "hipInit")                                                                       \
  X(driver_version, (int *version), "cuDriverGetVersion", "hipDriverGetVersion")                                       \
  X(device_count, (int *count), "cuDeviceGetCount", "hipGetDeviceCount")                                               \
  X(device_get, (int *device, int ordinal), "cuDeviceGet", "hipDeviceGet")                                             \
  X(device_name, (char *name, int size, int device), "cuDeviceGetName", "hipDeviceGetName")                            \
  X(device_pci, (char *id, int size, int device), "cuDeviceGetPCIBusId", "hipDeviceGetPCIBusId")                       \
  X(device_uuid, (void *uuid, int device), "cuDeviceGetUuid_v2", "hipDeviceGetUuid")                                   \
  X(device_attribute, (int *value, int attribute, int device), "cuDeviceGetAttribute", "hipDeviceGetAttribute")        \
  X(device_memory, (size_t * bytes, int device), "cuDeviceTotalMem_v2", "hipDeviceTotalMem")                           \
  X(memory_info, (size_t * free, size_t * total), "cuMemGetInfo_v2", "hipMemGetInfo")                                  \
  X(alloc, (void **memory, size_t size), "cuMemAlloc_v2", "hipMalloc")                                                 \
  X(free, (void *memory), "cuMemFree_v2", "hipFree")                                                                   \
  X(alloc_async, (void **memory, size_t size, void *stream), "cuMemAllocAsync", "hipMallocAsync")                      \
  X(free_async, (void *memory, void *stream), "cuMemFreeAsync", "hipFreeAsync")                                        \
  X(host_alloc, (void **memory, size_t size, unsigned flags), "cuMemHostAlloc", "hipHostMalloc")                       \
  X(managed_alloc, (void **memory, size_t size, unsigned flags), "cuMemAllocManaged", "hipMallocManaged")              \
  X(host_free, (void *memory), "cuMemFreeHost", "hipHostFree")                                                         \
  X(host_register, (void *memory, size_t size, unsigned flags), "cuMemHostRegister_v2", "hipHostRegister")             \
  X(host_unregister, (void *memory), "cuMemHostUnregister", "hipHostUnregister")                                       \
  X(host_address, (void **there, void *memory, unsigned flags), "cuMemHostGetDevicePointer_v2",                        \
    "hipHostGetDevicePointer")                                                                                         \
  X(copy_in, (void *to, const void *from, size_t size, void *stream), "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync")    \
  X(copy_out, (void *to, const void *from, size_t size, void *stream), "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync")   \
  X(copy, (void *to, const void *from, size_t size, void *stream), "cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync")       \
  X(set_8, (void *to, uint8_t value, size_t count, void *stream), "cuMemsetD8Async", "hipMemsetD8Async")               \
  X(set_16, (void *to, uint16_t value, size_t count, void *stream), "cuMemsetD16Async", "hipMemsetD16Async")           \
  X(set_32, (void *to, uint32_t value, size_t count, void *stream), "cuMemsetD32Async", "hipMemsetD32Async")           \
  X(stream_create, (void **stream, unsigned flags), "cuStreamCreate", "hipStreamCreateWithFlags")                      \
  X(stream_destroy, (void *stream), "cuStreamDestroy_v2", "hipStreamDestroy")                                          \
  X(stream_synchronize, (void *stream), "cuStreamSynchronize", "hipStreamSynchronize")                                 \
  X(stream_query, (void *stream), "cuStreamQuery", "hipStreamQuery")                                                   \
  X(stream_wait, (void *stream, void *event, unsigned flags), "cuStreamWaitEvent", "hipStreamWaitEvent")               \
  X(event_create, (void **event, unsigned flags), "cuEventCreate", "hipEventCreateWithFlags")                          \
  X(event_destroy, (void *event), "cuEventDestroy_v2", "hipEventDestroy")                                              \
  X(event_record, (void *event, void *stream), "cuEventRecord", "hipEventRecord")                                      \
  X(event_query, (void *event), "cuEventQuery", "hipEventQuery")                                                       \
  X(event_synchronize, (void *event), "cuEventSynchronize", "hipEventSynchronize")                                     \
  X(event_elapsed, (float *ms, void *start, void *end), "cuEventElapsedTime", "hipEventElapsedTime")                   \
  X(capture_begin, (void *stream, int mode), "cuStreamBeginCapture_v2", "hipStreamBeginCapture")                       \
  X(capture_end, (void *stream, void **graph), "cuStreamEndCapture", "hipStreamEndCapture")                            \
  X(graph_make, (void **runnable, void *graph, uint64_t flags), "cuGraphInstantiateWithFlags",                         \
    "hipGraphInstantiateWithFlags")                                                                                    \
  X(graph_launch, (void *runnable, void *stream), "cuGraphLaunch", "hipGraphLaunch")                                   \
  X(graph_unmake, (void *runnable), "cuGraphExecDestroy", "hipGraphExecDestroy")                                       \
  X(graph_destroy, (void *graph), "cuGraphDestroy", "hipGraphDestroy")                                                 \
  X(module_load, (void **module, const void *image), "cuModuleLoadData", "hipModuleLoadData")                          \
  X(module_unload, (void *module), "cuModuleUnload", "hipModuleUnload")                                                \
  X(module_function, (void **function, void *module, const char *name), "cuModuleGetFunction", "hipModuleGetFunction") \
  X(launch,                                                                                                            \
    (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,            \
     unsigned block_z, unsigned shared_bytes, void *stream, void **params, void **extra),                              \
    "cuLaunchKernel", "hipModuleLaunchKernel")

/* Of the compiler, NVRTC or hipRTC. */
#define KW_RT_COMPILER_CALLS(X)                                                                           \
  X(compiler_version, (int *major, int *minor), "nvrtcVersion", "hiprtcVersion")                          \
  X(program_create,                                                                                       \
    (void **program, const char *source, const char *name, int header_count, const char *const *headers,  \
     const char *const *header_names),                                                                    \
    "nvrtcCreateProgram", "hiprtcCreateProgram")                                                          \
  X(program_compile, (void *program, int count, const char *const *options), "nvrtcCompileProgram",       \
    "hiprtcCompileProgram")                                                                               \
  X(program_log_size, (void *program, size_t *size), "nvrtcGetProgramLogSize", "hiprtcGetProgramLogSize") \
  X(program_log, (void *program, char *log), "nvrtcGetProgramLog", "hiprtcGetProgramLog")                 \
  X(program_code_size, (void *program, size_t *size), "nvrtcGetCUBINSize", "hiprtcGetCodeSize")           \
  X(program_code, (void *program, char *code), "nvrtcGetCUBIN", "hiprtcGetCode")                          \
  X(program_destroy, (void **program), "nvrtcDestroyProgram", "hiprtcDestroyProgram")

/* Of drivers that can map memory by handles; all of them or none. */
#define KW_RT_SHARE_CALLS(X)                                                                                         \
  X(share_granularity, (size_t * step, const void *wanted, unsigned option), "cuMemGetAllocationGranularity",        \
    "hipMemGetAllocationGranularity")                                                                                \
  X(share_create, (uint64_t * handle, size_t size, const void *wanted, unsigned long long flags), "cuMemCreate",     \
    "hipMemCreate")                                                                                                  \
  X(share_release, (uint64_t handle), "cuMemRelease", "hipMemRelease")                                               \
  X(share_reserve, (void **begin, size_t size, size_t alignment, void *at, unsigned long long flags),                \
    "cuMemAddressReserve", "hipMemAddressReserve")                                                                   \
  X(share_unreserve, (void *begin, size_t size), "cuMemAddressFree", "hipMemAddressFree")                            \
  X(share_map, (void *begin, size_t size, size_t offset, uint64_t handle, unsigned long long flags), "cuMemMap",     \
    "hipMemMap")                                                                                                     \
  X(share_access, (void *begin, size_t size, const void *wanted, size_t count), "cuMemSetAccess", "hipMemSetAccess") \
  X(share_unmap, (void *begin, size_t size), "cuMemUnmap", "hipMemUnmap")                                            \
  X(share_export, (void *out, uint64_t handle, unsigned type, unsigned long long flags),                             \
    "cuMemExportToShareableHandle", "hipMemExportToShareableHandle")                                                 \
  X(share_import, (uint64_t * handle, void *shared, unsigned type), "cuMemImportFromShareableHandle",                \
    "hipMemImportFromShareableHandle")

/* A handle of memory for another process; calls take it by value. */
typedef struct kw_rt_ipc_handle {
  char bytes[64];
} kw_rt_ipc_handle;

/* Of drivers that name memory for other processes; all of them or none. */
#define KW_RT_IPC_CALLS(X)                                                                          \
  X(ipc_name, (kw_rt_ipc_handle * handle, void *memory), "cuIpcGetMemHandle", "hipIpcGetMemHandle") \
  X(ipc_open, (void **memory, kw_rt_ipc_handle handle, unsigned flags), "cuIpcOpenMemHandle_v2",    \
    "hipIpcOpenMemHandle")                                                                          \
  X(ipc_close, (void *memory), "cuIpcCloseMemHandle", "hipIpcCloseMemHandle")                       \
  X(address_range, (void **begin, size_t *size, void *inside), "cuMemGetAddressRange_v2", "hipMemGetAddressRange")

#define KW_RT_FIELD(field, parameters, cuda, hip) int(*field) parameters;
#define KW_RT_NUMBER(field, parameters, cuda, hip) KW_RT_##field,
typedef struct kw_rt_calls {
  KW_RT_CALLS(KW_RT_FIELD)
  KW_RT_COMPILER_CALLS(KW_RT_FIELD)
  KW_RT_SHARE_CALLS(KW_RT_FIELD)
  KW_RT_IPC_CALLS(KW_RT_FIELD)
} kw_rt_calls;
enum {
  KW_RT_CALLS(KW_RT_NUMBER) KW_RT_DRIVER_CALLS,
  KW_RT_LAST_DRIVER = KW_RT_DRIVER_CALLS - 1,
  KW_RT_COMPILER_CALLS(KW_RT_NUMBER) KW_RT_NEEDED_CALLS,
  KW_RT_LAST_NEEDED = KW_RT_NEEDED_CALLS - 1,
  KW_RT_SHARE_CALLS(KW_RT_NUMBER) KW_RT_SHARE_END,
  KW_RT_LAST_SHARE = KW_RT_SHARE_END - 1,
  KW_RT_IPC_CALLS(KW_RT_NUMBER) KW_RT_CALL_COUNT
};

/* All that are needed are set once kw_rt_open has said KW_OK. */
extern kw_rt_calls kw_rt;

/* ---- What a backend adds ----------------------------------------------------------------------------------------- */

struct kw_rt_device;

#define KW_RT_OPTION_LIMIT 8 /* with the architecture */
#define KW_RT_ARCH_SIZE 32
#define KW_RT_OWN_WAIT_VALUE 0 /* wait_value stands first among own_calls */
#define KW_RT_OWN_COPY_PEER 1  /* then what copy_peer calls */

typedef struct kw_rt_own_call {
  const char *name;
  void *entry; /* a pointer to a function, to be set */
} kw_rt_own_call;

typedef struct kw_rt_runtime {
  const char *name;                /* "CUDA" */
  const char *vendor;              /* of the devices */
  const char *const *call_names;   /* KW_RT_CALLS, KW_RT_COMPILER_CALLS, KW_RT_SHARE_CALLS, KW_RT_IPC_CALLS */
  const kw_rt_own_call *own_calls; /* of the driver, beside these; NULL ends them */
  const char *const *driver;       /* names of the library, tried in order; NULL ends them */
  const char *const *compiler;
  const char *no_driver, *no_compiler, *no_device; /* probe's answers: what is missing, and what would bring it */
  const char *compiler_name;                       /* "NVRTC" */
  int units_attribute, pools_attribute;            /* numbers for device_attribute */
  int clock_attribute, memory_clock_attribute;     /* kHz */
  int integrated_attribute;
  int managed_attribute;  /* concurrent access to managed memory */
  int dl_device, dl_host; /* DLPack's numbers for the device's memory and the host's it reaches */
  int descriptor_since;   /* drivers before this version want a pointer to a descriptor that they import */

  const char *(*error_name)(int error);
  const char *(*error_text)(int error);
  void (*version_text)(int version, char *out, size_t size); /* of the driver */

  /* A context for the device, and the way out of it. `lost`: it is broken, also for others in this process. */
  kw_status (*context_open)(struct kw_rt_device *device);
  void (*context_close)(struct kw_rt_device *device, bool lost);
  /* Makes the device the calling thread's current one, and what was so before again. */
  void *(*enter)(const struct kw_rt_device *device);
  void (*leave)(void *before);

  /* Enqueues a copy on a stream of `to_device`, the current one. */
  int (*copy_peer)(const struct kw_rt_device *to_device, void *to, const struct kw_rt_device *from_device,
                   const void *from, size_t size, void *stream);
  /* Later work of the stream waits until the number at `address`, in memory of host_alloc, is `value` or more. */
  int (*wait_value)(void *stream, void *address, uint32_t value);

  /* The compiler's option that names the device's architecture; false: it needs none. */
  bool (*arch_option)(int device, char out[KW_RT_ARCH_SIZE]);
  const char *const *options; /* NULL ends them */
} kw_rt_runtime;

extern const kw_rt_runtime kw_rt_backend_runtime;

/* ---- The backend ------------------------------------------------------------------------------------------------- */

#define KW_RT_LIBRARY_LIMIT 2

typedef struct kw_rt_device {
  kw_gpu_device base; /* first: the kit takes a kw_rt_device for it; the physical device's id is device_get's number */
  int id;             /* that number */
  void *context;      /* the backend's own */
  uint64_t total_memory;
  bool pools;   /* memory is allocated and freed in the order of a stream, which waits for no other */
  bool managed; /* the host may touch managed memory while the device works */
  void *memory_stream;
  void *origin;      /* of the device's clock, an event; NULL before the clock is first read */
  int64_t origin_ns; /* the time then; the device's lock guards both */
  atomic_bool lost;
  struct kw_rt_shared *shared; /* memory for others and of others, by descriptor; under the device's lock */
  struct {
    const struct kw_rt_library *library; /* vendor_library.h; NULL: none from here on */
    void *handle;
  } handles[KW_RT_LIBRARY_LIMIT]; /* the device's lock guards these, and those that take one thread at a time */
} kw_rt_device;

typedef struct kw_rt_stream {
  kw_gpu_stream base;         /* first; its handle is the runtime's stream */
  _Atomic uint64_t last_call; /* call_id of the newest launch */
  atomic_bool captures;       /* what is enqueued becomes a graph */
  _Atomic uint32_t *gate;     /* how many callbacks have run, in pinned memory; NULL before the first */
  uint32_t gates;             /* how many have been enqueued; under the stream's lock */
} kw_rt_stream;

typedef struct kw_rt_callback {
  kw_gpu_callback base; /* first */
  void *marker;         /* an event: everything before the callback */
} kw_rt_callback;

/* The first of the named libraries that is there, NULL when none is; names end with NULL. Never closed again: drivers
 * have threads and exit handlers of their own. */
void *kw_rt_load(const char *const *names);
/* Sets the calls of a library; those end with a name that is NULL. NULL, or the first that it lacks. */
const char *kw_rt_find_calls(void *library, const kw_rt_own_call *calls);

/* Opens the libraries, once for the life of the process. NULL, or why there is nothing to work with. */
const char *kw_rt_open(void);

/* Whether the driver has KW_RT_SHARE_CALLS. */
bool kw_rt_shares(void);
/* Memory that kw_rt_export takes. */
kw_status kw_rt_share_alloc(kw_rt_device *device, uint64_t size, kw_mem *out_mem);
/* Frees it, or ends an import; false where it is neither. */
bool kw_rt_share_end(kw_rt_device *device, kw_mem mem, kw_status *out_status);

/* The same by bytes (KW_MEM_IPC): whether the driver has KW_RT_IPC_CALLS. */
bool kw_rt_names_memory(void);
kw_status kw_rt_ipc_alloc(kw_rt_device *device, const kw_alloc_info *info, kw_mem *out_mem);
kw_status kw_rt_ipc_export(kw_rt_device *device, kw_mem mem, kw_external_memory *inout_info);
kw_status kw_rt_ipc_import(kw_rt_device *device, const kw_external_memory *info, kw_mem *out_mem);
bool kw_rt_ipc_end(kw_rt_device *device, kw_mem mem, kw_status *out_status);

/* An entry point that not every driver has, to be set; false: this one has not. After kw_rt_open. */
bool kw_rt_driver_has(const kw_rt_own_call *call);

/* "cuMemAllocAsync: CUDA_ERROR_OUT_OF_MEMORY: out of memory". `call` is KW_RT_alloc_async; of the backend's own calls,
 * KW_RT_CALL_COUNT + its place among them. */
void kw_rt_error_text(int call, int error, char *out, size_t size);
kw_status kw_rt_status(int error);
/* KW_OK when there is no error. Otherwise attaches the description to the thread's error and returns its status. */
kw_status kw_rt_check(kw_rt_device *device, int call, int error);
kw_status kw_rt_no_memory(const kw_host_api *host, const char *what);

/* The sources as one, to be freed with free; NULL when the host is out of memory. */
char *kw_rt_join(const char *const *sources, uint32_t count);
/* All of the compiler's options for a device; how many. */
uint32_t kw_rt_options(int device, char arch[KW_RT_ARCH_SIZE], const char *out[KW_RT_OPTION_LIMIT]);

/* Around the calls that enqueue one command, in the device's context: while activity is recorded it locks the stream
 * and marks the command. `error` is what they gave, `id` as in kw_gpu_activity_note. */
typedef struct kw_rt_span {
  kw_gpu_stream *stream;
  void *mark; /* NULL: none */
  bool locked;
} kw_rt_span;
kw_rt_span kw_rt_span_begin(kw_gpu_stream *stream);
void kw_rt_span_end(const kw_rt_span *span, kw_activity_kind kind, uint64_t id, int error);

/* Destroys the handles of the vendor's libraries; in the device's context. */
void kw_rt_close_handles(kw_rt_device *device);

/* ---- Of kw_gpu_driver -------------------------------------------------------------------------------------------- */

kw_status kw_rt_probe(const char **out_reason);
kw_status kw_rt_find(const kw_host_api *host, kw_gpu_list *list);
kw_status kw_rt_describe(const kw_host_api *host, const kw_gpu_physical *physical, kw_device_info *out_info);
void kw_rt_identify(const kw_gpu_physical *physical, char *out, size_t size);
kw_status kw_rt_attribute(const kw_host_api *host, const kw_gpu_physical *physical, const char *key,
                          kw_attribute *out_value);
kw_status kw_rt_device_open(kw_gpu_device *device, const kw_open_info *info);
kw_status kw_rt_device_close(kw_gpu_device *device);

kw_status kw_rt_alloc(kw_gpu_device *device, const kw_alloc_info *info, kw_mem *out_mem);
kw_status kw_rt_free(kw_gpu_device *device, kw_mem mem, kw_mem_kind kind);
kw_status kw_rt_copy(kw_gpu_device *device, kw_gpu_stream *stream, const kw_copy_info *copy);
kw_status kw_rt_fill(kw_gpu_device *device, kw_gpu_stream *stream, kw_mem mem, uint64_t offset, uint64_t size,
                     const void *pattern, uint32_t pattern_size);
kw_status kw_rt_usage(kw_gpu_device *device, uint64_t *out_free, uint64_t *out_total);
kw_status kw_rt_alloc_host(kw_gpu_device *device, uint64_t size, void **out_memory);
kw_status kw_rt_free_host(kw_gpu_device *device, void *memory);
kw_status kw_rt_copy_peer(kw_gpu_device *device, kw_gpu_stream *stream, kw_gpu_device *src_device,
                          const kw_copy_info *copy);

kw_status kw_rt_import(kw_gpu_device *device, const kw_external_memory *info, kw_mem *out_mem);
kw_status kw_rt_import_end(kw_gpu_device *device, kw_mem mem);
kw_status kw_rt_export(kw_gpu_device *device, kw_mem mem, kw_external_memory *inout_info);
kw_status kw_rt_host_register(kw_gpu_device *device, void *begin, uint64_t size, bool read_only);
kw_status kw_rt_host_unregister(kw_gpu_device *device, void *begin);
kw_status kw_rt_host_address(kw_gpu_device *device, void *begin, void **out_there);
kw_status kw_rt_native_handle(kw_gpu_device *device, kw_object_kind kind, void *object, bool imported,
                              kw_native_handle *out_handle);

kw_status kw_rt_stream_create(kw_gpu_stream *stream, uint64_t flags);
kw_status kw_rt_stream_destroy(kw_gpu_stream *stream);
kw_status kw_rt_stream_synchronize(kw_gpu_stream *stream, uint64_t timeout_ns);
/* Whether an event has passed, for kw_gpu_poll: KW_OK when it has, or has failed; KW_ERR_NOT_READY. In its context. */
kw_status kw_rt_event_poll(void *event);
kw_status kw_rt_stream_query(kw_gpu_stream *stream);
kw_status kw_rt_callback_hold(kw_gpu_callback *callback);
void kw_rt_callback_wait(kw_gpu_callback *callback);
void kw_rt_callback_done(kw_gpu_callback *callback);

kw_status kw_rt_module_build(kw_gpu_device *device, const char *name, const char *const *sources, uint32_t source_count,
                             void **out_module);
void kw_rt_module_destroy(kw_gpu_device *device, void *module);
kw_status kw_rt_module_save(kw_gpu_device *device, void *module, void **out_bytes, size_t *out_size);
kw_status kw_rt_module_load(kw_gpu_device *device, const char *name, const void *bytes, size_t size, void **out_module);
kw_status kw_rt_kernel_create(kw_gpu_device *device, void *module, const char *name, void **out_kernel);
void kw_rt_kernel_destroy(kw_gpu_device *device, void *kernel);
kw_status kw_rt_launch(kw_gpu_device *device, kw_gpu_stream *stream, const kw_gpu_launch *launch);

bool kw_rt_mark_passed(kw_gpu_device *device, void *mark);
bool kw_rt_mark_times(kw_gpu_device *device, void *mark, uint64_t *out_begin, uint64_t *out_end);
void kw_rt_mark_drop(kw_gpu_device *device, void *mark);
kw_status kw_rt_device_now(kw_gpu_device *device, uint64_t *out_ns);

/* Groups of the plugin's own: the runtime's events can be recorded again, and it has graphs. */
extern const kw_event_api kw_rt_event_api;
extern const kw_graph_api kw_rt_graph_api;
/* Faults on demand where the driver brings them about: a test driver. */
extern const kw_test_api kw_rt_test_api;

/* What is the same in both backends' initialisers of their kw_gpu_driver. */
/* clang-format off */
#define KW_RT_MEM_KINDS (1u << KW_MEM_HOST_PINNED | 1u << KW_MEM_MANAGED)
#define KW_RT_DRIVER                                                                                                   \
  .vendor = "keyway", .version = KEYWAY_PLUGIN_VERSION, .build = __VERSION__, .sanitizer = KW_GPU_SANITIZER,           \
  .probe = kw_rt_probe, .find = kw_rt_find, .describe = kw_rt_describe, .identify = kw_rt_identify,                    \
  .attribute = kw_rt_attribute, .device_size = sizeof(kw_rt_device),                                                   \
  .open = kw_rt_device_open, .close = kw_rt_device_close, .alloc = kw_rt_alloc, .dealloc = kw_rt_free,                 \
  .copy = kw_rt_copy, .fill = kw_rt_fill, .usage = kw_rt_usage, .alloc_host = kw_rt_alloc_host,                        \
  .free_host = kw_rt_free_host, .copy_peer = kw_rt_copy_peer, .mem_kinds = KW_RT_MEM_KINDS,                            \
  .map = kw_gpu_map_by_address, .unmap = kw_gpu_unmap_by_address, .host_register = kw_rt_host_register,                \
  .host_unregister = kw_rt_host_unregister, .host_address = kw_rt_host_address, .native_handle = kw_rt_native_handle,  \
  .mem_flags = KW_MEM_EXPORTABLE | KW_MEM_IPC, .import_handle = kw_rt_import, .release_handle = kw_rt_import_end,      \
  .export_handle = kw_rt_export,                                                                                       \
  .stream_size = sizeof(kw_rt_stream), .stream_create = kw_rt_stream_create, .stream_destroy = kw_rt_stream_destroy,   \
  .stream_synchronize = kw_rt_stream_synchronize, .stream_query = kw_rt_stream_query,                                  \
  .callback_size = sizeof(kw_rt_callback), .callback_hold = kw_rt_callback_hold,                                       \
  .callback_wait = kw_rt_callback_wait, .callback_done = kw_rt_callback_done, .prelude = kw_gpu_prelude_cuda,          \
  .module_build = kw_rt_module_build, .module_destroy = kw_rt_module_destroy, .module_save = kw_rt_module_save,        \
  .module_load = kw_rt_module_load, .kernel_create = kw_rt_kernel_create, .kernel_destroy = kw_rt_kernel_destroy,      \
  .launch = kw_rt_launch, .mark_passed = kw_rt_mark_passed, .mark_times = kw_rt_mark_times,                            \
  .mark_drop = kw_rt_mark_drop, .device_now = kw_rt_device_now
/* clang-format on */

#endif /* KEYWAY_GPU_RUNTIME_H */
