/* SPDX-License-Identifier: Apache-2.0
 *
 * A loaded plugin: host-owned copies of what it offers, so that no NULL slot is ever called.
 */
#ifndef KEYWAY_CORE_PLUGIN_H
#define KEYWAY_CORE_PLUGIN_H

#include <keyway/keyway.h>
#include <keyway/plugin.h>

#include <stdatomic.h>

static inline bool kw_dtype_mask_has(kw_dtype_mask mask, kw_dtype dtype) {
  return dtype < 128 && (mask.bits[dtype / 64] >> (dtype % 64) & 1);
}

/* A registered kernel; a zero-filled copy of the plugin's descriptor with owned strings. Lives as long as the process.
 */
typedef struct kw_kernel {
  kw_kernel_desc desc;
  struct kw_plugin *plugin;
  const kw_op *op;
  uint32_t order; /* of registration; earlier first among equal priorities */
  bool off;       /* only for who names it: last in the order */
} kw_kernel;

typedef struct kw_plugin {
  uint32_t index; /* in load order; = index of its report */
  const char *key;
  const char *vendor;
  void *state;              /* what init returned */
  kw_plugin_desc desc;      /* zero-filled copy; slots filled by stubs */
  kw_host_api host;         /* what init received; its ctx is this plugin */
  bool initializing;        /* registration is allowed now; only the loading thread looks */
  bool opened;              /* a device of it was open before; under the lock of device.c */
  atomic_uint open_devices; /* also those that are being opened or closed */
  uint32_t native;          /* KW_NATIVE_* */
  uint32_t device_count;    /* as count said at load */
  /* The host's own tables, one for each group of slots.def, as in kw_negotiated. */
#define KW_SLOT_GROUP(group, NAME, required, native, text) kw_##group##_api group;
#include "slots.def"
  kw_kernel **kernels; /* sorted by op id, then in the order in which they are tried */
  uint32_t kernel_count;
} kw_plugin;

/* The plugin with this index that reached KW_STAGE_INIT, or NULL. */
kw_plugin *kw_plugin_at(uint32_t index);
/* One past the largest index so far; starts nothing. */
uint32_t kw_plugin_slots(void);
/* The report with this index; false when there is none. */
bool kw_plugin_report_at(uint32_t index, kw_plugin_report *out_report);

/* Shuts down the plugins that have no open device. One that has some is left alone: its memory may still be in use by
 * threads that go on until the process is gone. At exit. */
void kw_plugins_shut_down(void);

/* The kernels of one op in the order in which they are tried (priority, then registration; KEYWAY_KERNELS first).
 * *out_count may be 0. Immutable after load. */
kw_kernel *const *kw_plugin_kernels(const kw_plugin *plugin, const kw_op *op, uint32_t *out_count);
/* Those, and then the ones that are tried only by name. */
kw_kernel *const *kw_plugin_kernels_by_name(const kw_plugin *plugin, const kw_op *op, uint32_t *out_count);

#endif /* KEYWAY_CORE_PLUGIN_H */
