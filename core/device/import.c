/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory from the owner's handle to the plugin's kw_mem and back to the owner, or from the plugin and back to it; and
 * the other way, what of the plugin's others may take in.
 */
#include "device/import.h"

#include "base/error.h"
#include "base/log.h"
#include "base/trace.h"
#include "device/abandon.h"
#include "device/ipc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static kw_status take_in(kw_device *device, const kw_external_memory *memory, kw_import *import) {
  kw_external_memory plain; /* without what is the library's of the bytes */
  if (memory->kind == KW_HANDLE_IPC) {
    plain = *memory;
    kw_status opened = kw_ipc_open(device, plain.ipc);
    if (opened != KW_OK) return opened;
    memory = &plain;
  }
  const uint64_t begin = kw_trace_begin();
  kw_status status =
      KW_ASK(device->slots, interop.import_memory, device->handle, memory, &import->mem, &import->alignment);
  if (kw_trace_on()) {
    char detail[120];
    snprintf(detail, sizeof detail, "%" PRIu64 " bytes on %s", memory->size, device->name);
    kw_trace_span("alloc", "import", detail, begin);
  }
  if (status != KW_OK) {
    return kw_device_mark_if_lost(device, kw_from_plugin(status, "importing %" PRIu64 " bytes of kind %u on %s",
                                                         memory->size, memory->kind, device->name));
  }
  if (import->mem != NULL && import->alignment != 0 && (import->alignment & (import->alignment - 1)) == 0) return KW_OK;
  if (import->mem != NULL) KW_ASK(device->slots, interop.release_memory, device->handle, import->mem);
  return kw_fail(KW_ERR_INTERNAL, "%s: interop.import_memory says KW_OK and gives %s", device->name,
                 import->mem == NULL ? "no memory" : "an alignment that is no power of two");
}

kw_status kw_import_begin(kw_device *device, const kw_external_memory *memory, kw_deleter deleter, void *user,
                          kw_import **out_import) {
  if ((device->plugin->native & KW_NATIVE_INTEROP) == 0) {
    return kw_fail(
        KW_ERR_UNSUPPORTED,
        "%s takes no memory of others: its plugin has no keyway.interop/1. Make a tensor of its own and copy "
        "(kw_tensor_write).",
        device->name);
  }
  kw_import *import = calloc(1, sizeof *import);
  if (import == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for an import");
  *import = (kw_import){.size = memory->size,
                        .read_only = (memory->flags & KW_EXTERNAL_READ_ONLY) != 0,
                        .deleter = deleter,
                        .user = user};
  kw_status status = take_in(device, memory, import);
  if (status == KW_OK) {
    *out_import = import;
  } else {
    free(import);
  }
  return status;
}

kw_status kw_import_allocate(kw_device *device, const kw_memory_options *options, uint64_t size,
                             kw_import **out_import) {
  kw_import *import = calloc(1, sizeof *import);
  if (import == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for an allocation");
  const kw_alloc_info info = {.struct_size = sizeof info,
                              .kind = options->kind,
                              .size = size,
                              .alignment = device->info.mem_alignment,
                              .flags = options->flags};
  *import =
      (kw_import){.size = size, .alignment = device->info.mem_alignment, .allocated = true, .uses = options->flags};
  const uint64_t begin = kw_trace_begin();
  kw_status status = KW_ASK(device->slots, memory.alloc, device->handle, &info, &import->mem);
  kw_trace_span("alloc", "alloc", device->name, begin);
  if (status == KW_OK && import->mem != NULL) {
    *out_import = import;
    return KW_OK;
  }
  free(import);
  if (status == KW_OK) return kw_fail(KW_ERR_INTERNAL, "memory.alloc returned KW_OK and no memory");
  return kw_device_mark_if_lost(
      device, kw_from_plugin(status, "allocating %" PRIu64 " bytes of memory of kind %u with flags 0x%" PRIx64 " on %s",
                             size, options->kind, options->flags, device->name));
}

kw_status kw_import_export(kw_device *device, kw_mem mem, kw_external_memory *memory) {
  kw_status status = KW_ASK(device->slots, interop.export_memory, device->handle, mem, memory);
  if (status != KW_OK) {
    return kw_device_mark_if_lost(device, kw_from_plugin(status, "exporting %" PRIu64 " bytes of %s as kind %u",
                                                         memory->size, device->name, memory->kind));
  }
  return memory->kind == KW_HANDLE_IPC ? kw_ipc_seal(device, memory->ipc) : KW_OK;
}

static kw_status give_back(kw_device *device, const kw_import *import) {
  if (import->allocated) return KW_ASK(device->slots, memory.dealloc, device->handle, import->mem);
  return KW_ASK(device->slots, interop.release_memory, device->handle, import->mem);
}

void kw_import_end(kw_device *device, kw_import *import) {
  if (kw_device_is_abandoned(device)) { /* what hangs may still come to the memory: the owner does not get it back */
    kw_abandon_keep(import);
    return;
  }
  kw_status status = give_back(device, import);
  if (status != KW_OK) {
    kw_device_mark_if_lost(device,
                           kw_from_plugin(status, "giving back %s of %" PRIu64 " bytes on %s",
                                          import->allocated ? "memory" : "an import", import->size, device->name));
    kw_log(KW_LOG_WARN, "%s", kw_error_message());
  }
  if (import->deleter != NULL) import->deleter(import->user);
  free(import);
}
