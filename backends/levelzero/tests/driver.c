/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver, its devices, contexts; objects and answers. */
#include "emulated.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

static _Thread_local char last_text[2200];

ze_result_t emu_fail(ze_result_t result, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_text, sizeof last_text, format, arguments);
  va_end(arguments);
  return result;
}

ze_result_t emu_answer(kw_engine_status status) {
  static const ze_result_t results[] = {
      [KW_ENGINE_OK] = ZE_RESULT_SUCCESS,
      [KW_ENGINE_NOT_READY] = ZE_RESULT_NOT_READY,
      [KW_ENGINE_OUT_OF_MEMORY] = ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
      [KW_ENGINE_INVALID] = ZE_RESULT_ERROR_INVALID_ARGUMENT,
      [KW_ENGINE_REFUSED] = ZE_RESULT_ERROR_UNKNOWN,
      [KW_ENGINE_FAILED] = ZE_RESULT_ERROR_UNKNOWN,
      [KW_ENGINE_LOST] = ZE_RESULT_ERROR_DEVICE_LOST,
  };
  if (status == KW_ENGINE_OK || status == KW_ENGINE_NOT_READY) return results[status];
  return emu_fail(results[status], "emulated: %s", kw_engine_message());
}

static ze_result_t get_last_text(ze_driver_handle_t driver, const char **out_text) {
  EMU_CHECK(driver, EMU_DRIVER);
  EMU_CHECK_POINTER(out_text);
  *out_text = last_text;
  return ZE_RESULT_SUCCESS;
}

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

ze_result_t emu_check(const void *handle, emu_kind kind) {
  if (!handle) return emu_fail(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "a handle is NULL");
  if (*(const emu_kind *)handle == kind) return ZE_RESULT_SUCCESS;
  return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "a handle of another kind, or of an object that was destroyed");
}

void *emu_create(emu_kind kind, size_t size, ze_context_handle_t context) {
  emu_kind *object = calloc(1, size);
  if (!object) {
    emu_fail(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no host memory for an object");
    return NULL;
  }
  *object = kind;
  if (context) ++context->objects;
  return object;
}

void emu_destroy(void *object, ze_context_handle_t context) {
  *(emu_kind *)object = EMU_GONE;
  if (context) --context->objects;
  free(object);
}

ze_result_t emu_check_lost(ze_context_handle_t context, ze_device_handle_t device) {
  if (kw_engine_device_losses(device->engine) == context->losses[device->index]) return ZE_RESULT_SUCCESS;
  return emu_fail(ZE_RESULT_ERROR_DEVICE_LOST, "emulated: the device was lost");
}

/* ---- The driver -------------------------------------------------------------------------------------------------- */

static struct _ze_driver_handle_t the_driver = {EMU_DRIVER};
static struct _ze_device_handle_t devices[KW_ENGINE_DEVICE_LIMIT];

static void make_devices(void) {
  for (uint32_t i = 0; i < KW_ENGINE_DEVICE_LIMIT; ++i)
    devices[i] = (struct _ze_device_handle_t){EMU_DEVICE, i, kw_engine_device_get(i)};
}

ze_device_handle_t emu_device_of(const kw_engine_device *device) {
  for (uint32_t i = 0; i < KW_ENGINE_DEVICE_LIMIT; ++i)
    if (devices[i].engine == device) return &devices[i];
  return NULL;
}

static ze_result_t init(ze_init_flags_t flags) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (flags & ~(ze_init_flags_t)(ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY))
    return emu_fail(ZE_RESULT_ERROR_INVALID_ENUMERATION, "zeInit: no such flags");
  if (flags == ZE_INIT_FLAG_VPU_ONLY) return emu_fail(ZE_RESULT_ERROR_UNINITIALIZED, "the devices are GPUs");
  pthread_once(&once, make_devices);
  return ZE_RESULT_SUCCESS;
}

/* Lists are asked for twice: with a count of 0, which becomes how many there are, and with room for some. */
static ze_result_t driver_get(uint32_t *count, ze_driver_handle_t *drivers) {
  EMU_CHECK_POINTER(count);
  if (*count > 0 && drivers) drivers[0] = &the_driver;
  *count = 1;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_get_api_version(ze_driver_handle_t driver, ze_api_version_t *version) {
  EMU_CHECK(driver, EMU_DRIVER);
  EMU_CHECK_POINTER(version);
  *version = ZE_API_VERSION_1_4;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_get_properties(ze_driver_handle_t driver, ze_driver_properties_t *out) {
  EMU_CHECK(driver, EMU_DRIVER);
  EMU_CHECK_STRUCT(out, ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES);
  memcpy(out->uuid.id, "keyway-emulated", sizeof out->uuid.id);
  out->driverVersion = emu_translator_version();
  return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_get_ipc_properties(ze_driver_handle_t driver, ze_driver_ipc_properties_t *out) {
  EMU_CHECK(driver, EMU_DRIVER);
  EMU_CHECK_STRUCT(out, ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES);
  out->flags = 0;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_get_extension_properties(ze_driver_handle_t driver, uint32_t *count,
                                                   ze_driver_extension_properties_t *out) {
  EMU_CHECK(driver, EMU_DRIVER);
  EMU_CHECK_POINTER(count);
  (void)out;
  *count = 0;
  return ZE_RESULT_SUCCESS;
}

/* For tests (keyway.test/1). */
static ze_result_t order_fault(ze_device_handle_t device, uint32_t fault, uint64_t nth) {
  EMU_CHECK(device, EMU_DEVICE);
  return emu_answer(kw_engine_device_order(device->engine, fault, nth));
}

/* Whole pages of the host: from then on the driver's own. */
static ze_result_t import_pointer(ze_driver_handle_t driver, void *begin, size_t size) {
  EMU_CHECK(driver, EMU_DRIVER);
  EMU_CHECK_POINTER(begin);
  if (size == 0 || (uintptr_t)begin % 4096 != 0 || size % 4096 != 0)
    return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "zexDriverImportExternalPointer: no whole pages");
  return emu_answer(kw_engine_adopt(begin, size));
}

static ze_result_t release_pointer(ze_driver_handle_t driver, void *begin) {
  EMU_CHECK(driver, EMU_DRIVER);
  return emu_answer(kw_engine_disown(begin));
}

/* zeDriverGetLastErrorDescription came after the tables of API 1.4; the others are extensions, kw's this driver's own.
 */
static ze_result_t driver_get_extension_function(ze_driver_handle_t driver, const char *name, void **out_function) {
  EMU_CHECK(driver, EMU_DRIVER);
  EMU_CHECK_POINTER(name);
  EMU_CHECK_POINTER(out_function);
#define EXTENSION(its_name, function)                   \
  if (strcmp(name, its_name) == 0) {                    \
    __typeof__(&(function)) const address = (function); \
    memcpy(out_function, &address, sizeof address);     \
    return ZE_RESULT_SUCCESS;                           \
  }
  EXTENSION("zeDriverGetLastErrorDescription", get_last_text)
  EXTENSION("zexDriverImportExternalPointer", import_pointer)
  EXTENSION("zexDriverReleaseImportedPointer", release_pointer)
  EXTENSION("kwTestOrderFault", order_fault)
#undef EXTENSION
  return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "no function %s", name);
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static ze_result_t device_get(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *out) {
  const uint32_t all = kw_engine_device_count();
  EMU_CHECK(driver, EMU_DRIVER);
  EMU_CHECK_POINTER(count);
  for (uint32_t i = 0; out && i < *count && i < all; ++i) out[i] = &devices[i];
  if (!out || *count == 0 || *count > all) *count = all;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t device_get_sub_devices(ze_device_handle_t device, uint32_t *count, ze_device_handle_t *out) {
  EMU_CHECK(device, EMU_DEVICE);
  EMU_CHECK_POINTER(count);
  (void)out;
  *count = 0;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t device_get_properties(ze_device_handle_t device, ze_device_properties_t *out) {
  EMU_CHECK(device, EMU_DEVICE);
  EMU_CHECK_POINTER(out);
  if (out->stype != ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES && out->stype != ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2)
    return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "zeDeviceGetProperties: the stype is of another struct");
  const ze_structure_type_t type = out->stype;
  void *const next = out->pNext;
  *out = (ze_device_properties_t){
      .stype = type,
      .pNext = next,
      .type = ZE_DEVICE_TYPE_GPU,
      .vendorId = 0,
      .deviceId = 1,
      .coreClockRate = 1000,
      .maxMemAllocSize = KW_ENGINE_DEVICE_MEMORY,
      .maxHardwareContexts = 64,
      .numThreadsPerEU = 1,
      .physicalEUSimdWidth = 1,
      .numEUsPerSubslice = 1,
      .numSubslicesPerSlice = 1,
      .numSlices = 1,
      /* The clock counts nanoseconds: as cycles per second with the newer struct, as the length of one with the older.
       */
      .timerResolution = type == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 ? 1000000000 : 1,
      .timestampValidBits = EMU_CLOCK_BITS,
      .kernelTimestampValidBits = EMU_STAMP_BITS,
  };
  memcpy(out->uuid.id, "keyway-emulated", sizeof out->uuid.id);
  out->uuid.id[ZE_MAX_DEVICE_UUID_SIZE - 1] = (uint8_t)device->index;
  strcpy(out->name, "Keyway Level Zero test driver (emulated)");
  return ZE_RESULT_SUCCESS;
}

static ze_result_t device_get_compute_properties(ze_device_handle_t device, ze_device_compute_properties_t *out) {
  EMU_CHECK(device, EMU_DEVICE);
  EMU_CHECK_STRUCT(out, ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES);
  *out = (ze_device_compute_properties_t){
      .stype = out->stype,
      .pNext = out->pNext,
      .maxTotalGroupSize = KW_ENGINE_GROUP_ITEMS,
      .maxGroupSizeX = KW_ENGINE_GROUP_ITEMS,
      .maxGroupSizeY = KW_ENGINE_GROUP_ITEMS,
      .maxGroupSizeZ = KW_ENGINE_GROUP_ITEMS,
      .maxGroupCountX = UINT32_MAX,
      .maxGroupCountY = UINT32_MAX,
      .maxGroupCountZ = UINT32_MAX,
      .maxSharedLocalMemory = 64 << 10,
      .numSubGroupSizes = 1,
      .subGroupSizes = {1},
  };
  return ZE_RESULT_SUCCESS;
}

static ze_result_t device_get_module_properties(ze_device_handle_t device, ze_device_module_properties_t *out) {
  const ze_device_fp_flags_t real = ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN |
                                    ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST | ZE_DEVICE_FP_FLAG_FMA |
                                    ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT;
  EMU_CHECK(device, EMU_DEVICE);
  EMU_CHECK_STRUCT(out, ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES);
  *out = (ze_device_module_properties_t){
      .stype = out->stype,
      .pNext = out->pNext,
      .spirvVersionSupported = ZE_MAKE_VERSION(1, 0),
      .flags = ZE_DEVICE_MODULE_FLAG_FP64,
      .fp32flags = real,
      .fp64flags = real,
      .maxArgumentsSize = KW_ENGINE_ARG_BYTES,
  };
  memcpy(out->nativeKernelSupported.id, "keyway-emulated", sizeof out->nativeKernelSupported.id);
  return ZE_RESULT_SUCCESS;
}

/* One group of queues, for everything. */
static ze_result_t device_get_queue_group_properties(ze_device_handle_t device, uint32_t *count,
                                                     ze_command_queue_group_properties_t *out) {
  EMU_CHECK(device, EMU_DEVICE);
  EMU_CHECK_POINTER(count);
  if (*count > 0 && out) {
    EMU_CHECK_STRUCT(out, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES);
    out->flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
    out->maxMemoryFillPatternSize = sizeof((kw_engine_task *)0)->u.fill.pattern;
    out->numQueues = 4;
  }
  *count = 1;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t device_get_external_memory_properties(ze_device_handle_t device,
                                                         ze_device_external_memory_properties_t *out) {
  EMU_CHECK(device, EMU_DEVICE);
  EMU_CHECK_STRUCT(out, ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES);
  out->memoryAllocationImportTypes = out->memoryAllocationExportTypes = EMU_SHARE_TYPES;
  out->imageImportTypes = out->imageExportTypes = 0;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t device_get_memory_properties(ze_device_handle_t device, uint32_t *count,
                                                ze_device_memory_properties_t *out) {
  EMU_CHECK(device, EMU_DEVICE);
  EMU_CHECK_POINTER(count);
  if (*count > 0 && out) {
    EMU_CHECK_STRUCT(out, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES);
    out->flags = 0;
    out->maxClockRate = 1000;
    out->maxBusWidth = 64;
    out->totalSize = KW_ENGINE_DEVICE_MEMORY;
    strcpy(out->name, "host memory (emulated)");
  }
  *count = 1;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t device_get_memory_access_properties(ze_device_handle_t device,
                                                       ze_device_memory_access_properties_t *out) {
  const ze_memory_access_cap_flags_t access = ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC;
  EMU_CHECK(device, EMU_DEVICE);
  EMU_CHECK_STRUCT(out, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES);
  out->hostAllocCapabilities = access;
  out->deviceAllocCapabilities = access;
  out->sharedSingleDeviceAllocCapabilities = access;
  out->sharedCrossDeviceAllocCapabilities = 0;
  out->sharedSystemAllocCapabilities = 0;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t device_get_p2p_properties(ze_device_handle_t device, ze_device_handle_t peer,
                                             ze_device_p2p_properties_t *out) {
  EMU_CHECK(device, EMU_DEVICE);
  EMU_CHECK(peer, EMU_DEVICE);
  EMU_CHECK_STRUCT(out, ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES);
  out->flags = 0;
  return ZE_RESULT_SUCCESS;
}

/* Kernels of one device reach no memory of another; copies do. */
static ze_result_t device_can_access_peer(ze_device_handle_t device, ze_device_handle_t peer, ze_bool_t *out) {
  EMU_CHECK(device, EMU_DEVICE);
  EMU_CHECK(peer, EMU_DEVICE);
  EMU_CHECK_POINTER(out);
  *out = device == peer;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t device_get_status(ze_device_handle_t device) {
  return emu_check(device, EMU_DEVICE);
}

static ze_result_t device_get_global_timestamps(ze_device_handle_t device, uint64_t *host, uint64_t *own) {
  EMU_CHECK(device, EMU_DEVICE);
  EMU_CHECK_POINTER(host);
  EMU_CHECK_POINTER(own);
  *host = kw_engine_now_ns();
  *own = emu_stamp(*host, EMU_CLOCK_BITS);
  return ZE_RESULT_SUCCESS;
}

/* ---- Contexts ---------------------------------------------------------------------------------------------------- */

static ze_result_t context_create(ze_driver_handle_t driver, const ze_context_desc_t *desc, ze_context_handle_t *out) {
  EMU_CHECK(driver, EMU_DRIVER);
  EMU_CHECK_STRUCT(desc, ZE_STRUCTURE_TYPE_CONTEXT_DESC);
  EMU_CHECK_POINTER(out);
  *out = emu_create(EMU_CONTEXT, sizeof **out, NULL);
  if (!*out) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  for (uint32_t i = 0; i < KW_ENGINE_DEVICE_LIMIT; ++i) (*out)->losses[i] = kw_engine_device_losses(devices[i].engine);
  return ZE_RESULT_SUCCESS;
}

static ze_result_t context_create_ex(ze_driver_handle_t driver, const ze_context_desc_t *desc, uint32_t count,
                                     ze_device_handle_t *some, ze_context_handle_t *out) {
  for (uint32_t i = 0; some && i < count; ++i) EMU_CHECK(some[i], EMU_DEVICE);
  return context_create(driver, desc, out);
}

static ze_result_t context_destroy(ze_context_handle_t context) {
  EMU_CHECK(context, EMU_CONTEXT);
  if (context->objects > 0)
    return emu_fail(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "emulated: %d objects of the context are left",
                    context->objects);
  emu_destroy(context, NULL);
  return ZE_RESULT_SUCCESS;
}

static ze_result_t context_get_status(ze_context_handle_t context) {
  EMU_CHECK(context, EMU_CONTEXT);
  for (uint32_t i = 0; i < kw_engine_device_count(); ++i) EMU_TRY(emu_check_lost(context, &devices[i]));
  return ZE_RESULT_SUCCESS;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

void emu_fill_global(ze_global_dditable_t *table) {
  table->pfnInit = init;
}

void emu_fill_driver(ze_driver_dditable_t *table) {
  table->pfnGet = driver_get;
  table->pfnGetApiVersion = driver_get_api_version;
  table->pfnGetProperties = driver_get_properties;
  table->pfnGetIpcProperties = driver_get_ipc_properties;
  table->pfnGetExtensionProperties = driver_get_extension_properties;
  table->pfnGetExtensionFunctionAddress = driver_get_extension_function;
}

void emu_fill_device(ze_device_dditable_t *table) {
  table->pfnGet = device_get;
  table->pfnGetSubDevices = device_get_sub_devices;
  table->pfnGetProperties = device_get_properties;
  table->pfnGetComputeProperties = device_get_compute_properties;
  table->pfnGetModuleProperties = device_get_module_properties;
  table->pfnGetCommandQueueGroupProperties = device_get_queue_group_properties;
  table->pfnGetExternalMemoryProperties = device_get_external_memory_properties;
  table->pfnGetMemoryProperties = device_get_memory_properties;
  table->pfnGetMemoryAccessProperties = device_get_memory_access_properties;
  table->pfnGetP2PProperties = device_get_p2p_properties;
  table->pfnCanAccessPeer = device_can_access_peer;
  table->pfnGetStatus = device_get_status;
  table->pfnGetGlobalTimestamps = device_get_global_timestamps;
}

void emu_fill_context(ze_context_dditable_t *table) {
  table->pfnCreate = context_create;
  table->pfnCreateEx = context_create_ex;
  table->pfnDestroy = context_destroy;
  table->pfnGetStatus = context_get_status;
}
