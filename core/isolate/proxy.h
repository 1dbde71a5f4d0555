/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands in an isolated plugin's place: tables whose slots and kernels send each call to the plugin's process.
 */
#ifndef KEYWAY_CORE_PROXY_H
#define KEYWAY_CORE_PROXY_H

#include "isolate/link.h"
#include "isolate/manifest.h"
#include "plugin/negotiate.h"

/* What core has a pointer to as the plugin's state or a device: where calls for it go. */
typedef struct kw_target {
  struct kw_proxy *proxy;
  kw_link *link;   /* of a device; NULL: of the plugin, whose process may be another one each time */
  uint64_t handle; /* the plugin's own, of a device */
} kw_target;

/* A kernel or an op of the plugin's; lives as long as the proxy, whatever processes come and go. */
typedef struct kw_remote {
  struct kw_proxy *proxy;
  uint32_t number;
  char *name; /* of an op its schema, of a kernel "op name" */
  struct kw_remote *next;
} kw_remote;

/* Lives as long as the library. */
typedef struct kw_proxy {
  kw_target target; /* the plugin's state as core has it */
  kw_group self[1]; /* how init finds the proxy: the one group in the description that core has, its table is this */
  const kw_link_owner *owner; /* of its links: isolate.c */
  char *path;
  char *program;
  kw_manifest manifest;
  kw_plugin_answer answer; /* with texts of the proxy's own */
  const kw_host_api *host; /* since init */
  kw_option *init_options; /* those of init, for each process */
  uint32_t init_option_count;
  pthread_mutex_t lock;
  kw_link *link; /* the process of now; NULL: none yet, or none any more */
  bool shut_down;
  char cause[sizeof(((kw_link *)0)->cause)]; /* how the process before ended */
  uint32_t devices;                          /* as count said last */
  kw_remote *kernels;                        /* the newest first, as ops; under the lock, registering is */
  kw_remote *ops;
  uint32_t kernel_count, op_count;
  bool again; /* a process after the first one registers: nothing may be new */
  struct kw_proxy *made_before;
  pthread_mutex_t starting; /* held while a process after the first one starts */
} kw_proxy;

/* The link of a target, with a reference: a device's own; of the plugin the process of now. When that has ended,
 * `start` says whether a new one is started. KW_ERR_DEVICE_LOST or why it did not start. */
kw_status kw_proxy_link(const kw_target *target, bool start, kw_link **out_link);

/* The process has ended: the proxy drops it. */
void kw_proxy_forget(kw_link *link);

/* Starts a process and lets it open the plugin's file. *out_reached says how far that came, also on failure; the
 * answer has texts of the proxy's own, and the slots that *out_slots says are still to be filled in. */
kw_status kw_proxy_open(kw_proxy *proxy, kw_link **out_link, kw_plugin_answer *out_answer, uint64_t *out_slots,
                        kw_stage *out_reached);

/* The plugin's init and shutdown, for core. */
kw_status KW_CALL kw_proxy_init(const kw_host_api *host, const kw_init_info *info, void **out_plugin);
kw_status KW_CALL kw_proxy_shutdown(void *plugin);

/* Tells core what a status of this plugin's means: the text for the slot that returns it. */
void kw_proxy_explain(const kw_proxy *proxy, kw_status status, const char *text);

/* The slots that are sent as they are, into the tables of `answer`; proxy_slots.c. */
void kw_proxy_fill_slots(kw_plugin_answer *answer);
/* Those that take memory of the application's, or make and end what the proxy keeps account of, in their place. */
void kw_proxy_fill_memory(kw_plugin_answer *answer);
void kw_proxy_fill_objects(kw_plugin_answer *answer);

/* What the plugin registers in its init: reads it from the service's message and offers it to core. *out_number names
 * it to the process. */
kw_status kw_proxy_register_kernel(kw_proxy *proxy, kw_message *m, uint64_t *out_number);
kw_status kw_proxy_define_op(kw_proxy *proxy, kw_message *m, uint64_t *out_number);

#endif /* KEYWAY_CORE_PROXY_H */
