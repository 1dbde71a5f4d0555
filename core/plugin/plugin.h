/* SPDX-License-Identifier: Apache-2.0
 *
 * Plugins: what a loaded one offers, and the registry of all that were tried.
 */
#ifndef KEYWAY_CORE_PLUGIN_H
#define KEYWAY_CORE_PLUGIN_H

#include <keyway/keyway.h>
#include <keyway/plugin.h>

#include "base/error.h"

#include <stdatomic.h>

/* A registered kernel; a zero-filled copy of the plugin's descriptor with owned strings. Lives as long as the process.
 */
typedef struct kw_kernel {
  kw_kernel_desc desc;
  struct kw_plugin *plugin;
  const kw_op *op;
  uint32_t order; /* of registration; earlier first among equal priorities */
  bool off;       /* only for who names it: last in the order */
} kw_kernel;

/* A plugin whose init was called: host-owned copies of what it offers, so that no NULL slot is ever called. */
typedef struct kw_plugin {
  uint32_t index; /* of its entry in the registry */
  const char *key;
  const char *vendor;
  void *state;                 /* what init returned */
  kw_plugin_desc desc;         /* zero-filled copy; slots filled by stubs */
  kw_host_api host;            /* what init received; its ctx is this plugin */
  bool opened;                 /* a device of it was open before; under the lock of device.c */
  atomic_uint open_devices;    /* also those that are being opened or closed */
  uint64_t native;             /* KW_NATIVE_* */
  atomic_uint device_count;    /* as count said last; grows only */
  atomic_bool devices_changed; /* it has grown, the plugin says */
  atomic_bool ended;           /* shutdown has returned: the host's services are over for it */
  /* The host's own tables, one for each group of slots.def, as in kw_plugin_answer. */
#define KW_SLOT_GROUP(group, NAME, required, native, text) kw_##group##_api group;
#include "slots.def"
  kw_kernel **kernels; /* sorted by op id, then in the order in which they are tried */
  uint32_t kernel_count;
  struct kw_kept_info *infos; /* of device.c, under its lock: what applications have been told of the devices */
  struct kw_kernel_registration *registration; /* of kernel.c; NULL unless init runs */
  atomic_bool starved;                         /* memory was out when init called for a service of the host */
} kw_plugin;

/* "acme.npu", into `name`, which it returns. */
const char *kw_plugin_name(const kw_plugin *plugin, char name[KW_PLUGIN_NAME_SIZE]);

/* What a slot, kernel or other function of the plugin returned, as the host acts on it: what its class stands for where
 * it is no KW_ERR_ (kw_error_translate). */
kw_status kw_plugin_translate(const kw_plugin *plugin, kw_status status);
static inline kw_status kw_plugin_status(const kw_plugin *plugin, kw_status status) {
  return (uint32_t)status <= KW_ERR_INTERNAL ? status : kw_plugin_translate(plugin, status);
}

/* Calls a slot: KW_ASK(device->slots, memory.dealloc, device->handle, mem). The one way to do so where somebody
 * looks at the status. */
#define KW_ASK(of_plugin, slot, ...) kw_plugin_status((of_plugin), (of_plugin)->slot(__VA_ARGS__))

/* One candidate that was tried, once or more; lives as long as the process. Under the registry's lock. */
typedef struct kw_plugin_entry {
  kw_plugin_report report;
  uint32_t index;  /* in the registry */
  uint64_t device; /* of the file system; with inode the file's identity */
  uint64_t inode;
  kw_plugin *plugin; /* once init was called; in use when report.reached == KW_STAGE_INIT */
} kw_plugin_entry;

/* The registry's lock is held while a plugin is loaded; those who look at the registry wait for that. */
void kw_plugins_lock(void);
void kw_plugins_unlock(void);

/* Under the lock: the entry of this file, new or from an earlier try (a candidate without a file has a new one each
 * time); NULL with an error when memory is out. */
kw_plugin_entry *kw_plugin_entry_obtain(const char *path, uint64_t device, uint64_t inode);
/* Under the lock: the entry with this index, or NULL. */
kw_plugin_entry *kw_plugin_entry_at(uint32_t index);

/* How many entries there are. */
uint32_t kw_plugin_entry_count(void);
/* The report of entry `index`; false when there is none. */
bool kw_plugin_report_at(uint32_t index, kw_plugin_report *out_report);
/* The plugin of entry `index` if it reached KW_STAGE_INIT, or NULL. */
kw_plugin *kw_plugin_at(uint32_t index);

/* Shuts down the plugins that have no open device. One that has some is left alone: its memory may still be in use by
 * threads that go on until the process is gone. At exit. */
void kw_plugins_shut_down(void);

#endif /* KEYWAY_CORE_PLUGIN_H */
