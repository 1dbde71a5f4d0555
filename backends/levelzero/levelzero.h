/* SPDX-License-Identifier: Apache-2.0
 *
 * The Level Zero backend's own types. Everything here is reached through the tables of plugin.c.
 */
#ifndef KEYWAY_LEVELZERO_H
#define KEYWAY_LEVELZERO_H

#include <keyway/gpu.h>
#include <keyway/plugin.h>
#include <level_zero/ze_api.h>
#include <pthread.h>
#include <stdatomic.h>

/* ---- The loader -------------------------------------------------------------------------------------------------- */

/* clang-format off */
#define LZ_ENTRIES(X)                                                                                                 \
  X(CommandListAppendBarrier) X(CommandListAppendEventReset) X(CommandListAppendLaunchKernel)                         \
  X(CommandListAppendMemoryCopy) X(CommandListAppendMemoryFill) X(CommandListAppendSignalEvent)                       \
  X(CommandListAppendWaitOnEvents) X(CommandListClose) X(CommandListCreate) X(CommandListCreateImmediate)             \
  X(CommandListDestroy) X(CommandQueueCreate) X(CommandQueueDestroy) X(CommandQueueExecuteCommandLists)               \
  X(ContextCreate) X(ContextDestroy) X(DeviceGet) X(DeviceGetCommandQueueGroupProperties)                             \
  X(DeviceGetMemoryProperties) X(DeviceGetModuleProperties) X(DeviceGetProperties) X(DevicePciGetPropertiesExt)       \
  X(DriverGet) X(DriverGetExtensionFunctionAddress) X(DriverGetProperties) X(EventCreate) X(EventDestroy)             \
  X(EventHostReset) X(EventHostSignal) X(EventHostSynchronize) X(EventPoolCreate) X(EventPoolDestroy)                 \
  X(EventQueryKernelTimestamp) X(EventQueryStatus) X(Init) X(KernelCreate) X(KernelDestroy)                           \
  X(KernelSetArgumentValue) X(KernelSetGroupSize) X(MemAllocDevice) X(MemAllocHost) X(MemFree)                         \
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

/* "what: ZE_RESULT_NAME; the driver says: ..." */
void lz_explain(ze_driver_handle_t driver, ze_result_t result, const char *what, char *out, size_t size);
kw_status lz_result_status(ze_result_t result);

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

/* One physical device, found at init. */
typedef struct lz_entry {
  ze_driver_handle_t driver;
  ze_device_handle_t id;
} lz_entry;

typedef struct lz_plugin {
  const kw_host_api *host;
  uint32_t count;
  lz_entry *entries;
} lz_plugin;

/* A Level Zero event, used again when its last reference is dropped. One that a command of a stream signals has
 * references to those that the command waits for. */
typedef struct lz_event {
  ze_event_handle_t handle;
  _Atomic uint32_t references;
  struct lz_device *device;
  struct lz_event *next; /* of the command after it on its stream; or another unused one */
  struct lz_event *waits[2];
  uint64_t call_id;
  _Atomic uint32_t failure; /* what a wait for it gave; a driver may tell once */
  char text[300];           /* and why */
} lz_event;

typedef struct lz_device {
  kw_gpu_device base; /* first: the pack takes an lz_device for it */
  ze_driver_handle_t driver;
  ze_device_handle_t id;
  ze_context_handle_t context;
  uint32_t queue_ordinal, queue_count; /* of a group of queues that compute */
  _Atomic uint32_t queues_given;
  uint64_t cycles_per_second; /* of timestamps */
  uint64_t cycle_mask;        /* their valid bits */
  pthread_mutex_t lock;       /* guards the fields below */
  lz_event *unused;
  struct lz_pool *pools;
} lz_device;

/* Finds every device of every driver. */
kw_status lz_devices_find(lz_plugin *plugin);

/* KW_OK after a success. Otherwise attaches lz_explain's text to the thread's error and returns what stands for the
 * result. */
kw_status lz_check(const lz_device *device, ze_result_t result, const char *what);

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* An event that is not signalled, with one reference. */
ze_result_t lz_event_take(lz_device *device, lz_event **out_event);
/* Until the event is signalled: ZE_RESULT_SUCCESS, or NOT_READY after the time, or how the command failed that was to
 * signal it; then `text` says why. */
ze_result_t lz_event_wait(lz_event *event, uint64_t timeout_ns);
/* A reference more or less of an lz_event, or of NULL. Nothing on the device signals or waits for the event any more
 * when the last one goes. */
void lz_event_keep(void *event);
void lz_event_drop(void *event);
/* Destroys all. */
void lz_events_finish(lz_device *device);

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

typedef struct lz_stream {
  lz_device *device;
  uint64_t token;
  ze_command_list_handle_t list; /* immediate; its commands are ordered by events */
  struct lz_graph *graph;        /* that is being recorded: its list gets the commands instead */
  ze_command_list_handle_t recording;
  pthread_mutex_t lock;     /* serialises what is appended, and guards the fields above and below */
  uint64_t begun, finished; /* commands */
  lz_event *oldest, *last;  /* of the commands that may not have finished, a reference each */
  bool failed;              /* a failure was reported since the last synchronise */
  kw_gpu_callbacks *callbacks;
} lz_stream;

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

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

/* The driver's half of programs, see keyway/gpu.h. */
kw_status lz_module_build(kw_gpu_device *device, const char *name, const char *const *sources, uint32_t source_count,
                          void **out_module);
kw_status lz_module_save(kw_gpu_device *device, void *module, void **out_bytes, size_t *out_size);
kw_status lz_module_load(kw_gpu_device *device, const char *name, const void *bytes, size_t size, void **out_module);
void lz_module_destroy(kw_gpu_device *device, void *module);
kw_status lz_kernel_create(kw_gpu_device *device, void *module, const char *name, void **out_kernel);
void lz_kernel_destroy(kw_gpu_device *device, void *kernel);
kw_status lz_launch(kw_gpu_device *device, void *stream, const kw_gpu_launch *launch);

extern const kw_device_api lz_device_api;
extern const kw_memory_api lz_memory_api;
extern const kw_stream_api lz_stream_api;
extern const kw_event_api lz_event_api;
extern const kw_graph_api lz_graph_api;

#endif /* KEYWAY_LEVELZERO_H */
