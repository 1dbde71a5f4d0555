/* SPDX-License-Identifier: Apache-2.0
 *
 * The HIP runtime, over CUDA's driver. HIP's current device belongs to the calling thread, 0 before it chooses one, and
 * its primary context is there when it is needed; a context of CUDA's own stays current for who made it so: each call
 * has its context for its own time only.
 */
#include "shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define DEVICE_LIMIT 64

enum {
  OK = 0,
  INVALID_VALUE = 1,
  INSUFFICIENT_DRIVER = 35,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  ECC_NOT_CORRECTABLE = 214,
  LAUNCH_FAILURE = 719,
  NOT_SUPPORTED = 801,
  UNKNOWN = 999
};

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* Of HIP's errors those that are CUDA's too: with the same numbers. */
static const struct {
  int error;
  const char *name;
} errors[] = {
    {OK, "hipSuccess"},
    {INVALID_VALUE, "hipErrorInvalidValue"},
    {2, "hipErrorOutOfMemory"},
    {3, "hipErrorNotInitialized"},
    {4, "hipErrorDeinitialized"},
    {INSUFFICIENT_DRIVER, "hipErrorInsufficientDriver"},
    {NO_DEVICE, "hipErrorNoDevice"},
    {INVALID_DEVICE, "hipErrorInvalidDevice"},
    {200, "hipErrorInvalidImage"},
    {201, "hipErrorInvalidContext"},
    {205, "hipErrorMapFailed"},
    {209, "hipErrorNoBinaryForGpu"},
    {ECC_NOT_CORRECTABLE, "hipErrorECCNotCorrectable"},
    {217, "hipErrorPeerAccessUnsupported"},
    {218, "hipErrorInvalidKernelFile"},
    {300, "hipErrorInvalidSource"},
    {302, "hipErrorSharedObjectSymbolNotFound"},
    {303, "hipErrorSharedObjectInitFailed"},
    {304, "hipErrorOperatingSystem"},
    {400, "hipErrorInvalidHandle"},
    {401, "hipErrorIllegalState"},
    {500, "hipErrorNotFound"},
    {600, "hipErrorNotReady"},
    {700, "hipErrorIllegalAddress"},
    {701, "hipErrorLaunchOutOfResources"},
    {702, "hipErrorLaunchTimeOut"},
    {708, "hipErrorSetOnActiveProcess"},
    {709, "hipErrorContextIsDestroyed"},
    {710, "hipErrorAssert"},
    {712, "hipErrorHostMemoryAlreadyRegistered"},
    {713, "hipErrorHostMemoryNotRegistered"},
    {LAUNCH_FAILURE, "hipErrorLaunchFailure"},
    {720, "hipErrorCooperativeLaunchTooLarge"},
    {NOT_SUPPORTED, "hipErrorNotSupported"},
    {900, "hipErrorStreamCaptureUnsupported"},
    {901, "hipErrorStreamCaptureInvalidated"},
    {902, "hipErrorStreamCaptureMerge"},
    {903, "hipErrorStreamCaptureUnmatched"},
    {904, "hipErrorStreamCaptureUnjoined"},
    {905, "hipErrorStreamCaptureIsolation"},
    {906, "hipErrorStreamCaptureImplicit"},
    {907, "hipErrorCapturedEvent"},
    {908, "hipErrorStreamCaptureWrongThread"},
    {910, "hipErrorGraphExecUpdateFailure"},
    {UNKNOWN, "hipErrorUnknown"},
};

static const char *name_of(int error) {
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; ++i)
    if (errors[i].error == error) return errors[i].name;
  return NULL;
}

/* CUDA's error as HIP's. */
static int translate(int error) {
  if (name_of(error)) return error;
  switch (error) {
    case 34: /* the library that comes without a driver, for linking */
      return INSUFFICIENT_DRIVER;
    case 220: /* memory error on a link between devices */
      return ECC_NOT_CORRECTABLE;
    case 714: /* error in a kernel's stack */
    case 715: /* illegal instruction */
    case 716: /* misaligned address */
    case 717: /* address of another kind of memory */
    case 718: /* invalid program counter */
      return LAUNCH_FAILURE;
    default:
      return UNKNOWN;
  }
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

kw_rt_calls shim_cuda;

static struct {
  int (*stream_wait_value)(void *stream, uint64_t address, uint32_t value, unsigned flags);
  int (*copy_peer)(void *to, void *to_context, const void *from, void *from_context, size_t size, void *stream);
  int (*context_retain)(void **context, int device);
  int (*context_release)(int device);
  int (*context_reset)(int device);
  int (*context_push)(void *context);
  int (*context_pop)(void **context);
  int (*error_text)(int error, const char **text);
} own;

static const kw_rt_own_call own_calls[] = {
    {"cuStreamWaitValue32_v2", &own.stream_wait_value},
    {"cuMemcpyPeerAsync", &own.copy_peer},
    {"cuDevicePrimaryCtxRetain", &own.context_retain},
    {"cuDevicePrimaryCtxRelease_v2", &own.context_release},
    {"cuDevicePrimaryCtxReset_v2", &own.context_reset},
    {"cuCtxPushCurrent_v2", &own.context_push},
    {"cuCtxPopCurrent_v2", &own.context_pop},
    {"cuGetErrorString", &own.error_text},
    {NULL, NULL},
};

#define CUDA_NAME(field, parameters, cuda, hip) cuda,
static const char *const cuda_names[] = {KW_RT_CALLS(CUDA_NAME) KW_RT_COMPILER_CALLS(CUDA_NAME)
                                             KW_RT_SHARE_CALLS(CUDA_NAME) KW_RT_IPC_CALLS(CUDA_NAME)};

static int opened = NO_DEVICE; /* what hipInit says */

static bool find_call(void *library, const char *name, void *entry) {
  void *found = dlsym(library, name);
  memcpy(entry, &found, sizeof found);
  return found != NULL;
}

bool shim_find_calls(void *library, int begin, int end) {
  for (int i = begin; i < end; ++i)
    if (!find_call(library, cuda_names[i], (char *)&shim_cuda + (size_t)i * sizeof(void (*)(void)))) return false;
  return true;
}

void *shim_open_library(const char *const *names) {
  void *library = NULL;
  for (; *names && !library; ++names) library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
  return library;
}

static void open_driver(void) {
  void *library = shim_open_library((const char *const[]){"libcuda.so.1", NULL});
  if (!library) return;
  opened = INSUFFICIENT_DRIVER;
  for (const kw_rt_own_call *call = own_calls; call->name; ++call)
    if (!find_call(library, call->name, call->entry)) return;
  if (shim_find_calls(library, 0, KW_RT_DRIVER_CALLS) && shim_find_calls(library, KW_RT_SHARE_END, KW_RT_CALL_COUNT))
    opened = translate(shim_cuda.init(0));
}

/* HIP needs no hipInit: what comes first does it. */
static int ready(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_driver);
  return opened;
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static _Thread_local int current;
static void *contexts[DEVICE_LIMIT]; /* primary ones, from their first use on */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* CUDA's error. */
static int find_context(int device, void **out_context) {
  pthread_mutex_lock(&lock);
  int error = contexts[device] ? 0 : own.context_retain(&contexts[device], device);
  *out_context = contexts[device];
  pthread_mutex_unlock(&lock);
  return error;
}

/* The current device's context becomes CUDA's current one, until leave. */
static int enter(void) {
  void *context;
  int error = ready();
  if (error) return error;
  error = find_context(current, &context);
  return translate(error ? error : own.context_push(context));
}

static void leave(void) {
  void *context;
  own.context_pop(&context);
}

EXPORT int hipInit(unsigned flags) {
  return flags ? INVALID_VALUE : ready();
}

EXPORT int hipSetDevice(int device) {
  int count = 0, error = ready();
  if (!error) error = translate(shim_cuda.device_count(&count));
  if (error) return error;
  if (device < 0 || device >= count || device >= DEVICE_LIMIT) return INVALID_DEVICE;
  current = device;
  return OK;
}

EXPORT int hipGetDevice(int *device) {
  *device = current;
  return ready();
}

/* The context is given up before: the next to need it gets a new one. */
EXPORT int hipDeviceReset(void) {
  int error = ready();
  if (error) return error;
  pthread_mutex_lock(&lock);
  if (contexts[current]) own.context_release(current);
  contexts[current] = NULL;
  error = own.context_reset(current);
  pthread_mutex_unlock(&lock);
  return translate(error);
}

EXPORT const char *hipGetErrorName(int error) {
  const char *name = name_of(error);
  return name ? name : "hipErrorUnknown";
}

EXPORT const char *hipGetErrorString(int error) {
  const char *text;
  return own.error_text && own.error_text(error, &text) == 0 ? text : "unknown error";
}

/* HIP's version is made of three numbers. */
EXPORT int hipDriverGetVersion(int *version) {
  int error = ready(), cuda = 0;
  if (!error) error = translate(shim_cuda.driver_version(&cuda));
  if (!error) *version = cuda / 1000 * 10000000 + cuda % 1000 / 10 * 100000;
  return error;
}

/* A long name is cut, not what follows it. */
EXPORT int hipDeviceGetName(char *name, int size, int device) {
  static const char through[] = " (HIP through CUDA)";
  char product[256];
  int error = ready(), room = size - (int)sizeof through;
  if (!error && room < 0) error = INVALID_VALUE;
  if (!error) error = translate(shim_cuda.device_name(product, sizeof product, device));
  if (!error) snprintf(name, (size_t)size, "%.*s%s", room, product, through);
  return error;
}

EXPORT int hipDeviceGetAttribute(int *value, int attribute, int device) {
  static const struct {
    int hip, cuda;
  } numbers[] = {
      {63, 16},  /* multiprocessors */
      {88, 115}, /* memory pools */
      {5, 13},   /* clock */
      {60, 36},  /* memory clock */
      {16, 18},  /* integrated */
      {9, 89},   /* concurrent access to managed memory */
  };
  int error = ready();
  for (size_t i = 0; !error && i < sizeof numbers / sizeof numbers[0]; ++i)
    if (numbers[i].hip == attribute) return translate(shim_cuda.device_attribute(value, numbers[i].cuda, device));
  return error ? error : INVALID_VALUE;
}

int shim_architecture(char out[KW_RT_ARCH_SIZE]) {
  int major = 0, minor = 0, error = ready();
  if (!error) error = translate(shim_cuda.device_attribute(&major, 75, current));
  if (!error) error = translate(shim_cuda.device_attribute(&minor, 76, current));
  if (!error) snprintf(out, KW_RT_ARCH_SIZE, "--gpu-architecture=sm_%d%d", major, minor);
  return error;
}

/* ---- What is the same in both ------------------------------------------------------------------------------------ */

/* HIP's name, its parameters; the field of the table, the arguments. First what needs no context. */
#define DEVICE_CALLS(X)                                                                     \
  X(hipGetDeviceCount, (int *count), device_count, (count))                                 \
  X(hipDeviceGet, (int *device, int ordinal), device_get, (device, ordinal))                \
  X(hipDeviceGetPCIBusId, (char *id, int size, int device), device_pci, (id, size, device)) \
  X(hipDeviceGetUuid, (void *uuid, int device), device_uuid, (uuid, device))                \
  X(hipDeviceTotalMem, (size_t * bytes, int device), device_memory, (bytes, device))

#define CONTEXT_CALLS(X)                                                                                         \
  X(hipMemGetInfo, (size_t * free, size_t * total), memory_info, (free, total))                                  \
  X(hipMalloc, (void **memory, size_t size), alloc, (memory, size))                                              \
  X(hipFree, (void *memory), free, (memory))                                                                     \
  X(hipMallocAsync, (void **memory, size_t size, void *on), alloc_async, (memory, size, on))                     \
  X(hipFreeAsync, (void *memory, void *on), free_async, (memory, on))                                            \
  X(hipHostMalloc, (void **memory, size_t size, unsigned flags), host_alloc, (memory, size, flags))              \
  X(hipMallocManaged, (void **memory, size_t size, unsigned flags), managed_alloc, (memory, size, flags))        \
  X(hipHostFree, (void *memory), host_free, (memory))                                                            \
  X(hipHostRegister, (void *memory, size_t size, unsigned flags), host_register, (memory, size, flags))          \
  X(hipHostUnregister, (void *memory), host_unregister, (memory))                                                \
  X(hipHostGetDevicePointer, (void **there, void *memory, unsigned flags), host_address, (there, memory, flags)) \
  X(hipMemcpyHtoDAsync, (void *to, const void *from, size_t size, void *on), copy_in, (to, from, size, on))      \
  X(hipMemcpyDtoHAsync, (void *to, const void *from, size_t size, void *on), copy_out, (to, from, size, on))     \
  X(hipMemcpyDtoDAsync, (void *to, const void *from, size_t size, void *on), copy, (to, from, size, on))         \
  X(hipMemsetD8Async, (void *to, uint8_t value, size_t count, void *on), set_8, (to, value, count, on))          \
  X(hipMemsetD16Async, (void *to, uint16_t value, size_t count, void *on), set_16, (to, value, count, on))       \
  X(hipMemsetD32Async, (void *to, int value, size_t count, void *on), set_32, (to, (uint32_t)value, count, on))  \
  X(hipStreamCreateWithFlags, (void **stream, unsigned flags), stream_create, (stream, flags))                   \
  X(hipStreamDestroy, (void *stream), stream_destroy, (stream))                                                  \
  X(hipStreamSynchronize, (void *stream), stream_synchronize, (stream))                                          \
  X(hipStreamQuery, (void *stream), stream_query, (stream))                                                      \
  X(hipStreamWaitEvent, (void *stream, void *event, unsigned flags), stream_wait, (stream, event, flags))        \
  X(hipEventCreateWithFlags, (void **event, unsigned flags), event_create, (event, flags))                       \
  X(hipEventDestroy, (void *event), event_destroy, (event))                                                      \
  X(hipEventRecord, (void *event, void *on), event_record, (event, on))                                          \
  X(hipEventQuery, (void *event), event_query, (event))                                                          \
  X(hipEventSynchronize, (void *event), event_synchronize, (event))                                              \
  X(hipEventElapsedTime, (float *ms, void *start, void *end), event_elapsed, (ms, start, end))                   \
  X(hipStreamBeginCapture, (void *stream, int mode), capture_begin, (stream, mode))                              \
  X(hipStreamEndCapture, (void *stream, void **graph), capture_end, (stream, graph))                             \
  X(hipGraphInstantiateWithFlags, (void **runnable, void *graph, uint64_t flags), graph_make,                    \
    (runnable, graph, flags))                                                                                    \
  X(hipGraphLaunch, (void *runnable, void *on), graph_launch, (runnable, on))                                    \
  X(hipGraphExecDestroy, (void *runnable), graph_unmake, (runnable))                                             \
  X(hipGraphDestroy, (void *graph), graph_destroy, (graph))                                                      \
  X(hipModuleLoadData, (void **module, const void *image), module_load, (module, image))                         \
  X(hipModuleUnload, (void *module), module_unload, (module))                                                    \
  X(hipModuleGetFunction, (void **function, void *module, const char *name), module_function,                    \
    (function, module, name))                                                                                    \
  X(hipModuleLaunchKernel,                                                                                       \
    (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,      \
     unsigned block_z, unsigned shared_bytes, void *on, void **params, void **extra),                            \
    launch, (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, on, params, extra))

#define IPC_CALLS(X)                                                                                                  \
  X(hipIpcGetMemHandle, (kw_rt_ipc_handle * handle, void *memory), ipc_name, (handle, memory))                        \
  X(hipIpcOpenMemHandle, (void **memory, kw_rt_ipc_handle handle, unsigned flags), ipc_open, (memory, handle, flags)) \
  X(hipIpcCloseMemHandle, (void *memory), ipc_close, (memory))                                                        \
  X(hipMemGetAddressRange, (void **begin, size_t *size, void *inside), address_range, (begin, size, inside))

#define DEVICE_CALL(hip, parameters, field, arguments)           \
  EXPORT int hip parameters {                                    \
    int error = ready();                                         \
    return error ? error : translate(shim_cuda.field arguments); \
  }
#define CONTEXT_CALL(hip, parameters, field, arguments) \
  EXPORT int hip parameters {                           \
    int error = enter();                                \
    if (error) return error;                            \
    error = translate(shim_cuda.field arguments);       \
    leave();                                            \
    return error;                                       \
  }
DEVICE_CALLS(DEVICE_CALL)
CONTEXT_CALLS(CONTEXT_CALL)
IPC_CALLS(CONTEXT_CALL)

EXPORT int hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size, void *stream) {
  void *to_context, *from_context;
  if (to_device < 0 || to_device >= DEVICE_LIMIT || from_device < 0 || from_device >= DEVICE_LIMIT)
    return INVALID_DEVICE;
  int error = enter();
  if (error) return error;
  error = find_context(to_device, &to_context);
  if (!error) error = find_context(from_device, &from_context);
  if (!error) error = own.copy_peer(to, to_context, from, from_context, size, stream);
  leave();
  return translate(error);
}

/* CUDA compares the whole number. */
EXPORT int hipStreamWaitValue32(void *stream, void *address, uint32_t value, unsigned flags, uint32_t mask) {
  if (mask != ~0u) return NOT_SUPPORTED;
  int error = enter();
  if (error) return error;
  error = translate(own.stream_wait_value(stream, (uintptr_t)address, value, flags));
  leave();
  return error;
}
