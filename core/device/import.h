/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that somebody else made, as the plugin has taken it in (keyway.interop/1).
 */
#ifndef KEYWAY_CORE_IMPORT_H
#define KEYWAY_CORE_IMPORT_H

#include "device/device.h"

#include <keyway/interop.h>

typedef struct kw_import {
  kw_mem mem;
  uint64_t size;      /* bytes */
  uint32_t alignment; /* of the first byte: a power of two */
  bool read_only;
  kw_deleter deleter; /* the owner's; may be NULL */
  void *user;
} kw_import;

/* The plugin takes the memory in; `memory` has all fields. On failure the deleter is not called. */
kw_status kw_import_begin(kw_device *device, const kw_external_memory *memory, kw_deleter deleter, void *user,
                          kw_import **out_import);
/* The plugin lets go of it, then the owner gets it back. No stream uses it any more. No lock is held. */
void kw_import_end(kw_device *device, kw_import *import);

#endif /* KEYWAY_CORE_IMPORT_H */
