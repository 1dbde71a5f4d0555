/* SPDX-License-Identifier: Apache-2.0
 *
 * The Level Zero backend's own types, and its functions, which the driver's table in plugin.c holds.
 */
#ifndef KEYWAY_LEVELZERO_H
#define KEYWAY_LEVELZERO_H

#include <keyway/gpu.h>
#include <level_zero/ze_api.h>
#include <stdatomic.h>

/* ---- The loader -------------------------------------------------------------------------------------------------- */

/* clang-format off */
#define LZ_ENTRIES(X)                                                                                                 \
  X(CommandListAppendBarrier) X(CommandListAppendEventReset) X(CommandListAppendLaunchKernel)                         \
  X(CommandListAppendMemoryCopy) X(CommandListAppendMemoryFill) X(CommandListAppendSignalEvent)                       \
  X(CommandListAppendWaitOnEvents) X(CommandListClose) X(CommandListCreate) X(CommandListCreateImmediate)             \
  X(CommandListDestroy) X(CommandQueueCreate) X(CommandQueueDestroy) X(CommandQueueExecuteCommandLists)               \
  X(CommandQueueSynchronize)                                                                                           \
  X(ContextCreate) X(ContextDestroy) X(DeviceGet) X(DeviceGetCommandQueueGroupProperties) X(DeviceGetGlobalTimestamps) \
  X(DeviceGetMemoryProperties) X(DeviceGetModuleProperties) X(DeviceGetProperties) X(DevicePciGetPropertiesExt)       \
  X(DriverGet) X(DriverGetExtensionFunctionAddress) X(DriverGetProperties) X(EventCreate) X(EventDestroy)             \
  X(EventHostReset) X(EventHostSignal) X(EventHostSynchronize) X(EventPoolCreate) X(EventPoolDestroy)                 \
  X(EventQueryKernelTimestamp) X(EventQueryStatus) X(FenceCreate) X(FenceDestroy) X(FenceHostSynchronize)              \
  X(FenceQueryStatus) X(FenceReset) X(Init) X(KernelCreate) X(KernelDestroy)                                          \
  X(KernelSetArgumentValue) X(KernelSetGroupSize) X(MemAllocDevice) X(MemAllocHost) X(MemAllocShared) X(MemFree)       \
  X(DeviceGetExternalMemoryProperties) X(MemGetAddressRange) X(MemGetAllocProperties)                                 \
  X(ModuleBuildLogDestroy) X(ModuleBuildLogGetString) X(ModuleCreate) X(ModuleDestroy) X(ModuleGetNativeBinary)
/* clang-format on */

/* Level Zero's functions, without their prefix. The loader is opened at run time: a machine without it has the plugin,
 * and the plugin can say what is missing. */
typedef struct lz_entries {
#define ENTRY(name) __typeof__(ze##name) *name;
  LZ_ENTRIES(ENTRY)
#undef ENTRY
} lz_entries;
extern lz_entries ze;

/* Opens the loader and starts the drivers, once for the process. Otherwise *out_reason says what is missing. */
kw_status lz_load(const char **out_reason);

/* A function of the driver's own; false where it has none of that name. */
bool lz_find_extension(ze_driver_handle_t driver, const char *name, void *out_function);

/* "what: ZE_RESULT_NAME; the driver says: ..." */
void lz_explain(ze_driver_handle_t driver, ze_result_t result, const char *what, char *out, size_t size);
kw_status lz_result_status(ze_result_t result);

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

/* A Level Zero event, used again when its last reference is dropped. One that a command of a stream signals has
 * references to those that the command waits for. */
typedef struct lz_event {
  ze_event_handle_t handle;
  _Atomic uint32_t references;
  struct lz_device *device;
  struct lz_event *next; /* of the command after it on its stream; or another unused one */
  struct lz_event *waits[2];
  struct lz_event *start; /* of a graph's launch that is marked: signalled before it; otherwise NULL */
  struct lz_run *run;     /* a graph's launch, until its stream has asked how that went; the stream's lock guards it */
  uint64_t call_id;
  _Atomic uint32_t failure; /* what a wait for it, or for its run, gave; a driver may tell once */
  char text[300];           /* and why */
} lz_event;

typedef struct lz_device {
  kw_gpu_device base; /* first: the kit takes an lz_device for it; its physical device is of a ze_driver_handle_t */
  ze_driver_handle_t driver;
  ze_device_handle_t id;
  ze_context_handle_t context;
  uint32_t queue_ordinal, queue_count; /* of a group of queues that compute */
  _Atomic uint32_t queues_given;
  uint64_t cycles_per_second; /* of timestamps */
  uint64_t cycle_mask;        /* their valid bits */
  uint64_t clock_mask;        /* those of lz_device_now's cycles */
  uint64_t cycles;            /* counted on past those bits, when the clock was last read, */
  uint64_t read_at;           /* and kw_gpu_now_ns then; the device's lock guards both */
  lz_event *unused;           /* the device's lock guards this, the pools and what the events say of failures */
  struct lz_pool *pools;
} lz_device;

/* KW_OK after a success. Otherwise attaches lz_explain's text to the thread's error and returns what stands for the
 * result. */
kw_status lz_check(const lz_device *device, ze_result_t result, const char *what);

#define LZ_DESCRIPTORS (ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF)
/* The types of descriptors by which the device takes memory and gives it. */
ze_device_external_memory_properties_t lz_external_memory(const lz_device *device);

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* An event that is not signalled, with one reference. */
ze_result_t lz_event_take(lz_device *device, lz_event **out_event);
/* Until the event is signalled: ZE_RESULT_SUCCESS, or NOT_READY after the time, or how the command failed that was to
 * signal it; then `text` says why. */
ze_result_t lz_event_wait(lz_event *event, uint64_t timeout_ns);
/* Keeps for later waits how the command failed, and why; what it kept before stays. */
void lz_event_fail(lz_event *event, ze_result_t result);
/* A reference more or less of an lz_event, or of NULL. Nothing on the device signals or waits for the event any more
 * when the last one goes. */
void lz_event_keep(void *event);
void lz_event_drop(void *event);
/* Destroys all. */
void lz_events_finish(lz_device *device);

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

typedef struct lz_stream {
  kw_gpu_stream base;            /* first; its lock serialises what is appended, and guards the fields below */
  ze_command_list_handle_t list; /* immediate; its commands are ordered by events */
  struct lz_graph *graph;        /* that is being recorded: its list gets the commands instead */
  ze_command_list_handle_t recording;
  uint64_t begun, finished; /* commands */
  lz_event *oldest, *last;  /* of the commands that may not have finished, a reference each */
} lz_stream;

typedef struct lz_callback {
  kw_gpu_callback base; /* first */
  lz_event *before;     /* everything before the callback; NULL when that has finished */
  lz_event *gate;       /* everything after it */
} lz_callback;

/* An asynchronous queue of the device that computes: one after the other. */
ze_command_queue_desc_t lz_next_queue(lz_device *device);

/* A command while it is appended: to `list`, signalling `signal`, after `waits`. */
typedef struct lz_command {
  ze_result_t result; /* append only after ZE_RESULT_SUCCESS, and keep here what that gave */
  ze_command_list_handle_t list;
  lz_event *event; /* NULL in a list that is recorded */
  ze_event_handle_t signal;
  uint32_t wait_count;
  ze_event_handle_t waits[2];
} lz_command;

/* A command is appended between begin and end: `begin` locks the stream; the command waits for the one before and for
 * `other`, if there is one. `end` unlocks, and fails when the command's result is a failure. */
lz_command lz_stream_begin(lz_stream *stream, lz_event *other);
kw_status lz_stream_end(lz_stream *stream, lz_command *command, uint64_t call_id, const char *what);

/* A command between begin and end, for the activity records; `id` as in kw_gpu_activity_note. */
void lz_activity_note(lz_stream *stream, const lz_command *command, kw_activity_kind kind, uint64_t id);
/* How long so many cycles of the device's clock take. */
uint64_t lz_nanoseconds(const lz_device *device, uint64_t cycles);

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

typedef struct lz_graph {
  lz_device *device;
  _Atomic uint32_t references; /* the host's, and one for each run in use */
  ze_command_list_handle_t list;
  ze_command_queue_handle_t queue;
  lz_event *begin, *end;
  struct lz_run *runs; /* as many as were in flight at once; the device's lock guards the list */
} lz_graph;

/* One run of a graph, which a queue of the graph's executes: its failure is known to nobody but that queue and its
 * fence. */
typedef struct lz_run {
  struct lz_run *next; /* of the graph's */
  struct lz_graph *graph;
  ze_fence_handle_t fence;
  uint32_t references;    /* 0: unused; the device's lock guards them */
  _Atomic bool in_flight; /* as far as anybody has asked; only a fence that is not may be reset */
} lz_run;

/* One of the host's references less, or of a run's. */
void lz_graph_drop(lz_graph *graph);

/* A run with one reference, whose fence is not signalled. */
ze_result_t lz_run_take(lz_graph *graph, lz_run **out_run);
/* Until the run is over: ZE_RESULT_SUCCESS, or NOT_READY after the time, or how it failed. */
ze_result_t lz_run_wait(lz_run *run, uint64_t timeout_ns);
/* A reference more or less of a run, or of NULL. It keeps its graph. */
void lz_run_keep(lz_run *run);
void lz_run_drop(lz_run *run);

/* ---- Of kw_gpu_driver -------------------------------------------------------------------------------------------- */

kw_status lz_find(const kw_host_api *host, kw_gpu_list *list);
kw_status lz_describe(const kw_host_api *host, const kw_gpu_physical *physical, kw_device_info *out_info);
bool lz_has_f64(const kw_gpu_physical *physical);
void lz_identify(const kw_gpu_physical *physical, char *out, size_t size);
kw_status lz_attribute(const kw_host_api *host, const kw_gpu_physical *physical, const char *key,
                       kw_attribute *out_value);
kw_status lz_open(kw_gpu_device *device, const kw_open_info *info);
kw_status lz_close(kw_gpu_device *device);

kw_status lz_alloc(kw_gpu_device *device, const kw_alloc_info *info, kw_mem *out_mem);
kw_status lz_free(kw_gpu_device *device, kw_mem mem, kw_mem_kind kind);
kw_status lz_copy(kw_gpu_device *device, kw_gpu_stream *stream, const kw_copy_info *copy);
kw_status lz_fill(kw_gpu_device *device, kw_gpu_stream *stream, kw_mem mem, uint64_t offset, uint64_t size,
                  const void *pattern, uint32_t pattern_size);
kw_status lz_alloc_host(kw_gpu_device *device, uint64_t size, void **out_memory);
kw_status lz_free_host(kw_gpu_device *device, void *memory);

kw_status lz_import(kw_gpu_device *device, const kw_external_memory *info, kw_mem *out_mem);
kw_status lz_import_end(kw_gpu_device *device, kw_mem mem);
kw_status lz_export(kw_gpu_device *device, kw_mem mem, kw_external_memory *inout_info);
kw_status lz_host_register(kw_gpu_device *device, void *begin, uint64_t size, bool read_only);
kw_status lz_host_unregister(kw_gpu_device *device, void *begin);
kw_status lz_native_handle(kw_gpu_device *device, kw_object_kind kind, void *object, bool imported,
                           kw_native_handle *out_handle);

kw_status lz_stream_create(kw_gpu_stream *stream, uint64_t flags);
kw_status lz_stream_destroy(kw_gpu_stream *stream);
kw_status lz_stream_synchronize(kw_gpu_stream *stream, uint64_t timeout_ns);
kw_status lz_stream_query(kw_gpu_stream *stream);
kw_status lz_callback_hold(kw_gpu_callback *callback);
void lz_callback_wait(kw_gpu_callback *callback);
void lz_callback_done(kw_gpu_callback *callback);

kw_status lz_event_record(kw_gpu_stream *stream, void **out_event);
kw_status lz_event_await(kw_gpu_stream *stream, void *event);
kw_status lz_event_query(kw_gpu_device *device, void *event);
kw_status lz_event_synchronize(kw_gpu_device *device, void *event, uint64_t timeout_ns);
kw_status lz_event_elapsed(kw_gpu_device *device, void *start, void *end, uint64_t *out_ns);

bool lz_mark_passed(kw_gpu_device *device, void *event);
bool lz_mark_times(kw_gpu_device *device, void *event, uint64_t *out_begin, uint64_t *out_end);
void lz_mark_drop(kw_gpu_device *device, void *event);
kw_status lz_device_now(kw_gpu_device *device, uint64_t *out_ns);

kw_status lz_module_build(kw_gpu_device *device, const char *name, const char *const *sources, uint32_t source_count,
                          void **out_module);
void lz_module_destroy(kw_gpu_device *device, void *module);
kw_status lz_module_save(kw_gpu_device *device, void *module, void **out_bytes, size_t *out_size);
kw_status lz_module_load(kw_gpu_device *device, const char *name, const void *bytes, size_t size, void **out_module);
kw_status lz_kernel_create(kw_gpu_device *device, void *module, const char *name, void **out_kernel);
void lz_kernel_destroy(kw_gpu_device *device, void *kernel);
kw_status lz_launch(kw_gpu_device *device, kw_gpu_stream *stream, const kw_gpu_launch *launch);

extern const kw_graph_api lz_graph_api;
extern const kw_test_api lz_test_api;

#endif /* KEYWAY_LEVELZERO_H */
