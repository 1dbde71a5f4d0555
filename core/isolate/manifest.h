/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin's manifest, NAME.keyway.json beside NAME.so: whether it wants a process of its own, and what it needs there
 * that such processes do not have. docs/isolation.md tells people of it.
 */
#ifndef KEYWAY_CORE_MANIFEST_H
#define KEYWAY_CORE_MANIFEST_H

#include <keyway/types.h>

#define KW_MANIFEST_DEVICES 32u

typedef struct kw_manifest {
  bool isolate; /* "isolate": it wants a process of its own */
  bool execute; /* "execute": it starts programs */
  bool network; /* "network": it opens sockets */
  uint32_t device_count;
  char *devices[KW_MANIFEST_DEVICES]; /* "devices": nodes, globs of them or their folders */
} kw_manifest;

/* Reads the manifest of the plugin in this file; without one all is false. KW_ERR_INVALID_ARGUMENT for a manifest that
 * makes no sense, KW_ERR_PERMISSION for one that somebody else may write, KW_ERR_OUT_OF_MEMORY. */
kw_status kw_manifest_read(const char *plugin_path, kw_manifest *out_manifest);
/* Also after a failure. */
void kw_manifest_free(kw_manifest *manifest);

#endif /* KEYWAY_CORE_MANIFEST_H */
