/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for ONNX Runtime: its tensors lie at addresses of a device's range (kw_address_reserve), copies go by Keyway,
 * and from and to the host they are fastest with memory of a second allocator, which the host reads and writes itself
 * (kw_host_alloc). Keyway's own allocator keeps what is freed, so that no arena is needed above it.
 */
#include <keyway/interop.h>

#include "capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weights.h"

typedef struct allocator {
  ort_allocator slots; /* first */
  kw_device *device;
  OrtMemoryInfo *info;
  _Atomic uint64_t allocations;
} allocator;

OrtStatus *kw_ort_device_open(const OrtMemoryDevice *memory, kw_device **out_device) {
  kw_device_entry entry = {.struct_size = sizeof entry};
  OrtStatus *status =
      kw_ort_status(kw_device_get_entry(kw_ort_eps->MemoryDevice_GetDeviceId(memory), &entry), "a device of the list");
  return status ? status : kw_ort_status(kw_device_open(entry.name, out_device), "opening the device");
}

OrtStatus *kw_ort_memory_info(uint32_t index, OrtDeviceMemoryType type, OrtMemoryInfo **out_info) {
  kw_device_entry entry = {.struct_size = sizeof entry};
  OrtStatus *status = kw_ort_status(kw_device_get_entry(index, &entry), "a device of the list");
  if (status) return status;
  /* Of every device: what ONNX Runtime knows as a CPU's it reads itself, and addresses of a device's range are nobody's
   * to read; and its Python makes values in a GPU's memory, and not in an NPU's. */
  return kw_ort->CreateMemoryInfo_V2(entry.name, OrtMemoryInfoDeviceType_GPU, KW_ORT_VENDOR_ID, (int32_t)index, type, 0,
                                     OrtDeviceAllocator, out_info);
}

/* For whatever stream: memory that is freed goes back to the cache once all streams that use it have passed, and Keyway
 * knows which. (AllocOnStream is left out: ONNX Runtime 1.24 calls it with streams of others.) */
static void *allocate(ort_allocator *slots, size_t size) {
  allocator *self = (allocator *)slots;
  kw_tensor *tensor;
  void *address = NULL;
  if (kw_tensor_create(self->device, KW_U8, 1, (int64_t[]){(int64_t)size}, &tensor) != KW_OK) return NULL;
  if (kw_address_reserve(tensor, &address) != KW_OK) address = NULL;
  kw_tensor_release(tensor);
  if (address) ++self->allocations;
  return address;
}

static void release(ort_allocator *slots, void *address) {
  (void)slots;
  kw_address_release(address);
}

static void *allocate_host(ort_allocator *slots, size_t size) {
  void *memory = NULL;
  return kw_host_alloc(((allocator *)slots)->device, size ? size : 1, &memory) == KW_OK ? memory : NULL;
}

static void release_host(ort_allocator *slots, void *memory) {
  kw_host_free(((allocator *)slots)->device, memory);
}

static const OrtMemoryInfo *info_of(const ort_allocator *slots) {
  return ((const allocator *)slots)->info;
}

static OrtStatus *get_stats(const ort_allocator *slots, OrtKeyValuePairs **out_stats) {
  const allocator *self = (const allocator *)slots;
  kw_memory_stats stats = {.struct_size = sizeof stats};
  OrtStatus *status = kw_ort_status(kw_memory_get_stats(self->device, &stats), "the counts of memory");
  const struct {
    const char *key;
    uint64_t value;
  } pairs[] = {{"InUse", stats.allocated},
               {"MaxInUse", stats.allocated_peak},
               {"TotalAllocated", stats.held},
               {"NumAllocs", self->allocations},
               {"NumArenaExtensions", stats.plugin_allocs}};
  char text[32];
  if (status) return status;
  kw_ort->CreateKeyValuePairs(out_stats);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
    snprintf(text, sizeof text, "%llu", (unsigned long long)pairs[i].value);
    kw_ort->AddKeyValuePair(*out_stats, pairs[i].key, text);
  }
  return NULL;
}

OrtStatus *kw_ort_allocator_create(const OrtMemoryInfo *info, ort_allocator **out_allocator) {
  const OrtMemoryDevice *where = kw_ort_eps->MemoryInfo_GetMemoryDevice(info);
  const OrtDeviceMemoryType type = kw_ort_eps->MemoryDevice_GetMemoryType(where);
  const bool host = type == OrtDeviceMemoryType_HOST_ACCESSIBLE;
  allocator *self = calloc(1, sizeof *self);
  OrtStatus *status;
  if (!self) return kw_ort_refuse(ORT_FAIL, "no memory for an allocator");
  self->slots = (ort_allocator){.version = KW_ORT_API_VERSION,
                                .Alloc = host ? allocate_host : allocate,
                                .Free = host ? release_host : release,
                                .Info = info_of,
                                .Reserve = host ? allocate_host : allocate,
                                .GetStats = host ? NULL : get_stats};
  status = kw_ort_device_open(where, &self->device);
  if (!status) status = kw_ort_memory_info(kw_ort_eps->MemoryDevice_GetDeviceId(where), type, &self->info);
  if (status) {
    if (self->device) kw_device_close(self->device);
    free(self);
    return status;
  }
  *out_allocator = &self->slots;
  return NULL;
}

void kw_ort_allocator_release(ort_allocator *slots) {
  allocator *self = (allocator *)slots;
  kw_ort->ReleaseMemoryInfo(self->info);
  kw_device_close(self->device);
  free(self);
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

static bool ours(const OrtMemoryDevice *device) {
  return kw_ort_eps->MemoryDevice_GetVendorId(device) == KW_ORT_VENDOR_ID;
}

static bool hosts(const OrtMemoryDevice *device) {
  return kw_ort_eps->MemoryDevice_GetDeviceType(device) == OrtMemoryInfoDeviceType_CPU ||
         kw_ort_eps->MemoryDevice_GetMemoryType(device) == OrtDeviceMemoryType_HOST_ACCESSIBLE;
}

static bool can_copy(const ort_data_transfer *slots, const OrtMemoryDevice *from, const OrtMemoryDevice *to) {
  (void)slots;
  return (ours(from) && (ours(to) || hosts(to))) || (hosts(from) && ours(to));
}

static kw_status copy_from_device(const kw_tensor *from, void *to, kw_stream *stream) {
  kw_status status = kw_tensor_read_async(from, to, stream);
  return status == KW_OK ? kw_stream_synchronize(stream) : status;
}

/* Nobody else waits for a copy that was asked for without a stream. */
static kw_status copy_between(const kw_tensor *from, kw_stream *from_stream, kw_tensor *to, kw_stream *to_stream,
                              bool waits) {
  kw_status status = kw_tensor_copy_async(to, to_stream, from, from_stream), written = KW_OK;
  if (status != KW_OK || !waits) return status;
  if (from_stream != to_stream) status = kw_stream_synchronize(from_stream);
  written = kw_stream_synchronize(to_stream);
  return written != KW_OK ? written : status; /* whose text is the newest */
}

static kw_status copy_to_device(const void *from, kw_tensor *to, kw_stream *stream) {
  kw_status status = kw_tensor_write_async(to, from, stream);
  return status == KW_OK ? kw_stream_synchronize(stream) : status;
}

static kw_status copy_bytes(const void *from, void *to, size_t bytes, const void *handle) {
  kw_device *from_device = kw_address_device(from), *to_device = kw_address_device(to);
  kw_stream *from_stream = NULL, *to_stream = NULL;
  const int64_t shape[1] = {(int64_t)bytes}, strides[1] = {1};
  kw_tensor *source = NULL, *target = NULL;
  kw_status status = KW_OK;
  if (to_device && !from_device && weights_map(from, to, bytes)) return KW_OK;
  if (from_device) status = kw_ort_stream_behind(handle, from_device, &from_stream);
  if (status == KW_OK && to_device) status = kw_ort_stream_behind(handle, to_device, &to_stream);
  if (status == KW_OK && from_device) status = kw_tensor_at(from, KW_U8, 1, shape, strides, &source);
  if (status == KW_OK && to_device) status = kw_tensor_at(to, KW_U8, 1, shape, strides, &target);
  if (status == KW_OK) {
    if (source && target)
      status = copy_between(source, from_stream, target, to_stream, !handle);
    else if (source)
      status = copy_from_device(source, to, from_stream);
    else if (target)
      status = copy_to_device(from, target, to_stream);
    else
      memcpy(to, from, bytes);
  }
  kw_tensor_release(source);
  kw_tensor_release(target);
  return status;
}

OrtStatus *kw_ort_copy(const OrtValue *from, OrtValue *to, const void *stream) {
  void *source = NULL, *target = NULL;
  size_t bytes = 0;
  OrtStatus *status = kw_ort->GetTensorSizeInBytes(from, &bytes);
  if (!status) status = kw_ort->GetTensorMutableData((OrtValue *)(uintptr_t)from, &source);
  if (!status) status = kw_ort->GetTensorMutableData(to, &target);
  if (status || bytes == 0) return status;
  if (kw_address_device(source) != kw_address_device(target)) status = capture_copy();
  if (status) return status;
  /* ONNX Runtime does not look whether an allocation went well. */
  if (!source || !target) return kw_ort_refuse(ORT_EP_FAIL, "Keyway: no memory for a value: %s", kw_error_message());
  return kw_ort_status(copy_bytes(source, target, bytes, stream), "a copy");
}

static OrtStatus *copy_tensors(ort_data_transfer *slots, const OrtValue **from, OrtValue **to, OrtSyncStream **streams,
                               size_t count) {
  OrtStatus *status = NULL;
  (void)slots;
  for (size_t i = 0; i < count && !status; ++i)
    status = kw_ort_copy(from[i], to[i], kw_ort_stream_of(streams ? streams[i] : NULL));
  return status;
}

static void keep(ort_data_transfer *slots) {
  (void)slots; /* it is part of its factory */
}

void kw_ort_transfer_init(ort_data_transfer *transfer) {
  *transfer = (ort_data_transfer){
      .ort_version_supported = KW_ORT_API_VERSION, .Release = keep, .CanCopy = can_copy, .CopyTensors = copy_tensors};
}
