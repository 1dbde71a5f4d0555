/* SPDX-License-Identifier: Apache-2.0
 *
 * Imports: from the owner's handle to the plugin's kw_mem, and back to the owner.
 */
#include "device/import.h"

#include "base/error.h"
#include "base/log.h"
#include "base/trace.h"
#include "device/abandon.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static kw_status take_in(kw_device *device, const kw_external_memory *memory, kw_import *import) {
  const uint64_t begin = kw_trace_begin();
  kw_status status =
      KW_ASK(device->slots, interop.import_memory, device->handle, memory, &import->mem, &import->alignment);
  if (kw_trace_enabled) {
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

void kw_import_end(kw_device *device, kw_import *import) {
  if (kw_device_is_abandoned(device)) { /* what hangs may still come to the memory: the owner does not get it back */
    kw_abandon_keep(import);
    return;
  }
  kw_status status = KW_ASK(device->slots, interop.release_memory, device->handle, import->mem);
  if (status != KW_OK) {
    kw_device_mark_if_lost(
        device, kw_from_plugin(status, "giving back an import of %" PRIu64 " bytes on %s", import->size, device->name));
    kw_log(KW_LOG_WARN, "%s", kw_error_message());
  }
  if (import->deleter != NULL) import->deleter(import->user);
  free(import);
}
