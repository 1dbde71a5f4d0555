/* SPDX-License-Identifier: Apache-2.0
 *
 * What ONNX Runtime opens the library by: a factory for each plugin of Keyway that has devices.
 */
#include "provider.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

const ort_api *kw_ort;
const ort_ep_api *kw_ort_eps;
uint32_t kw_ort_api_version;

OrtStatus *kw_ort_refuse(OrtErrorCode code, const char *format, ...) {
  char text[KW_ORT_TEXT];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return kw_ort->CreateStatus(code, text);
}

OrtStatus *kw_ort_status(kw_status status, const char *what) {
  OrtErrorCode code = ORT_EP_FAIL;
  if (status == KW_OK) return NULL;
  if (status == KW_ERR_INVALID_ARGUMENT) code = ORT_INVALID_ARGUMENT;
  if (status == KW_ERR_NOT_IMPLEMENTED || status == KW_ERR_UNSUPPORTED) code = ORT_NOT_IMPLEMENTED;
  return kw_ort_refuse(code, "Keyway: %s: %s", what, kw_error_message());
}

static const char *get_name(const ort_ep_factory *slots) {
  return ((const factory *)slots)->name;
}

static const char *get_vendor(const ort_ep_factory *slots) {
  return ((const factory *)slots)->vendor;
}

static uint32_t get_vendor_id(const ort_ep_factory *slots) {
  (void)slots;
  return KW_ORT_VENDOR_ID;
}

static const char *get_version(const ort_ep_factory *slots) {
  (void)slots;
  return kw_version();
}

static OrtHardwareDeviceType hardware_type(kw_device_type type) {
  if (type == KW_DEVICE_CPU) return OrtHardwareDeviceType_CPU;
  return type == KW_DEVICE_NPU ? OrtHardwareDeviceType_NPU : OrtHardwareDeviceType_GPU;
}

/* What an application chooses by: OrtEpDevice's metadata. */
static void describe(const kw_device_entry *entry, OrtKeyValuePairs *metadata) {
  static const char *const types[] = {"other", "cpu", "gpu", "npu", "fpga"};
  const kw_device_info *info = entry->info;
  char memory[32];
  snprintf(memory, sizeof memory, "%llu", (unsigned long long)info->total_memory);
  kw_ort->AddKeyValuePair(metadata, "keyway_device", entry->name);
  kw_ort->AddKeyValuePair(metadata, "keyway_qualified_name", entry->qualified_name);
  kw_ort->AddKeyValuePair(metadata, "keyway_type",
                          info->type < sizeof types / sizeof *types ? types[info->type] : "other");
  kw_ort->AddKeyValuePair(metadata, "keyway_product", info->name);
  kw_ort->AddKeyValuePair(metadata, "keyway_vendor", info->vendor);
  kw_ort->AddKeyValuePair(metadata, "keyway_memory", memory);
  if (info->flags & KW_DEVICE_EMULATED) kw_ort->AddKeyValuePair(metadata, "keyway_emulated", "1");
}

/* ONNX Runtime finds no accelerator of a plugin by itself, so each device is one of the provider's own ("virtual"). */
static OrtStatus *offer(factory *self, uint32_t index, OrtEpDevice **out_device) {
  static const OrtDeviceMemoryType types[] = {OrtDeviceMemoryType_DEFAULT, OrtDeviceMemoryType_HOST_ACCESSIBLE};
  kw_device_entry entry = {.struct_size = sizeof entry};
  OrtKeyValuePairs *metadata = NULL, *found_by = NULL;
  OrtStatus *status = kw_ort_status(kw_device_get_entry(index, &entry), "a device of the list");
  *out_device = NULL;
  if (status) return status;
  kw_ort->CreateKeyValuePairs(&metadata);
  kw_ort->CreateKeyValuePairs(&found_by);
  describe(&entry, metadata);
  kw_ort->AddKeyValuePair(found_by, "is_virtual", "1");
  kw_ort->AddKeyValuePair(found_by, "keyway_device", entry.name);
  status = kw_ort_eps->CreateHardwareDevice(hardware_type(entry.info->type), KW_ORT_VENDOR_ID, index,
                                            entry.info->vendor[0] ? entry.info->vendor : "Keyway", found_by,
                                            &self->offered[self->offered_count].hardware);
  if (!status)
    status = kw_ort_eps->CreateEpDevice(&self->slots, self->offered[self->offered_count].hardware, metadata, NULL,
                                        out_device);
  for (size_t i = 0; i < sizeof types / sizeof *types && !status; ++i) {
    OrtMemoryInfo **memory = &self->offered[self->offered_count].memory[i];
    status = kw_ort_memory_info(index, types[i], memory);
    if (!status) status = kw_ort_eps->EpDevice_AddAllocatorInfo(*out_device, *memory);
  }
  if (status && *out_device) kw_ort_eps->ReleaseEpDevice(*out_device), *out_device = NULL;
  ++self->offered_count;
  kw_ort->ReleaseKeyValuePairs(found_by);
  kw_ort->ReleaseKeyValuePairs(metadata);
  return status;
}

static OrtStatus *get_supported_devices(ort_ep_factory *slots, const OrtHardwareDevice *const *found,
                                        size_t found_count, OrtEpDevice **out_devices, size_t capacity,
                                        size_t *out_count) {
  factory *self = (factory *)slots;
  OrtStatus *status = NULL;
  (void)found;
  (void)found_count;
  *out_count = 0;
  if (capacity > KW_ORT_DEVICES_AT_MOST - self->offered_count) capacity = KW_ORT_DEVICES_AT_MOST - self->offered_count;
  for (uint32_t i = 0; i < self->device_count && *out_count < capacity && !status; ++i) {
    status = offer(self, self->first_device + i, &out_devices[*out_count]);
    if (!status) ++*out_count;
  }
  return status;
}

static OrtStatus *create_ep(ort_ep_factory *slots, const OrtHardwareDevice *const *devices,
                            const OrtKeyValuePairs *const *metadata, size_t count, const OrtSessionOptions *options,
                            const OrtLogger *logger, ort_ep **out_ep) {
  factory *self = (factory *)slots;
  const char *name;
  (void)devices;
  (void)logger;
  if (count != 1)
    return kw_ort_refuse(
        ORT_INVALID_ARGUMENT,
        "%s takes one device a session, not %zu: add the devices of other plugins as providers of their own",
        self->name, count);
  name = kw_ort->GetKeyValue(metadata[0], "keyway_device");
  if (!name) return kw_ort_refuse(ORT_INVALID_ARGUMENT, "%s: the device was not offered by Keyway", self->name);
  return kw_ort_provider_create(self, name, options, out_ep);
}

static void release_ep(ort_ep_factory *slots, ort_ep *ep) {
  (void)slots;
  kw_ort_provider_release(ep);
}

static OrtStatus *create_allocator(ort_ep_factory *slots, const OrtMemoryInfo *info, const OrtKeyValuePairs *options,
                                   ort_allocator **out_allocator) {
  (void)slots;
  (void)options;
  return kw_ort_allocator_create(info, out_allocator);
}

static void release_allocator(ort_ep_factory *slots, ort_allocator *allocator) {
  (void)slots;
  kw_ort_allocator_release(allocator);
}

static OrtStatus *create_data_transfer(ort_ep_factory *slots, ort_data_transfer **out_transfer) {
  *out_transfer = &((factory *)slots)->transfer;
  return NULL;
}

static bool is_stream_aware(const ort_ep_factory *slots) {
  (void)slots;
  return true;
}

static OrtStatus *create_stream(ort_ep_factory *slots, const OrtMemoryDevice *memory, const OrtKeyValuePairs *options,
                                ort_sync_stream **out_stream) {
  (void)slots;
  (void)options;
  return kw_ort_stream_create(memory, out_stream);
}

static OrtStatus *create_importer(ort_ep_factory *slots, const OrtEpDevice *device,
                                  ort_external_importer **out_importer) {
  (void)slots;
  return kw_ort_importer_create(device, out_importer);
}

static OrtStatus *factory_create(uint32_t first, const kw_device_entry *entry, factory **out_factory) {
  factory *self = calloc(1, sizeof *self);
  OrtStatus *status;
  if (!self) return kw_ort_refuse(ORT_FAIL, "no memory for a factory of Keyway's devices");
  snprintf(self->key, sizeof self->key, "%.*s", (int)strcspn(entry->name, ":"), entry->name);
  snprintf(self->name, sizeof self->name, "keyway.%s", self->key);
  snprintf(self->vendor, sizeof self->vendor, "%s", entry->info->vendor[0] ? entry->info->vendor : "Keyway");
  self->first_device = first;
  self->slots = (ort_ep_factory){.ort_version_supported = KW_ORT_API_VERSION,
                                 .GetName = get_name,
                                 .GetVendor = get_vendor,
                                 .GetSupportedDevices = get_supported_devices,
                                 .CreateEp = create_ep,
                                 .ReleaseEp = release_ep,
                                 .GetVendorId = get_vendor_id,
                                 .GetVersion = get_version,
                                 .CreateAllocator = create_allocator,
                                 .ReleaseAllocator = release_allocator,
                                 .CreateDataTransfer = create_data_transfer,
                                 .IsStreamAware = is_stream_aware,
                                 .CreateSyncStreamForDevice = create_stream,
                                 .CreateExternalResourceImporterForDevice = create_importer};
  kw_ort_transfer_init(&self->transfer);
  status = kw_ort_registry_make(self->name, &self->registry);
  if (status) {
    free(self);
    return status;
  }
  *out_factory = self;
  return NULL;
}

static void factory_destroy(factory *self) {
  for (uint32_t i = 0; i < self->offered_count; ++i) {
    if (self->offered[i].hardware) kw_ort_eps->ReleaseHardwareDevice(self->offered[i].hardware);
    for (size_t j = 0; j < 2; ++j)
      if (self->offered[i].memory[j]) kw_ort->ReleaseMemoryInfo(self->offered[i].memory[j]);
  }
  kw_ort_eps->ReleaseKernelRegistry(self->registry);
  free(self);
}

/* Whether a library that was registered under this name is to offer the devices of a plugin: "keyway.npu" offers those
 * of npu alone, any other name all. */
static bool wanted(const char *registered_name, const char *device) {
  const char *key = strncmp(registered_name, "keyway.", 7) == 0 ? registered_name + 7 : NULL;
  return !key || (strlen(key) == strcspn(device, ":") && strncmp(key, device, strlen(key)) == 0);
}

/* ONNX Runtime 1.N has API N. (Asking for one that it does not have puts an error into its log.) */
static uint32_t api_version(const char *version) {
  const unsigned long minor = strncmp(version, "1.", 2) == 0 ? strtoul(version + 2, NULL, 10) : 0;
  if (minor < KW_ORT_API_VERSION) return KW_ORT_API_VERSION;
  return minor < KW_ORT_API_NEWEST ? (uint32_t)minor : KW_ORT_API_NEWEST;
}

EXPORTED OrtStatus *CreateEpFactories(const char *registered_name, const ort_api_base *base, const OrtLogger *logger,
                                      ort_ep_factory **out_factories, size_t capacity, size_t *out_count) {
  uint32_t count = 0;
  OrtStatus *status;
  (void)logger;
  *out_count = 0;
  kw_ort = base->GetApi(KW_ORT_API_VERSION);
  if (!kw_ort) {
    const ort_api *oldest = base->GetApi(1);
    return oldest->CreateStatus(ORT_FAIL, "Keyway needs ONNX Runtime 1.24 or newer: kernel registries begin with it");
  }
  kw_ort_eps = kw_ort->GetEpApi();
  kw_ort_api_version = api_version(base->GetVersionString());
  status = kw_ort_status(kw_device_count(&count), "the list of devices");
  for (uint32_t i = 0; i < count && !status; ++i) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    factory *last = *out_count ? (factory *)out_factories[*out_count - 1] : NULL;
    status = kw_ort_status(kw_device_get_entry(i, &entry), "a device of the list");
    if (status || !wanted(registered_name, entry.name)) continue;
    if (last && wanted(last->name, entry.name)) {
      ++last->device_count;
    } else if (*out_count < capacity) {
      status = factory_create(i, &entry, (factory **)&out_factories[*out_count]);
      if (!status) ((factory *)out_factories[(*out_count)++])->device_count = 1;
    }
  }
  while (status && *out_count) factory_destroy((factory *)out_factories[--*out_count]);
  return status;
}

EXPORTED OrtStatus *ReleaseEpFactory(ort_ep_factory *slots) {
  factory_destroy((factory *)slots);
  return NULL;
}
