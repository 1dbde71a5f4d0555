/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors on memory that others made, files among it, and what a device's own objects are called elsewhere.
 */
#include "tensor/interop.h"
#include "tensor/transfer.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/struct.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Imports ----------------------------------------------------------------------------------------------------- */

static kw_status check_memory(const kw_external_memory *memory) {
  if (memory->size == 0 || memory->size > INT64_MAX) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "kw_tensor_import: the memory's size is %" PRIu64 "; at least 1 byte has to be there", memory->size);
  }
  if (memory->kind == KW_HANDLE_HOST && (memory->host == NULL || memory->offset != 0)) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_tensor_import: a range of host memory begins at `host`, which is %s",
                   memory->host == NULL ? "NULL" : "where offset has to be 0");
  }
  return KW_OK;
}

kw_status kw_tensor_on_import(kw_device *device, const kw_external_memory *memory, kw_deleter deleter, void *user,
                              kw_dtype dtype, uint32_t rank, const int64_t *shape, const int64_t *strides,
                              kw_tensor **out_tensor) {
  kw_import *taken;
  kw_buffer *buffer;
  kw_status status = kw_import_begin(device, memory, deleter, user, &taken);
  if (status != KW_OK) return status;
  status = kw_buffer_on_import(device, taken, &buffer);
  if (status != KW_OK) {
    taken->deleter = NULL; /* the memory stays the caller's */
    kw_import_end(device, taken);
    return status;
  }
  status = kw_tensor_on_buffer(buffer, dtype, rank, shape, strides, 0, out_tensor);
  if (status != KW_OK) taken->deleter = NULL;
  kw_buffer_release(buffer);
  return status;
}

/* All of it, as bytes. */
static kw_status import_bytes(kw_device *device, const kw_external_memory *memory, kw_deleter deleter, void *user,
                              kw_tensor **out_tensor) {
  const int64_t shape = (int64_t)memory->size, stride = 1;
  return kw_tensor_on_import(device, memory, deleter, user, KW_U8, 1, &shape, &stride, out_tensor);
}

kw_status kw_tensor_import(kw_device *device, const kw_external_memory *memory, kw_deleter deleter, void *user,
                           kw_tensor **out_tensor) {
  if (device == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_tensor_import: argument device is NULL.");
  if (out_tensor == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_tensor_import: argument out_tensor is NULL.");
  kw_external_memory given;
  kw_status status = kw_struct_check_given("kw_tensor_import", memory);
  if (status == KW_OK) status = kw_fork_check();
  if (status == KW_OK) status = kw_device_check(device);
  if (status != KW_OK) return status;
  kw_struct_read(&given, sizeof given, memory);
  status = check_memory(&given);
  if (status != KW_OK) return status;
  status = import_bytes(device, &given, deleter, user, out_tensor);
  return status == KW_OK ? KW_OK : kw_wrap(status, "kw_tensor_import");
}

bool kw_tensor_is_read_only(const kw_tensor *tensor) {
  return tensor != NULL && kw_tensor_bars_writing(tensor);
}

/* ---- Exports ----------------------------------------------------------------------------------------------------- */

static kw_status check_export(const char *function, const kw_tensor *tensor, kw_handle_kind kind) {
  const kw_import *import = kw_block_of(tensor->buffer)->segment->import;
  const uint64_t uses = import != NULL ? import->uses : 0,
                 wanted = kind == KW_HANDLE_IPC ? KW_MEM_IPC : KW_MEM_EXPORTABLE;
  if (kind == KW_HANDLE_HOST || tensor->ref.numel == 0) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: %s", function,
                   kind == KW_HANDLE_HOST ? "KW_HANDLE_HOST names nothing for others; kw_tensor_map gives a pointer"
                                          : "the tensor has no elements: there is nothing to name");
  }
  kw_status status = kw_tensor_check_contiguous(function, tensor, "Export the tensor that it is a view of, or a copy.");
  if (status != KW_OK || (uses & wanted) != 0) return status;
  return kw_fail(KW_ERR_INVALID_ARGUMENT,
                 "%s: the tensor's memory is not for others: make it with kw_tensor_create_in and %s.", function,
                 kind == KW_HANDLE_IPC ? "KW_MEM_IPC" : "KW_MEM_EXPORTABLE");
}

kw_status kw_tensor_export(const kw_tensor *tensor, kw_handle_kind kind, kw_external_memory *out_memory) {
  static const char function[] = "kw_tensor_export";
  kw_status status = kw_tensor_check(function, "tensor", tensor);
  if (status == KW_OK) status = kw_struct_check_given(function, out_memory);
  if (status == KW_OK) status = kw_fork_check();
  if (status == KW_OK) status = kw_device_check(tensor->device);
  if (status == KW_OK) status = check_export(function, tensor, kind);
  if (status != KW_OK) return status;
  kw_external_memory memory = {
      .struct_size = sizeof memory, .kind = kind, .size = kw_ref_bytes(&tensor->ref), .offset = tensor->ref.offset};
  status = kw_import_export(tensor->device, tensor->ref.mem, &memory);
  if (status != KW_OK) return kw_wrap(status, "%s", function);
  kw_struct_write(out_memory, &memory, sizeof memory);
  return KW_OK;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

typedef struct mapping {
  void *bytes;
  size_t size;
} mapping;

static void KW_CALL unmap_file(void *user) {
  mapping *map = user;
  munmap(map->bytes, map->size);
  free(map);
}

static kw_status fail_io(const char *path, const char *what) {
  return kw_fail(errno == ENOENT ? KW_ERR_NOT_FOUND : KW_ERR_IO, "kw_tensor_from_file: %s: %s: %s", path, what,
                 strerror(errno));
}

static kw_status map_file(const char *path, mapping *out_map) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail_io(path, "opening");
  struct stat facts;
  kw_status status = KW_OK;
  if (fstat(file, &facts) != 0) {
    status = fail_io(path, "asking for its size");
  } else if (!S_ISREG(facts.st_mode) || facts.st_size == 0) {
    status = kw_fail(KW_ERR_IO, "kw_tensor_from_file: %s: it is %s", path,
                     S_ISREG(facts.st_mode) ? "empty: there is nothing to map" : "no regular file");
  } else {
    out_map->size = (size_t)facts.st_size;
    out_map->bytes = mmap(NULL, out_map->size, PROT_READ, MAP_PRIVATE, file, 0);
    if (out_map->bytes == MAP_FAILED) status = fail_io(path, "mapping");
  }
  close(file);
  return status;
}

kw_status kw_tensor_from_file(kw_device *device, const char *path, kw_tensor **out_tensor) {
  if (device == NULL || path == NULL || out_tensor == NULL) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_tensor_from_file: argument %s is NULL.",
                   device == NULL ? "device"
                   : path == NULL ? "path"
                                  : "out_tensor");
  }
  kw_status status = kw_fork_check();
  if (status == KW_OK) status = kw_device_check(device);
  if (status != KW_OK) return status;
  mapping *map = malloc(sizeof *map);
  if (map == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "kw_tensor_from_file: the host is out of memory.");
  status = map_file(path, map);
  if (status != KW_OK) {
    free(map);
    return status;
  }
  const kw_external_memory memory = {.struct_size = sizeof memory,
                                     .kind = KW_HANDLE_HOST,
                                     .flags = KW_EXTERNAL_READ_ONLY,
                                     .size = map->size,
                                     .host = map->bytes};
  status = import_bytes(device, &memory, unmap_file, map, out_tensor);
  if (status == KW_OK) return KW_OK;
  unmap_file(map);
  return kw_wrap(status, "kw_tensor_from_file: %s", path);
}

/* ---- Names elsewhere --------------------------------------------------------------------------------------------- */

static kw_status native_handle(const char *function, kw_device *device, kw_object_kind kind, void *object,
                               kw_native_handle *out_handle) {
  kw_native_handle handle = {.struct_size = sizeof handle};
  kw_status status = kw_struct_check_given(function, out_handle);
  if (status == KW_OK) status = kw_device_check(device);
  if (status != KW_OK) return status;
  status = KW_ASK(device->slots, interop.native_handle, device->handle, kind, object, &handle);
  if (status != KW_OK) return kw_device_mark_if_lost(device, kw_from_plugin(status, "%s: %s", function, device->name));
  status = kw_reserved_check("the plugin's kw_native_handle", device->plugin->desc.abi_version, handle.reserved);
  if (status != KW_OK) return kw_wrap(KW_ERR_INTERNAL, "%s: %s", function, device->name);
  handle.reserved = 0;
  kw_struct_write(out_handle, &handle, sizeof handle);
  return KW_OK;
}

kw_status kw_tensor_native_handle(const kw_tensor *tensor, kw_native_handle *out_handle) {
  static const char function[] = "kw_tensor_native_handle";
  kw_status status = kw_tensor_check(function, "tensor", tensor);
  if (status != KW_OK) return status;
  return native_handle(function, tensor->device, KW_OBJECT_MEMORY, tensor->ref.mem, out_handle);
}

kw_status kw_stream_native_handle(kw_stream *stream, kw_native_handle *out_handle) {
  static const char function[] = "kw_stream_native_handle";
  if (stream == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument stream is NULL.", function);
  return native_handle(function, stream->device, KW_OBJECT_STREAM, stream->handle, out_handle);
}

kw_status kw_device_native_handle(kw_device *device, kw_native_handle *out_handle) {
  static const char function[] = "kw_device_native_handle";
  if (device == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument device is NULL.", function);
  return native_handle(function, device, KW_OBJECT_DEVICE, NULL, out_handle);
}
