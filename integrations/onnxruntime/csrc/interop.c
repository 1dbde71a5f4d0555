/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of others for ONNX Runtime (OrtExternalResourceImporter): a range of the process's memory or what a descriptor
 * names, where the device can import it, used where it lies. One stretch of addresses stands for all of it, and each
 * tensor on it for a part of that. Semaphores of others Keyway does not have.
 */
#include <keyway/interop.h>

#include "provider.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "node.h"

typedef struct importer {
  ort_external_importer slots; /* first */
  const OrtEpDevice *of;
  kw_device *device;
  const OrtMemoryInfo *info;
} importer;

typedef struct imported {
  ort_external_memory slots; /* first */
  char *address;
} imported;

static kw_status import(kw_device *device, const OrtExternalMemoryDescriptor *from, kw_tensor **out_tensor) {
  kw_external_memory memory = {.struct_size = sizeof memory};
  if (from->offset_bytes < from->size_bytes) memory.size = from->size_bytes - from->offset_bytes; /* 0 is refused */
  if (from->handle_type == ORT_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION) {
    memory.kind = KW_HANDLE_HOST;
    memory.host = (char *)from->native_handle + from->offset_bytes;
  } else {
    memory.kind = KW_HANDLE_FD;
    memory.handle = (uint64_t)(intptr_t)from->native_handle;
    memory.offset = from->offset_bytes;
  }
  return kw_tensor_import(device, &memory, NULL, NULL, out_tensor);
}

/* Known by trying, with a page of nobody's: what a device cannot import at all it says so. */
static bool can_import(const ort_external_importer *slots, OrtExternalMemoryHandleType type) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  OrtExternalMemoryDescriptor from = {.handle_type = type, .size_bytes = page};
  kw_tensor *tensor = NULL;
  kw_status status = KW_ERR_UNSUPPORTED;
  if (type != ORT_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION &&
      type != ORT_EXTERNAL_MEMORY_HANDLE_TYPE_MEMORY_OPAQUE_FD)
    return false;
  const int file = memfd_create("keyway", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)page) != 0) return false;
  void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  from.native_handle = type == ORT_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION ? memory : (void *)(intptr_t)file;
  if (memory != MAP_FAILED) status = import(((const importer *)slots)->device, &from, &tensor);
  kw_tensor_release(tensor);
  if (memory != MAP_FAILED) munmap(memory, page);
  close(file);
  return status != KW_ERR_UNSUPPORTED;
}

static void release_imported(ort_external_memory *slots) {
  kw_address_release(((imported *)slots)->address);
  free(slots);
}

static void release_memory(ort_external_importer *importer, ort_external_memory *memory) {
  (void)importer;
  release_imported(memory);
}

static OrtStatus *import_memory(ort_external_importer *slots, const OrtExternalMemoryDescriptor *from,
                                ort_external_memory **out_memory) {
  const importer *self = (const importer *)slots;
  kw_tensor *tensor = NULL;
  void *address = NULL;
  imported *made = calloc(1, sizeof *made);
  if (!made) return kw_ort_refuse(ORT_FAIL, "no memory for an import");
  kw_status status = import(self->device, from, &tensor);
  if (status == KW_OK) status = kw_address_reserve(tensor, &address);
  kw_tensor_release(tensor);
  if (status != KW_OK) {
    free(made);
    return kw_ort_status(status, "an import of memory");
  }
  made->slots = (ort_external_memory){
      .version = KW_ORT_API_VERSION, .ep_device = self->of, .descriptor = *from, .Release = release_imported};
  made->address = address;
  *out_memory = &made->slots;
  return NULL;
}

static OrtStatus *create_tensor(ort_external_importer *slots, const ort_external_memory *memory,
                                const OrtExternalTensorDescriptor *as, OrtValue **out_tensor) {
  const size_t size = memory->descriptor.size_bytes - memory->descriptor.offset_bytes;
  const kw_dtype dtype = node_dtype_of(as->element_type);
  uint64_t bytes = kw_dtype_size(dtype);
  if (dtype == KW_DTYPE_NONE) return kw_ort_refuse(ORT_INVALID_ARGUMENT, "Keyway: a tensor of a type it does not have");
  for (size_t d = 0; d < as->rank; ++d)
    if (as->shape[d] < 0 || __builtin_mul_overflow(bytes, (uint64_t)as->shape[d], &bytes)) bytes = UINT64_MAX;
  if (as->offset_bytes > size || bytes > size - as->offset_bytes)
    return kw_ort_refuse(ORT_INVALID_ARGUMENT, "Keyway: a tensor that begins at byte %zu of %zu ends behind them",
                         as->offset_bytes, size);
  return kw_ort->CreateTensorWithDataAsOrtValue(((const importer *)slots)->info,
                                                ((const imported *)memory)->address + as->offset_bytes, (size_t)bytes,
                                                as->shape, as->rank, as->element_type, out_tensor);
}

static bool can_import_semaphore(const ort_external_importer *slots, int type) {
  (void)slots;
  (void)type;
  return false;
}

static void release(ort_external_importer *slots) {
  importer *self = (importer *)slots;
  kw_device_close(self->device);
  free(self);
}

OrtStatus *kw_ort_importer_create(const OrtEpDevice *of, ort_external_importer **out_importer) {
  importer *self = calloc(1, sizeof *self);
  OrtStatus *status;
  if (!self) return kw_ort_refuse(ORT_FAIL, "no memory for an importer");
  self->slots = (ort_external_importer){.ort_version_supported = KW_ORT_API_VERSION,
                                        .CanImportMemory = can_import,
                                        .ImportMemory = import_memory,
                                        .ReleaseMemory = release_memory,
                                        .CreateTensorFromMemory = create_tensor,
                                        .CanImportSemaphore = can_import_semaphore,
                                        .Release = release};
  self->of = of;
  self->info = kw_ort->EpDevice_MemoryInfo(of, OrtDeviceMemoryType_DEFAULT);
  status = kw_ort_device_open(kw_ort_eps->MemoryInfo_GetMemoryDevice(self->info), &self->device);
  if (status) {
    free(self);
    return status;
  }
  *out_importer = &self->slots;
  return NULL;
}
