/* SPDX-License-Identifier: Apache-2.0
 *
 * Plugins: what a loaded one offers, and the registry of all that were tried.
 */
#ifndef KEYWAY_CORE_PLUGIN_H
#define KEYWAY_CORE_PLUGIN_H

#include <keyway/keyway.h>
#include <keyway/plugin.h>

#include "base/error.h"
#include "plugin/discover.h"

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

/* What this process has of a plugin. It is LISTED when its helper process has shown what it is; its library is opened
 * here, and init called, when one of its devices is asked for (kw_plugin_open). */
typedef enum kw_plugin_state { KW_PLUGIN_LISTED, KW_PLUGIN_OPENING, KW_PLUGIN_OPEN } kw_plugin_state;

/* A plugin: host-owned copies of what it offers, so that no NULL slot is ever called. Its slots are called once it is
 * open. */
typedef struct kw_plugin {
  uint32_t index;                  /* of its entry in the registry */
  atomic_uint phase;               /* kw_plugin_state; changes under the registry's lock */
  struct kw_plugin *opened_before; /* of the open ones; under the registry's lock */
  struct kw_plugin_facts *facts;   /* what the helper saw; they stay as long as the process */
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
  struct stack *layers;                        /* of layers/layer.c, where layers are on */
} kw_plugin;

/* Puts the layers in front of a plugin, between its answer and its init; NULL: there are none. KW_ERR_OUT_OF_MEMORY
 * only. */
typedef kw_status (*kw_wrap_fn)(kw_plugin *plugin);
extern kw_wrap_fn kw_plugin_wrap;

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

static inline bool kw_plugin_is_open(const kw_plugin *plugin) {
  return atomic_load_explicit(&plugin->phase, memory_order_acquire) == KW_PLUGIN_OPEN;
}

/* One candidate that was tried, once or more; lives as long as the process. Under the registry's lock. */
typedef struct kw_plugin_entry {
  kw_plugin_report report;
  uint32_t index;         /* in the registry */
  kw_candidate candidate; /* with a path of the entry's own */
  const kw_host_api *services;
  kw_plugin *plugin; /* once it was listed; in use when report.reached == KW_STAGE_INIT */
} kw_plugin_entry;

/* The registry's lock is held while helpers look at plugins; those who look at the registry wait for that. It is not
 * held while a plugin's code runs in this process. */
void kw_plugins_lock(void);
void kw_plugins_unlock(void);
/* Under the lock: waits until a plugin's state has changed, or tells those who wait. */
void kw_plugins_wait(void);
void kw_plugins_wake(void);

/* Under the lock: the entry of this file, or of a place without one by its name, new or from an earlier try; NULL with
 * an error when memory is out. */
kw_plugin_entry *kw_plugin_entry_obtain(const kw_candidate *candidate);
/* Under the lock: the entry from an earlier try, or NULL. */
kw_plugin_entry *kw_plugin_entry_of(const kw_candidate *candidate);
/* Under the lock: the entry with this index, or NULL. */
kw_plugin_entry *kw_plugin_entry_at(uint32_t index);

/* How many entries there are. */
uint32_t kw_plugin_entry_count(void);
/* The report of entry `index`; false when there is none. */
bool kw_plugin_report_at(uint32_t index, kw_plugin_report *out_report);
/* The plugin of entry `index`, open or listed, if it reached KW_STAGE_INIT; or NULL. */
kw_plugin *kw_plugin_at(uint32_t index);

/* The plugins that are open in this process, in the order in which they were opened: how many, and number `index`. */
uint32_t kw_plugin_open_count(void);
kw_plugin *kw_plugin_open_at(uint32_t index);
/* Under the lock: adds one. */
void kw_plugin_open_add(kw_plugin *plugin);

/* Whether this thread runs the code of a plugin that is being opened (start.h), which may not call the library. */
bool kw_plugin_is_starting_here(void);
void kw_plugin_set_starting_here(bool starting);

/* Shuts down the plugins that have no open device. One that has some is left alone: its memory may still be in use by
 * threads that go on until the process is gone. At exit. */
void kw_plugins_shut_down(void);

#endif /* KEYWAY_CORE_PLUGIN_H */
