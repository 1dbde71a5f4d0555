/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices, contexts and errors of the test driver.
 */
#include "driver.h"

#include <stdio.h>
#include <string.h>

static context contexts[KW_ENGINE_DEVICE_LIMIT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool initialized;

API(cuInit, hipInit)(unsigned flags) {
  if (flags != 0) return INVALID_VALUE;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < kw_engine_device_count(); ++i) contexts[i].device = kw_engine_device_get(i);
  pthread_mutex_unlock(&lock);
  initialized = true;
  return OK;
}

API(cuDriverGetVersion, hipDriverGetVersion)(int *version) {
  *version = NAME(13000, 50221153);
  return OK;
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static const struct {
  int error;
  const char *cuda, *hip, *text;
} errors[] = {
    {OK, "CUDA_SUCCESS", "hipSuccess", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "hipErrorInvalidValue", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "hipErrorOutOfMemory", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "hipErrorNotInitialized", "initialization error"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "hipErrorInvalidDevice", "invalid device ordinal"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "hipErrorInvalidImage", "device kernel image is invalid"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "hipErrorInvalidContext", "invalid device context"},
    {UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE", "hipErrorECCNotCorrectable", "uncorrectable ECC error encountered"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "hipErrorInvalidHandle", "invalid resource handle"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "hipErrorNotFound", "named symbol not found"},
    {NOT_READY, "CUDA_ERROR_NOT_READY", "hipErrorNotReady", "device not ready"},
    {LAUNCH_REFUSED, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "hipErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "hipErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "hipErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "hipErrorLaunchFailure", "unspecified launch failure"},
    {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "hipErrorNotSupported", "operation not supported"},
    {CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "hipErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
};

static const char *name_of(int error) {
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; ++i)
    if (errors[i].error == error) return NAME(errors[i].cuda, errors[i].hip);
  return NULL;
}

/* With the engine's own words: what was injected, say. */
static const char *text_of(int error) {
  static _Thread_local char text[400];
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; ++i) {
    if (errors[i].error != error) continue;
    const char *more = kw_engine_message();
    snprintf(text, sizeof text, "%s%s%.300s%s", errors[i].text, *more ? " (emulated: " : "", more, *more ? ")" : "");
    return text;
  }
  return NULL;
}

#ifdef KW_TEST_HIP
__attribute__((visibility("default"))) const char *hipGetErrorName(int error) {
  return name_of(error) ? name_of(error) : "hipErrorUnknown";
}
__attribute__((visibility("default"))) const char *hipGetErrorString(int error) {
  return text_of(error) ? text_of(error) : "unknown error";
}
#else
API(cuGetErrorName, )(int error, const char **name) {
  *name = name_of(error);
  return *name ? OK : INVALID_VALUE;
}
API(cuGetErrorString, )(int error, const char **text) {
  *text = text_of(error);
  return *text ? OK : INVALID_VALUE;
}
#endif

int driver_error(context *home, kw_engine_status status) {
  int error = INVALID_VALUE;
  switch (status) {
    case KW_ENGINE_OK:
      return OK;
    case KW_ENGINE_NOT_READY:
      return NOT_READY;
    case KW_ENGINE_OUT_OF_MEMORY:
      return OUT_OF_MEMORY;
    case KW_ENGINE_INVALID:
      return INVALID_VALUE;
    case KW_ENGINE_REFUSED:
      return LAUNCH_REFUSED;
    case KW_ENGINE_FAILED:
      error = LAUNCH_FAILED;
      break;
    case KW_ENGINE_LOST:
      error = UNCORRECTABLE;
      break;
  }
  if (home->sticky == OK) home->sticky = error;
  return home->sticky;
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

API(cuDeviceGetCount, hipGetDeviceCount)(int *count) {
  if (!initialized) return NOT_INITIALIZED;
  *count = (int)kw_engine_device_count();
  return OK;
}

static int check_device(int device) {
  if (!initialized) return NOT_INITIALIZED;
  return device >= 0 && (uint32_t)device < kw_engine_device_count() ? OK : INVALID_DEVICE;
}

API(cuDeviceGet, hipDeviceGet)(int *device, int ordinal) {
  int error = check_device(ordinal);
  if (!error) *device = ordinal;
  return error;
}

API(cuDeviceGetName, hipDeviceGetName)(char *name, int size, int device) {
  int error = check_device(device);
  if (!error) snprintf(name, (size_t)size, "%s GPU (emulated)", NAME("NVIDIA", "AMD"));
  return error;
}

/* Of a bus that no machine has. */
API(cuDeviceGetPCIBusId, hipDeviceGetPCIBusId)(char *id, int size, int device) {
  int error = check_device(device);
  if (!error) snprintf(id, (size_t)size, "%s:%02X:00.0", NAME("FFFF", "FFFE"), (unsigned)device + 10);
  return error;
}

API(cuDeviceGetUuid_v2, hipDeviceGetUuid)(void *uuid, int device) {
  int error = check_device(device);
  if (error) return error;
  memcpy(uuid, NAME("emulated CUDA \0\0", "emulated HIP  \0\0"), 16);
  ((unsigned char *)uuid)[15] = (unsigned char)device;
  return OK;
}

API(cuDeviceGetAttribute, hipDeviceGetAttribute)(int *value, int attribute, int device) {
  int error = check_device(device);
  if (error) return error;
  switch (attribute) {
    case NAME(16, 63): /* multiprocessors */
      *value = 2;
      return OK;
    case NAME(13, 5): /* kHz */
      *value = 1500000;
      return OK;
    case NAME(36, 60):
      *value = 2500000;
      return OK;
    case NAME(18, 16): /* shares the host's memory */
      *value = 0;
      return OK;
    case NAME(115, 88): /* memory pools: with one runtime and without with the other */
      *value = NAME(1, 0);
      return OK;
    case NAME(89, 9): /* concurrent access to managed memory */
      *value = 1;
      return OK;
#ifndef KW_TEST_HIP
    case 75: /* compute capability */
      *value = 9;
      return OK;
    case 76:
      *value = 0;
      return OK;
#endif
    default:
      return INVALID_VALUE;
  }
}

API(cuDeviceTotalMem_v2, hipDeviceTotalMem)(size_t *bytes, int device) {
  int error = check_device(device);
  if (!error) *bytes = KW_ENGINE_DEVICE_MEMORY;
  return error;
}

API(cuMemGetInfo_v2, hipMemGetInfo)(size_t *free, size_t *total) {
  context *home;
  int error = driver_enter(&home);
  if (error) return error;
  *total = KW_ENGINE_DEVICE_MEMORY;
  *free = KW_ENGINE_DEVICE_MEMORY - kw_engine_device_used(home->device);
  return OK;
}

/* ---- Faults: beside the ABI, for tests (keyway.test/1) ------------------------------------------------------------
 */

__attribute__((visibility("default"))) int kw_test_order_fault(int device, unsigned fault, uint64_t nth) {
  int error = check_device(device);
  /* A kernel that fails breaks the context, as with the runtimes themselves: no launch fails alone. */
  if (!error && fault == KW_ENGINE_ORDER_LATE) error = NOT_SUPPORTED;
  return error ? error : driver_error(&contexts[device], kw_engine_device_order(contexts[device].device, fault, nth));
}

/* ---- Contexts ---------------------------------------------------------------------------------------------------- */

/* Queues that are made from now on work, also after a loss. */
static void reset(context *c) {
  c->sticky = OK;
}

#ifdef KW_TEST_HIP
static _Thread_local int current;

context *driver_context(void) {
  return &contexts[current];
}

API(, hipSetDevice)(int device) {
  int error = check_device(device);
  if (!error) current = device;
  return error;
}

API(, hipGetDevice)(int *device) {
  *device = current;
  return OK;
}

API(, hipDeviceReset)(void) {
  reset(&contexts[current]);
  return OK;
}
#else
static _Thread_local context *stack[8];
static _Thread_local int depth;

context *driver_context(void) {
  return depth > 0 ? stack[depth - 1] : NULL;
}

API(cuDevicePrimaryCtxRetain, )(void **out, int device) {
  int error = check_device(device);
  if (error) return error;
  pthread_mutex_lock(&lock);
  ++contexts[device].references;
  pthread_mutex_unlock(&lock);
  *out = &contexts[device];
  return OK;
}

API(cuDevicePrimaryCtxRelease_v2, )(int device) {
  int error = check_device(device);
  pthread_mutex_lock(&lock);
  if (!error && contexts[device].references == 0) error = INVALID_CONTEXT;
  if (!error) --contexts[device].references;
  pthread_mutex_unlock(&lock);
  return error;
}

API(cuDevicePrimaryCtxReset_v2, )(int device) {
  int error = check_device(device);
  if (!error) reset(&contexts[device]);
  return error;
}

API(cuCtxPushCurrent_v2, )(void *handle) {
  context *c = handle;
  if (c < contexts || c >= contexts + KW_ENGINE_DEVICE_LIMIT || c->references == 0) return INVALID_CONTEXT;
  if (depth == sizeof stack / sizeof stack[0]) return INVALID_VALUE;
  stack[depth++] = c;
  return OK;
}

API(cuCtxPopCurrent_v2, )(void **out) {
  if (depth == 0) return INVALID_CONTEXT;
  *out = stack[--depth];
  return OK;
}
#endif

context *driver_context_of(int device) {
  return check_device(device) == OK ? &contexts[device] : NULL;
}

int driver_enter(context **out_context) {
  context *c = driver_context();
  if (!initialized) return NOT_INITIALIZED;
  if (!c) return INVALID_CONTEXT;
  *out_context = c;
  return c->sticky;
}

bool driver_owns(const context *home, const void *begin, uint64_t size, kw_engine_memory_kind kind) {
  kw_engine_allocation found;
  if (!kw_engine_find(begin, &found)) return false;
  const bool reached = found.kind != KW_ENGINE_MEMORY_DEVICE && kind == KW_ENGINE_MEMORY_DEVICE; /* of the host */
  return (reached || found.kind == kind) &&
         (reached || kind == KW_ENGINE_MEMORY_HOST || found.device == home->device) &&
         size <= found.size - (size_t)((const char *)begin - (const char *)found.base);
}
