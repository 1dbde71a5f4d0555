/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that no cache keeps: what somebody else made, as the plugin has taken it in (keyway.interop/1), and the
 * plugin's own of a kind or for a use.
 */
#ifndef KEYWAY_CORE_IMPORT_H
#define KEYWAY_CORE_IMPORT_H

#include "device/device.h"

#include <keyway/interop.h>

typedef struct kw_import {
  kw_mem mem;
  uint64_t size;      /* bytes */
  uint32_t alignment; /* of the first byte: a power of two */
  bool allocated;     /* the plugin's own */
  uint64_t uses;      /* KW_MEM_EXPORTABLE and the like that it was allocated with */
  bool read_only;
  kw_deleter deleter; /* the owner's; may be NULL */
  void *user;
} kw_import;

/* The plugin takes the memory in; `memory` has all fields. On failure the deleter is not called. */
kw_status kw_import_begin(kw_device *device, const kw_external_memory *memory, kw_deleter deleter, void *user,
                          kw_import **out_import);
/* Memory of the plugin's own. */
kw_status kw_import_allocate(kw_device *device, const kw_memory_options *options, uint64_t size,
                             kw_import **out_import);
/* The plugin names a range of the device's memory for others; kind, size and offset of *memory are set. */
kw_status kw_import_export(kw_device *device, kw_mem mem, kw_external_memory *memory);
/* The plugin lets go of it, then the owner gets it back. No stream uses it any more. No lock is held. */
void kw_import_end(kw_device *device, kw_import *import);

#endif /* KEYWAY_CORE_IMPORT_H */
